"""Chats in VS Code, mostly GitHub Copilot's: one file per session, named by its id.

Written from VS Code's public source, `src/vs/workbench/contrib/chat/common`, from version 1.90 (June 2024) to autumn
2026 (`chatModel.ts`, `chatService.ts`, `model/chatSessionStore.ts`, `model/objectMutationLog.ts`):

* `workspaceStorage/<workspace>/chatSessions/<id>.json`, until version 1.108: the session as one object, with the turns
  in `requests`. Sessions of windows without a folder are in `globalStorage/emptyWindowChatSessions`, sessions moved to
  another window in `globalStorage/transferredChatSessions` (`chatSessionStore.ts`).
* `<id>.jsonl`, since version 1.109 (January 2026): first the whole object (`kind` 0), then changes to it, each with the
  path `k` of the value that is set (1), appended to or truncated (2), or deleted (3).

Questions of the agent with the user's answers (`questionCarousel`), and plans with the user's decision (`planReview`),
are speech, according to the source of November 2026.

Copilot's own transcripts, `<workspace>/GitHub.copilot-chat/transcripts/<id>.jsonl`, have the lines of its command line
(`copilot_cli`). `workspace.json` next to `chatSessions` names the folder. Chats of Cursor, and of Windsurf's and
Trae's own assistants, are stored elsewhere. Copies of the model's requests in `result.metadata` are skipped, except the
arguments of tools.
"""

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import first_bytes
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.formats import Conversation, DocumentFormat, LineParser, Part, tool_call, tool_result
from engine.corpus.transcripts.json_values import items, mapping, member, objects, seconds, string, tool_input, uri_path
from engine.corpus.transcripts.jsonl import json_lines, parse_line
from engine.corpus.transcripts.messages import Message, SessionMetadata, clean, one_line
from engine.corpus.transcripts.token_usage import counted

_LOG = re.compile(rb'\A\s*\{\s*"kind"\s*:\s*0\s*,\s*"v"\s*:\s*\{')
_OBJECT = re.compile(rb"\A[\s\xef\xbb\xbf]*\{")
_NAMED = re.compile(rb'"(?:responderUsername|creationDate)"\s*:')
_LINK = re.compile(r"\[\]\(([^()\s]*)\)")
_METADATA = ("sessionId", "creationDate", "customTitle", "computedTitle")
_REQUEST = "message variableData timestamp requestId response responseId result modelState modelId".split()
"""Members of a request that are read; others may be much larger."""
_SET, _PUSH, _DELETE = 1, 2, 3
_LONGEST = 1e12
"""Longest duration of an answer, in milliseconds."""
_LONGEST_MANIFEST = 64 * 1024
_SILENT = frozenset(
    """autoModeResolution clearToPreviousToolInvocation codeblockUri command confirmation disabledClaudeHooks
    elicitation elicitationSerialized extensions hook mcpServersStarting multiDiffData notebookEditGroup
    prepareToolInvocation progressMessage progressTaskSerialized pullRequest references treeData undoStop usage
    usedContext voiceProgress workspaceEdit""".split()
)
_ATTACHED = frozenset({"file", "directory", "image"})

_REFUSED = (0, 5)
"""Reasons why a tool was not run: denied or skipped by the user."""


