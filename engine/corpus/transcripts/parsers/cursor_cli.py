"""Transcripts of Cursor's command line: `~/.cursor/projects/<project>/agent-transcripts/<id>/<id>.jsonl`.

There is no published specification. Written from public source of programs that read them (agentsview of March 2026,
claude-code-history-viewer of August 2026) and from descriptions of versions of February to September 2026: one message
per line, `role` and blocks in `message.content`, without ids, tool results and times, except for a time before the
user's own text. That is in `<user_query>`; Cursor inserted any other text of a user's message. A sub-agent's file is in
`<id>/subagents`. `.workspace-trusted` next to `agent-transcripts` names the folder. Transcripts before February 2026
are text (`cursor_text`).
"""

import os
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import LineFormat, Part, tool_result
from engine.corpus.transcripts.json_values import member, string
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import BlockParser

_TRANSCRIPTS, _PARTS = "agent-transcripts", "subagents"
_LONGEST_MANIFEST = 64 * 1024
_TYPED, _TYPED_END = "<user_query>", "</user_query>"
_TIME = re.compile(
    r"<timestamp>[A-Z][a-z]+, ([A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d [AP]M)"
    r" \(UTC(?:([+-]\d{1,2})(?::(\d\d))?)?\)</timestamp>\s*",
    re.ASCII,
)
_INSERTED = re.compile(r"\s*<[a-z_]+[ >]")
_REDACTED = "[REDACTED]"
_SILENT = frozenset({"turn_ended", "turn_id", "message_id"})


class CursorCliParser(BlockParser, kw_only=True):
    time: float | None = None
    """Time of the user's last message."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = value.get("role")
        if role not in ("user", "assistant"):
            if string(value, "type") not in _SILENT:
                self.count_unknown(role or value.get("type"))
            return []
        parts = self.blocks(member(value, "message", "content"), role)
        return self.next_message(parts, line=line, time=self.time if role == "user" else None)

    def _block(self, value: object, role: Role) -> Iterator[Part]:
        if member(value, "type") == "command_output":
            yield tool_result(string(value, "output"))
        else:
            yield from super()._block(value, role)

    def text(self, text: str, role: Role) -> Iterator[Part]:
        if role == "user":
            return self._typed(text)
        return super().text("" if text.strip() == _REDACTED else text.removesuffix(_REDACTED), role)

    def _typed(self, text: str) -> Iterator[Part]:
        """Yield the text that the user typed, and separately the text inserted around it."""
        if stated := _TIME.search(text[:4096]):
            self.time = _seconds(stated)
            text = text[: stated.start()] + text[stated.end() :]
        before, mark, rest = text.partition(_TYPED)
        typed, _, after = rest.partition(_TYPED_END)
        if not mark:
            yield Part("system" if _INSERTED.match(text) else "user", "text", text)
            return
        yield Part("user", "text", typed.strip("\n"))
        yield Part("system", "text", f"{before.strip()}\n{after.strip()}".strip())


def _seconds(stated: re.Match[str]) -> float | None:
    """Return the time in a mark such as `Monday, Aug 24, 2026, 3:01 PM (UTC-5)`; None if it isn't a date."""
    hours, minutes = int(stated[2] or 0), int(stated[3] or 0)
    try:
        offset = timedelta(hours=hours, minutes=-minutes if hours < 0 else minutes)
        zone = timezone(offset) if offset else UTC
        return datetime.strptime(stated[1], "%b %d, %Y, %I:%M %p").replace(tzinfo=zone).timestamp()
    except (ValueError, OverflowError):
        return None


class CursorCliFormat(LineFormat):
    agent = "cursor-cli"
    parses = CursorCliParser
    speech_marks = (
        b'{"role":"user","message":',
        b'{"role":"assistant","message":{"content":[{"type":"text"',
    )

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return (
            value.get("role") in ("user", "assistant")
            and isinstance(member(value, "message", "content"), str | list)
            and not value.keys() & {"type", "id", "sessionId"}
        )

    def metadata(self, path: str) -> SessionMetadata:
        return metadata_of(path)


def metadata_of(path: str) -> SessionMetadata:
    """Return the session's metadata in a file's path, and the folder of the project."""
    folder, name = os.path.split(path)
    metadata = SessionMetadata.of(name.partition(".")[0])
    if os.path.basename(folder) == _PARTS:
        metadata.parent = clean(os.path.basename(os.path.dirname(folder)))
    parts = folder.split(os.sep)
    if _TRANSCRIPTS in parts:
        project = os.sep.join(parts[: parts.index(_TRANSCRIPTS)])
        trusted = parse_line(first_bytes(os.path.join(project, ".workspace-trusted"), _LONGEST_MANIFEST))
        metadata.project = clean(string(trusted, "workspacePath") or os.path.basename(project))
    return metadata
