"""Reads the front matter of a note as data: YAML or JSON between `---` lines, TOML between `+++` lines.

The properties of a Logseq page (`key:: value`, described on Logseq's page "Properties") are read too. Only the flat
keys are read, one by one, instead of with a full YAML parser: a parser rejects the whole block for a single mistake,
and expands aliases without a limit. Every step takes time linear in the block's length, and no text raises an error.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from engine.base import lazy_pattern
from engine.corpus import markdown_line_types
from engine.corpus.note_structure import lines_of

_HEAD_CHARACTERS = 64 * 1024
_MAX_LINES = 1000
_CLOSING = {"---": ("---", "..."), "+++": ("+++",)}
_MARK = "\ufeff"

_SEARCHED = ("title", "aliases", "alias", "tags", "tag", "keywords", "summary", "description")

_QUOTED_KEY = r"\"[^\"\n]{1,100}\"|'[^'\n]{1,100}'"
_YAML_KEY = lazy_pattern(
    rf"({_QUOTED_KEY}|[^\s\"'#\-\[\]{{}}&*!|>%@`,?:][^:\n]{{0,59}}?)[ \t]*:(?![/:])[ \t]*(.*)", re.DOTALL
)
_TOML_KEY = lazy_pattern(rf"({_QUOTED_KEY}|[\w.\-]{{1,100}})[ \t]*=[ \t]*(.*)", re.DOTALL)
_TOML_TABLE = lazy_pattern(r"\[\[?[^\[\]]{1,200}\]\]?[ \t]*(?:#.*)?")
_NESTED_KEY = lazy_pattern(rf"[ \t]+(?:{_QUOTED_KEY}|[\w.\- ]{{1,60}}):(?:[ \t].*)?")

_PROPERTY = lazy_pattern(r"(?:[!&][^\s,\[\]{}]*(?:[ \t]+|$))+")
_BLOCK = lazy_pattern(r"[|>][+\-0-9]{0,3}[ \t]*(?:#.*)?")
_ITEM = lazy_pattern(r"([ \t]*)-(?:[ \t]+(.*)|$)", re.DOTALL)
_COMMENT = lazy_pattern(r"(?:^|[ \t])#.*", re.DOTALL)
_DOUBLE = lazy_pattern(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SINGLE = lazy_pattern(r"'((?:[^']|'')*)'", re.DOTALL)
_TRIPLE = ('"""', "'''")
_ESCAPE = lazy_pattern(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_WHITE_ESCAPES = "nrtvfbae0N_LP"
_LOGSEQ_LINE = lazy_pattern(r"([^\W\d][\w.*+!?$%&=<>\-]{0,99})::(?:[ \t]+(.*))?", re.DOTALL)
_LONGEST_KEY = 110
_JSON_KEY = lazy_pattern(r'[\s{]*"([^"\\]{1,100})"[ \t]*:')
_PAGES = ("alias", "aliases", "tags", "tag")
_PAGE = lazy_pattern(r"#?\[\[([^\[\]]+)\]\]|#([^\s,#\[\]]+)|([^,#\[\]]+)")
_BLOCK_PROPERTY = lazy_pattern(
    r"^[ \t]*(?:id|collapsed|heading|background-color|created-at|updated-at|ls-type|hl-[\w-]{1,20}"
    r"|logseq\.[\w.-]{1,60})::[ \t].*$",
    re.MULTILINE,
)
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})

Kind = Literal["scalar", "quoted", "flow", "block"]


class _Part(NamedTuple):
    """One line of a value."""

    line: int
    """Position of the line in the note, from 0."""
    text: str


class _Value(NamedTuple):
    kind: Kind
    """How the value is written: `flow` is `[a, b]`, `block` a list with one item per line."""
    items: tuple[tuple[_Part, ...], ...]
    """Items, only one for a scalar; an item on several lines has several parts."""
    raw: str
    """A flow list as written; else empty."""


