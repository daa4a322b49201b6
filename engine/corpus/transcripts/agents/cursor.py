"""Declares Cursor, the editor: all its chats are in one database."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in machine.program_homes():
        yield "", os.path.join(home, "Cursor", "User", "globalStorage", "state.vscdb")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.cursor_database import CursorDatabase

    return Formats(databases=(CursorDatabase(),))


AGENT = Agent(
    name="cursor",
    label="Cursor",
    stores=((r"/User/globalStorage/state\.vscdb\Z", "cursor"),),
    folders=_folders,
    files=(),
    databases=r"globalStorage/state\.vscdb",
    formats=_formats,
)
