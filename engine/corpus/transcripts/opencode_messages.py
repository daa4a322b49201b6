"""What opencode's messages say: of its first generation in parts, of its second (version 2) in one piece."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from engine.corpus.transcripts.formats import LineParser
from engine.corpus.transcripts.json_values import content, items, mapping, seconds, string, tool_input
from engine.corpus.transcripts.messages import Kind, Message, Role

_SILENT_PARTS = frozenset("step-start step-finish snapshot patch agent retry compaction".split())
_SILENT_ENTRIES = frozenset("agent-switched model-switched location-switched idle".split())
_INSTRUCTIONS = frozenset({"synthetic", "system", "skill"})


class _Piece(NamedTuple):
    role: Role
    kind: Kind
    text: str
    tool: str = ""


class OpencodeReader(LineParser, kw_only=True):
    """The messages of one session, given in their order; a message's ordinal stands for its line."""

    def message(self, name: str, value: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]) -> list[Message]:
        """One message of the first generation, with its parts."""
        kind = value.get("role")
        if kind not in ("user", "assistant"):
            self.count_unknown(f"role {kind}" if isinstance(kind, str) else None)
            return []
        role: Role = "assistant" if kind == "assistant" else "user"
        if role == "assistant" and value.get("summary") is True:  # replaces the messages before it
            role = "system"
        return self._said(name, value, [piece for part in parts for piece in self._part(part, role)])

    def entry(self, name: str, kind: str, value: Mapping[str, Any]) -> list[Message]:
        """One message of the second generation."""
        return self._said(name, value, list(self._entry(kind, value)))

    def _said(self, name: str, value: Mapping[str, Any], pieces: Sequence[_Piece]) -> list[Message]:
        saying = [piece for piece in pieces if piece.text.strip()]
        if not saying:
            return []
        self.ordinal += 1
        time, side = seconds(mapping(value.get("time")).get("created")), bool(self.facts.parent)
        return [
            self.part(author, sort, text, self.ordinal, id=name, time=time, tool=tool, side=side)
            for author, sort, text, tool in saying
        ]

    def _part(self, part: Mapping[str, Any], role: Role) -> Iterator[_Piece]:
        kind = part.get("type")
        if kind == "text":
            put_in = part.get("synthetic") is True or part.get("ignored") is True
            yield _Piece("system" if put_in else role, "text", string(part.get("text")))
        elif kind == "reasoning":
            yield _Piece(role, "thinking", string(part.get("text")))
        elif kind == "tool":
            name, state = string(part.get("tool")), mapping(part.get("state"))
            yield _Piece("assistant", "tool-call", tool_input(state.get("input")) or string(state.get("title")), name)
            yield _Piece("tool", "tool-result", string(state.get("output")) or string(state.get("error")), name)
        elif kind == "file":
            yield _Piece(role, "text", _file(part, "filename"))
        elif kind == "subtask":
            yield _Piece(role, "tool-call", string(part.get("prompt")), string(part.get("agent")))
        elif part and (not isinstance(kind, str) or kind not in _SILENT_PARTS):
            self.count_unknown(f"part {kind}" if isinstance(kind, str) else None)

    def _entry(self, kind: str, value: Mapping[str, Any]) -> Iterator[_Piece]:
        if kind == "user":
            yield _Piece("user", "text", string(value.get("text")))
            for file in items(value.get("files")):
                yield _Piece("user", "text", _file(mapping(file), "name"))
        elif kind == "assistant":
            for part in items(value.get("content")):
                yield from self._content(mapping(part))
        elif kind in _INSTRUCTIONS:
            yield _Piece("system", "text", string(value.get("text")))
        elif kind == "compaction":
            yield _Piece("system", "text", string(value.get("summary")))
        elif kind == "shell":  # a command run by the user
            output = value.get("output")
            yield _Piece("user", "tool-call", string(value.get("command")), "shell")
            yield _Piece("tool", "tool-result", string(output) or string(mapping(output).get("output")), "shell")
        elif kind not in _SILENT_ENTRIES:
            self.count_unknown(kind)

    def _content(self, part: Mapping[str, Any]) -> Iterator[_Piece]:
        kind = part.get("type")
        if kind != "tool":
            yield from self._part(part, "assistant")
            return
        name, state = string(part.get("name")), mapping(part.get("state"))
        yield _Piece("assistant", "tool-call", tool_input(state.get("input")), name)
        failure = string(mapping(state.get("error")).get("message"))
        yield _Piece("tool", "tool-result", "\n".join(filter(None, (content(state.get("content")), failure))), name)


def _file(value: Mapping[str, Any], key: str) -> str:
    sort = "image" if string(value.get("mime")).startswith("image/") else "file"
    name = string(value.get(key))
    return f"[{sort}: {name}]" if name else f"[{sort}]"
