"""Every transcript format that is known: add a module, then its format here."""

from engine.corpus.transcripts.chatgpt import ChatGptExport
from engine.corpus.transcripts.claude_code import ClaudeCodeFormat
from engine.corpus.transcripts.claude_export import ClaudeExport
from engine.corpus.transcripts.codex import CodexFormat
from engine.corpus.transcripts.formats import DatabaseFormat, DocumentFormat, LineFormat
from engine.corpus.transcripts.gemini import GeminiDocument, GeminiLines
from engine.corpus.transcripts.openclaw import OpenClawFormat
from engine.corpus.transcripts.opencode import OpencodeDocument
from engine.corpus.transcripts.opencode_database import OpencodeDatabase

LINE_FORMATS: tuple[LineFormat, ...] = (CodexFormat(), ClaudeCodeFormat(), GeminiLines(), OpenClawFormat())
"""In the order in which they are tried: those with the surest marks first."""
DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = (ChatGptExport(), ClaudeExport(), GeminiDocument(), OpencodeDocument())
DATABASE_FORMATS: tuple[DatabaseFormat, ...] = (OpencodeDatabase(),)