class FrontMatter:
    """The values of one note's front matter, by key. Keys are in lower case with `_` for spaces and hyphens.

    Attributes:
        length: number of lines, the two fences included.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        """`lines` include both fences."""
        self.length = len(lines)
        self._values: dict[str, _Value] = {}
        self._other_lines: list[_Part] = []
        self._readable = True
        self._toml = lines[0].lstrip(_MARK).startswith("+")
        self._blank = not any(line.strip() for line in lines[1:-1])
        self._read([line.rstrip() for line in lines])

    @property
    def is_data(self) -> bool:
        """Whether the lines are keys and values; False for prose between two horizontal rules."""
        return self._readable and (len(self._other_lines) < len(self._values) or self._blank)

    def scalars(self) -> dict[str, str]:
        """Return the value of each key as one line of text; the items of a list are joined by commas."""
        return {key: self.scalar(key) for key in self._values}

    def scalar(self, key: str) -> str:
        """Return the value of a key as one line of text; "" without that key."""
        value = self._values.get(key)
        if value is None:
            return ""
        if value.kind == "flow" and value.raw.startswith("[["):
            return value.raw  # a wiki link rather than a list of lists
        return ", ".join(_joined(value))

    def kind(self, key: str) -> Kind | None:
        """Return how the value of a key is written; None without that key."""
        value = self._values.get(key)
        return None if value is None else value.kind

    def items(self, key: str) -> list[str]:
        """Return the items of a list, without empty ones; a scalar is a single item."""
        value = self._values.get(key)
        return [] if value is None else _joined(value)

    def searched_lines(self) -> list[str]:
        """Return the lines of the front matter reduced to the values that are searched; their number stays the same.

        A line that is neither a key nor part of a value is text, and stays.
        """
        lines = [""] * self.length
        for part in self._other_lines:
            lines[part.line] = part.text
        for key in _SEARCHED:
            for item in self._values[key].items if key in self._values else ():
                for part in item:
                    before = lines[part.line]
                    lines[part.line] = f"{before}, {part.text}" if before else part.text
        return lines

    def _read(self, lines: Sequence[str]) -> None:
        number, last = 1, len(lines) - 1
        while number < last:
            line = lines[number]
            match = (_TOML_KEY if self._toml else _YAML_KEY).fullmatch(line)
            if match is not None:
                key = _key(match[1].strip("\"'"))
                value, number = self._value(lines, number, match[2].strip())
                self._values.setdefault(key, value)
                continue
            if line and not line.startswith("#") and not (self._toml and _TOML_TABLE.fullmatch(line)):
                self._readable = self._readable and bool(self._values or self._toml)
                self._other_lines.append(_Part(number, line.strip()))
            number += 1

    def _value(self, lines: Sequence[str], first: int, head: str) -> tuple[_Value, int]:
        """Return the value that begins with `head`, the rest of its key's line, and the number of the next line."""
        if not self._toml and head[:1] in ("!", "&"):
            head = _PROPERTY.sub("", head, count=1)
        if self._toml and head.startswith(_TRIPLE):
            return _triple(lines, first, head)
        stop = self._end(lines, first + 1)
        if head[:1] == "[" and (flow := _flow([head, *lines[first + 1 : stop]], first)):
            return flow[0], self._end_indented(lines, flow[1], stop)
        indented = self._end_indented(lines, first + 1, stop)
        if self._toml:
            return _scalar([_Part(first, head)]), indented
        if _BLOCK.fullmatch(head):
            parts = [_Part(number, lines[number].strip()) for number in range(first + 1, indented)]
            return _Value("quoted", _filled([parts]), ""), indented
        if not _COMMENT.sub("", head):
            return _value_below(lines, first + 1, stop, indented)
        if head[:1] in ("'", '"') and (quoted := _quoted([head, *lines[first + 1 : stop]], first)):
            return quoted[0], self._end_indented(lines, quoted[1], stop)
        return _scalar([_Part(first, head), *_parts(lines, first + 1, indented)]), indented

    def _end(self, lines: Sequence[str], number: int) -> int:
        """Return the number of the next line that begins with a key, or of the closing fence."""
        pattern = _TOML_KEY if self._toml else _YAML_KEY
        while number < len(lines) - 1 and not pattern.fullmatch(lines[number]):
            number += 1
        return number

    @staticmethod
    def _end_indented(lines: Sequence[str], number: int, stop: int) -> int:
        """Return the number of the next line that is neither blank nor indented."""
        while number < stop and lines[number][:1] in ("", " ", "\t"):
            number += 1
        return number


