"""Declares OpenHands: where its sessions are, in which format, and how to resume one."""

import os
import re

from engine.corpus.transcripts.agents import Agent, paths

_DOCUMENTS = ("base_state.json", "0.json")


def _events(path: str) -> str:
    """Return the folder of a conversation's events."""
    folder, name = os.path.split(path)
    if name == "base_state.json":
        return os.path.join(folder, "events")
    return folder if name == "0.json" and os.path.basename(folder) == "events" else ""


def _conversation_of(path: str) -> str:
    """Return the conversation of an event."""
    folder, name = os.path.split(path)
    if os.path.basename(folder) != "events" or not name.endswith(".json") or name in _DOCUMENTS:
        return ""
    owners = (os.path.join(os.path.dirname(folder), "base_state.json"), os.path.join(folder, "0.json"))
    return next(filter(os.path.lexists, owners), "")


AGENT = Agent(
    name="openhands",
    label="OpenHands",
    parser_version=2,
    resume="openhands --resume {id}",
    stores=((r"/\.openhands/(?:conversations|agent-canvas/(?:dev_)?conversations|sessions)\Z", "openhands"),),
    folders=paths(
        "$OPENHANDS_CONVERSATIONS_DIR",
        # Of the command line, of Agent Canvas in and outside Docker (autumn 2026), and of the versions 0.x.
        "~/.openhands/conversations",
        "~/.openhands/agent-canvas/conversations",
        "~/.openhands/agent-canvas/dev_conversations",
        "~/.openhands/sessions",
    ),
    files=tuple(map(re.escape, _DOCUMENTS)),
    with_parts=tuple(os.sep + name for name in _DOCUMENTS),
    grows_in=_events,
    part_of=_conversation_of,
    formats=(".openhands:OpenHandsConversation",),
)
