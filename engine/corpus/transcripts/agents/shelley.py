"""Declares Shelley, the agent of exe.dev: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in machine.config_homes():
        yield "", os.path.join(home, "shelley", "shelley.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.shelley import SHELLEY_DATABASE

    return Formats(databases=(SHELLEY_DATABASE,))


AGENT = Agent(
    name="shelley",
    label="Shelley",
    stores=((r"/shelley(?:/shelley\.db)?\Z", "shelley"),),
    folders=_folders,
    files=(),
    databases=r"shelley\.db",
    formats=_formats,
)
