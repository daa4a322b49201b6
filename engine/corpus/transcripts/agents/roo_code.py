"""Roo Code, which stores its tasks as Cline does."""

from typing import TYPE_CHECKING

from engine.corpus.machine import Machine
from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.transcripts.agents.cline import CHECKPOINTS, TASKS, extension_tasks

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_EXTENSION = "rooveterinaryinc.roo-cline"


def _folders(machine: Machine) -> FoundFolders:
    yield from extension_tasks(machine, _EXTENSION)


def _formats() -> "Formats":
    from engine.corpus.transcripts.cline import ClineTask
    from engine.corpus.transcripts.formats import Formats

    return Formats(documents=(ClineTask("roo-code"),))


AGENT = Agent(
    name="roo-code",
    label="Roo Code",
    stores=((rf"/{_EXTENSION}/tasks\Z", "roo-code"),),
    folders=_folders,
    files=(TASKS,),
    parts=(CHECKPOINTS,),
    formats=_formats,
)