class _Parser(LineParser, kw_only=True):
    def request(self, value: Mapping[str, Any]) -> list[Message]:
        """Return the messages of one turn: the user's request, and the whole answer."""
        sent, result = seconds(value.get("timestamp")), mapping(value, "result")
        counts = mapping(result, "metadata")
        model = string(counts, "resolvedModel") or string(value, "modelId").removeprefix("copilot/")
        self.use(model, counted(counts, "promptTokens outputTokens"))
        elapsed = member(result, "timings", "totalElapsed")
        answered = seconds(member(value, "modelState", "completedAt"))
        if answered is None and sent is not None and isinstance(elapsed, int | float) and abs(elapsed) < _LONGEST:
            answered = seconds(sent + elapsed / 1000)
        answer = list(_joined(self._answer(value.get("response"), _arguments(result))))
        if failure := string(result, "errorDetails", "message"):
            answer.append(Part("system", "text", failure))
        question = self.next_message([Part("user", "text", _question(value))], id=string(value, "requestId"), time=sent)
        return [*question, *self.next_message(answer, id=string(value, "responseId"), time=answered or sent)]

    def _answer(self, response: object, arguments: Mapping[str, str]) -> Iterator[Part]:
        for item in response if isinstance(response, list) else [response]:
            part = mapping(item)
            kind = part.get("kind")
            if isinstance(item, str) or (kind is None and part):
                yield Part("assistant", "text", _text(item))
            elif kind in ("markdownVuln", "markdownContent"):
                yield Part("assistant", "text", _text(part.get("content")))
            elif kind == "inlineReference":
                yield Part("assistant", "text", _reference(part))
            elif kind == "thinking":
                value = part.get("value")
                text = "\n".join(filter(None, map(string, value))) if isinstance(value, list) else string(value)
                yield Part("assistant", "thinking", text)
            elif kind == "toolInvocationSerialized":
                yield from _tool(part, arguments)
            elif kind == "textEditGroup":
                yield tool_call(_edits(part), "edit")
            elif isinstance(kind, str) and kind in _READERS:
                yield from _READERS[kind](part)
            elif kind in ("warning", "info", "systemNotification"):
                yield Part("system", "text", _text(part.get("content")))
            elif part and string(kind) not in _SILENT:
                self.count_unknown(f"part {kind}" if isinstance(kind, str) else None)


def _joined(parts: Iterator[Part]) -> Iterator[Part]:
    """Join parts of text that are interrupted by names of files and symbols."""
    pieces: list[str] = []
    for part in parts:
        if part[:2] == ("assistant", "text"):
            pieces.append(part[2])
            continue
        if pieces:
            yield Part("assistant", "text", "".join(pieces))
            pieces.clear()
        yield part
    if pieces:
        yield Part("assistant", "text", "".join(pieces))


def _question(request: Mapping[str, Any]) -> str:
    message = request.get("message")
    parts = "".join(string(part, "text") for part in items(message, "parts"))
    named = []
    for variable in objects(request, "variableData", "variables"):
        kind, name = string(variable, "kind"), string(variable, "name")
        if kind in _ATTACHED and name:
            named.append(f"[{kind}: {name}]")
    return "\n".join(filter(None, (string(message) or string(message, "text") or parts, *named)))


def _text(value: object) -> str:
    """Return plain or formatted text; a link without text is replaced by its target."""
    text = string(value) or string(value, "value")
    return _LINK.sub(lambda link: uri_path(link[1].partition("#")[0]), text) if "[](" in text else text


def _uri(value: object) -> str:
    """Return the path of a URI or of a location in a file."""
    uri = mapping(value)
    return string(uri, "fsPath") or string(uri, "path") or (_uri(uri["uri"]) if "uri" in uri else "")


def _reference(part: Mapping[str, Any]) -> str:
    target = mapping(part, "inlineReference")
    name = string(part, "name") or string(target, "name")
    return name or os.path.basename(_uri(target))


def _arguments(result: Mapping[str, Any]) -> dict[str, str]:
    """Return the arguments of the tools that the model called, by the id of the call."""
    values: dict[str, str] = {}
    for turn in items(result, "metadata", "toolCallRounds"):
        for call in objects(turn, "toolCalls"):
            if arguments := string(call, "arguments"):
                values[_call_id(call.get("id"))] = arguments
    return values


def _call_id(value: object) -> str:
    return string(value).partition("__vscode")[0]


def _tool(part: Mapping[str, Any], arguments: Mapping[str, str]) -> Iterator[Part]:
    name = string(part, "toolId")
    data, details = mapping(part, "toolSpecificData"), part.get("resultDetails")
    message = _text(part.get("invocationMessage"))
    call = _command(data) or arguments.get(_call_id(part.get("toolCallId"))) or string(details, "input")
    id, failed = string(part, "toolCallId"), _has_failed(part)
    yield tool_call(call or message, name, id, failed)
    output = string(data, "terminalCommandOutput", "text")
    output = output or string(data, "result") or string(data, "output") or _output(details)
    past = _text(part.get("pastTenseMessage"))
    yield tool_result(output or (past if past != message else ""), name, id, failed)


