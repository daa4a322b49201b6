"""Declares Qwen Code: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("QWEN_RUNTIME_DIR"), machine.folder_in("QWEN_HOME"), machine.below_home(".qwen")):
        if folder:
            yield "", os.path.join(folder, "projects")
            yield "tmp", os.path.join(folder, "tmp")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.qwen import QwenDocument, QwenFormat

    return Formats(lines=(QwenFormat(),), documents=(QwenDocument(),))


AGENT = Agent(
    name="qwen",
    label="Qwen Code",
    parser_version=4,
    resume="qwen --resume {id}",
    stores=((r"/\.qwen/projects\Z", "qwen"), (r"/\.qwen/tmp\Z", "qwen-tmp")),
    folders=_folders,
    files=(JSON_LINES, r"(?:session|checkpoint)-[^/]*\.json"),
    part_names=r"[0-9a-fA-F-]{32,36}\.ledger\.jsonl",
    formats=_formats,
)
