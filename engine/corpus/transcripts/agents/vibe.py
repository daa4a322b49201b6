"""Declares Mistral Vibe: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths, sidecar_changed, sidecar_owner

AGENT = Agent(
    name="vibe",
    label="Mistral Vibe",
    resume="vibe --resume {id}",
    stores=((r"/\.vibe/logs/session\Z", "vibe"),),
    folders=paths("$VIBE_HOME/logs/session", "~/.vibe/logs/session"),
    with_parts=("messages.jsonl",),
    parts_changed=lambda path: sidecar_changed(path, "messages.jsonl", "meta.json"),
    part_of=lambda path: sidecar_owner(path, "messages.jsonl", "meta.json"),
    parser_version=2,
    formats=(".vibe:VibeFormat",),
)
