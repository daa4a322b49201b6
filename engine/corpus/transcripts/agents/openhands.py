"""Declares OpenHands: where its sessions are, in which format, and how to resume one."""

import os
import re
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_DOCUMENTS = ("base_state.json", "0.json")
_CANVAS = "agent-canvas"
_SUBFOLDERS = (("conversations",), (_CANVAS, "conversations"), (_CANVAS, "dev_conversations"), ("sessions",))
"""Folders of the command line, of Agent Canvas in and outside Docker (autumn 2026), and of the versions 0.x."""


def _folders(machine: Machine) -> FoundFolders:
    named = machine.folder_in("OPENHANDS_CONVERSATIONS_DIR")
    for folder in filter(None, (named, *(machine.below_home(".openhands", *parts) for parts in _SUBFOLDERS))):
        yield "", folder


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


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.openhands import OpenHandsConversation

    return Formats(documents=(OpenHandsConversation(),))


AGENT = Agent(
    name="openhands",
    label="OpenHands",
    parser_version=2,
    resume="openhands --resume {id}",
    stores=((r"/\.openhands/(?:conversations|agent-canvas/(?:dev_)?conversations|sessions)\Z", "openhands"),),
    folders=_folders,
    files=tuple(map(re.escape, _DOCUMENTS)),
    with_parts=tuple(os.sep + name for name in _DOCUMENTS),
    grows_in=_events,
    part_of=_conversation_of,
    formats=_formats,
)
