"""Declares Kilo since its version 7 of 2026, an extension of VS Code and a command line made from opencode.

It has the same database, without `session_v2`. Written from its public source up to autumn 2026 (`packages/core/src`:
`database/database.ts`, `session/sql.ts`): `kilo.db`, of other release channels `opencode-<channel>.db`, or the file
that `KILO_DB` names.
"""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.transcripts.agents.opencode import databases
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in (*machine.data_homes(), machine.below_home("Library", "Application Support")):
        folder = os.path.join(home, "kilo")
        for path in databases(folder, machine.environ.get("KILO_DB", ""), r"kilo\.db|opencode-.*\.db"):
            name = os.path.basename(path)
            yield "" if name == "kilo.db" else name, path


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
