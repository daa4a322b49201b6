"""Declares Codex CLI, which names sessions in a file of its own, and compresses those that have not changed for a
week."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.named("CODEX_HOME"), machine.below_home(".codex")):
        if folder:
            yield "", os.path.join(folder, "sessions")
            yield "archived", os.path.join(folder, "archived_sessions")


def _named(path: str) -> int:
    """Return when a session was named."""
    if not os.path.basename(path).startswith("rollout-"):
        return 0
    from engine.corpus.transcripts.codex_names import given_name  # brings the reading of JSON with it

    return int(given_name(path).time * 1e9)


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.codex import CodexFormat

    return Formats(lines=(CodexFormat(),))


AGENT = Agent(
    name="codex",
    label="Codex",
    resume="codex resume {id}",
    usual="~/.codex/sessions",
    stores=((r"/\.codex/sessions\Z", "codex"), (r"/\.codex/archived_sessions\Z", "codex-archive")),
    folders=_folders,
    files=(JSON_LINES, r"rollout-.*\.jsonl\.zst"),
    with_parts=("rollout-",),
    parts_changed=_named,
    formats=_formats,
)
