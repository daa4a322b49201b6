"""Declares Posit Assistant: where its sessions are, and in which format. (That of Positron is Copilot Chat's.)"""

from engine.corpus.transcripts.agents import Agent, paths, sidecar_changed, sidecar_owner

_TREE, _LINES = "conversation.json", "lm-messages.jsonl"

AGENT = Agent(
    name="posit-assistant",
    label="Posit Assistant",
    stores=((r"/\.posit/assistant/workspaces\Z", "posit-assistant"),),
    folders=paths("~/.posit/assistant/workspaces"),
    files=(r"conversation\.json",),
    neighbour_parts=(_TREE, r"(?:lm|ui)-messages\.jsonl"),
    parts_changed=lambda path: sidecar_changed(path, _TREE, _LINES),
    with_parts=(_TREE,),
    part_of=lambda path: sidecar_owner(path, _TREE, _LINES),
    formats=(".posit_assistant:PositConversation",),
)
