"""Declares CodeWhale, until summer 2026 DeepSeek TUI, whose sessions it copies into its own folder."""

import os
from collections.abc import Iterator

from engine.corpus.transcripts.agents import UUID, Agent, lower_ranked, paths

_NEW, _OLD = (os.path.join(f"{os.sep}{home}", "sessions", "") for home in (".codewhale", ".deepseek"))


def _sessions(path: str) -> Iterator[tuple[str, int]]:
    """Yield the session of a transcript; CodeWhale has copied that of DeepSeek TUI, and may have continued it."""
    if _NEW in path or _OLD in path:
        yield path.replace(_NEW, _OLD), int(_NEW in path)


AGENT = Agent(
    name="codewhale",
    label="CodeWhale",
    resume="codewhale resume {id}",
    stores=((r"/\.codewhale/sessions\Z", "codewhale"), (r"/\.deepseek/sessions\Z", "deepseek-tui")),
    folders=paths("$CODEWHALE_HOME/sessions", "~/.codewhale/sessions", "DeepSeek TUI: ~/.deepseek/sessions"),
    files=(rf"sessions/{UUID}\.json",),
    parts=(("sessions", "checkpoints"),),
    copies=(lower_ranked(_sessions),),
    with_copies=(_NEW,),
    parser_version=2,
    formats=(".codewhale:CodeWhaleSession",),
)
