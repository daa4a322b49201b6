"""Declares Aider, which writes its sessions into the folders of projects, which the user lists."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_HISTORY = ".aider.chat.history.md"


def _folders(machine: Machine) -> FoundFolders:
    """Yield the history file that an environment variable names, and the one in the home folder."""
    for path in (machine.folder_in("AIDER_CHAT_HISTORY_FILE"), machine.below_home(_HISTORY)):
        if path:
            yield "", path


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.aider import AiderHistory

    return Formats(documents=(AiderHistory(),))


AGENT = Agent(
    name="aider",
    label="Aider",
    stores=((r"/\.aider\.chat\.history\.md\Z", "aider"),),
    folders=_folders,
    files=(r".*\.aider\.chat\.history\.md",),
    formats=_formats,
)
