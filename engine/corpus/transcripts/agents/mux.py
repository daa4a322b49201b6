"""Declares Xum, named Mux until summer 2026: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths, sidecar_changed, sidecar_owner

_CHAT, _ARCHIVE = "chat.jsonl", "chat-archive.jsonl"

AGENT = Agent(
    name="mux",
    label="Xum",
    stores=((r"/\.(?:xum|c?mux)/sessions\Z", "mux"),),
    folders=paths("($XUM_ROOT|$MUX_ROOT)/sessions", "~/.xum/sessions", "~/.mux/sessions", "~/.cmux/sessions"),
    neighbour_parts=(_CHAT, r"(?:chat-archive|devtools|durable-events|headless-usage|timeline)\.jsonl"),
    with_parts=(_CHAT,),
    parts_changed=lambda path: sidecar_changed(path, _CHAT, _ARCHIVE),
    part_of=lambda path: sidecar_owner(path, _CHAT, _ARCHIVE),
    parser_version=2,
    formats=(".mux:MuxChat",),
)
