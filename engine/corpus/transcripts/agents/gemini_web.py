"""Declares the activity in Gemini's website and apps, which the user downloads from Google Takeout."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.gemini_takeout import GeminiTakeout

    return Formats(documents=(GeminiTakeout(),))


AGENT = Agent(
    name="gemini-web",
    label="Gemini Apps",
    downloaded=True,
    files=(r"MyActivity\.json", r"[^/]*Gemini[^/]*/M[^/]*\.json", r".*\.zip"),
    formats=_formats,
)
