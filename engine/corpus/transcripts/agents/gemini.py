"""Declares Gemini CLI: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("GEMINI_CLI_HOME"), machine.home):
        if folder:
            yield "", os.path.join(folder, ".gemini", "tmp")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.gemini import GeminiDocument, GeminiLines

    return Formats(lines=(GeminiLines(),), documents=(GeminiDocument(),))


AGENT = Agent(
    name="gemini",
    label="Gemini",
    parser_version=3,
    stores=((r"/\.gemini/tmp\Z", "gemini"),),
    folders=_folders,
    files=(JSON_LINES, r"(?:session|checkpoint)-[^/]*\.json"),
    formats=_formats,
    resume="gemini --resume {id}",
    resumed=r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",  # not the name of a checkpoint
)
