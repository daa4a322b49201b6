"""Kilo Code before version 7, which stores its tasks as Roo Code does.

Checked against claude-code-history-viewer of August 2026. Version 7 is another program (`kilo`).
"""

from typing import TYPE_CHECKING

from engine.corpus.machine import Machine
from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.transcripts.agents.cline import CHECKPOINTS, TASKS, extension_tasks

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_EXTENSION = "kilocode.kilo-code"


def _folders(machine: Machine) -> FoundFolders:
    yield from extension_tasks(machine, _EXTENSION)


def _formats() -> "Formats":
    from engine.corpus.transcripts.cline import ClineTask
    from engine.corpus.transcripts.formats import Formats

    return Formats(documents=(ClineTask("kilo-code"),))


AGENT = Agent(
    name="kilo-code",
    label="Kilo Code",
    stores=((rf"/{_EXTENSION}/tasks\Z", "kilo-code"),),
    folders=_folders,
    files=(TASKS,),
    parts=(CHECKPOINTS,),
    formats=_formats,
)
