"""Declares GitHub Copilot CLI: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders, sidecar_changed, sidecar_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("COPILOT_HOME"), machine.below_home(".copilot")):
        if folder:
            yield "", os.path.join(folder, "session-state")
            yield "history", os.path.join(folder, "history-session-state")
            yield "store", os.path.join(folder, "session-store.db")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.copilot_cli import CopilotDocument, CopilotFormat
    from engine.corpus.transcripts.parsers.copilot_store import COPILOT_STORE

    return Formats(lines=(CopilotFormat(),), documents=(CopilotDocument(),), databases=(COPILOT_STORE,))


AGENT = Agent(
    name="copilot-cli",
    label="Copilot CLI",
    parser_version=4,
    resume="copilot --resume={id}",
    stores=(
        (r"/\.copilot/session-state\Z", "copilot"),
        (r"/\.copilot/history-session-state\Z", "copilot-history"),
        (r"/\.copilot/session-store\.db\Z", "copilot-store"),
    ),
    folders=_folders,
    files=(JSON_LINES, r"session_[^/]*\.json"),
    databases=r"session-store\.db",
    with_parts=("events.jsonl",),
    parts_changed=lambda path: sidecar_changed(path, "events.jsonl", "workspace.yaml"),
    part_of=lambda path: sidecar_owner(path, "events.jsonl", "workspace.yaml"),
    formats=_formats,
)