def _has_failed(part: Mapping[str, Any]) -> bool:
    """Return whether a tool reported a failure, ended with another exit code than 0, or was refused by the user."""
    confirmed, data = part.get("isConfirmed"), mapping(part, "toolSpecificData")
    refused = confirmed is False or member(confirmed, "type") in _REFUSED
    code = member(data, "terminalCommandState", "exitCode")
    return (
        refused
        or bool(part.get("resultError"))
        or member(part, "resultDetails", "isError") is True
        or (isinstance(code, int) and code != 0)
    )


def _command(data: Mapping[str, Any]) -> str:
    line = mapping(data, "commandLine")
    typed = next((text for key in ("userEdited", "toolEdited", "original") if (text := string(line, key))), "")
    stated = string(data, "command") or string(data, "prompt") or string(data, "input")
    return typed or stated or tool_input(data, "rawInput")


def _output(details: object) -> str:
    """Return the output of a tool as text: a text, several texts, or the files that it found."""
    if isinstance(details, list):
        return "\n".join(filter(None, map(_uri, details)))
    output = member(details, "output")
    texts = (string(item, "value") for item in items(output) if member(item, "isText") is True)
    return string(output) or "\n".join(filter(None, texts))


def _questions(part: Mapping[str, Any]) -> Iterator[Part]:
    """Yield the questions of the agent, with their options, and the answers of the user, as speech."""
    answers = mapping(part, "data")
    questions, answered = [_text(part.get("message"))], list[tuple[str, str]]()
    for question in objects(part, "questions"):
        options = [mapping(option) for option in items(question, "options")]
        labels = {string(option, "value"): string(option, "label") for option in options}
        words = _text(question.get("message")) or string(question, "title")
        questions.append("\n".join((words, *(f"- {label}" for label in labels.values() if label))))
        if answer := _answer_text(answers.get(string(question, "id")), labels):
            answered.append((words, answer))
    yield Part("assistant", "text", "\n\n".join(filter(None, questions)))
    answer_texts = [answer for _, answer in answered] if len(answered) == 1 else [" ".join(pair) for pair in answered]
    yield Part("user", "text", "\n".join(answer_texts))


def _answer_text(value: object, labels: Mapping[str, str]) -> str:
    """Return an answer as text: typed, or the labels of the selected options."""
    details = mapping(value)
    chosen = [string(value), string(details, "selectedValue"), *map(string, items(details, "selectedValues"))]
    named = [labels.get(option) or option for option in chosen if option]
    return ", ".join(filter(None, (*named, string(details, "freeformValue"))))


def _plan(part: Mapping[str, Any]) -> Iterator[Part]:
    """Yield a plan, and the user's decision on it with the feedback, as speech."""
    data = mapping(part, "data")
    rejected = "Rejected" if data.get("rejected") is True else ""
    yield Part("assistant", "text", _text(part.get("content")))
    decided = filter(None, (string(data, "action") or rejected, _text(data.get("feedback"))))
    yield Part("user", "text", "\n".join(decided))


def _external_edit(part: Mapping[str, Any]) -> Iterator[Part]:
    deletes = part.get("editKind") == "delete"
    yield tool_call(_uri(part.get("uri")), "delete" if deletes else "edit")


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Part]]] = {
    "questionCarousel": _questions,
    "planReview": _plan,
    "externalEdit": _external_edit,
}
"""Readers of further kinds of parts of an answer."""


def _edits(part: Mapping[str, Any]) -> str:
    texts = (
        string(edit, "text")
        for group in items(part, "edits")
        for edit in (group if isinstance(group, list) else [group])
    )
    return "\n".join(filter(None, (_uri(part.get("uri")), *texts)))


