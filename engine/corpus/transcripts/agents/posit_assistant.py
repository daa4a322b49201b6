"""Declares Posit Assistant: where its sessions are, and in which format. (That of Positron is Copilot Chat's.)"""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_TREE, _LINES = "conversation.json", "lm-messages.jsonl"


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".posit", "assistant", "workspaces")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.posit_assistant import PositConversation

    return Formats(documents=(PositConversation(),))


AGENT = Agent(
    name="posit-assistant",
    label="Posit Assistant",
    stores=((r"/\.posit/assistant/workspaces\Z", "posit-assistant"),),
    folders=_folders,
    files=(r"conversation\.json",),
    neighbour_parts=(_TREE, r"(?:lm|ui)-messages\.jsonl"),
    parts_changed=lambda path: sidecar_changed(path, _TREE, _LINES),
    with_parts=(_TREE,),
    part_of=lambda path: sidecar_owner(path, _TREE, _LINES),
    formats=_formats,
)
