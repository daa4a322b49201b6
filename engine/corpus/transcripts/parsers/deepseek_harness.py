"""DeepSeek Harness: `~/.dsh/sessions/<project>/<id>/session.jsonl.zstd`, or the same lines uncompressed.

Written from agentsview's reader (August 2026) and descriptions of the format's versions 0 to 4 (autumn 2026): a header
with id, folder, start and a sub-agent's parent session, then events with a number, a time in milliseconds and `data`.
Events whose `surfaceOp` is not "append" only replace messages in the model's context, and are skipped, as are the
pieces of a streamed answer. `request/header` names the model. Version n is in `session.v<n>.jsonl.zstd`.
"""

import os
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import LineFormat, Part
from engine.corpus.transcripts.json_values import content, mapping, seconds, string
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import SdkParser
from engine.corpus.transcripts.token_usage import counted

_MESSAGES = frozenset({"user/message", "assistant/message", "tool/result"})
_IGNORED = frozenset(
    """agent-preset/selected agent/inbox/spliced approval/asked approval/decided approval/policy assistant/chunk
    command/done command/run compaction/end compaction/prune compaction/start developer/message feedback/record
    goal/change hook/invoked hook/result llm/retry llm/retry-started permission/preset plan/mode
    reasoning-chunks request/context sandbox/mode schedule/change session/end-seed session/title-llm-request
    step/end step/start subagent/descriptor system/message text-chunks todo/write tool-call-chunks
    tool-workflow/agent-end tool-workflow/agent-start tool-workflow/run-end tool-workflow/run-start tool/call
    tool/code-dispatch tool/code-dispatch-start turn/end turn/start web/deepseek-search-llm-request""".split()
)


class HarnessParser(SdkParser, kw_only=True):
    model: str = ""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, data = string(value, "type"), mapping(value, "data")
        time = seconds(value.get("time"))
        if kind in _MESSAGES:
            if value.get("surfaceOp", "append") != "append":
                return []
            return self._message(mapping(data, "message") or data, data.get("usage"), line, time)
        if kind == "compaction/summary":
            self._count(data.get("model"), data.get("usage"))
            return self.next_message([Part("system", "text", content(data, "summary"))], line=line, time=time)
        if kind == "session/title":
            self.metadata.title = one_line(data, "title") or self.metadata.title
        elif kind == "request/header":
            config = mapping(data, "header", "config")
            self.model = clean(config, "model") or self.model
            self.use_model(self.model)
        elif kind == "session":
            self._begin(value)
        elif kind not in _IGNORED:
            self.count_unknown(kind)
        return []

    def _begin(self, header: Mapping[str, Any]) -> None:
        metadata = self.metadata
        metadata.id = clean(header, "id") or metadata.id
        metadata.project = clean(header, "cwd")
        metadata.started = seconds(header.get("createdAt"))
        if header.get("origin") == "subagent":  # a fork also names another session, which it copies
            metadata.parent = clean(header, "parentSession")

    def _message(self, message: Mapping[str, Any], usage: object, line: int, time: float | None) -> list[Message]:
        source = mapping(message, "source")
        self._count(source.get("model"), usage)
        role: Role = "assistant" if message.get("role") == "assistant" else "user"
        if role == "user" and source.get("kind") not in (None, "user", "human", "tool"):
            role = "system"
        return self.next_message(
            self.blocks(message.get("content"), role), line=line, id=string(message, "id"), time=time
        )

    def text(self, text: str, role: Role) -> Iterator[Part]:
        """Yield the text of a block; reminders that the program inserts have the user's role."""
        yield Part("system" if role == "user" and text.lstrip().startswith("<system-reminder") else role, "text", text)

    def _count(self, model: object, usage: object) -> None:
        names = "inputTokens outputTokens+reasoningTokens cacheReadTokens cacheWriteTokens"
        self.use(string(model) or self.model, counted(usage, names))


class HarnessFormat(LineFormat):
    agent = "deepseek-harness"
    parses = HarnessParser
    speech_marks = (b'"type":"user/message"', b'"type":"assistant/message"')
    title_marks = (b'"session/title"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return value.get("type") == "session" and "delegationDepth" in value

    def metadata(self, path: str) -> SessionMetadata:
        return SessionMetadata.of(os.path.basename(os.path.dirname(path)))
