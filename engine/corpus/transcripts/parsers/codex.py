"""Codex CLI's transcripts: `~/.codex/sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl` and `archived_sessions/`.

Written from its public source and descriptions of it, versions 0.1 (spring 2025) to 0.157 and the source of November
2026. Until September 2025 a file is a header and bare items without times; since then each line is an envelope of
time, type and payload. Some items have no type (the search tool cass reads them, August 2026): it is guessed from their
members. Rollouts unchanged for a week may be compressed (`jsonl`); names are in another file (`codex_names`). The same
words may come as an item of the model's history, as an event for the screen, or as both, far apart. The event
`thread_rolled_back` discards the last `num_turns` messages of the user and everything after them.

Since autumn 2026 `realtime_item` has the words of a spoken conversation, and the file of a sub-agent may begin with
lines of its caller's session, which are skipped. Programs, which call other tools, are followed by events with the
commands that they ran and the files that they changed; an event is read if the program computed its arguments.
A message that a schedule sent is marked in the item, which comes before its event. `history_base` names the file of the
session that a fork or a reverted session continues; the new totals of tokens include the totals in that file.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from engine.corpus.transcripts.codex_names import given_name, session_id
from engine.corpus.transcripts.formats import LineFormat, LineParser, Part, digest, tool_call, tool_result
from engine.corpus.transcripts.json_values import content, items, mapping, member, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.parsers.codex_injected_text import speech_of
from engine.corpus.transcripts.token_usage import Usage, counted
from engine.corpus.transcripts.tool_uses import patch_of, stored_path, uses_of

_ENVELOPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_IGNORED_ENVELOPES = frozenset(
    """inter_agent_communication_metadata retained_context security_risk_score token_usage_record world_state""".split()
)
_IGNORED_ITEMS = frozenset(
    """additional_tools compaction compaction_summary compaction_trigger configuration_update context_compaction
    ghost_snapshot other""".split()
)
_IGNORED_EVENTS = frozenset(
    """agent_reasoning_section_break background_event collab_agent_interaction_end collab_agent_spawn_end
    collab_close_end collab_resume_end collab_waiting_end context_compacted deprecation_notice
    dynamic_tool_call_request dynamic_tool_call_response entered_review_mode error exec_command_begin
    exec_command_end exited_review_mode guardian_assessment hook_completed image_generation_end injected_message
    mcp_tool_call_begin mcp_tool_call_end model_reroute patch_apply_begin patch_apply_end plan_update
    session_configured shutdown_complete stream_error sub_agent_activity task_complete task_started
    thread_goal_updated thread_settings_applied turn_aborted turn_complete turn_diff turn_started undo_completed
    view_image_tool_call warning web_search_begin web_search_end""".split()
)
_IGNORED_TURN_ITEMS = frozenset(
    """collabagenttoolcall contextcompaction dynamictoolcall extension hookprompt imagegeneration imageview
    mcptoolcall sleep subagentactivity websearch""".split()
)
_PROGRAM, _PROGRAM_CALL_PREFIX = "exec", "exec-"
"""Tool that runs a program, and the beginning of the ids of commands that such a program starts."""
_SCHEDULED = ["user.heartbeat"]
_REPEATING = frozenset({"compaction_output", "inherited_user_message"})
"""Marks of items that repeat another line: a summary, or messages of a sub-agent's caller."""
_HOUSEKEEPERS = frozenset({"compact", "memory_consolidation", "guardian"})
_COMPARED = 64 * 1024
_HEAD = 1000
"""Characters at the beginning of an output that say whether it failed."""
_UNDONE = ("declined", "failed")
_FAILURE = re.compile(
    r"""(?:(?:Chunk\ ID|Wall\ time)\b.*\n)*(?:Exit\ code:|Process\ exited\ with\ code)\ (?!0\b)-?\d
    |Script\ failed\b|aborted\b|apply_patch\ verification\ failed|patch\ rejected|exec\ command\ rejected
    |execution\ error:|failed\ to\ parse\ function\ arguments""",
    re.VERBOSE,
)
"""Matches the beginning of an output that reports a failure."""


def tool_given(arguments: object, *, structured: bool) -> str:
    """Return the input of a tool as text; a command given as a list of words is joined as in a shell."""
    if structured and isinstance(arguments, str):
        parsed = parse_line(arguments.encode(errors="replace"))
        arguments = arguments if parsed is None else parsed
    command = member(arguments, "command")
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        if len(command) == 3 and command[1] in {"-c", "-lc"}:
            return str(command[2])
        return shlex.join(command)
    return tool_input(arguments)


