"""Declares OpenClaw, formerly Moltbot and Clawdbot, and QClaw, a program made from it, with the same files of sessions
(as agentsview reads them, August 2026).

Its sessions were files until summer 2026, and were then copied into a database of each agent; the files may remain.
Its workspaces are found in its configuration (`engine/corpus/source_detection.py`).
"""

import os
import re

from engine.corpus.transcripts.agents import (
    JSON_LINES,
    LINES_END,
    OPENCLAW_ARCHIVED,
    Agent,
    FoundFolders,
    in_databases,
)
from engine.corpus.user_environment import Machine

NAMES = ("openclaw", "moltbot", "clawdbot")
"""Names of the program, the current one first."""
_DATABASE = "openclaw-agent.sqlite"


def state_folders(machine: Machine) -> list[str]:
    """Return the state folder named by a variable, the usual one, one for each profile, and that of Kimi's program."""
    home = machine.folder_in("OPENCLAW_HOME") or machine.home
    named = machine.folder_in("OPENCLAW_STATE_DIR")
    hidden = [path for name in (*NAMES, "kimi_openclaw") for _, path in subfolders(home, f".{name}")]
    return [named, *hidden] if named else hidden


def subfolders(above: str, base: str = "") -> list[tuple[str, str]]:
    """Name and path of the folders, or links to some, in a folder; with `base` only `base` itself and `base-…`.

    None where it cannot be listed.
    """
    try:
        with os.scandir(above) as entries:
            folders = [(entry.name, entry.path) for entry in entries]
    except OSError:
        return []
    return sorted(
        (name, path)
        for name, path in folders
        if (not base or name == base or name.startswith(base + "-")) and os.path.isdir(path)
    )


def _folders(machine: Machine) -> FoundFolders:
    """Yield the session folder and the database of each agent, by name."""
    for state in state_folders(machine):
        for agent, path in subfolders(os.path.join(state, "agents")):
            yield agent, os.path.join(path, "sessions")
            yield agent, os.path.join(path, "agent", _DATABASE)
        yield from subfolders(os.path.join(state, "state", "sessions"))


def _qclaw_folders(machine: Machine) -> FoundFolders:
    for agent, path in subfolders(machine.below_home(".qclaw", "agents")):
        yield agent, os.path.join(path, "sessions")


def _session(path: str) -> str:
    """Return the session of a file with one, also a reset or deleted one, which a database may contain too."""
    folder, name = os.path.split(path)
    return name.partition(LINES_END)[0] if LINES_END in name and os.path.basename(folder) == "sessions" else ""


_FILES = (JSON_LINES, JSON_LINES + OPENCLAW_ARCHIVED)

AGENT = Agent(
    name="openclaw",
    label="OpenClaw",
    parser_version=2,
    usual="~/.openclaw/agents",
    stores=(
        (r"(?<!/\.qclaw)/agents/([^/]+)/sessions\Z", r"\1"),
        (rf"/agents/([^/]+)/agent/{re.escape(_DATABASE)}\Z", r"openclaw-\1"),
        (r"/state/sessions/([^/]+)\Z", r"\1"),
    ),
    folders=_folders,
    files=_FILES,
    databases=re.escape(_DATABASE),
    copies=(in_databases(_session, os.sep + _DATABASE, ".openclaw_database:OPENCLAW_DATABASE"),),
    with_copies=(_DATABASE,),
    formats=(".openclaw:OpenClawFormat", ".openclaw_database:OPENCLAW_DATABASE"),
)
QCLAW = Agent(
    name="qclaw",
    label="QClaw",
    parser_version=2,
    stores=((r"/\.qclaw/agents/([^/]+)/sessions\Z", r"qclaw-\1"),),
    folders=_qclaw_folders,
    files=_FILES,
    formats=(".openclaw:OpenClawFormat",),
)
