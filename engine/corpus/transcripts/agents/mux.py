"""Declares Xum, named Mux until summer 2026: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, beside, paths

_CHAT = "chat.jsonl"

AGENT = Agent(
    name="mux",
    label="Xum",
    stores=((r"/\.(?:xum|c?mux)/sessions\Z", "mux"),),
    folders=paths("($XUM_ROOT|$MUX_ROOT)/sessions", "~/.xum/sessions", "~/.mux/sessions", "~/.cmux/sessions"),
    neighbour_parts=(_CHAT, r"(?:chat-archive|devtools|durable-events|headless-usage|timeline)\.jsonl"),
    beside=(beside("/chat-archive.jsonl", f"/{_CHAT}"),),
    parser_version=2,
    formats=(".mux:MuxChat",),
)
