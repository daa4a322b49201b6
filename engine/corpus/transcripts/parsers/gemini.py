"""Gemini CLI: recorded sessions, as lines of JSON or as one document, and histories saved with `/chat save`.

Written from its public source and documentation up to September 2026:

* `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`, since spring 2026: a line of metadata, then messages, lines
  with `$set` that change the metadata, and `$rewindTo`. A message is written again, whole, after its tool calls: only
  its new parts are returned then. `$rewindTo` discards a message and all after it; if it doesn't exist, all. A `$set`
  of all messages is the shortened history for the model, and skipped. A sub-agent's file has its parent's id as folder.
* `chats/session-<time>-<id>.json`, since September 2025: the same messages in one document. Resuming such a session
  copies it into a `.jsonl` of the same name, which then counts alone.
* `checkpoint-<tag>.json`: the history that `/chat save` wrote, without times and ids.

A folder of `tmp` is named by its project's short name (since spring 2026), else by the SHA-256 of its path. The path is
in `.project_root` there; without that file it is looked for in `projects.json` and `trustedFolders.json` (source and
agentsview of August 2026).

`logs.json` repeats the prompts of all sessions of a project, without answers, and is not read; neither are the states
in `checkpoints/`, which tools write before they change a file.
"""

import functools
import hashlib
import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.bounded_json import bounded
from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import first_bytes, open_binary
from engine.corpus.transcripts.formats import (
    Conversation,
    DocumentFormat,
    LineFormat,
    LineParser,
    Part,
    tool_call,
    tool_result,
)
from engine.corpus.transcripts.json_values import image_mark, items, mapping, member, seconds, string, tool_input
from engine.corpus.transcripts.jsonl import first_line
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean, one_line
from engine.corpus.transcripts.model_api_messages import sidecar
from engine.corpus.transcripts.token_usage import Usage, add_counts, tokens, without_cached

_AGENT = "gemini"
_ANSWERS = ("gemini", "qwen")
"""Types of the model's messages: Qwen Code recorded its sessions in the same way at first."""
_BLOCK = 256 * 1024
_MAX_PROJECTS = 10_000
_HASH = re.compile(r"[0-9a-f]{64}")
_SESSION = re.compile(rb'\A[\s\xef\xbb\xbf]*\{(?=.*?"sessionId"\s*:)(?=.*?"projectHash"\s*:)', re.DOTALL)
_HISTORY = re.compile(rb'"(?:parts|role)"\s*:')
_REFERENCED = "--- Content from referenced files ---"
_END = "--- End of content ---"
_SETTING_UP = "This is the Gemini CLI. We are setting up the context for our chat."
_SET_UP = "Got it. Thanks for the context!"


class _ReturnedParts(msgspec.Struct, array_like=True):
    """The parts of a message that were returned already, since it may be written again with more parts."""

    ordinal: int
    text: bool = False
    thoughts: int = 0
    calls: set[str] = set()
    results: set[str] = set()


FAILED = ("cancelled", "error")
"""States of a tool that failed or was refused."""


