"""Declares the data export of Grok's website, which the user downloads."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.grok_export import GrokExport

    return Formats(documents=(GrokExport(),))


AGENT = Agent(
    name="grok-web",
    label="Grok",
    downloaded=True,
    files=(r"prod-grok-backend\.json", r".*\.zip"),
    formats=_formats,
)
