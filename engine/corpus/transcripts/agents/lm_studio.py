"""Declares LM Studio, a program that chats with local models."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".lmstudio", "conversations")
    yield "before 2025", machine.below_home(".cache", "lm-studio", "conversations")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.lm_studio import LmStudioChat

    return Formats(documents=(LmStudioChat(),))


AGENT = Agent(
    name="lm-studio",
    label="LM Studio",
    stores=((r"/\.(?:lmstudio|cache/lm-studio)/conversations\Z", "lm-studio"),),
    folders=_folders,
    files=(r".*\.conversation\.json",),
    formats=_formats,
    parser_version=2,
)
