"""Declares Kilo since its version 7 of 2026, an extension of VS Code and a command line made from opencode.

It has the same database. Checked against descriptions of versions 7.0 to 7.6: `kilo.db`, or the file that `KILO_DB`
names.
"""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in (*machine.data_homes(), machine.below_home("Library", "Application Support")):
        yield "", os.path.join(home, "kilo", machine.environ.get("KILO_DB", "").strip() or "kilo.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.opencode_database import OpencodeDatabase

    return Formats(databases=(OpencodeDatabase("kilo"),))


AGENT = Agent(
    name="kilo",
    label="Kilo",
    resume="kilo --session {id}",
    stores=((r"/kilo/kilo\.db\Z", "kilo"),),
    folders=_folders,
    files=(),
    databases=r"kilo/.*\.db",
    formats=_formats,
)
