"""Declares the chats of Open WebUI: exports that the user downloads, and the database of a server on this machine."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.open_webui import OPEN_WEBUI_DATABASE, OpenWebUiExport

    return Formats(documents=(OpenWebUiExport(),), databases=(OPEN_WEBUI_DATABASE,))


AGENT = Agent(
    name="open-webui",
    label="Open WebUI",
    downloaded=True,
    files=(r"(?:all-chats|archived-chat|chat)-export-\d+\.json", r"chat-[^/]*\.json"),
    databases=r"webui\.db",
    formats=_formats,
)
