"""Qwen Code."""

import os
from typing import TYPE_CHECKING

from engine.corpus.machine import Machine
from engine.corpus.transcripts.agents import Agent, FoundFolders

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.named("QWEN_RUNTIME_DIR"), machine.named("QWEN_HOME"), machine.below_home(".qwen")):
        if folder:
            yield "", os.path.join(folder, "projects")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.qwen import QwenFormat

    return Formats(lines=(QwenFormat(),))


AGENT = Agent(
    name="qwen",
    label="Qwen Code",
    resume="qwen --resume {id}",
    stores=((r"/\.qwen/projects\Z", "qwen"),),
    folders=_folders,
    formats=_formats,
)
