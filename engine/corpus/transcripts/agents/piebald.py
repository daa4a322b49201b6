"""Declares Piebald: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in (machine.data_homes()[0], *machine.program_homes()[1:]):
        yield "", os.path.join(home, "piebald", "app.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.piebald import PIEBALD_DATABASE

    return Formats(databases=(PIEBALD_DATABASE,))


AGENT = Agent(
    name="piebald",
    label="Piebald",
    stores=((r"/piebald(?:/app\.db)?\Z", "piebald"),),
    folders=_folders,
    files=(),
    databases=r"piebald/app\.db",
    formats=_formats,
)
