"""Qwen Code: `~/.qwen/projects/<folder>/chats/<session>.jsonl`, since version 0.2 of November 2025.

Written from its public source (`chatRecordingService.ts`, autumn 2026) and from the reader of
claude-code-history-viewer (August 2026). `QWEN_RUNTIME_DIR` or `QWEN_HOME` names another folder than `~/.qwen`. A line
is a record with `uuid`, `sessionId`, `cwd` and `gitBranch`; its `message` has the parts of Gemini's API. Records of the
type "system" have a `subtype` and a `systemPayload`; a `rewind` discards all records after the one that it names as its
parent. Since autumn 2026 a session may be run by another engine: its lines have a `managedSession` instead, whose
events name files below `~/.qwen/resources/<session>`, each with a record as above, or with a list of files that have
its bytes (`managed-runtime/managed-session-resources.ts`, `managed-message-chunks.ts`). Older versions recorded
documents below `~/.qwen/tmp` as Gemini CLI did (tests of coding_agent_session_search, August 2026): there the folder
identifies the agent.
"""

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts.formats import LineFormat, Part, digest, tool_result
from engine.corpus.transcripts.json_values import items, mapping, member, seconds, string
from engine.corpus.transcripts.jsonl import LONGEST_LINE, parse_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.parsers.gemini import FAILED, GeminiDocument, GeminiParser
from engine.corpus.transcripts.token_usage import Usage, add_counts, gemini_usage

_AGENT = "qwen"
_FOLDER = re.compile(r"[/\\]\.qwen[/\\]")
_TYPES = frozenset({"user", "assistant", "tool_result", "system"})
_SILENT = frozenset(
    """agent_bootstrap agent_retry agent_session_ready at_command attribution_snapshot branch_checkpoint
    chat_compression custom_title file_history_snapshot goal_runtime goal_state goal_turn_end omni_recall
    parent_session rewind session_approval_mode session_artifact_event session_artifact_snapshot
    session_execution_engine session_model session_notes session_source session_sources_snapshot slash_command
    turn_result ui_telemetry user_text_elements""".split()
)
"""Subtypes of records that the program writes; only some contain text or metadata."""
_SUMMARY = "<state_snapshot>"
"""Begins the summary that replaced the messages so far; quick compressions have none, and only shorten messages."""
_USER_SUBTYPES = frozenset({"", "mid_turn_user_message", "realtime_message"})
"""Subtypes of records with the user's words; others are notifications, scheduled prompts and prompts of agents."""
_MANAGED = "managedSession"
_MANAGED_SUBTYPES = frozenset({"managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1"})
_CHUNKS = "managed-message-chunks"
_MAX_CHUNKS, _LONGEST_RESOURCE = 1000, 8 * 1024**2
_FILE_NAME = re.compile(r"[0-9A-Za-z_-][0-9A-Za-z_.-]{0,200}")


