"""Declares Zencoder, an extension of editors: where its sessions are, and in which format."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _folders(machine: Machine) -> FoundFolders:
    yield "", machine.below_home(".zencoder", "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.zencoder import ZencoderFormat

    return Formats(lines=(ZencoderFormat(),))


AGENT = Agent(
    name="zencoder",
    label="Zencoder",
    parser_version=2,
    stores=((r"/\.zencoder/sessions\Z", "zencoder"),),
    folders=_folders,
    formats=_formats,
)
