"""Declares Mistral Vibe: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, beside, paths

AGENT = Agent(
    name="vibe",
    label="Mistral Vibe",
    resume="vibe --resume {id}",
    stores=((r"/\.vibe/logs/session\Z", "vibe"),),
    folders=paths("$VIBE_HOME/logs/session", "~/.vibe/logs/session"),
    beside=(beside("/meta.json", "/messages.jsonl"),),
    parser_version=3,
    formats=(".vibe:VibeFormat",),
)
