"""Letta Code: `~/.letta/lc-local-backend/conversations/<session>/messages.jsonl`, or only transcripts.

Written from its public source (`local-transcript.ts`, autumn 2026) and a description of it. Sessions on this machine
consist of Pi's entries (`openclaw`). An entry whose message id was read before repeats that message, perhaps shortened.
Sessions on Letta's server have only `~/.letta/transcripts/<agent>/<session>/transcript.jsonl`: a line for
each text, or for a tool with its result, with the time of the turn; folders and models are not in it.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, digest, tool_call, tool_result
from engine.corpus.transcripts.json_values import seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import arguments
from engine.corpus.transcripts.parsers.claude_code import parts_of
from engine.corpus.transcripts.parsers.openclaw import OpenClawFormat, OpenClawParser

_AGENT = "letta"
_SESSION_ID, _ID = "local-conv-", "letta-msg-"
"""Prefixes of the ids of sessions, except agents' default sessions, and of messages."""
_KINDS = frozenset({"user", "assistant", "reasoning", "error", "tool_call"})


class LettaParser(OpenClawParser, kw_only=True):
    known: set[int] = msgspec.field(default_factory=set)
    """Digests of the ids of the messages read so far."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        if name := string(value, "message", "id"):
            number = digest(name)
            if number in self.known:
                return []
            self.known.add(number)
        return super().feed(value, line)

    def _user(self, message: Mapping[str, Any]) -> list[Part]:
        """Return the parts of a user's message; the program marks its reminders as Claude Code does."""
        blocks = self._blocks(message.get("content"), "user")
        return [part for block in blocks for part in (parts_of(block.text) if block.kind == "text" else [block])]


class LettaFormat(OpenClawFormat):
    """Format of the sessions on this machine."""

    agent = _AGENT
    parses = LettaParser
    speech_marks = (b'"role":"user","content":', b'"role":"assistant","content":[{"type":"text"')
    title_marks = ()

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return string(value, "id").startswith(_SESSION_ID) or string(value, "message", "id").startswith(_ID)

    def begin(self, path: str) -> LettaParser:
        return LettaParser(metadata=SessionMetadata.of(os.path.basename(os.path.dirname(path))))


class TranscriptParser(LineParser):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = string(value, "kind")
        if kind not in _KINDS:
            self.count_unknown(kind)
            return []
        id_ = string(value, "source_message_id")
        return self.next_message(_parts(kind, value), line, id=id_, time=seconds(value.get("captured_at")))


def _parts(kind: str, value: Mapping[str, Any]) -> Iterator[Part]:
    text = string(value, "text")
    if kind == "tool_call":
        name = string(value, "name")
        failed = value.get("resultOk") is False
        yield tool_call(arguments(string(value, "argsText")), name, failed=failed)
        yield tool_result(string(value, "resultText"), name, failed=failed)
    elif kind == "user":
        yield Part("user", "text", text)
    elif kind == "error":
        yield Part("system", "text", text)
    else:
        yield Part("assistant", "thinking" if kind == "reasoning" else "text", text)


class LettaTranscriptFormat(LineFormat):
    """Format of the transcripts of all sessions."""

    agent = _AGENT
    parses = TranscriptParser
    speech_marks = (b'"kind":"user"', b'"kind":"assistant"')

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return string(value, "kind") in _KINDS and "captured_at" in value

    def metadata(self, path: str) -> SessionMetadata:
        return SessionMetadata.of(os.path.basename(os.path.dirname(path)))
