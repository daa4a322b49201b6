"""Declares the exports of chats from Open WebUI, which the user downloads."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.open_webui import OpenWebUiExport

    return Formats(documents=(OpenWebUiExport(),))


AGENT = Agent(
    name="open-webui",
    label="Open WebUI",
    downloaded=True,
    files=(r"(?:all-chats|archived-chat|chat)-export-\d+\.json", r"chat-[^/]*\.json"),
    formats=_formats,
)
