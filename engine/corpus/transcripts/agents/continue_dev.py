"""Declares Continue, an extension of VS Code and of JetBrains' programs, and a command line; and PearAI, an editor that
contains a copy of it (checked against claude-code-history-viewer, August 2026).
"""

import os
from functools import partial
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FILES = (r"sessions/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json",)


def _folders(machine: Machine) -> FoundFolders:
    yield "", os.path.join(machine.folder_in("CONTINUE_GLOBAL_DIR") or machine.below_home(".continue"), "sessions")


def _pear_folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".pearai", "sessions")


def _formats(agent: str) -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.continue_dev import ContinueSession

    return Formats(documents=(ContinueSession(agent),))


AGENT = Agent(
    name="continue",
    label="Continue",
    stores=((r"/\.continue/sessions\Z", "continue"),),
    folders=_folders,
    files=_FILES,
    formats=partial(_formats, "continue"),
)
PEAR = Agent(
    name="pearai",
    label="PearAI",
    stores=((r"/\.pearai/sessions\Z", "pearai"),),
    folders=_pear_folders,
    files=_FILES,
    formats=partial(_formats, "pearai"),
)
