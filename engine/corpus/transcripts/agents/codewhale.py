"""Declares CodeWhale, until summer 2026 DeepSeek TUI, whose sessions it copies into its own folder."""

import os

from engine.corpus.transcripts.agents import UUID, Agent, by_pattern, lower_ranked, paths

_SESSION = "/sessions/(.*)"
AGENT = Agent(
    name="codewhale",
    label="CodeWhale",
    resume="codewhale resume {id}",
    stores=((r"/\.codewhale/sessions\Z", "codewhale"), (r"/\.deepseek/sessions\Z", "deepseek-tui")),
    folders=paths("$CODEWHALE_HOME/sessions", "~/.codewhale/sessions", "DeepSeek TUI: ~/.deepseek/sessions"),
    files=(rf"sessions/{UUID}\.json",),
    parts=(("sessions", "checkpoints"),),
    copies=(lower_ranked(by_pattern(rf"(.*)/\.deepseek{_SESSION}", rf"(.*)/\.codewhale{_SESSION}")),),
    with_copies=(os.path.join(f"{os.sep}.codewhale", "sessions", ""),),
    parser_version=2,
    formats=(".codewhale:CodeWhaleSession",),
)
