"""Declares Grok CLI: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import JSON_LINES, Agent, beside, paths

_HISTORY = "chat_history.jsonl"
_PARTS = ("summary.json", "updates.jsonl")
"""Files next to it with the session's metadata, and with its usage."""

AGENT = Agent(
    name="grok",
    label="Grok CLI",
    resume="grok --resume {id}",
    stores=((r"/\.grok/sessions\Z", "grok"),),
    folders=paths("$GROK_HOME/sessions", "~/.grok/sessions"),
    neighbour_parts=(_HISTORY, JSON_LINES),
    beside=tuple(beside(f"/{part}", f"/{_HISTORY}") for part in _PARTS),
    formats=(".grok:GrokFormat",),
)
