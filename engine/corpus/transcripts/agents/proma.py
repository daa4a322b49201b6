"""Declares Proma, a desktop program with chats and agents: where its sessions are, and in which format."""

import os
import zlib
from contextlib import suppress
from typing import Any

from engine.corpus.transcripts.agents import Agent, paths

_FOLDER = f"{os.sep}.proma{os.sep}"


def _listed(path: str, memo: dict[str, Any]) -> int:
    """Return a time less than a second after the last change of the transcript, in nanoseconds, that depends on its
    title in the list of sessions; 0 if it isn't there.
    """
    from engine.corpus.transcripts.parsers.proma import listed_sessions, session_of  # imports the JSON reader

    folder = os.path.dirname(path)
    if folder not in memo:
        memo[folder] = listed_sessions(folder)
    listed = memo[folder].get(session_of(path))
    if listed is not None:
        with suppress(OSError):
            return os.stat(path).st_mtime_ns + zlib.crc32(repr(tuple(listed)).encode()) % 10**9
    return 0


AGENT = Agent(
    name="proma",
    label="Proma",
    stores=((r"/\.proma/agent-sessions\Z", "proma"), (r"/\.proma/conversations\Z", "proma-chats")),
    folders=paths("~/.proma/agent-sessions", "chats: ~/.proma/conversations"),
    list_changed=_listed,
    with_parts=(_FOLDER,),
    formats=(".proma:PromaFormat",),
)
