"""Claude Code's transcripts: `~/.claude/projects/<project>/<session>.jsonl` and its sub-agents' `agent-<id>.jsonl`.

There is no published specification. Written from public descriptions of what versions 1.0 (2025) to 2.1 (autumn 2026)
write: a line an event, of a message one line a block, with `uuid`, `sessionId`, `cwd` and `gitBranch` on each.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any

import msgspec

from engine.base.bounded_json import decode_json
from engine.corpus.transcripts.claude_code_injected import Part, parts_of
from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.json_values import content, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Message, Role, SessionFacts, clean, one_line

_TITLES = {  # type of line: (rank, key); a higher rank wins, of equal ones the last
    "custom-title": (4, "customTitle"),
    "ai-title": (3, "aiTitle"),
    "agent-name": (2, "agentName"),
}
_SUMMARY_RANK = 1

_PASSED_OVER = frozenset(
    """agent-color agent-setting atis-latch attribution-snapshot bridge-session checkpoint content-replacement
    cost-state file-history-delta file-history-snapshot invoked-skills last-prompt mode permission-mode pr-link
    progress queue-operation speculation-accept system tag task-summary worktree-state""".split()
)

_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Sub-agents that the program starts for itself: to compact, to guess the next prompt, to warm its cache.
_HOUSEKEEPERS = ("agent-acompact", "agent-aprompt_suggestion")
_WARM_UP = "Warmup"


class ClaudeCodeParser(LineParser, kw_only=True):
    """Reads one transcript of Claude Code, a session's or a sub-agent's."""

    agent_file: bool = False
    """The whole file is a sub-agent's."""
    title_rank: int = 0
    seen: set[int] = msgspec.field(default_factory=set)
    """Digests of the lines' ids: a resumed or forked session may hold a line again."""
    summaries: dict[int, str] = msgspec.field(default_factory=dict)
    """Of lines that did not come yet. (Older versions put summaries of other sessions into a file.)"""
    calls: dict[str, str] = msgspec.field(default_factory=dict)
    """Names of the tools called, by the id of the call, until its result comes."""
    answer: str = ""
    """Id of the assistant's message that came last; its next block is on the next line."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind = string(value.get("type"))
        if kind in {"user", "assistant", "attachment"}:
            self._take_place(value)
            if self._is_again(value.get("uuid")):
                return []
            if kind == "user":
                return self._emit(self._of_user(value), value, line)
            if kind == "assistant":
                return self._emit(
                    self._of_assistant(value), value, line, string(mapping(value.get("message")).get("id"))
                )
            return self._emit(self._of_attachment(value), value, line)
        if kind in _TITLES:
            rank, key = _TITLES[kind]
            self._take_title(rank, string(value.get(key)))
        elif kind == "summary":
            self._take_summary(string(value.get("leafUuid")), string(value.get("summary")))
        elif kind not in _PASSED_OVER:
            self.count_unknown(kind)
        return []

    def _emit(self, parts: Iterator[Part], value: Mapping[str, Any], line: int, answer: str = "") -> list[Message]:
        """The parts as one message, or as further parts of the message that the line before was of."""
        side = self.agent_file or value.get("isSidechain") is True
        time = seconds(value.get("timestamp"))
        uuid = string(value.get("uuid"))
        messages: list[Message] = []
        for part in parts:
            if not messages:
                self.ordinal += not answer or clean(answer) != self.answer
                self.answer = clean(answer)
            messages.append(
                self.part(part.role, part.kind, part.text, line, id=uuid, time=time, tool=part.tool, side=side)
            )
        return messages

    # --- whose words they are ---

    def _of_user(self, value: Mapping[str, Any]) -> Iterator[Part]:
        spoken: list[str] = []
        pictures: list[str] = []
        for block in self._blocks(value):
            kind = string(block.get("type"))
            if kind == "text":
                spoken.append(string(block.get("text")))
            elif kind in {"image", "document"}:
                pictures.append(content(block))
            elif kind.endswith("tool_result"):
                yield self._result(block, value.get("toolUseResult"))
            else:
                self.count_unknown(f"block {kind}")
        if value.get("isMeta") is True:
            return
        if value.get("isCompactSummary") is True or not _is_persons(value):
            yield from (Part("system", "text", text) for text in spoken if text.strip())
            return
        parts = [part for text in spoken for part in parts_of(text)]
        if pictures:
            if parts and parts[-1].role == "user" and parts[-1].kind == "text":
                pictures.insert(0, parts.pop().text)
            parts.append(Part("user", "text", "\n".join(pictures)))
        if self.agent_file and self.ordinal == 0 and any(part.text.strip() == _WARM_UP for part in parts):
            self.facts.generated = True
        yield from parts

    def _of_assistant(self, value: Mapping[str, Any]) -> Iterator[Part]:
        made_up = mapping(value.get("message")).get("model") == "<synthetic>" or value.get("isApiErrorMessage") is True
        role: Role = "system" if made_up else "assistant"
        for block in self._blocks(value):
            kind = string(block.get("type"))
            if kind in {"text", "thinking"}:
                text = string(block.get(kind))
                if text.strip():
                    yield Part(role, "text" if kind == "text" else "thinking", text)
            elif kind == "image":
                yield Part(role, "text", content(block))
            elif kind.endswith("tool_use"):
                tool = clean(string(block.get("name")))
                self.calls[clean(string(block.get("id")))] = tool
                yield Part(role, "tool-call", tool_input(block.get("input")), tool)
            elif kind.endswith("tool_result"):
                yield self._result(block, None)
            elif kind != "redacted_thinking":
                self.count_unknown(f"block {kind}")

    def _of_attachment(self, value: Mapping[str, Any]) -> Iterator[Part]:
        """What the person typed while the agent worked is an attachment, and never a line of the user's."""
        attachment = mapping(value.get("attachment"))
        if attachment.get("type") != "queued_command" or attachment.get("isMeta") is True:
            return
        text = content(attachment.get("prompt"))
        if attachment.get("commandMode") in (None, "prompt") and _is_persons(attachment):
            yield from parts_of(text)
        elif text.strip():
            yield Part("system", "text", text)

    def _blocks(self, value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        held = mapping(value.get("message")).get("content")
        if not isinstance(held, str | list):
            self.count_unknown(f"{value.get('type')} without content")
        for block in held if isinstance(held, list) else [held]:
            if isinstance(block, str):
                yield {"type": "text", "text": block}
            elif isinstance(held, list):
                yield mapping(block)

    def _result(self, block: Mapping[str, Any], detail: object) -> Part:
        text = content(block.get("content"))
        if not text:
            found = mapping(detail)
            text = string(detail) or content([string(found.get("stdout")), string(found.get("stderr"))])
        return Part("tool", "tool-result", text, self.calls.pop(clean(string(block.get("tool_use_id"))), ""))

    # --- what is known about the session ---

    def _take_place(self, value: Mapping[str, Any]) -> None:
        """The session's id, folder and branch: the first that a line names."""
        facts = self.facts
        session = clean(string(value.get("sessionId")))
        if not facts.id:
            agent = clean(string(value.get("agentId")))
            self.agent_file = bool(agent) and value.get("isSidechain") is True
            facts.id = f"agent-{agent}" if self.agent_file else session
        if self.agent_file:
            facts.parent = facts.parent or session
        facts.project = facts.project or clean(string(value.get("cwd")))
        facts.branch = facts.branch or clean(string(value.get("gitBranch")))

    def _take_title(self, rank: int, title: str) -> None:
        title = one_line(title)
        if title and rank >= self.title_rank:
            self.title_rank = rank
            self.facts.title = title

    def _take_summary(self, leaf: str, summary: str) -> None:
        """A summary says by a message of it which session it sums up."""
        if _digest(leaf) in self.seen:
            self._take_title(_SUMMARY_RANK, summary)
        elif leaf:
            self.summaries[_digest(leaf)] = one_line(summary)

    def _is_again(self, uuid: object) -> bool:
        if not isinstance(uuid, str) or not uuid:
            return False
        digest = _digest(uuid)
        if digest in self.seen:
            return True
        self.seen.add(digest)
        if digest in self.summaries:
            self._take_title(_SUMMARY_RANK, self.summaries.pop(digest))
        return False


class ClaudeCodeFormat:
    """Claude Code's sessions and sub-agents."""

    agent = "claude-code"
    speech_marks: tuple[bytes, ...] = (
        b'"message":{"role":"user","content":"',
        b'"content":[{"type":"text","text":"',
    )
    title_marks: tuple[bytes, ...] = (b'Title"', b'"summary"', b'"agentName"')

    def matches(self, values: Sequence[Mapping[str, Any]]) -> bool:
        return any(map(_is_line, values))

    def parser(self, path: str) -> ClaudeCodeParser:
        name = os.path.basename(path).split(".", 1)[0]
        parser = ClaudeCodeParser(facts=SessionFacts(agent=self.agent))
        if name.startswith("agent-"):
            parser.agent_file = True
            parser.facts.generated = name.startswith(_HOUSEKEEPERS)
        if parser.agent_file or _UUID.fullmatch(name):
            parser.facts.id = clean(name)
        return parser

    def resume(self, state: bytes) -> ClaudeCodeParser:
        return decode_json(state, ClaudeCodeParser)


def _is_line(value: Mapping[str, Any]) -> bool:
    kind = string(value.get("type"))
    if kind in {"user", "assistant"}:
        identified = isinstance(value.get("sessionId"), str) and isinstance(value.get("uuid"), str)
        return identified and "content" in mapping(value.get("message"))
    if kind == "summary":
        return isinstance(value.get("leafUuid"), str)
    if kind == "file-history-snapshot":
        return isinstance(value.get("messageId"), str)
    named = kind in _TITLES or kind in _PASSED_OVER or kind == "attachment"
    return named and isinstance(value.get("sessionId"), str)


def _is_persons(value: Mapping[str, Any]) -> bool:
    """Unless the line says that someone else wrote it: a task that ended, another session, a channel."""
    return mapping(value.get("origin")).get("kind") in (None, "human")


def _digest(uuid: str) -> int:
    return int.from_bytes(blake2b(uuid.encode(errors="replace"), digest_size=7).digest())
