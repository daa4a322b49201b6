"""Declares iFlow CLI: where its sessions are, in which format, and how to resume one."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".iflow", "projects")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.iflow import IflowFormat

    return Formats(lines=(IflowFormat(),))


AGENT = Agent(
    name="iflow",
    label="iFlow",
    resume="iflow --resume={id}",
    stores=((r"/\.iflow/projects\Z", "iflow"),),
    folders=_folders,
    formats=_formats,
)
