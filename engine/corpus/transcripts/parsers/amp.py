"""Amp's threads: `~/.local/share/amp/threads/T-<id>.json`, one object each.

There is no published specification. Written from public source of programs that read them (agentsview of March 2026,
franken_agent_detection of February 2026): `messages` with blocks, tool results in the user's messages, the folder
in `env.initial.trees`, and times in `created`, in `meta.traces` and in the messages' `meta.sentAt`. Since spring 2026
the program stores threads on Amp's server alone (reports of users, notes of agentsview): newer ones can't be read.

Some threads list their requests in `usageLedger.events`, with the answers' cached tokens in `usage` (ccusage of June
2026); these numbers are used then.

With OpenAI's models, whose cache is written without a charge, `cacheCreationInputTokens` counts the whole uncached part
of the prompt (agentsview of August 2026).
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.formats import OBJECT, Conversation, DocumentFormat
from engine.corpus.transcripts.json_values import (
    content,
    items,
    mapping,
    member,
    objects,
    seconds,
    string,
    tool_input,
    uri_path,
)
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import BlockParser
from engine.corpus.transcripts.token_usage import Usage, tokens

_FAILED = ("cancelled", "error", "rejected-by-user")


class _Parser(BlockParser, kw_only=True):
    ledger: bool = False
    """Whether the thread lists its requests separately from its messages."""

    def message(self, value: Mapping[str, Any]) -> list[Message]:
        kind = value.get("role")
        if kind not in ("user", "assistant"):
            self.count_unknown(f"role {kind}" if isinstance(kind, str) else None)
            return []
        usage = mapping(value, "usage")
        if not self.ledger:
            self.use(usage.get("model"), _usage(usage))
        time = seconds(member(value, "meta", "sentAt"), usage.get("timestamp"))
        parts = self.blocks(value.get("content"), "assistant" if kind == "assistant" else "user")
        return self.next_message(parts, time=time)

    def failed(self, block: Mapping[str, Any]) -> bool:
        run = mapping(block, "run")
        return run.get("status") in _FAILED or super().failed(block)

    def result(self, block: Mapping[str, Any]) -> str:
        run = mapping(block, "run")
        result = run.get("result", block.get("output"))
        values = mapping(result)
        text = string(values, "output") or string(values, "content") or tool_input(result)
        failure = run.get("error")
        reason = string(failure) or string(failure, "message")
        return content(block, "content") or text or reason

    def requests_of(self, events: list[Any], messages: list[Any]) -> None:
        """Add the usage of the requests in a ledger; the answers have the cached tokens."""
        answers = {str(answer.get("messageId")): mapping(answer, "usage") for answer in map(mapping, messages)}
        for event in map(mapping, events):
            counts, model = mapping(event, "tokens"), event.get("model")
            listed = {"inputTokens": counts.get("input"), "outputTokens": counts.get("output"), "model": model}
            self.use(model, _usage({**answers.get(str(event.get("toMessageId")), {}), **listed}))


def _usage(counts: Mapping[str, Any]) -> Usage:
    names = "inputTokens", "outputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"
    sent, received, read, written = (tokens(counts.get(name)) for name in names)
    if string(counts, "model").startswith("gpt-") and written is not None:
        sent, written = (sent or 0) + written, None
    return Usage(sent, received, read, written)


class AmpThread(DocumentFormat):
    agent = "amp"
    opening = re.compile(OBJECT.pattern + rb'[^{}\[\]]*"id"\s*:\s*"T-')
    members = "messages"

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        for value in export_reader.conversations(path, cancel):
            ledger, entries = items(value, "usageLedger", "events"), items(value, "messages")
            parser = _Parser(metadata=_metadata(path, value), ledger=bool(ledger))
            messages = [message for entry in entries for message in parser.message(mapping(entry))]
            parser.requests_of(ledger, entries)
            metadata = parser.metadata
            traces = objects(value, "meta", "traces")
            times = [time for trace in traces if (time := seconds(trace.get("endTime"))) is not None]
            metadata.ended = max([metadata.ended, *times] if metadata.ended is not None else times, default=None)
            if messages:
                yield parser.conversation("", messages)
            return


def _metadata(path: str, value: Mapping[str, Any]) -> SessionMetadata:
    trees = items(value, "env", "initial", "trees")
    tree = mapping(trees[0] if trees else None)
    return SessionMetadata.of(
        string(value, "id") or os.path.basename(path).removesuffix(".json"),
        title=value.get("title"),
        project=uri_path(string(tree, "uri")) or string(tree, "displayName"),
        started=value.get("created"),
    )
