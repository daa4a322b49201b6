"""Declares Auggie, Augment's command line: where its sessions are, in which format, and how to resume one."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".augment", "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.augment import AuggieSession

    return Formats(documents=(AuggieSession(),))


AGENT = Agent(
    name="augment",
    label="Auggie",
    resume="auggie --resume {id}",
    stores=((r"/\.augment/sessions\Z", "augment"),),
    folders=_folders,
    files=(r"sessions/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json",),
    formats=_formats,
    parser_version=2,
)
