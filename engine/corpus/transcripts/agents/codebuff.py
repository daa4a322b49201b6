"""Declares Codebuff and Freebuff, a free version of it with the same sessions."""

import re
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_MESSAGES = "chat-messages.json"


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".config", "manicode", "projects")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.codebuff import CodebuffChat

    return Formats(documents=(CodebuffChat(),))


AGENT = Agent(
    name="codebuff",
    label="Codebuff",
    resume="codebuff --continue {id}",
    stores=((r"/\.config/manicode/projects\Z", "codebuff"),),
    folders=_folders,
    files=(re.escape(_MESSAGES),),
    neighbour_parts=(_MESSAGES, r"log\.jsonl|(?:run-state|chat-meta)\.json"),
    parser_version=2,
    formats=_formats,
)
