"""Transcripts of Cursor before February 2026, which are text: `agent-transcripts/<id>.txt` or `<id>/<id>.txt`.

There is no published specification. Written from public source of programs that read them (agentsview, August 2026):
lines `user:` and `assistant:` begin messages; in the assistant's, `[Thinking]`, `[Tool call] <name>` and
`[Tool result]` begin parts, whose other lines are indented. A tool's input is JSON, or a line `name=value` for each
argument. If there is also a transcript in JSON, only that one is read.
"""

import os
import re
import textwrap
from collections.abc import Iterator, Sequence

from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, Part
from engine.corpus.transcripts.json_values import tool_input
from engine.corpus.transcripts.messages import Kind, Message, Role
from engine.corpus.transcripts.parsers.cursor_cli import CursorCliParser, metadata_of

_BLOCK = 256 * 1024
_LINES_BETWEEN_CHECKS = 1000
_MAX_TEXT = 64 * 1024**2
"""Maximum number of bytes of a transcript, which is held in memory as a whole."""
_SPEAKER = re.compile(rb"\A(?:\xef\xbb\xbf)?\s*(?:user|assistant):[ \t]*\r?\n")
_ROLES: dict[str, Role] = {"user:": "user", "assistant:": "assistant"}
_MARK = re.compile(r"\s*\[(Thinking|Tool call|Tool result)\](.*)")
_KINDS: dict[str, tuple[Role, Kind]] = {
    "Thinking": ("assistant", "thinking"),
    "Tool call": ("assistant", "tool-call"),
    "Tool result": ("tool", "tool-result"),
}
_ARGUMENT = re.compile(r"(\w+)=(.*)")


class CursorText(DocumentFormat):
    agent = "cursor-cli"

    def matches(self, path: str, head: bytes) -> bool:
        stem, end = os.path.splitext(path)
        return end == ".txt" and bool(_SPEAKER.match(head)) and not os.path.exists(f"{stem}.jsonl")

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        parser = CursorCliParser(metadata=metadata_of(path))
        messages: list[Message] = []
        role: Role | None = None
        lines: list[str] = []
        for number, line in enumerate(_lines(path, parser)):
            if cancel and number % _LINES_BETWEEN_CHECKS == 0:
                cancel.checkpoint()
            speaker = _ROLES.get(line.rstrip())  # indented lines belong to tools
            if speaker is None:
                lines.append(line)
                continue
            messages += _message(parser, role, lines)
            role, lines = speaker, []
        messages += _message(parser, role, lines)
        if messages:
            yield parser.conversation("", messages)


def _lines(path: str, parser: CursorCliParser) -> Iterator[str]:
    """Yield the lines of a file without their ends, long ones in pieces. Raises OSError."""
    size = 0
    with open_binary(path) as file:
        while line := file.readline(_BLOCK):
            size += len(line)
            if size > _MAX_TEXT:
                parser.count_unknown("rest of a session that is too long")
                return
            yield line.decode("utf-8-sig", "replace").rstrip("\r\n")


def _message(parser: CursorCliParser, role: Role | None, lines: Sequence[str]) -> list[Message]:
    """Return the message with these lines; lines before the first speaker belong to no message."""
    if role == "user":
        parts = parser.blocks("\n".join(lines).strip(), role)  # may state the time
        return parser.next_message(parts, time=parser.time)
    return parser.next_message(list(_parts(lines))) if role else []


def _parts(lines: Sequence[str]) -> Iterator[Part]:
    """Yield the parts of a message of the assistant."""
    pieces: list[tuple[Role, Kind, str, list[str]]] = [("assistant", "text", "", [])]
    for line in lines:
        if mark := _MARK.fullmatch(line):
            named = mark[2].strip()
            thinking = mark[1] == "Thinking"
            pieces.append((*_KINDS[mark[1]], "" if thinking else named, [named] if thinking else []))
        elif pieces[-1][1] != "text" and line[:1] not in ("", " ", "\t"):
            pieces.append(("assistant", "text", "", [line]))
        else:
            pieces[-1][3].append(line)
    for role, kind, tool, held in pieces:
        text = textwrap.dedent("\n".join(held)).strip() if kind != "text" else "\n".join(held).strip()
        yield Part(role, kind, (_input(text) or tool) if kind == "tool-call" else text, tool)


def _input(text: str) -> str:
    """Return the input of a tool as for other agents: JSON, or its only argument."""
    found = [_ARGUMENT.fullmatch(line) for line in text.splitlines() if line.strip()]
    arguments = {name[1]: name[2] for name in found if name}
    return tool_input(arguments) if found and len(arguments) == len(found) else text
