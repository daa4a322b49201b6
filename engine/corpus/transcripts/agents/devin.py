"""Declares Devin's command line: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    if named := machine.folder_in("CHISEL_SESSION_DB"):
        yield "", named
    for home in (*machine.data_homes(), *machine.program_homes()[1:]):
        yield "", os.path.join(home, "devin", "cli", "sessions.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.devin import DEVIN_DATABASE

    return Formats(databases=(DEVIN_DATABASE,))


AGENT = Agent(
    name="devin",
    label="Devin",
    stores=((r"/devin/cli(?:/sessions\.db)?\Z", "devin"),),
    folders=_folders,
    files=(),
    databases=r"cli/sessions\.db",
    formats=_formats,
)
