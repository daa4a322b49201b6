"""Declares ChatGPT's data export, which the user downloads: one file, or one for each conversation.

The latter are in a folder `conversations` of the export or `conversations-<id>` of the program for macOS before 2024
(checked against cass, August 2026), or were saved one by one.
"""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.chatgpt import ChatGptExport

    return Formats(documents=(ChatGptExport(),))


_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"

AGENT = Agent(
    name="chatgpt",
    label="ChatGPT",
    downloaded=True,
    files=(
        r"conversations(?:-\d+)?\.json",
        r".*\.zip",
        r"conversations(?:-[^/]+)?/[^/]+\.json",
        rf"[^/]*chatgpt[^/]*/{_ID}\.json",
        r"chatgpt[-_ ][^/]*\.json",
    ),
    formats=_formats,
)
