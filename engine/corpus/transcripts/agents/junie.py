"""Declares Junie, JetBrains' agent: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING, Any

from engine.corpus.transcripts.agents import JUNIE_LIST, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_SESSIONS = os.path.join(f"{os.sep}.junie", "sessions", "")


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".junie", "sessions")


def _list_changed(path: str, memo: dict[str, Any]) -> int:
    """Return when the list of sessions was changed, which has their titles."""
    index = os.path.join(os.path.dirname(os.path.dirname(path)), JUNIE_LIST)
    if index not in memo:
        try:
            memo[index] = os.lstat(index).st_mtime_ns
        except OSError:
            memo[index] = 0
    changed: int = memo[index]
    return changed


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.junie import JunieEvents

    return Formats(documents=(JunieEvents(),))


AGENT = Agent(
    name="junie",
    label="Junie",
    resume="junie --resume --session-id {id}",
    stores=((r"/\.junie/sessions\Z", "junie"),),
    folders=_folders,
    files=(r"events\.jsonl",),
    parts=(("sessions", JUNIE_LIST),),
    list_changed=_list_changed,
    with_parts=(_SESSIONS,),
    formats=_formats,
)
