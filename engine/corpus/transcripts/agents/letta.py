"""Declares Letta Code, whose sessions are on Letta's server or on this machine.

In both cases it writes transcripts of the conversation here. Those of a session on this machine repeat its file.
"""

import base64
import binascii
import os
import re
from collections.abc import Iterator

from engine.corpus.transcripts.agents import Agent, lower_ranked, paths

_TRANSCRIPT, _MESSAGES = "transcript.jsonl", "messages.jsonl"
_SAFE = re.compile(r"[^A-Za-z0-9._-]")


def _sessions(path: str) -> Iterator[tuple[str, int]]:
    """Yield the session of a transcript, which may have a separate file with times and models of all messages."""
    folder, name = os.path.split(path)
    above, conversation = os.path.split(folder)
    if f"{os.sep}.letta{os.sep}" not in folder:
        return
    if name == _MESSAGES:
        yield _SAFE.sub("_", _decoded(conversation)), 1
    elif name == _TRANSCRIPT:
        yield conversation, 0
        if conversation == "default":
            yield os.path.basename(above), 0


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
    copies=(lower_ranked(_sessions),),
    with_copies=(_TRANSCRIPT,),
    formats=(".letta:LettaTranscriptFormat", ".letta:LettaFormat"),
)