class QwenParser(GeminiParser, kw_only=True):
    title_given: bool = False
    """Whether the title was given by the user, not generated."""
    records: dict[int, int] = msgspec.field(default_factory=dict)
    """Line of each record, by the digest of its id."""
    resources: str = ""
    """Folder with the records of a managed session."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        if string(value, "subtype") in _MANAGED_SUBTYPES:
            return self._managed(mapping(value, _MANAGED), line)
        kind, payload = string(value, "type"), mapping(value, "systemPayload")
        if kind not in _TYPES:
            self.count_unknown(kind)
            return []
        self._read_session_info(value)
        self.records[digest(string(value, "uuid"))] = line
        if value.get("subtype") == "rewind":
            self._rewound(value.get("parentUuid"), line)
        if kind == "assistant":
            self.use(value.get("model"), _usage(value.get("usageMetadata")), request=string(value, "uuid"))
        if kind == "system":
            parts = self._system_parts(string(value, "subtype"), payload)
        elif kind == "user":
            parts = self._user_parts(value, payload)
        else:
            parts = self._record_parts(value, "assistant" if kind == "assistant" else "tool")
        side = value.get("isSidechain") is True
        time, id_ = seconds(value.get("timestamp")), string(value, "uuid")
        return self.next_message(list(parts), line, id=id_, time=time, side=side)

    def _managed(self, event: Mapping[str, Any], line: int) -> list[Message]:
        """Return the messages of the record that an event of a managed session names."""
        kind, payload = event.get("kind"), mapping(event, "payload")
        if kind == "message.committed":
            record = self._resource(mapping(payload, "contentRef"))
            if string(record, "type") in _TYPES and string(record, "subtype") not in _MANAGED_SUBTYPES:
                return self.feed(record, line)
            self.count_unknown("missing message")
        elif kind == "domain.committed" and payload.get("domain") == "session_metadata":
            about = self._resource(mapping(payload, "recordRef"))
            self._take_title(about.get("title"), by_user=about.get("titleSource") != "auto")
        return []

    def _resource(self, reference: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the object in a file that a managed session names; empty if it can't be read."""
        named = self._resource_bytes(reference)
        if reference.get("kind") == _CHUNKS:
            parts = items(parse_line(named), "parts")[:_MAX_CHUNKS]
            joined = bytearray()
            for part in map(mapping, parts):
                joined += self._resource_bytes(part)
                if len(joined) > LONGEST_LINE:
                    return {}
            named = bytes(joined)
        return parse_line(named) or {}

    def _resource_bytes(self, reference: Mapping[str, Any]) -> bytes:
        names = string(reference, "kind"), string(reference, "resourceId")
        if not self.resources or not all(map(_FILE_NAME.fullmatch, names)):
            return b""
        return first_bytes(os.path.join(self.resources, *names), _LONGEST_RESOURCE)

    def _take_title(self, value: object, *, by_user: bool) -> None:
        title = one_line(value)
        if title and (by_user or not self.title_given):
            self.metadata.title, self.title_given = title, by_user

    def _rewound(self, parent: object, line: int) -> None:
        """Mark all records after the parent of a rewind as abandoned; without a parent, all."""
        last = 0 if parent is None else self.records.get(digest(string(parent)))
        if last is not None:
            self.metadata.mark_abandoned(last + 1, line)

    def _read_session_info(self, value: Mapping[str, Any]) -> None:
        metadata = self.metadata
        metadata.id = clean(value, "sessionId") or metadata.id
        metadata.project = metadata.project or clean(value, "cwd")
        metadata.branch = metadata.branch or clean(value, "gitBranch")

    def _system_parts(self, subtype: str, payload: Mapping[str, Any]) -> Iterator[Part]:
        if subtype == "custom_title":
            self._take_title(payload.get("customTitle"), by_user=payload.get("titleSource") != "auto")
        elif subtype == "parent_session":
            self.metadata.parent = clean(payload, "parentSessionId")
        elif subtype == "slash_command" and payload.get("phase") == "invocation":
            yield Part("system", "text", string(payload, "rawCommand"))
        elif subtype == "chat_compression":
            kept = mapping(next(iter(items(payload, "compressedHistory")), None))
            parts = (string(part, "text") for part in items(kept, "parts"))
            yield from (Part("system", "text", text) for text in parts if _SUMMARY in text)
        elif subtype not in _SILENT:
            self.count_unknown(f"system {subtype}")

    def _user_parts(self, value: Mapping[str, Any], payload: Mapping[str, Any]) -> Iterator[Part]:
        """Yield the user's words; if the program expanded them, both as typed and as sent."""
        own = string(value, "subtype") in _USER_SUBTYPES and value.get("provenance") in (None, "real_user")
        typed = string(payload, "displayText") if own else ""
        if typed:
            yield Part("user", "text", typed)
        for part in self._record_parts(value, "user"):
            if part.role == "user" and (typed or not own):
                if part.text.strip() != typed.strip():
                    yield part._replace(role="system")
            else:
                yield part

    def _record_parts(self, value: Mapping[str, Any], role: Role) -> Iterator[Part]:
        parts = self._parts(member(value, "message", "parts"), role)
        if role != "tool":
            yield from parts
            return
        result = mapping(value, "toolCallResult")
        id, failed = string(result, "callId"), result.get("status") in FAILED
        if not any(part.text.strip() for part in parts):
            parts = [tool_result(string(result, "resultDisplay"), call=id)]
        yield from (part._replace(call=part.call or id, failed=part.failed or failed) for part in parts)


def _usage(value: object) -> Usage:
    """Convert the token counts of an answer.

    Providers with OpenAI's API count the tokens of thoughts in `candidatesTokenCount` already, so they aren't added.
    """
    counts = mapping(value)
    sent_and_received = add_counts(counts.get("promptTokenCount"), counts.get("candidatesTokenCount"))
    within = sent_and_received is not None and sent_and_received == counts.get("totalTokenCount")
    return gemini_usage({**counts, "thoughtsTokenCount": None} if within else counts)


class QwenFormat(LineFormat):
    agent = _AGENT
    parses = QwenParser
    speech_marks = (
        b'"role":"user","parts":[{"text":"',
        b'"role":"model","parts":[{"text":"',
    )
    title_marks = (b'"custom_title"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        kind = value.get("type")
        if not isinstance(value.get("sessionId"), str) or not isinstance(value.get("uuid"), str):
            return False
        if kind == "system":
            payload = value.get("systemPayload", value.get("managedSession"))
            return isinstance(value.get("subtype"), str) and isinstance(payload, dict)
        return kind in ("user", "assistant", "tool_result") and isinstance(member(value, "message", "parts"), list)

    def begin(self, path: str) -> QwenParser:
        name = os.path.basename(path).removesuffix(".jsonl")
        base = Path(path).parents[3:4]  # of projects/<folder>/chats/<session>.jsonl
        resources = os.path.join(base[0], "resources", name) if base else ""
        return QwenParser(metadata=SessionMetadata.of(name), resources=resources)


class QwenDocument(GeminiDocument):
    """Format of the first versions' sessions, and of histories saved with `/chat save`."""

    agent = _AGENT

    def matches(self, path: str, head: bytes) -> bool:
        return _FOLDER.search(path) is not None and super().matches(path, head)
