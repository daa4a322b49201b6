"""Declares Letta Code, whose sessions are on Letta's server or on this machine.

In both cases it writes transcripts of the conversation here. Those of a session on this machine repeat its file.
"""

import base64
import binascii
import os
import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_TRANSCRIPT, _MESSAGES = "transcript.jsonl", "messages.jsonl"
_SAFE = re.compile(r"[^A-Za-z0-9._-]")


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Return the transcripts of sessions that have a separate file, with times and models of all messages."""
    transcripts: dict[str, list[str]] = {}
    stored: set[str] = set()
    for file in files:
        folder, name = os.path.split(file.path)
        if name == _TRANSCRIPT and f"{os.sep}.letta{os.sep}" in folder:
            above, conversation = os.path.split(folder)
            transcripts.setdefault(conversation, []).append(file.name)
            if conversation == "default":
                transcripts.setdefault(os.path.basename(above), []).append(file.name)
        elif name == _MESSAGES and f"{os.sep}.letta{os.sep}" in folder:
            stored.add(_SAFE.sub("_", _decoded(os.path.basename(folder))))
    return {name for session in transcripts.keys() & stored for name in transcripts[session]}


def _decoded(name: str) -> str:
    """Return the id in the name of a session's folder: that of the session, or of the agent for its default one."""
    try:
        text = base64.urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
    except (binascii.Error, ValueError):
        return ""
    return text.partition(":")[2]


AGENT = Agent(
    name="letta",
    label="Letta Code",
    stores=(
        (r"/\.letta/lc-local-backend/conversations\Z", "letta"),
        (r"/\.letta/transcripts\Z", "letta-transcripts"),
    ),
    folders=paths("~/.letta/lc-local-backend/conversations", "transcripts: ~/.letta/transcripts"),
    files=(_MESSAGES, _TRANSCRIPT),
    copies=_copies,
    with_copies=(_TRANSCRIPT,),
    formats=(".letta:LettaTranscriptFormat", ".letta:LettaFormat"),
)
