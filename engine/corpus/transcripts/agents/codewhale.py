"""Declares CodeWhale, until summer 2026 DeepSeek TUI, whose sessions it copies into its own folder."""

import os
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile
    from engine.corpus.transcripts.formats import Formats

_NEW, _OLD = (os.path.join(f"{os.sep}{home}", "sessions", "") for home in (".codewhale", ".deepseek"))
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _folders(machine: Machine) -> FoundFolders:
    named = machine.folder_in("CODEWHALE_HOME")
    if named:
        yield "", os.path.join(named, "sessions")
    yield "", machine.below_home(".codewhale", "sessions")
    yield "DeepSeek TUI", machine.below_home(".deepseek", "sessions")


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Return the transcripts of DeepSeek TUI that CodeWhale has copied, and may have continued."""
    transcripts = list(files)
    copied = {file.path.replace(_NEW, _OLD) for file in transcripts if _NEW in file.path}
    return {file.name for file in transcripts if file.path in copied}


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.codewhale import CodeWhaleSession

    return Formats(documents=(CodeWhaleSession(),))


AGENT = Agent(
    name="codewhale",
    label="CodeWhale",
    resume="codewhale resume {id}",
    stores=((r"/\.codewhale/sessions\Z", "codewhale"), (r"/\.deepseek/sessions\Z", "deepseek-tui")),
    folders=_folders,
    files=(rf"sessions/{_ID}\.json",),
    parts=(("sessions", "checkpoints"),),
    copies=_copies,
    with_copies=(_NEW,),
    parser_version=2,
    formats=_formats,
)