def result_text(item: Mapping[str, Any]) -> str:
    """Return the output of a tool: text, blocks, or the first version's text with the exit code."""
    if "output" not in item:
        return tool_input(item, "tools")
    output = item["output"]
    if isinstance(output, str) and output.startswith('{"output":'):
        output = (parse_line(output.encode(errors="replace")) or {}).get("output", output)
    if isinstance(output, dict):
        output = output["content"] if "content" in output else tool_input(output)
    return content(output)


def has_failed(item: Mapping[str, Any]) -> bool:
    """Return whether the output of a tool says that it failed: by a flag, an exit code, or its first words."""
    output = item.get("output", item)
    if isinstance(output, str) and output.startswith('{"output":'):
        output = parse_line(output.encode(errors="replace")) or output
    details = mapping(output)
    codes = (member(details, "metadata", "exit_code"), details.get("exit_code"))
    if details.get("success") is False or any(isinstance(code, int) and code for code in codes):
        return True
    return details.get("status") in _UNDONE or _FAILURE.match(content(output)[:_HEAD]) is not None


def item_type(item: Mapping[str, Any]) -> str:
    """Return the type of an item, or guess it by the item's members; empty if it isn't an item."""
    if "type" in item:
        return string(item["type"])
    if isinstance(item.get("role"), str) and isinstance(item.get("content"), str | list):
        return "message"
    if "call_id" not in item:
        return ""
    return "function_call_output" if "output" in item else "function_call" if "arguments" in item else ""


