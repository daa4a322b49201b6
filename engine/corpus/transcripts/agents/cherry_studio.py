"""Declares Cherry Studio 2, a desktop program with chats: where its database is, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in machine.program_homes():
        yield "", os.path.join(home, "CherryStudio", "Data", "cherrystudio.sqlite")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.cherry_studio import CHERRY_DATABASE

    return Formats(databases=(CHERRY_DATABASE,))


AGENT = Agent(
    name="cherry-studio",
    label="Cherry Studio",
    stores=((r"/CherryStudio/Data(?:/cherrystudio\.sqlite)?\Z", "cherry-studio"),),
    folders=_folders,
    files=(),
    databases=r"cherrystudio\.sqlite",
    parser_version=2,
    formats=_formats,
)
