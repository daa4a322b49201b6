"""Declares Grok CLI: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.named("GROK_HOME"), machine.below_home(".grok")):
        if folder:
            yield "", os.path.join(folder, "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.grok import GrokFormat

    return Formats(lines=(GrokFormat(),))


AGENT = Agent(
    name="grok",
    label="Grok CLI",
    resume="grok --resume {id}",
    stores=((r"/\.grok/sessions\Z", "grok"),),
    folders=_folders,
    with_parts=("chat_history.jsonl",),
    parts_changed=lambda path: sidecar_changed(path, "chat_history.jsonl", "summary.json"),
    part_of=lambda path: sidecar_owner(path, "chat_history.jsonl", "summary.json"),
    formats=_formats,
)