class JsonProperties(FrontMatter):
    """Front matter that is an object in JSON, as Obsidian reads it ("JSON properties" on its page "Properties")."""

    def __init__(self, lines: Sequence[str], values: Mapping[str, object]) -> None:
        self.length = len(lines)
        self._other_lines = []
        self._values = {}
        starts = {match[1]: number for number, line in enumerate(lines) if (match := _JSON_KEY.match(line))}
        for key, value in values.items():
            items = value if isinstance(value, list) else [value]
            texts = [_valid(str(item)) for item in items if isinstance(item, str | int | float)]
            parts = tuple((_Part(starts.get(key, 1), text),) for text in texts if text)
            self._values.setdefault(_key(key), _Value("block" if isinstance(value, list) else "quoted", parts, ""))

    @property
    def is_data(self) -> bool:
        return True


def _json_properties(lines: Sequence[str]) -> JsonProperties | None:
    """Return front matter in JSON, whose `lines` include both fences; None if it isn't JSON."""
    inner = "\n".join(lines[1:-1]).strip()
    if not inner.startswith("{"):
        return None
    import json  # few notes need it

    try:
        values = json.loads(inner)
    except (ValueError, RecursionError):
        return None
    return JsonProperties(lines, values) if isinstance(values, dict) else None


class PageProperties(FrontMatter):
    """The properties with which a page of Logseq begins: lines of `key:: value`, without fences.

    Pages of the built-in properties are between commas, in `[[brackets]]`, or after `#`.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.length = len(lines)
        self._values = {}
        self._other_lines = []
        for number, line in enumerate(lines):
            properties = _logseq_line(line)
            if properties is not None:
                key = properties[1].lower().replace("-", "_")
                self._values.setdefault(key, _property(key, (properties[2] or "").strip(), number))

    @property
    def is_data(self) -> bool:
        return True


def _logseq_line(line: str) -> re.Match[str] | None:
    return _LOGSEQ_LINE.fullmatch(line.lstrip(_MARK).rstrip())


def _property(key: str, written: str, number: int) -> _Value:
    if key not in _PAGES or written[:1] == '"':
        text = written.strip('"')
        return _Value("quoted", ((_Part(number, text),),) if text else (), "")
    pages = ("".join(found).strip() for found in _PAGE.findall(written))
    return _Value("block", tuple((_Part(number, page),) for page in pages if page), "")


def page_properties(text: str) -> PageProperties | None:
    """Return the Logseq properties with which a note begins; None if it has none."""
    if "::" not in text[:_LONGEST_KEY]:
        return None
    lines = text[:_HEAD_CHARACTERS].split("\n", _MAX_LINES)[:_MAX_LINES]
    count = next((at for at, line in enumerate(lines) if not _logseq_line(line)), len(lines))
    return PageProperties(lines[:count]) if count else None


def without_block_properties(text: str) -> str:
    """Replace the properties that Logseq writes below a block (`id::`, `collapsed::`) by blank lines.

    Lines of fenced code stay.
    """
    if _BLOCK_PROPERTY.search(text) is None:
        return text
    lines, fence = list[str](), ""
    for line in lines_of(text):
        if fence and markdown_line_types.is_below_item(line, fence):
            fence = ""
        if fence:
            fence = "" if markdown_line_types.closes_fence(line, fence) else fence
        else:
            fence = markdown_line_types.fence_marks(line)
        lines.append("" if not fence and ":: " in line and _BLOCK_PROPERTY.fullmatch(line) else line)
    return "\n".join(lines)


def read(text: str) -> FrontMatter | None:
    """Return the front matter with which a note begins, or the properties of a Logseq page; None if it has neither."""
    fence = text[:4].lstrip(_MARK)[:3]
    if fence not in _CLOSING:
        return page_properties(text)
    lines = text[:_HEAD_CHARACTERS].split("\n", _MAX_LINES)[:_MAX_LINES]
    if lines[0].lstrip(_MARK).rstrip() != fence:
        return None
    if len(text) > _HEAD_CHARACTERS:
        lines.pop()  # the text may be truncated
    closing = _CLOSING[fence]
    end = next(
        (number for number, line in enumerate(lines[1:], 1) if line[:3] in closing and line.rstrip() in closing), 0
    )
    front = (_json_properties(lines[: end + 1]) or FrontMatter(lines[: end + 1])) if end else None
    return front if front is not None and front.is_data else None


def _valid(text: str) -> str:
    """Return the text on one line and without the halves of characters that JSON can contain."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _key(written: str) -> str:
    return re.sub(r"[ \-]+", "_", written.strip().lower())


