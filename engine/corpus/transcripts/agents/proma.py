"""Declares Proma, a desktop program with chats and agents: where its sessions are, and in which format."""

import os
from typing import Any

from engine.corpus.transcripts.agents import Agent, paths, time_with

_FOLDER = f"{os.sep}.proma{os.sep}"


def _listed(path: str, memo: dict[str, Any]) -> int:
    from engine.corpus.transcripts.parsers.proma import listed_sessions, session_of  # imports the JSON reader

    folder = os.path.dirname(path)
    if folder not in memo:
        memo[folder] = listed_sessions(folder)
    listed = memo[folder].get(session_of(path))
    return time_with(path, repr(tuple(listed)) if listed else "")


AGENT = Agent(
    name="proma",
    label="Proma",
    stores=((r"/\.proma/agent-sessions\Z", "proma"), (r"/\.proma/conversations\Z", "proma-chats")),
    folders=paths("~/.proma/agent-sessions", "chats: ~/.proma/conversations"),
    list_changed=_listed,
    with_parts=(_FOLDER,),
    parser_version=2,
    formats=(".proma:PromaFormat",),
)
