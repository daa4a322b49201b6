"""Declares Omnigent, which runs other agents: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", os.path.join(machine.folder_in("OMNIGENT_DATA_DIR") or machine.below_home(".omnigent"), "chat.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.omnigent import OMNIGENT_DATABASE

    return Formats(databases=(OMNIGENT_DATABASE,))


AGENT = Agent(
    name="omnigent",
    label="Omnigent",
    stores=((r"/\.omnigent(?:/chat\.db)?\Z", "omnigent"),),
    folders=_folders,
    files=(),
    databases=r"chat\.db",
    formats=_formats,
)
