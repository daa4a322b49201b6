"""Declares Factory's Droid: where its sessions are, in which format, and how to resume one."""

from typing import TYPE_CHECKING

from engine.corpus.machine import Machine
from engine.corpus.transcripts.agents import Agent, FoundFolders

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".factory", "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.droid import DroidFormat
    from engine.corpus.transcripts.formats import Formats

    return Formats(lines=(DroidFormat(),))


AGENT = Agent(
    name="droid",
    label="Droid",
    resume="droid --resume {id}",
    stores=((r"/\.factory/sessions\Z", "droid"),),
    folders=_folders,
    formats=_formats,
)
