"""Kiro's command line, formerly that of Amazon Q: all sessions are in one database."""

import os
from typing import TYPE_CHECKING

from engine.corpus.machine import Machine
from engine.corpus.transcripts.agents import Agent, FoundFolders

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    homes = (*machine.data_homes(), machine.below_home("Library", "Application Support"))
    for program, name in (("kiro-cli", ""), ("amazon-q", "Amazon Q")):
        for home in homes:
            yield name, os.path.join(home, program, "data.sqlite3")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.kiro import KiroDatabase

    return Formats(databases=(KiroDatabase(),))


AGENT = Agent(
    name="kiro",
    label="Kiro CLI",
    resume="kiro-cli chat --resume-id {id}",
    stores=((r"/(kiro-cli|amazon-q)/data\.sqlite3\Z", r"\1"),),
    folders=_folders,
    files=(),
    databases=r"(?:kiro-cli|amazon-q)/data\.sqlite3",
    formats=_formats,
)
