"""Declares Kimi CLI, Kimi Code, which followed it in 2026, and the desktop program that runs it (checked against
agentsview, August 2026).
"""

import os
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_DESKTOP = "kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions"
_CONTEXT, _WIRE, _STATE = "context.jsonl", "wire.jsonl", "state.json"


def _stated_session(path: str) -> str:
    """Return the record of the session that a file `state.json` describes."""
    if not path.endswith(os.sep + _STATE):
        return ""
    folder = os.path.dirname(path)
    newer = os.path.join(folder, "agents", "main", _WIRE)
    return newer if os.path.exists(newer) else os.path.join(folder, _WIRE)


def _titled(path: str) -> int:
    """Return when the state of a session, which has its title, was last changed."""
    if not path.endswith(os.sep + _WIRE):
        return 0
    folder = os.path.dirname(path)
    if os.path.basename(os.path.dirname(folder)) == "agents":
        folder = os.path.dirname(os.path.dirname(folder))
    try:
        return os.lstat(os.path.join(folder, _STATE)).st_mtime_ns
    except OSError:
        return 0


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Return histories for the model that have a record of the displayed session next to them."""
    names = {file.path: file.name for file in files if file.path.endswith((_CONTEXT, _WIRE))}
    return {
        name
        for path, name in names.items()
        if path.endswith(_CONTEXT) and os.path.join(os.path.dirname(path), _WIRE) in names
    }


AGENT = Agent(
    name="kimi",
    label="Kimi",
    resume="kimi --session {id}",
    stores=(
        (r"/\.kimi/sessions\Z", "kimi"),
        (r"/\.kimi-code/sessions\Z", "kimi-code"),
        (rf"/{_DESKTOP}\Z", "kimi-work"),
    ),
    folders=paths(
        "($KIMI_SHARE_DIR|~/.kimi)/sessions",
        "Code: ($KIMI_CODE_HOME|~/.kimi-code)/sessions",
        f"desktop: programs/{_DESKTOP}",
        f"desktop: ~/.local/share/{_DESKTOP}",
    ),
    with_parts=(_WIRE,),
    parts_changed=_titled,
    part_of=_stated_session,
    copies=_copies,
    with_copies=(_CONTEXT, _WIRE),
    formats=(".kimi:KimiWire", ".kimi:KimiContext"),
)
