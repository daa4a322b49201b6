"""Declares Ollama's chat program for macOS and Windows: where its database is, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in (machine.program_homes()[1], machine.data_homes()[-1]):
        yield "", os.path.join(home, "Ollama", "db.sqlite")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.ollama import OLLAMA_DATABASE

    return Formats(databases=(OLLAMA_DATABASE,))


AGENT = Agent(
    name="ollama",
    label="Ollama",
    stores=((r"/Ollama(?:/db\.sqlite)?\Z", "ollama"),),
    folders=_folders,
    files=(),
    databases=r"Ollama/db\.sqlite",
    formats=_formats,
    parser_version=2,
)
