"""Declares the data exports of chat programs, which the user downloads: ChatGPT, Claude.ai, DeepSeek, Gemini, Grok and
Open WebUI."""

from engine.corpus.transcripts.agents import UUID, Agent

_CONVERSATIONS = r"conversations(?:-\d+)?\.json"
_ZIP = r".*\.zip"

# DeepSeek first: its conversations are trees as ChatGPT's.
DEEPSEEK = Agent(
    name="deepseek",
    label="DeepSeek",
    downloaded=True,
    files=(_CONVERSATIONS, _ZIP),
    formats=(".deepseek_export:DeepSeekExport",),
)
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
        rf"[^/]*chatgpt[^/]*/{UUID}\.json",
        r"chatgpt[-_ ][^/]*\.json",
    ),
    parser_version=2,
    formats=(".chatgpt:ChatGptExport",),
)
CLAUDE = Agent(
    name="claude",
    label="Claude",
    downloaded=True,
    files=(_CONVERSATIONS, _ZIP),
    parser_version=2,
    formats=(".claude_export:ClaudeExport",),
)
GROK = Agent(
    name="grok-web",
    label="Grok",
    downloaded=True,
    files=(r"prod-grok-backend\.json", _ZIP),
    formats=(".grok_export:GrokExport",),
)
GEMINI = Agent(
    name="gemini-web",
    label="Gemini Apps",
    downloaded=True,
    files=(r"MyActivity\.json", r"[^/]*Gemini[^/]*/M[^/]*\.json", _ZIP),  # of Google Takeout
    formats=(".gemini_takeout:GeminiTakeout",),
    parser_version=2,
)
OPEN_WEBUI = Agent(
    name="open-webui",
    label="Open WebUI",
    downloaded=True,
    files=(r"(?:all-chats|archived-chat|chat)-export-\d+\.json", r"chat-[^/]*\.json"),
    databases=r"webui\.db",  # of a server on this machine
    parser_version=2,
    formats=(".open_webui:OpenWebUiExport", ".open_webui:OPEN_WEBUI_DATABASE"),
)