class GeminiParser(LineParser, kw_only=True):
    given: dict[str, _ReturnedParts] = msgspec.field(default_factory=dict)
    starts: dict[str, int] = msgspec.field(default_factory=dict)
    """First line of each message, by its id."""

    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        change = value.get("$set")
        if isinstance(change, dict):
            self.learn(change)
        elif "$rewindTo" in value:
            self._rewind(clean(value["$rewindTo"]), line)
        elif "type" in value:
            self.starts.setdefault(clean(value, "id"), line)
            return self.message(value, line)
        elif "sessionId" in value:
            self.learn(value)
        else:
            self.count_unknown(next((key for key in value if key.startswith("$")), None))
        return []

    def _rewind(self, name: str, line: int) -> None:
        """Mark a message and all that follow it as abandoned."""
        if self.starts:
            self.metadata.mark_abandoned(self.starts.get(name) or next(iter(self.starts.values())), line)

    def learn(self, value: Mapping[str, Any]) -> None:
        """Update the session's metadata from a part of it."""
        metadata = self.metadata
        metadata.id = clean(value, "sessionId") or metadata.id
        metadata.title = one_line(value, "summary") or metadata.title
        metadata.started = metadata.started or seconds(value.get("startTime"))
        directories = items(value, "directories")
        metadata.project = metadata.project or clean(directories[0] if directories else None)

    def message(self, value: Mapping[str, Any], line: int | None) -> list[Message]:
        """Return the new parts of a recorded message; if `line` is None, its number is used as line."""
        name = clean(value, "id")
        self.use(value.get("model"), _usage(mapping(value, "tokens")), request=name)
        returned = self.given.get(name) or _ReturnedParts(self.ordinal + 1)
        parts = list(self._new_parts(value, returned))
        if not parts:
            return []
        if name:
            self.given[name] = returned
        last, self.ordinal = self.ordinal, returned.ordinal
        side, time = bool(self.metadata.parent), seconds(value.get("timestamp"))
        messages = [
            self.part(
                role,
                kind,
                text,
                line or returned.ordinal,
                id=name,
                time=time,
                tool=tool,
                side=side,
                call=call,
                failed=failed,
            )
            for role, kind, text, tool, call, failed in parts
        ]
        self.ordinal = max(last, returned.ordinal)
        return messages

    def turn(self, value: Mapping[str, Any]) -> list[Message]:
        """Return the messages of an entry in a saved history."""
        role: Role = "assistant" if value.get("role") == "model" else "user"
        return self.next_message(self._parts(value.get("parts"), role))

    def _new_parts(self, value: Mapping[str, Any], returned: _ReturnedParts) -> Iterator[Part]:
        kind = value.get("type")
        if kind not in ("user", *_ANSWERS, "info", "error", "warning"):
            self.count_unknown(kind)
            return
        thoughts = items(value, "thoughts")
        for thought in map(mapping, thoughts[returned.thoughts :]):
            text = "\n".join(filter(None, (string(thought, "subject"), string(thought, "description"))))
            if text.strip():
                yield Part("assistant", "thinking", text)
        returned.thoughts = max(returned.thoughts, len(thoughts))
        if not returned.text:
            role: Role = "user" if kind == "user" else "assistant" if kind in _ANSWERS else "system"
            parts = [part for part in self._content(value, role) if part.text.strip()]
            returned.text = bool(parts)
            yield from parts
        for number, call in enumerate(items(value, "toolCalls")):
            yield from self._call(mapping(call), number, returned)

    def _content(self, value: Mapping[str, Any], role: Role) -> list[Part]:
        """Return the content of a message; if the program expanded the user's text, also the text as typed."""
        content = self._parts(value.get("content"), role)
        typed = self._parts(value.get("displayContent"), role) if role == "user" else []
        if not typed or typed == content:
            return content
        return typed + [part._replace(role="system") if part.role == "user" else part for part in content]

    def _call(self, call: Mapping[str, Any], number: int, returned: _ReturnedParts) -> Iterator[Part]:
        name = string(call, "name")
        key = clean(call, "id") or str(number)
        if key not in returned.calls:
            returned.calls.add(key)
            text = tool_input(call, "args") or string(call, "description")
            if text.strip():
                yield tool_call(text, name, string(call, "id"))
        if key not in returned.results:
            result = self._parts(call.get("result"), "tool")
            text = "\n".join(part.text for part in result) or string(call, "resultDisplay")
            failed = call.get("status") in FAILED
            if text.strip() or failed:
                returned.results.add(key)
                yield tool_result(text, name, string(call, "id"), failed)

    def _parts(self, content: object, role: Role) -> list[Part]:
        """Return the parts of a content in the form of the API: a string, a part, or a list of both."""
        new_parts = (
            self._part({"text": item} if isinstance(item, str) else mapping(item), role)
            for item in (content if isinstance(content, list) else [content])
        )
        parts: list[Part] = []
        for is_speech, group in groupby(filter(None, new_parts), lambda part: part[:2] == (role, "text")):
            if is_speech:
                parts.append(Part(role, "text", "".join(part.text for part in group).strip("\n")))
            else:
                parts += group
        return [piece for part in parts for piece in _by_author(part)]

    def _part(self, part: Mapping[str, Any], role: Role) -> Part | None:
        text = part.get("text")
        if isinstance(text, str):
            return Part("assistant", "thinking", text) if part.get("thought") is True else Part(role, "text", text)
        call = mapping(part, "functionCall")
        if call:
            name, id = string(call, "name"), string(call, "id")
            return tool_call(tool_input(call, "args"), name, id)
        answer = mapping(part, "functionResponse")
        if answer:
            response, id = answer.get("response"), string(answer, "id")
            failed = bool(member(response, "error"))
            return tool_result(tool_input(response), string(answer, "name"), id, failed)
        media = mapping(part, "inlineData") or mapping(part, "fileData")
        if media:
            kind = string(media, "mimeType").partition("/")[0] or "file"
            return Part(role, "text", f"\n{image_mark(media) if kind == 'image' else f'[{kind}]'}\n")
        code = mapping(part, "executableCode")
        if code:
            return tool_call(string(code, "code"), "code")
        output = mapping(part, "codeExecutionResult")
        if output:
            return tool_result(string(output, "output"), "code")
        if part.keys() - {"thoughtSignature", "thought", "videoMetadata"}:
            self.count_unknown(f"part {min(part)}")
        return None


class GeminiLines(LineFormat):
    agent = _AGENT
    parses = GeminiParser
    speech_marks = (b'"type":"user"', b'"type":"gemini"')
    title_marks = (b'"summary"',)

    def is_line(self, value: Mapping[str, Any]) -> bool:
        return isinstance(value.get("projectHash"), str) and "sessionId" in value

    def metadata(self, path: str) -> SessionMetadata:
        return _metadata(path)


