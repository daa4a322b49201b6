"""Declares opencode, and Kilo, MiMo Code and IcodeMate, which were made from it: their sessions are in databases.

Those of opencode were files until February 2026, and were then copied into a database next to them. The files remained,
so a session may be in both; the database then counts.

Kilo is an extension of VS Code and a command line, here since its version 7. It has the same database, without
`session_v2`. Written from its public source up to autumn 2026 (`packages/core/src`: `database/database.ts`,
`session/sql.ts`): `kilo.db`, of other release channels `opencode-<channel>.db`, or the file that `KILO_DB` names. MiMo
Code's is `mimocode.db`, IcodeMate's `icodemate.db`, as agentsview reads them (August 2026).
"""

import os
import re
from collections.abc import Iterator

from engine.corpus.transcripts.agents import Agent, FoundFolders, in_databases, paths
from engine.corpus.user_environment import Machine

_SESSION = "ses_"
_DATABASE = ".db"


def _folders(machine: Machine) -> FoundFolders:
    for home in machine.data_homes():
        folder = os.path.join(home, "opencode")
        databases = list(_databases(folder, machine.environ.get("OPENCODE_DB", ""), r"opencode(?:-.*)?\.db"))
        for path in databases:
            name = os.path.basename(path)
            yield "" if name == "opencode.db" else name, path
        if not databases:
            yield "", os.path.join(folder, "storage")


def _databases(folder: str, named: str, names: str) -> Iterator[str]:
    """Yield the database that the variable `named` gives, and the databases `names` of all release channels."""
    named = named.strip()
    if named and "\0" not in named and os.path.isfile(path := os.path.join(folder, named)):
        yield os.path.normpath(path)
    channels = re.compile(names)
    try:
        with os.scandir(folder) as entries:
            yield from sorted(entry.path for entry in entries if channels.fullmatch(entry.name) and entry.is_file())
    except OSError:
        return


def _kilo_folders(machine: Machine) -> FoundFolders:
    for home in (*machine.data_homes(), machine.below_home("Library", "Application Support")):
        folder = os.path.join(home, "kilo")
        for path in _databases(folder, machine.environ.get("KILO_DB", ""), r"kilo\.db|opencode-.*\.db"):
            name = os.path.basename(path)
            yield "" if name == "kilo.db" else name, path


def _messages(session: str) -> str:
    """Return the folder of a session's messages."""
    project, name = os.path.split(session)
    if not name.startswith(_SESSION):
        return ""
    return os.path.join(os.path.dirname(os.path.dirname(project)), "message", os.path.splitext(name)[0])


def _session(path: str) -> str:
    """Return the session of a file with one, which a database may contain too."""
    id_, end = os.path.splitext(os.path.basename(path))
    return id_ if end == ".json" and id_.startswith(_SESSION) else ""


AGENT = Agent(
    name="opencode",
    label="opencode",
    parser_version=5,
    resume="opencode --session {id}",
    stores=((r"/opencode/storage\Z", "opencode"),),
    folders=_folders,
    files=(r"ses_[^/]*\.json",),
    databases=r".*\.db",
    # The messages of sessions, one file each.
    parts=(("storage", "message"), ("storage", "part"), ("storage", "session_diff")),
    with_parts=(_SESSION,),
    grows_in=_messages,
    copies=(in_databases(_session, _DATABASE, ".opencode_database:OpencodeDatabase"),),
    with_copies=(_SESSION, ".db", ".DB"),
    formats=(".opencode:OpencodeDocument", ".opencode_database:OpencodeDatabase"),
)
KILO = Agent(
    name="kilo",
    label="Kilo",
    parser_version=5,
    resume="kilo --session {id}",
    stores=((r"/kilo/kilo\.db\Z", "kilo"),),
    folders=_kilo_folders,
    files=(),
    databases=r"kilo/.*\.db",
    formats=(".opencode_database:OpencodeDatabase",),
)
MIMO_CODE = Agent(
    name="mimocode",
    label="MiMo Code",
    parser_version=5,
    stores=((r"/mimocode/mimocode\.db\Z", "mimocode"),),
    folders=paths("data/mimocode/mimocode.db"),
    files=(),
    databases=r"mimocode/mimocode\.db",
    formats=(".opencode_database:OpencodeDatabase",),
)
ICODEMATE = Agent(
    name="icodemate",
    label="IcodeMate",
    parser_version=5,
    stores=((r"/icodemate/icodemate\.db\Z", "icodemate"),),
    folders=paths("data/icodemate/icodemate.db"),
    files=(),
    databases=r"icodemate/icodemate\.db",
    formats=(".opencode_database:OpencodeDatabase",),
)
