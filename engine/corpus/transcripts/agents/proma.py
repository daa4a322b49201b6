"""Declares Proma, a desktop program with chats and agents: where its sessions are, and in which format."""

import os
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FOLDER = f"{os.sep}.proma{os.sep}"


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".proma", "agent-sessions")
    yield "chats", machine.below_home(".proma", "conversations")


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


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.proma import PromaFormat

    return Formats(lines=(PromaFormat(),))


AGENT = Agent(
    name="proma",
    label="Proma",
    stores=((r"/\.proma/agent-sessions\Z", "proma"), (r"/\.proma/conversations\Z", "proma-chats")),
    folders=_folders,
    list_changed=_listed,
    with_parts=(_FOLDER,),
    formats=_formats,
)