class GeminiDocument(DocumentFormat):
    agent = _AGENT

    def matches(self, path: str, head: bytes) -> bool:
        name = os.path.basename(path)
        if not name.endswith(".json"):
            return False
        if name.startswith("checkpoint-"):
            return bool(_HISTORY.search(head))
        return bool(_SESSION.match(head)) and not os.path.exists(f"{path}l")

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        """Yield the file's only session; of a truncated file the complete messages, before the ValueError."""
        parser = GeminiParser(metadata=_metadata(path))
        messages: list[Message] = []
        broken: Exception | None = None
        try:
            for part, value in _members(path):
                if cancel:
                    cancel.checkpoint()
                if part == "metadata":
                    parser.learn(value)
                elif part == "message":
                    messages += parser.message(value, None)
                else:
                    messages += parser.turn(value)
        except ValueError as error:
            broken = error
        if messages or not broken:
            yield parser.conversation("", messages)
        if broken:
            raise broken


def _members(path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the messages and metadata of a document, each with its kind. Raises OSError, ValueError."""
    import ijson

    kinds = {"messages.item": "message", "history.item": "turn", "item": "turn"}
    builder, inside = None, ""
    with open_binary(path) as file:
        events = ijson.basic_parse(file, use_float=True, buf_size=_BLOCK)
        try:
            for prefix, event, value in ijson.parse(bounded(events)):
                if builder is None and event == "start_map" and prefix in kinds:
                    builder, inside = ijson.ObjectBuilder(), prefix
                if builder is not None:
                    builder.event(event, value)
                    if event == "end_map" and prefix == inside:
                        yield kinds[inside], builder.value
                        builder = None
                elif event == "string" and prefix in ("sessionId", "summary", "startTime"):
                    yield "metadata", {prefix: value}
                elif event == "string" and prefix == "directories.item":
                    yield "metadata", {"directories": [value]}
        except (ijson.JSONError, ArithmeticError) as error:
            raise ValueError(skip_reasons.BROKEN_DOCUMENT.message(what=first_line(error))) from None


def _usage(counts: Mapping[str, Any]) -> Usage:
    """Return the usage of one answer; Gemini's input includes cached tokens."""
    cached = counts.get("cached")
    sent = add_counts(without_cached(counts.get("input"), cached), counts.get("tool"))
    return Usage(sent, add_counts(counts.get("output"), counts.get("thoughts")), tokens(cached))


def _metadata(path: str) -> SessionMetadata:
    """Return the metadata in a file's path: a sub-agent's folder has its parent's id, a checkpoint has a tag."""
    folder, name = os.path.split(path)
    stem = name.partition(".json")[0]
    metadata = SessionMetadata.of(stem)
    if stem.startswith("checkpoint-"):
        metadata.title = one_line(urllib.parse.unquote(stem.removeprefix("checkpoint-")))
        project = folder
    elif os.path.basename(folder) == "chats":
        project = os.path.dirname(folder)
    else:
        above = os.path.dirname(folder)
        metadata.parent = clean(os.path.basename(folder)) if os.path.basename(above) == "chats" else ""
        project = os.path.dirname(above)
    metadata.project = clean(_project(project))
    return metadata


def _project(folder: str) -> str:
    """Return the project of a folder in `~/.gemini/tmp`: its path, or its name if the folder has that name."""
    if root := first_bytes(os.path.join(folder, ".project_root"), 4096).decode("utf-8", "replace").strip():
        return root
    home, name = os.path.dirname(os.path.dirname(folder)), os.path.basename(folder)
    lists = tuple(os.path.join(home, known) for known in ("projects.json", "trustedFolders.json"))
    known = _known_projects(lists, tuple(map(_changed, lists))).get(name, "")
    return known or ("" if _HASH.fullmatch(name) else name)


def _changed(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


@functools.lru_cache(maxsize=4)  # all sessions of a project folder ask for them
def _known_projects(lists: tuple[str, str], _times: tuple[int, ...]) -> Mapping[str, str]:
    """Return the paths in Gemini's lists of projects and of trusted folders, by short name and by SHA-256."""
    projects, trusted = (sidecar(path) for path in lists)
    named = mapping(projects, "projects")
    paths = [*named, *(items(trusted, "trustedFolders") or trusted)][:_MAX_PROJECTS]
    hashes = {
        hashlib.sha256(path.encode(errors="replace")).hexdigest(): path for path in paths if isinstance(path, str)
    }
    return hashes | {short: path for path, short in named.items() if isinstance(short, str)}


def _by_author(part: Part) -> Iterator[Part]:
    """Yield a user's text without inserted text, which is the project's description or files named with @."""
    role, kind, text, tool, *_ = part
    if text == _SET_UP:
        yield Part("system", kind, text, tool)
    elif role != "user" or kind != "text":
        yield part
    elif _SETTING_UP in text[:200]:
        yield Part("system", kind, text, tool)
    else:
        typed, marker, files = text.partition(_REFERENCED)
        files, end, more = files.partition(_END)
        yield Part(role, kind, typed.rstrip("\n") if marker else typed, tool)
        yield Part("system", kind, marker + files + end, tool)
        yield Part(role, kind, more, tool)
