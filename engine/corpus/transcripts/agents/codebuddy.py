"""Declares CodeBuddy Code, a command line of Tencent's, and WorkBuddy, a desktop program with the same transcripts."""

import os
from functools import partial
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", os.path.join(machine.folder_in("CODEBUDDY_CONFIG_DIR") or machine.below_home(".codebuddy"), "projects")


def _work_folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".workbuddy", "projects")


def _formats(agent: str) -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.codebuddy import CodeBuddyFormat

    return Formats(lines=(CodeBuddyFormat(agent),))


AGENT = Agent(
    name="codebuddy",
    label="CodeBuddy",
    resume="codebuddy --resume {id}",
    stores=((r"/\.codebuddy/projects\Z", "codebuddy"),),
    folders=_folders,
    formats=partial(_formats, "codebuddy"),
)
WORKBUDDY = Agent(
    name="workbuddy",
    label="WorkBuddy",
    stores=((r"/\.workbuddy/projects\Z", "workbuddy"),),
    folders=_work_folders,
    formats=partial(_formats, "workbuddy"),
)
