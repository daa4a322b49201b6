"""Declares Xum, named Mux until summer 2026: where its sessions are, and in which format."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_CHAT, _ARCHIVE = "chat.jsonl", "chat-archive.jsonl"


def _folders(machine: Machine) -> FoundFolders:
    named = machine.folder_in("XUM_ROOT") or machine.folder_in("MUX_ROOT")
    for folder in (named, *(machine.below_home(name) for name in (".xum", ".mux", ".cmux"))):
        if folder:
            yield "", os.path.join(folder, "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.mux import MuxChat

    return Formats(documents=(MuxChat(),))


AGENT = Agent(
    name="mux",
    label="Xum",
    stores=((r"/\.(?:xum|c?mux)/sessions\Z", "mux"),),
    folders=_folders,
    neighbour_parts=(_CHAT, r"(?:chat-archive|devtools|durable-events|headless-usage|timeline)\.jsonl"),
    with_parts=(_CHAT,),
    parts_changed=lambda path: sidecar_changed(path, _CHAT, _ARCHIVE),
    part_of=lambda path: sidecar_owner(path, _CHAT, _ARCHIVE),
    parser_version=2,
    formats=_formats,
)
