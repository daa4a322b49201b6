"""Declares Posit Assistant: where its sessions are, and in which format. (That of Positron is Copilot Chat's.)"""

from engine.corpus.transcripts.agents import Agent, beside, paths

_TREE = "conversation.json"

AGENT = Agent(
    name="posit-assistant",
    label="Posit Assistant",
    stores=((r"/\.posit/assistant/workspaces\Z", "posit-assistant"),),
    folders=paths("~/.posit/assistant/workspaces"),
    files=(r"conversation\.json",),
    neighbour_parts=(_TREE, r"(?:lm|ui)-messages\.jsonl"),
    beside=(beside("/lm-messages.jsonl", f"/{_TREE}"),),
    formats=(".posit_assistant:PositConversation",),
)
