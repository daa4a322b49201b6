"""Declares Claude.ai's data export, which the user downloads."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.claude_export import ClaudeExport

    return Formats(documents=(ClaudeExport(),))


AGENT = Agent(
    name="claude",
    label="Claude",
    downloaded=True,
    files=(r"conversations(?:-\d+)?\.json", r".*\.zip"),
    formats=_formats,
)