class _Session:
    """The state of a session after the last line that was read, with only the fields that are used."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.requests: list[Any] = []

    def begin(self, value: Mapping[str, Any]) -> None:
        self.metadata = {key: value.get(key) for key in _METADATA}
        self.requests = [_used_fields(request) for request in items(value, "requests")]

    def change(self, entry: Mapping[str, Any]) -> None:
        """Apply a line of a log; a change of something that doesn't exist has no effect."""
        kind, path, value = entry.get("kind"), items(entry, "k"), entry.get("v")
        if kind == 0:
            self.begin(mapping(value))
        elif path[:1] == ["requests"]:
            self._change_requests(kind, path[1:], value, entry.get("i"))
        elif len(path) == 1 and path[0] in _METADATA:
            self.metadata[path[0]] = value if kind == _SET else None

    def _change_requests(self, kind: object, path: list[Any], value: object, start: object) -> None:
        if not path:
            if kind == _PUSH:
                _append(self.requests, [_used_fields(request) for request in items(value)], start)
            else:
                self.requests = [_used_fields(request) for request in items(value)]
        elif len(path) == 1:
            _assign(self.requests, path[0], _used_fields(value))
        elif path[1] in _REQUEST:
            _apply(self.requests, kind, path, value, start)


def _used_fields(request: object) -> dict[str, Any]:
    value = mapping(request)
    return {key: value[key] for key in _REQUEST if key in value}


def _apply(holder: Any, kind: object, path: list[Any], value: object, start: object) -> None:
    for key in path[:-1]:
        holder = _member(holder, key)
    last = path[-1]
    if kind == _SET:
        _assign(holder, last, value)
    elif kind == _DELETE:
        _assign(holder, last, None)
    elif kind == _PUSH:
        values = _member(holder, last)
        if not isinstance(values, list):
            values = []
            _assign(holder, last, values)
        _append(values, items(value), start)


def _member(holder: Any, key: object) -> Any:
    if isinstance(holder, list):
        return holder[key] if isinstance(key, int) and 0 <= key < len(holder) else None
    return member(holder, key) if isinstance(key, str) else None


def _assign(holder: Any, key: object, value: object) -> None:
    if isinstance(holder, dict) and isinstance(key, str):
        holder[key] = value
    elif isinstance(holder, list) and isinstance(key, int) and 0 <= key <= len(holder):
        holder[key : key + 1] = [value]


def _append(values: list[Any], new: list[Any], start: object) -> None:
    if isinstance(start, int) and start >= 0:
        del values[start:]
    values.extend(new)


class CopilotChatDocument(DocumentFormat):
    agent = "copilot-chat"

    def matches(self, path: str, head: bytes) -> bool:
        if path.endswith(".jsonl"):
            return bool(_LOG.match(head)) and bool(_NAMED.search(head))
        return b'"requests"' in head and bool(_OBJECT.match(head)) and bool(_NAMED.search(head))

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        session = _Session()
        parser = _Parser(metadata=SessionMetadata.of(os.path.basename(path).partition(".")[0]))
        if path.endswith(".jsonl"):
            _read_log(path, session, parser, cancel)
        else:
            for value in export_reader.conversations(path, cancel):
                session.begin(value)
        metadata = parser.metadata
        metadata.id = clean(session.metadata, "sessionId") or metadata.id
        title = string(session.metadata, "customTitle") or string(session.metadata, "computedTitle")
        metadata.title = one_line(title)
        metadata.started = seconds(session.metadata.get("creationDate"))
        metadata.project = clean(window_folder(path))
        messages = [message for request in session.requests for message in parser.request(mapping(request))]
        if messages:
            yield parser.conversation("", messages)


def _read_log(path: str, session: _Session, parser: _Parser, cancel: CancelToken | None) -> None:
    for value in json_lines(path, cancel):
        if value is None:
            parser.count_unknown("no JSON")
        else:
            session.change(value)


def window_folder(path: str) -> str:
    """Return the folder or workspace file that was open in the window with the entry `path` in its `chatSessions`."""
    manifest = os.path.join(os.path.dirname(os.path.dirname(path)), "workspace.json")
    value = parse_line(first_bytes(manifest, _LONGEST_MANIFEST))
    return uri_path(string(value, "folder") or string(value, "workspace"))
