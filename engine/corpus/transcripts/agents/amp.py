"""Declares Amp: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    for home in machine.data_homes():
        yield "", os.path.join(home, "amp", "threads")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.amp import AmpThread

    return Formats(documents=(AmpThread(),))


AGENT = Agent(
    name="amp",
    parser_version=3,
    label="Amp",
    resume="amp threads continue {id}",
    stores=((r"/amp/threads\Z", "amp"),),
    folders=_folders,
    files=(r"T-[0-9a-f-]{36}\.json",),
    formats=_formats,
)