def _joined(value: _Value) -> list[str]:
    return [" ".join(part.text for part in item) for item in value.items]


def _filled(items: Sequence[Sequence[_Part]]) -> tuple[tuple[_Part, ...], ...]:
    """Remove empty parts, and items without parts."""
    filled = (tuple(part for part in item if part.text) for item in items)
    return tuple(item for item in filled if item)


def _parts(lines: Sequence[str], first: int, stop: int) -> list[_Part]:
    return [_Part(number, lines[number].strip()) for number in range(first, stop)]


def _scalar(parts: Sequence[_Part]) -> _Value:
    """Return a scalar without a block indicator; a quotation mark that is not closed is an ordinary character."""
    text = parts[0].text
    if text[:1] in ("'", '"') and (quoted := _quoted([part.text for part in parts], parts[0].line)):
        return quoted[0]
    plain = [part._replace(text=_COMMENT.sub("", part.text).strip()) for part in parts]
    if len(plain) == 1 and plain[0].text in _NOTHING:
        plain = []
    return _Value("scalar", _filled([plain]), "")


def _quoted(lines: Sequence[str], first: int) -> tuple[_Value, int] | None:
    """Return a quoted scalar that begins with the first of these lines, and the number of the line after it.

    None if it isn't closed. `first` is the number of the first line.
    """
    double = lines[0][0] == '"'
    parts: list[_Part] = []
    for number, line in enumerate(lines, first):
        text = line.strip()
        begun = text if number == first else lines[0][0] + text
        if match := (_DOUBLE if double else _SINGLE).match(begun):
            if _COMMENT.sub("", begun[match.end() :]).strip():
                return None
            parts.append(_Part(number, _unquoted_scalar(match[1], double=double)))
            return _Value("quoted", _filled([parts]), ""), number + 1
        parts.append(_Part(number, _unquoted_scalar(begun[1:], double=double)))
    return None


def _unquoted_scalar(text: str, *, double: bool) -> str:
    """Return the text between the quotation marks of a scalar, on one line."""
    if not double:
        return " ".join(text.replace("''", "'").split())
    if "\\" in text:
        text = _ESCAPE.sub(_escaped, text)
    return " ".join(text.split())


