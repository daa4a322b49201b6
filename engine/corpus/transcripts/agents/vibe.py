"""Declares Mistral Vibe: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("VIBE_HOME"), machine.below_home(".vibe")):
        if folder:
            yield "", os.path.join(folder, "logs", "session")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.vibe import VibeFormat

    return Formats(lines=(VibeFormat(),))


AGENT = Agent(
    name="vibe",
    label="Mistral Vibe",
    resume="vibe --resume {id}",
    stores=((r"/\.vibe/logs/session\Z", "vibe"),),
    folders=_folders,
    with_parts=("messages.jsonl",),
    parts_changed=lambda path: sidecar_changed(path, "messages.jsonl", "meta.json"),
    part_of=lambda path: sidecar_owner(path, "messages.jsonl", "meta.json"),
    parser_version=2,
    formats=_formats,
)
