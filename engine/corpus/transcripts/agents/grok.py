"""Declares Grok CLI: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_HISTORY = "chat_history.jsonl"
_PARTS = ("summary.json", "updates.jsonl")
"""Files next to it with the session's metadata, and with its usage."""


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("GROK_HOME"), machine.below_home(".grok")):
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
    neighbour_parts=(_HISTORY, JSON_LINES),
    with_parts=(_HISTORY,),
    parts_changed=lambda path: max(sidecar_changed(path, _HISTORY, part) for part in _PARTS),
    part_of=lambda path: next(filter(None, (sidecar_owner(path, _HISTORY, part) for part in _PARTS)), ""),
    formats=_formats,
)
