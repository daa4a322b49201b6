"""Declares Factory's Droid: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, described_changed, described_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_FOLDER = f"{os.sep}.factory{os.sep}"
_SETTINGS = ".settings.json"
"""Ending of the file with a session's model and tokens."""


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".factory", "sessions")
    yield "projects", machine.below_home(".factory", "projects")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.droid import DroidFormat, DroidStream

    return Formats(lines=(DroidFormat(), DroidStream()))


AGENT = Agent(
    name="droid",
    label="Droid",
    parser_version=4,
    resume="droid --resume {id}",
    stores=((r"/\.factory/sessions\Z", "droid"), (r"/\.factory/projects\Z", "droid-projects")),
    folders=_folders,
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, _SETTINGS),
    part_of=lambda path: described_owner(path, _FOLDER, _SETTINGS),
    formats=_formats,
)
