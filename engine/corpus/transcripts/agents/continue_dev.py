"""Declares Continue, an extension of VS Code and of JetBrains' programs, and a command line."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _folders(machine: Machine) -> FoundFolders:
    yield "", os.path.join(machine.folder_in("CONTINUE_GLOBAL_DIR") or machine.below_home(".continue"), "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.continue_dev import ContinueSession

    return Formats(documents=(ContinueSession(),))


AGENT = Agent(
    name="continue",
    label="Continue",
    stores=((r"/\.continue/sessions\Z", "continue"),),
    folders=_folders,
    files=(rf"sessions/{_ID}\.json",),
    formats=_formats,
)