class CodexParser(LineParser, kw_only=True):
    """Parses one transcript of Codex CLI."""

    headed: bool = False
    """Whether the session's own header was read; a fork continues with the header of the session it copies."""
    original: str = ""
    """Id of the session that a fork's first lines are copied from; else the session's own id."""
    named: bool = False
    """Whether the title is from Codex's list of names, which takes precedence over the rollout."""
    side: bool = False
    based: bool = False
    """Whether the next total of tokens includes the tokens of the session that this one continues."""
    own: int = 0
    """Ordinal of the first line in a sub-agent's file that isn't copied from its caller's file."""
    prompts: list[int] = msgspec.field(default_factory=list)
    """Line numbers of the user's messages that were not rolled back."""
    model: str = ""
    spent: Usage = msgspec.field(default_factory=Usage)
    """Usage of the session so far: events have running totals, and repeat them."""
    ran: set[int] = msgspec.field(default_factory=set)
    """Digests of the commands and files in the programs since the user's last message."""
    unpaired: dict[int, int] = msgspec.field(default_factory=dict)
    """By digest of a text: how many more times it was an item than an event."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        kind, payload = string(value, "type"), value.get("payload")
        if not kind:
            return self._header(value, line)
        time = seconds(value.get("timestamp"))
        if not isinstance(payload, dict):
            return self._item(value, line, time)
        ordinal = value.get("ordinal")
        if self.own and isinstance(ordinal, int) and ordinal < self.own:
            self._read_copied_line(kind, payload)
            return []
        if kind == "response_item":
            marks = mapping(value, "metadata")
            return [] if any(marks.get(mark) is True for mark in _REPEATING) else self._item(payload, line, time)
        if kind == "event_msg":
            return self._event(payload, line, time)
        if kind == "inter_agent_communication":
            texts = [content(payload, "content")]
            return self._new_messages("assistant", "text", texts, line, time, event=True, side=True)
        if kind == "realtime_item":
            return self._spoken(payload, line, time)
        if kind == "compacted":
            summary = string(payload, "message")
            return self._add(Part("system", "text", summary), line, time) if summary else []
        if kind == "session_meta":
            self._meta(payload)
        elif kind == "turn_context":
            self.metadata.project = self.metadata.project or clean(payload, "cwd")
            self.model = clean(payload, "model") or self.model
            self.use_model(self.model)
        elif kind not in _IGNORED_ENVELOPES:
            self.count_unknown(kind)
        return []

    # --- the lines ---

    def _header(self, value: Mapping[str, Any], line: int) -> list[Message]:
        if item_type(value):
            return self._item(value, line, seconds(value.get("timestamp")))
        if isinstance(value.get("id"), str) and "timestamp" in value:
            self._meta(value)
        elif "record_type" not in value:
            self.count_unknown(None)
        return []

    def _meta(self, meta: Mapping[str, Any]) -> None:
        self.original = clean(string(meta, "id") or string(meta, "session_id")) or self.original
        if self.headed:
            return
        self.headed = True
        metadata = self.metadata
        metadata.id = clean(string(meta, "id") or string(meta, "session_id")) or metadata.id
        metadata.project = clean(meta, "cwd") or metadata.project
        metadata.branch = clean(meta, "git", "branch")
        metadata.started = seconds(meta.get("timestamp"))
        source = mapping(meta, "source")
        agent = source.get("subagent")
        spawned = mapping(agent, "thread_spawn")
        self.side = bool(agent)
        start = meta.get("subagent_history_start_ordinal")
        self.own = start if self.side and isinstance(start, int) and 0 < start < 2**53 else 0
        self.based = "history_base" in meta
        metadata.parent = clean(string(meta, "parent_thread_id") or string(spawned, "parent_thread_id"))
        purpose = string(agent) or string(agent, "other")
        metadata.generated = "internal" in source or purpose in _HOUSEKEEPERS

    def _read_copied_line(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Read the total of tokens in a line copied from the caller's session; the sub-agent's totals include it."""
        if kind == "event_msg" and payload.get("type") == "token_count":
            self.spent = _usage(payload, "total")

    def _item(self, item: Mapping[str, Any], line: int, time: float | None) -> list[Message]:
        kind, id = item_type(item), string(item, "id")
        if kind == "message":
            return self._message(item, line, time)
        if kind == "reasoning":
            thoughts = [content(part) for part in items(item, "summary") + items(item, "content")]
            return self._new_messages("assistant", "thinking", thoughts, line, time, id=id)
        if kind == "agent_message":
            return self._new_messages("assistant", "text", [content(item, "content")], line, time, id=id, side=True)
        if kind.endswith("_call"):
            return self._call(kind, item, line, time)
        if kind.endswith("_output"):
            call = string(item, "call_id")
            tool = self.calls.pop(clean(call), "") or string(item, "name")
            result = tool_result(result_text(item), tool, call, has_failed(item))
            return self._add(result, line, time, id)
        if kind not in _IGNORED_ITEMS:
            self.count_unknown(kind)
        return []

    def _message(self, item: Mapping[str, Any], line: int, time: float | None) -> list[Message]:
        role, id = string(item, "role"), string(item, "id")
        blocks = item.get("content")
        if role == "user":
            blocks = blocks if isinstance(blocks, list) else [blocks]
            if member(item, "internal_chat_message_metadata_passthrough", "content_item_kinds") == _SCHEDULED:
                return self._scheduled(speech_of(blocks).words, line, time, id)
            return self._user_messages(blocks, line, time, id=id)
        if role == "assistant":
            return self._agent(content(blocks), line, time, id=id)
        if role not in {"developer", "system"}:  # both are instructions
            self.count_unknown(f"message of {role or 'nobody'}")
        return []

    def _call(self, kind: str, item: Mapping[str, Any], line: int, time: float | None) -> list[Message]:
        id = string(item, "call_id")
        tool = string(item, "name") or kind.removesuffix("_call")
        if kind == "image_generation_call":
            arguments: object = item.get("revised_prompt")
        elif "action" in item:
            action = mapping(item, "action")
            arguments = {key: value for key, value in action.items() if key != "type" and value is not None}
        else:
            arguments = item.get("arguments", item.get("input"))
        if id:
            self.calls[clean(id)] = clean(tool)
        text = tool_given(arguments, structured=kind != "custom_tool_call")
        called = self._add(tool_call(text, tool, id), line, time, string(item, "id"))
        if tool == _PROGRAM:
            self.ran |= self._uses(called[0])
        return called

    def _nested_call(
        self, tool: str, text: str, line: int, time: float | None, item: Mapping[str, Any]
    ) -> list[Message]:
        """Return a command or patch that a program ran as a message, unless the text of the program shows all of it."""
        id = string(item, "id")
        message = Message("assistant", "tool-call", clean(text), line, 0, tool=tool)
        if not id.startswith(_PROGRAM_CALL_PREFIX) or self._uses(message) <= self.ran:
            return []
        return self._add(tool_call(text, tool, failed=has_failed(item)), line, time, id)

    def _uses(self, message: Message) -> set[int]:
        """Return digests of the commands that a tool call ran and of the files that it changed."""
        project = self.metadata.project
        done = (use for use in uses_of(message) if use.kind != "read")
        return {digest(use.value if use.kind == "command" else stored_path(use.value, project)) for use in done}

    def _spoken(self, item: Mapping[str, Any], line: int, time: float | None) -> list[Message]:
        """Return a part of a spoken conversation; its other items show where it begins and ends."""
        role = item.get("role")
        if item.get("type") != "transcript_segment" or role not in ("user", "assistant"):
            return []
        id = string(item, "id")
        if role == "user":
            return self._user_messages([item.get("text")], line, time, id=id, event=True)
        return self._agent(string(item, "text"), line, time, id=id, event=True)

    def _event(self, event: Mapping[str, Any], line: int, time: float | None) -> list[Message]:
        kind = string(event, "type")
        if kind == "user_message":
            images = *items(event, "images"), *items(event, "local_images")
            pictures = [{"type": "image", "image_url": image} for image in images]
            return self._user_messages([event.get("message"), *pictures], line, time, event=True)
        if kind == "agent_message":
            return self._agent(string(event, "message"), line, time, event=True)
        if kind in {"agent_reasoning", "agent_reasoning_raw_content"}:
            return self._new_messages("assistant", "thinking", [string(event, "text")], line, time, event=True)
        if kind == "item_completed":
            return self._turn_item(mapping(event, "item"), line, time)
        if kind == "thread_name_updated":
            self.metadata.title = self.metadata.title if self.named else one_line(event, "thread_name")
        elif kind == "token_count":
            self._count_tokens(_usage(event, "total"), _usage(event, "last"))
        elif kind == "thread_rolled_back":
            self._roll_back(event.get("num_turns"), line)
        elif kind not in _IGNORED_EVENTS:
            self.count_unknown(kind)
        return []

    def _roll_back(self, turns: object, line: int) -> None:
        """Mark the last turns as abandoned; if there are fewer, all."""
        if isinstance(turns, int) and turns > 0 and self.prompts:
            self.metadata.mark_abandoned(self.prompts[-turns:][0], line)
            del self.prompts[-turns:]

    def _count_tokens(self, now: Usage, last: Usage) -> None:
        if now.is_recorded:
            self.spent = now.beyond(last) if self.based else self.spent
            self.based = False
            restarted = (now.output or 0) < (self.spent.output or 0)
            # A fork repeats the events of the session that it continues, with other times.
            copied = f"{self.original} {msgspec.structs.astuple(now)}" if self.original else ""
            self.use(self.model, now if restarted else now.beyond(self.spent), copied=copied)
            self.spent = now

    def _turn_item(self, item: Mapping[str, Any], line: int, time: float | None) -> list[Message]:
        """Parse an event of "paginated" files, which replace the events for the screen."""
        kind, id = string(item, "type").replace("_", "").lower(), string(item, "id")
        if kind == "usermessage":
            return self._user_messages(items(item, "content"), line, time, id=id, event=True)
        if kind == "agentmessage":
            return self._agent(content(item, "content"), line, time, id=id, event=True)
        if kind == "plan":
            return self._new_messages("assistant", "text", [string(item, "text")], line, time, id=id, event=True)
        if kind == "reasoning":
            thoughts = [content(part) for part in items(item, "summary_text") + items(item, "raw_content")]
            return self._new_messages("assistant", "thinking", thoughts, line, time, id=id, event=True)
        if kind == "commandexecution":
            command = tool_given({"command": item.get("command")}, structured=False)
            return self._nested_call("shell", command, line, time, item)
        if kind == "filechange":
            return self._nested_call("apply_patch", patch_of(mapping(item, "changes")), line, time, item)
        if kind not in _IGNORED_TURN_ITEMS:
            # The case is as written, since patterns of secrets depend on it.
            self.count_unknown(f"item {string(item.get('type'))}")
        return []

    # --- results --------------

    def _user_messages(
        self, blocks: Sequence[object], line: int, time: float | None, *, id: str = "", event: bool = False
    ) -> list[Message]:
        speech = speech_of(blocks)
        self.metadata.project = self.metadata.project or clean(speech.folder)
        messages = self._new_messages(
            "user", "text", [speech.words], line, time, id=id, event=event, pictures=speech.pictures
        )
        if messages:
            self.prompts.append(line)
            self.ran = set()
        if speech.command is not None:
            failed = _FAILURE.match(speech.result[:_HEAD]) is not None
            messages += self._add(Part("user", "tool-call", speech.command, "shell", failed=failed), line, time, id)
            messages += self._add(tool_result(speech.result, "shell", failed=failed), line, time, id)
        for notice in speech.notices:
            messages += self._new_messages("system", "text", [notice], line, time, id=id, event=event)
        return messages

    def _scheduled(self, words: str, line: int, time: float | None, id: str) -> list[Message]:
        """Return a message that a schedule sent; its event repeats it as a message of the user."""
        fresh = self._is_fresh("user", "text", words, event=False)
        return self._add(Part("system", "text", words), line, time, id) if fresh else []

    def _agent(self, text: str, line: int, time: float | None, *, id: str = "", event: bool = False) -> list[Message]:
        """Return the agent's text as one message, and each plan in it as another, as the event for the screen does."""
        text = _cut(text, "oai-mem-citation")[0]
        words, plans = _cut(text, "proposed_plan")
        return self._new_messages("assistant", "text", [words, *plans], line, time, id=id, event=event)

    def _new_messages(  # noqa: PLR0913 - most are options, given by name
        self,
        role: Role,
        kind: Kind,
        texts: Sequence[str],
        line: int,
        time: float | None,
        *,
        id: str = "",
        event: bool = False,
        side: bool = False,
        pictures: Sequence[str] = (),
    ) -> list[Message]:
        """Return a message for each text that was not read before: Codex stores most twice, as item and as event."""
        fresh = [text for text in texts if (text.strip() or pictures) and self._is_fresh(role, kind, text, event)]
        self.ordinal += bool(fresh)
        return [
            self.part(
                role, kind, "\n".join(filter(None, [text, *pictures])), line, id=id, time=time, side=side or self.side
            )
            for text in fresh
        ]

    def _add(self, part: Part, line: int, time: float | None, id: str = "") -> list[Message]:
        self.ordinal += 1
        role, kind, text, tool, call, failed = part
        made = self.part(role, kind, text, line, id=id, time=time, tool=tool, side=self.side, call=call, failed=failed)
        return [made]

    def _is_fresh(self, role: Role, kind: Kind, text: str, event: bool) -> bool:
        words = f"{role} {kind} {''.join(text[:_COMPARED].split())}"
        number = digest(words)
        step = -1 if event else 1
        surplus = self.unpaired.pop(number, 0)
        if surplus + step:
            self.unpaired[number] = surplus + step
        return surplus * step >= 0


