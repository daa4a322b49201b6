"""Declares Muse Code, Meta's command line: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    data = machine.folder_in("XDG_DATA_HOME") or machine.below_home(".local", "share")  # on Windows and macOS, too
    yield "", os.path.join(data, "muse", "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.muse import MuseFormat

    return Formats(lines=(MuseFormat(),))


AGENT = Agent(
    name="muse",
    parser_version=3,
    label="Muse Code",
    resume="muse resume {id}",
    stores=((r"/muse/sessions\Z", "muse"),),
    folders=_folders,
    parts=(("", "approval-review"), ("", "tool-outputs")),
    formats=_formats,
)
