"""Declares ZCode: where its sessions are, and in which format."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for variable in ("ZCODE_SESSION_DB_PATH", "ZCODE_SESSION_DB"):
        if named := machine.folder_in(variable):
            yield "", named
    yield "", machine.below_home(".zcode", "cli", "db", "db.sqlite")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.zcode import ZCODE_DATABASE

    return Formats(databases=(ZCODE_DATABASE,))


AGENT = Agent(
    name="zcode",
    label="ZCode",
    stores=((r"/\.zcode/cli/db(?:/db\.sqlite)?\Z", "zcode"),),
    folders=_folders,
    files=(),
    databases=r"db/db\.sqlite",
    formats=_formats,
)
