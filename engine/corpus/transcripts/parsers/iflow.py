"""iFlow CLI: `~/.iflow/projects/<folder>/session-<id>.jsonl`, with lines like Claude Code's.

Written from the format reference of the reader Engram (July 2026, versions 0.3 to 1.0 of the program), which was made
from sessions and from the published bundle. Its lines differ from Claude Code's in two ways: `sessionId` is `session-`
and a UUID, as the name of the file is, and a tool result is an object with the response of Gemini's API.
"""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

from engine.corpus.transcripts.agents import UUID
from engine.corpus.transcripts.formats import Part
from engine.corpus.transcripts.json_values import mapping, string, tool_input
from engine.corpus.transcripts.messages import SessionMetadata
from engine.corpus.transcripts.parsers.claude_code import ClaudeCodeFormat, ClaudeCodeParser

_SESSION = re.compile(f"session-{UUID}")


class IflowParser(ClaudeCodeParser, kw_only=True):
    def _result(self, block: Mapping[str, Any], detail: object) -> Part:
        body = mapping(block, "content")
        response = mapping(body.get("responseParts") or body, "functionResponse")
        text = tool_input(response, "response") or string(body, "resultDisplay")
        return super()._result({**block, "content": text} if body else block, detail)


class IflowFormat(ClaudeCodeFormat):
    agent = "iflow"
    parses = IflowParser

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        return any(_SESSION.fullmatch(string(value, "sessionId")) for value in values) and super().matches(values)

    def begin(self, path: str) -> IflowParser:
        name = os.path.basename(path).removesuffix(".jsonl")
        known = name if _SESSION.fullmatch(name) else ""
        return IflowParser(metadata=SessionMetadata.of(known))
