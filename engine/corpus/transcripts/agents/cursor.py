"""Declares Cursor, the editor, whose chats are all in one database, and its command line, `cursor-agent`.

The editor also writes transcripts as the command line does, of chats that are in its database. The command line has a
database for each chat, and newer versions a transcript, too, which is read then.
"""

import os
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, in_databases, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_TRANSCRIPTS = "agent-transcripts"
_DATABASE = os.path.join("globalStorage", "state.vscdb")
_STORE = "store.db"


def _copies(files: Iterable["FoundFile"], before: Set[str], cancel: "CancelToken | None") -> set[str]:
    """Return the transcripts of chats that are also in the editor's database, which has times and results of tools, and
    the databases of chats that have a transcript.
    """
    transcripts: dict[str, list[str]] = {}
    databases, single = [], dict[str, str]()
    for file in files:
        if f"{os.sep}{_TRANSCRIPTS}{os.sep}" in file.path and file.path.endswith((".jsonl", ".txt")):
            transcripts.setdefault(os.path.splitext(os.path.basename(file.path))[0], []).append(file.name)
        elif file.path.endswith(_DATABASE):
            databases.append(file.path)
        elif file.path.endswith(f"{os.sep}{_STORE}"):
            single[file.name] = os.path.basename(os.path.dirname(file.path))
    copies = {name for name, id_ in single.items() if id_ in transcripts}
    if not transcripts or not databases:
        return copies
    from engine.corpus.transcripts.parsers.cursor_database import CursorDatabase

    return copies | in_databases(transcripts, databases, CursorDatabase(), before, cancel)


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
    copies=_copies,
    with_copies=(_TRANSCRIPTS,),
    formats=(".cursor_cli:CursorCliFormat", ".cursor_text:CursorText", ".cursor_store:CURSOR_STORE"),
)
