"""opencode: a session file, and the files of its messages and of their parts in folders beside it.

Written from its public source up to spring 2026: under `~/.local/share/opencode/storage`,
`session/<project>/<session>.json` tells of a session, `message/<session>/<message>.json` of its messages and
`part/<message>/<part>.json` holds what they say. Names sort by time. Since February 2026 (version 1.2) sessions are
kept in the SQLite file `opencode.db` beside `storage`: older ones were copied into it, their files remain and are read;
newer ones are not read. The layout before September 2025 (`project/<project>/storage`) was moved here by the program.

The session file is the document. Messages may come after that file was written last, so the time of change of
`message/<session>` counts as well (`stores`).
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from engine.control import CancelToken
from engine.corpus.opening import open_binary
from engine.corpus.transcripts.formats import Conversation, LineParser
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Kind, Message, Role, SessionFacts, clean
from engine.corpus.transcripts.readable import mapping, seconds, string, tool_input

_ID = re.compile(rb'"id"\s*:\s*"ses_')
_NO_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d{2}-\d{2}T")
_SILENT_PARTS = frozenset("step-start step-finish snapshot patch agent retry compaction".split())

_Part = tuple[Role, Kind, str, str]
"""Role, kind, text and the name of the tool."""


class OpencodeDocument:
    agent = "opencode"

    def matches(self, path: str, head: bytes) -> bool:
        above = os.path.basename(os.path.dirname(os.path.dirname(path)))
        return above == "session" and path.endswith(".json") and bool(_ID.search(head))

    def conversations(self, path: str, cancel: CancelToken | None = None) -> Iterator[Conversation]:
        """The one session of the file. Of a file of a message or part that breaks off only itself is missing."""
        storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        session = os.path.basename(path).removesuffix(".json")
        reader = _Reader(facts=_facts(self.agent, session, _read(path)))
        messages: list[Message] = []
        for name, file in _files(os.path.join(storage, "message", session)):
            if cancel:
                cancel.checkpoint()
            parts = _files(os.path.join(storage, "part", name))
            messages += reader.message(name, reader.read(file), [reader.read(part) for _, part in parts])
        yield Conversation("", reader.facts, tuple(messages), Counter(reader.unknown))


class _Reader(LineParser, kw_only=True):
    """The messages of one session; a message's ordinal stands for its line."""

    def read(self, path: str) -> Mapping[str, Any]:
        """The object in a file; an empty one where it was not wholly written, or just removed."""
        try:
            return _read(path)
        except (OSError, ValueError):
            self.count_unknown("unreadable file")
            return {}

    def message(self, name: str, value: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> list[Message]:
        kind = value.get("role")
        if kind not in ("user", "assistant"):
            self.count_unknown(f"role {kind}" if isinstance(kind, str) else None)
            return []
        role: Role = "assistant" if kind == "assistant" else "user"
        if role == "assistant" and value.get("summary") is True:  # what stands for the messages before it
            role = "system"
        saying = [piece for part in parts for piece in self._part(part, role) if piece[2].strip()]
        if not saying:
            return []
        self.ordinal += 1
        time, side = seconds(mapping(value.get("time")).get("created")), bool(self.facts.parent)
        return [
            self.part(author, sort, text, self.ordinal, id=name, time=time, tool=tool, side=side)
            for author, sort, text, tool in saying
        ]

    def _part(self, part: Mapping[str, Any], role: Role) -> Iterator[_Part]:
        kind = part.get("type")
        if kind == "text":
            put_in = part.get("synthetic") is True or part.get("ignored") is True
            yield "system" if put_in else role, "text", string(part.get("text")), ""
        elif kind == "reasoning":
            yield role, "thinking", string(part.get("text")), ""
        elif kind == "tool":
            name, state = string(part.get("tool")), mapping(part.get("state"))
            yield "assistant", "tool-call", tool_input(state.get("input")) or string(state.get("title")), name
            yield "tool", "tool-result", string(state.get("output")) or string(state.get("error")), name
        elif kind == "file":
            sort = "image" if string(part.get("mime")).startswith("image/") else "file"
            name = string(part.get("filename"))
            yield role, "text", f"[{sort}: {name}]" if name else f"[{sort}]", ""
        elif kind == "subtask":
            yield role, "tool-call", string(part.get("prompt")), string(part.get("agent"))
        elif part and (not isinstance(kind, str) or kind not in _SILENT_PARTS):
            self.count_unknown(f"part {kind}" if isinstance(kind, str) else None)


def _facts(agent: str, session: str, value: Mapping[str, Any]) -> SessionFacts:
    title = clean(string(value.get("title"))).strip()
    return SessionFacts(
        agent=agent,
        id=clean(session),
        title="" if _NO_TITLE.match(title) else title,
        project=clean(string(value.get("directory"))),
        parent=clean(string(value.get("parentID"))),
        started=seconds(mapping(value.get("time")).get("created")),
    )


def _read(path: str) -> Mapping[str, Any]:
    """The object in a file. Raises OSError, ValueError."""
    with open_binary(path) as file:
        value = parse_line(file.read())
    if value is None:
        raise ValueError(f"no JSON object in {os.path.basename(path)}")
    return value


def _files(folder: str) -> list[tuple[str, str]]:
    """Name without its ending, and path, of the JSON files in a folder, in the order of their names."""
    if os.path.islink(folder):
        return []
    try:
        with os.scandir(folder) as entries:
            files = [
                entry for entry in entries if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((entry.name.removesuffix(".json"), entry.path) for entry in files)
