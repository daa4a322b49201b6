"""Declares DeepSeek Harness: where its sessions are, and in which format. They may be compressed from the beginning."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", os.path.join(machine.folder_in("DSH_HOME") or machine.below_home(".dsh"), "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.deepseek_harness import HarnessFormat

    return Formats(lines=(HarnessFormat(),))


AGENT = Agent(
    name="deepseek-harness",
    label="DeepSeek Harness",
    stores=((r"/\.dsh/sessions\Z", "deepseek-harness"),),
    folders=_folders,
    files=(r"session\.jsonl\.zstd", r"session\.jsonl"),
    formats=_formats,
)
