"""Declares CodeWhale, until summer 2026 DeepSeek TUI, whose sessions it copies into its own folder."""

import os
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import UUID, Agent, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_NEW, _OLD = (os.path.join(f"{os.sep}{home}", "sessions", "") for home in (".codewhale", ".deepseek"))


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Return the transcripts of DeepSeek TUI that CodeWhale has copied, and may have continued."""
    transcripts = list(files)
    copied = {file.path.replace(_NEW, _OLD) for file in transcripts if _NEW in file.path}
    return {file.name for file in transcripts if file.path in copied}


AGENT = Agent(
    name="codewhale",
    label="CodeWhale",
    resume="codewhale resume {id}",
    stores=((r"/\.codewhale/sessions\Z", "codewhale"), (r"/\.deepseek/sessions\Z", "deepseek-tui")),
    folders=paths("$CODEWHALE_HOME/sessions", "~/.codewhale/sessions", "DeepSeek TUI: ~/.deepseek/sessions"),
    files=(rf"sessions/{UUID}\.json",),
    parts=(("sessions", "checkpoints"),),
    copies=_copies,
    with_copies=(_NEW,),
    parser_version=2,
    formats=(".codewhale:CodeWhaleSession",),
)
