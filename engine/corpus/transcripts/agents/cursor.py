"""Declares Cursor, the editor, whose chats are all in one database, and its command line, `cursor-agent`.

The editor also writes transcripts as the command line does, of chats that are in its database. The command line has a
database for each chat, and newer versions a transcript, too, which is read then.
"""

import os

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, by_pattern, in_databases, lower_ranked, paths

_TRANSCRIPTS = "agent-transcripts"
_DATABASE = os.path.join("globalStorage", "state.vscdb")
_STORE = "store.db"


def _session(path: str) -> str:
    """Return the session of a transcript, which the editor's database may contain too, with times and results."""
    is_transcript = f"{os.sep}{_TRANSCRIPTS}{os.sep}" in path and path.endswith((".jsonl", ".txt"))
    return os.path.splitext(os.path.basename(path))[0] if is_transcript else ""


AGENT = Agent(
    name="cursor",
    label="Cursor",
    stores=((r"/User/globalStorage/state\.vscdb\Z", "cursor"),),
    folders=paths("programs/Cursor/User/globalStorage/state.vscdb"),
    files=(),
    databases=r"globalStorage/state\.vscdb",
    parser_version=2,
    formats=(".cursor_database:CursorDatabase",),
)
CLI = Agent(
    name="cursor-cli",
    label="Cursor CLI",
    parser_version=2,
    resume="cursor-agent --resume {id}",
    stores=((r"/\.cursor/projects\Z", "cursor-cli"), (r"/\.cursor/chats\Z", "cursor-chats")),
    folders=paths("~/.cursor/projects", "~/.cursor/chats"),
    files=(JSON_LINES, rf"{_TRANSCRIPTS}/{UUID}\.txt", rf"{UUID}/{UUID}\.txt"),
    databases=r"store\.db",
    neighbour_parts=(_STORE, r"meta\.json|prompt_history\.json"),
    copies=(
        lower_ranked(by_pattern(rf".*/([^/]*)/{_STORE}", rf".*/{_TRANSCRIPTS}/(?:.*/)?([^/]*)\.(?:jsonl|txt)")),
        in_databases(_session, _DATABASE, ".cursor_database:CursorDatabase"),
    ),
    with_copies=(_TRANSCRIPTS,),
    formats=(".cursor_cli:CursorCliFormat", ".cursor_text:CursorText", ".cursor_store:CURSOR_STORE"),
)
