"""Declares Kimi CLI, Kimi Code, which followed it in 2026, and the desktop program that runs it (checked against
agentsview, August 2026).
"""

import os

from engine.corpus.transcripts.agents import Agent, by_pattern, lower_ranked, paths

_DESKTOP = "kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions"
_CONTEXT, _WIRE, _STATE = "context.jsonl", "wire.jsonl", "state.json"


def _stated_session(path: str) -> str:
    """Return the record of the session that a file `state.json` describes."""
    if not path.endswith(os.sep + _STATE):
        return ""
    folder = os.path.dirname(path)
    newer = os.path.join(folder, "agents", "main", _WIRE)
    return newer if os.path.exists(newer) else os.path.join(folder, _WIRE)


def _state(path: str) -> str:
    """Return the path of the state of a session, which has its title."""
    folder, name = os.path.split(path)
    if os.path.basename(os.path.dirname(folder)) == "agents":
        folder = os.path.dirname(os.path.dirname(folder))
    return os.path.join(folder, _STATE) if name == _WIRE else ""


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
    part_at=_state,
    part_of=_stated_session,
    copies=(lower_ranked(by_pattern(rf"(.*)/[^/]*{_CONTEXT}", rf"(.*)/{_WIRE}")),),
    with_copies=(_CONTEXT, _WIRE),
    formats=(".kimi:KimiWire", ".kimi:KimiContext"),
)