class CodexFormat(LineFormat):
    """Format of Codex CLI's sessions."""

    agent = "codex"
    parses = CodexParser
    speech_marks = (
        b'"role":"user","content":[{"type":"input_text"',
        b'"role":"assistant","content":[{"type":"output_text"',
    )
    title_marks = (b'"thread_name"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        kind = string(value, "type")
        if not kind:
            return value.get("record_type") == "state" or (
                isinstance(value.get("id"), str) and isinstance(value.get("timestamp"), str) and "instructions" in value
            )
        return kind in _ENVELOPES and isinstance(value.get("payload"), dict)

    def begin(self, path: str) -> CodexParser:
        title = given_name(path).name
        metadata = SessionMetadata(id=session_id(path), title=title)
        return CodexParser(metadata=metadata, named=bool(title))


def _usage(event: Mapping[str, Any], period: str) -> Usage:
    """Return the usage of a period from an event: the "total" of the session so far, or the "last" request."""
    counts = mapping(event, "info", f"{period}_token_usage")
    names = "input_tokens output_tokens cached_input_tokens cache_write_input_tokens"
    return counted(counts, names, with_cached=True)


def _cut(text: str, tag: str) -> tuple[str, list[str]]:
    """Return the text without elements of this tag, and the contents of these elements."""
    opening, closing = f"<{tag}>", f"</{tag}>"
    inside: list[str] = []
    while (start := text.find(opening)) >= 0 and (end := text.find(closing, start)) >= 0:
        inside.append(text[start + len(opening) : end].strip("\n"))
        text = text[:start] + text[end + len(closing) :]
    return (text.strip() if inside else text), inside
