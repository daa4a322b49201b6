"""Declares Octofriend: where its database is, in which format, and how to resume a session."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".local", "share", "octofriend", "sqlite.db")  # on all systems


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.octofriend import OCTOFRIEND_DATABASE

    return Formats(databases=(OCTOFRIEND_DATABASE,))


AGENT = Agent(
    name="octofriend",
    label="Octofriend",
    resume="octo --resume {id}",
    stores=((r"/octofriend(?:/sqlite\.db)?\Z", "octofriend"),),
    folders=_folders,
    files=(),
    databases=r"octofriend/sqlite\.db",
    parser_version=2,
    formats=_formats,
)