def _escaped(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    if code is None:
        return " " if match[4] in _WHITE_ESCAPES or match[4] == "\n" else match[4]
    character = int(code, 16)
    if 0xD800 <= character <= 0xDFFF or not 0x20 <= character <= 0x10FFFF:
        return " "  # no character of a text that can be stored
    return chr(character)


def _triple(lines: Sequence[str], first: int, head: str) -> tuple[_Value, int]:
    """Return a multi-line TOML string, and the number of the line after it."""
    mark = head[:3]
    inner = [head[3:], *lines[first + 1 : -1]]
    last = next((at for at, line in enumerate(inner) if mark in line), None)
    if last is None:
        return _scalar([_Part(first, head.strip("\"'"))]), first + 1
    inner[last] = inner[last].partition(mark)[0]
    double = mark == '"""'
    parts = [
        _Part(first + at, _unquoted_scalar(line.rstrip("\\"), double=double))
        for at, line in enumerate(inner[: last + 1])
    ]
    return _Value("quoted", _filled([parts]), ""), first + last + 1


def _value_below(lines: Sequence[str], first: int, stop: int, indented: int) -> tuple[_Value, int]:
    """Return a list or text below its key, and the number of the line after it. Mappings are ignored."""
    start = next((number for number in range(first, stop) if lines[number].strip()), stop)
    if start < stop and (match := _ITEM.fullmatch(lines[start])):
        return _list(lines, start, stop, match[1])
    if start >= indented or _NESTED_KEY.fullmatch(lines[start]):
        return _Value("scalar", (), ""), indented
    return _scalar(_parts(lines, start, indented)), indented


def _list(lines: Sequence[str], start: int, stop: int, margin: str) -> tuple[_Value, int]:
    """Return a list with one item per line, each after a hyphen indented by `margin`, and the line after it."""
    items: list[list[_Part]] = []
    number = start
    while number < stop:
        line = lines[number]
        match = _ITEM.fullmatch(line)
        if match and match[1] == margin:
            items.append([_Part(number, (match[2] or "").strip())])
        elif items and line[:1] in ("", " ", "\t"):
            items[-1].append(_Part(number, line.strip()))
        elif not line.startswith("#"):
            break
        number += 1
    values = [_scalar(item) for item in items]
    return _Value("block", tuple(item for value in values for item in value.items), ""), number


def _flow(lines: Sequence[str], first: int) -> tuple[_Value, int] | None:
    """Return a list in brackets that begins on the first line, and the number of the line after it; None if it isn't
    one.

    Lists inside it are read as items of the outer one.
    """
    reader = _FlowReader()
    for number, line in enumerate(lines, first):
        at = reader.read_line(line, number)
        if at is not None:
            if _COMMENT.sub("", line[at:]).strip():
                return None
            return _Value("flow", tuple(reader.items), " ".join(lines[: number - first + 1])), number + 1
    return None


class _FlowReader:
    """Collects the items of a list in brackets, line by line."""

    def __init__(self) -> None:
        self.items: list[tuple[_Part, ...]] = []
        self._depth = 0
        self._word: list[str] = []
        self._blank = True
        """Whether the current item is still empty."""
        self._quoted = False
        self._begun = 0

    def read_line(self, line: str, number: int) -> int | None:
        """Read one line; returns where the outer list ends in the line, or None if it continues."""
        at = 0
        while at < len(line):
            sign = line[at]
            if self._blank:
                self._begun = number
            if sign in "\"'" and self._blank and (match := (_DOUBLE if sign == '"' else _SINGLE).match(line, at)):
                self._word = [_unquoted_scalar(match[1], double=sign == '"')]
                self._quoted, self._blank = True, False
                at = match.end()
                continue
            at += 1
            if sign in "[{":
                self._depth += 1
            elif sign in "]},":
                self._finish()
                self._depth -= sign != ","
                if self._depth <= 0:
                    return at
            elif sign == "#" and (at == 1 or line[at - 2] in " \t"):
                break
            else:
                self._word.append(sign)
                self._blank = self._blank and sign in " \t"
        self._word.append(" ")
        return None

    def _finish(self) -> None:
        text = " ".join("".join(self._word).split())
        if text and (self._quoted or text not in _NOTHING):
            self.items.append((_Part(self._begun, text),))
        self._word, self._quoted, self._blank = [], False, True


def listed(front: FrontMatter, *keys: str) -> Iterator[str]:
    """Yield the items of the values of these keys.

    An unquoted scalar is split at commas, as Obsidian does.
    """
    for key in keys:
        items = front.items(key)
        if front.kind(key) == "scalar":
            items = [part.strip() for item in items for part in item.split(",")]
        yield from (item for item in items if item)
