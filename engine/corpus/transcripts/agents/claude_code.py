"""Declares Claude Code, and Cowork in Claude's desktop program, which runs it in a folder of its own for each session.

Cowork's folders are those that the public source of agentsview lists (August 2026):
`local-agent-mode-sessions/<organisation>/<workspace>/local_<id>/.claude/projects`, next to `local_<id>.json`, which
describes the session. `audit.jsonl` in `local_<id>` has the same messages.
"""

import os
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import CLAUDE_PROJECTS, Agent, FoundFolders, cowork_description
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile
    from engine.corpus.transcripts.formats import Formats

_SESSIONS = "local-agent-mode-sessions"
_AUDIT = f"{os.sep}audit.jsonl"


def _folders(machine: Machine) -> FoundFolders:
    # The folder that a variable names is listed in addition to the default one: both may contain sessions.
    named = (machine.folder_in("CLAUDE_CONFIG_DIR"), machine.below_home(".claude"))
    for folder in (*named, *(os.path.join(home, "claude") for home in machine.config_homes())):
        if folder:
            yield "", os.path.join(folder, "projects")


def _cowork_folders(machine: Machine) -> FoundFolders:
    local = machine.folder_in("LOCALAPPDATA") or machine.below_home("AppData", "Local")
    store = os.path.join(local, "Packages", "Claude_pzs8sxrjxfjjc", "LocalCache", "Roaming")
    for home in (*machine.program_homes(), store):
        yield "", os.path.join(home, "Claude", _SESSIONS)


def _described(path: str) -> int:
    """Return when the description of a session, such as its title, was last changed."""
    described = cowork_description(path)
    try:
        return os.lstat(described).st_mtime_ns if described else 0
    except OSError:
        return 0


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    audits: dict[str, str] = {}
    read: set[str] = set()
    for file in files:
        if _SESSIONS in file.path:
            if file.path.endswith(_AUDIT):
                audits[file.path.removesuffix(_AUDIT)] = file.name
            else:
                read.add(file.path.partition(CLAUDE_PROJECTS)[0])
    return {audits[folder] for folder in audits.keys() & read}


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.claude_code import ClaudeCodeFormat

    return Formats(lines=(ClaudeCodeFormat(AGENT.name),))


def _cowork_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.claude_code import ClaudeCodeFormat

    return Formats(lines=(ClaudeCodeFormat(COWORK.name),))


AGENT = Agent(
    name="claude-code",
    label="Claude Code",
    resume="claude --resume {id}",
    usual="~/.claude/projects",
    stores=((rf"\A(?!.*/{_SESSIONS}/).*/\.?claude/projects\Z", "claude"),),
    folders=_folders,
    formats=_formats,
)
COWORK = Agent(
    name="claude-cowork",
    label="Claude Cowork",
    stores=((rf"/{_SESSIONS}\Z", "claude-cowork"),),
    folders=_cowork_folders,
    neighbour_parts=("audit.jsonl", r"outputs|uploads"),
    watched=r"[^/]+(?:/[^/]+(?:/local_[^/]+(?:/\.claude(?:/projects(?:/.+)?)?)?)?)?",
    with_parts=(_SESSIONS,),
    parts_changed=_described,
    copies=_copies,
    with_copies=(_SESSIONS,),
    formats=_cowork_formats,
)
