"""Declares the data exports of chat programs, which the user downloads: ChatGPT, Claude.ai, DeepSeek, Gemini, Grok and
Open WebUI."""

from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_CONVERSATIONS = r"conversations(?:-\d+)?\.json"
_ZIP = r".*\.zip"
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


def _chatgpt_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.chatgpt import ChatGptExport

    return Formats(documents=(ChatGptExport(),))


def _claude_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.claude_export import ClaudeExport

    return Formats(documents=(ClaudeExport(),))


def _deepseek_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.deepseek_export import DeepSeekExport

    return Formats(documents=(DeepSeekExport(),))


def _gemini_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.gemini_takeout import GeminiTakeout

    return Formats(documents=(GeminiTakeout(),))


def _grok_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.grok_export import GrokExport

    return Formats(documents=(GrokExport(),))


def _open_webui_formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.open_webui import OPEN_WEBUI_DATABASE, OpenWebUiExport

    return Formats(documents=(OpenWebUiExport(),), databases=(OPEN_WEBUI_DATABASE,))


CHATGPT = Agent(
    name="chatgpt",
    label="ChatGPT",
    downloaded=True,
    files=(
        _CONVERSATIONS,
        _ZIP,
        # One file for each conversation: in a folder `conversations` of the export or `conversations-<id>` of the
        # program for macOS before 2024 (checked against cass, August 2026), or saved one by one.
        r"conversations(?:-[^/]+)?/[^/]+\.json",
        rf"[^/]*chatgpt[^/]*/{_ID}\.json",
        r"chatgpt[-_ ][^/]*\.json",
    ),
    parser_version=2,
    formats=_chatgpt_formats,
)
CLAUDE = Agent(
    name="claude",
    label="Claude",
    downloaded=True,
    files=(_CONVERSATIONS, _ZIP),
    parser_version=2,
    formats=_claude_formats,
)
DEEPSEEK = Agent(
    name="deepseek",
    label="DeepSeek",
    downloaded=True,
    files=(_CONVERSATIONS, _ZIP),
    formats=_deepseek_formats,
)
GEMINI = Agent(
    name="gemini-web",
    label="Gemini Apps",
    downloaded=True,
    files=(r"MyActivity\.json", r"[^/]*Gemini[^/]*/M[^/]*\.json", _ZIP),  # of Google Takeout
    formats=_gemini_formats,
    parser_version=2,
)
GROK = Agent(
    name="grok-web",
    label="Grok",
    downloaded=True,
    files=(r"prod-grok-backend\.json", _ZIP),
    formats=_grok_formats,
)
OPEN_WEBUI = Agent(
    name="open-webui",
    label="Open WebUI",
    downloaded=True,
    files=(r"(?:all-chats|archived-chat|chat)-export-\d+\.json", r"chat-[^/]*\.json"),
    databases=r"webui\.db",  # of a server on this machine
    parser_version=2,
    formats=_open_webui_formats,
)
