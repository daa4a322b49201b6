"""Declares DeepSeek's data export, which the user downloads."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.deepseek_export import DeepSeekExport

    return Formats(documents=(DeepSeekExport(),))


AGENT = Agent(
    name="deepseek",
    label="DeepSeek",
    downloaded=True,
    files=(r"conversations(?:-\d+)?\.json", r".*\.zip"),
    formats=_formats,
)
