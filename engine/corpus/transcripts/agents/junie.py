"""Declares Junie, JetBrains' agent: where its sessions are, in which format, and how to resume one."""

import os
import zlib
from contextlib import suppress
from typing import Any

from engine.corpus.transcripts.agents import JUNIE_LIST, Agent, paths

_SESSIONS = os.path.join(f"{os.sep}.junie", "sessions", "")


def _listed(path: str, memo: dict[str, Any]) -> int:
    """Return a time less than a second after the last change of the transcript, in nanoseconds, that depends on its
    title, folder and start in the list of sessions; 0 if it isn't there.
    """
    from engine.corpus.transcripts.parsers.junie import list_of, listed_sessions  # imports the JSON reader

    index = list_of(path)
    if index not in memo:
        memo[index] = listed_sessions(index)
    listed = memo[index].get(os.path.basename(os.path.dirname(path)))
    if listed is not None:
        with suppress(OSError):
            return os.stat(path).st_mtime_ns + zlib.crc32(repr(tuple(listed)).encode()) % 10**9
    return 0


AGENT = Agent(
    name="junie",
    label="Junie",
    resume="junie --resume --session-id {id}",
    stores=((r"/\.junie/sessions\Z", "junie"),),
    folders=paths("~/.junie/sessions"),
    files=(r"events\.jsonl",),
    parts=(("sessions", JUNIE_LIST),),
    list_changed=_listed,
    with_parts=(_SESSIONS,),
    parser_version=2,
    formats=(".junie:JunieEvents",),
)
