"""Reasonix: `~/.reasonix/sessions/<id>.jsonl`, `projects/<project>/sessions/<id>/<id>.jsonl` and `archive/<id>.jsonl`.

There is no published specification. Written from agentsview's reader (August 2026): each line is a message of the chat
completions API, without a time. `<id>.jsonl.meta` has title, folder, model and times. Tokens are not recorded.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from engine.corpus.transcripts.formats import LineFormat
from engine.corpus.transcripts.json_values import string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, ChatParser, sidecar

_KEYS = frozenset({"role", "content", "name", "reasoning_content", "tool_calls", "tool_call_id"})


class ReasonixParser(ChatParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        return self.next_message(self.chat_parts(value), line)


class ReasonixFormat(LineFormat):
    agent = "reasonix"
    parses = ReasonixParser
    speech_marks = (b'"role":"user"', b'"role":"assistant"')

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether all lines are bare messages, unlike the lines of any other agent."""
        return bool(values) and all(
            value.keys() <= _KEYS and string(value, "role") in ROLES and isinstance(value.get("content"), str | None)
            for value in values
        )

    def begin(self, path: str) -> ReasonixParser:
        about = sidecar(f"{path}.meta")
        metadata = SessionMetadata.of(
            os.path.basename(path).removesuffix(".jsonl"),
            title=about.get("topic_title"),
            project=about.get("workspace_root"),
            started=about.get("created_at"),
            ended=about.get("updated_at"),
        )
        parser = ReasonixParser(metadata=metadata)
        parser.use_model(about.get("model"))
        return parser
