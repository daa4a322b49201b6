"""Declares Junie, JetBrains' agent: where its sessions are, in which format, and how to resume one."""

import os
from typing import Any

from engine.corpus.transcripts.agents import JUNIE_LIST, Agent, paths, time_with

_SESSIONS = os.path.join(f"{os.sep}.junie", "sessions", "")


def _listed(path: str, memo: dict[str, Any]) -> int:
    from engine.corpus.transcripts.parsers.junie import list_of, listed_sessions  # imports the JSON reader

    index = list_of(path)
    if index not in memo:
        memo[index] = listed_sessions(index)
    listed = memo[index].get(os.path.basename(os.path.dirname(path)))
    return time_with(path, repr(tuple(listed)) if listed else "")


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
