"""Rewrites HTML and line breaks in the text of a note as Markdown that Qt's importer knows."""

import re
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import chain, islice, pairwise

from engine import CODE_SPAN

_HTML = re.compile(
    r"<!--.{0,400}?-->|<svg[ >](?:(?!<svg[ >]).){0,4000}?</svg>|(?<!\]\()(?<!\\)"
    r"<(/?)(a|audio|b|br|caption|center|col|colgroup|del|details|div|em|figcaption|figure|font|h[1-6]|i|iframe|img|ins|kbd"
    r"|mark|p|s|section|small|source|span|strike|strong|sub|summary|sup|table|tbody|td|tfoot|th|thead|tr|u|video)"
    r"(?=\s|/?>)([^<>]*)>",
    re.IGNORECASE,
)
"""A comment, a drawing, or a tag that is rendered or left out; other tags stay as text."""
_SEARCHED = 16 * 1024
"""Characters of a line that are searched in one call, which holds the interpreter lock."""
_MARKS_OF_TAGS = {"b": "**", "strong": "**", "summary": "**", "i": "*", "em": "*", "kbd": "`"}
_MARKS_OF_TAGS |= {f"h{level}": "**" for level in range(1, 7)} | dict.fromkeys(("del", "s", "strike"), "~~")
_LONGEST_TABLE = 20_000
TABLE = re.compile(rf"<table(?:\s[^<>]*)?>((?:(?!<table[\s>]).){{1,{_LONGEST_TABLE}}}?)</table>", re.IGNORECASE)
"""A table in one line; in a table within another one, only the inner one."""
_ROW = re.compile(r"<tr(?:\s[^<>]*)?>(.*?)(?=</?tr[\s>]|\Z)", re.IGNORECASE)
_CELL = re.compile(r"<t[dh](?:\s[^<>]*)?>(.*?)(?=</?t[dh][\s>]|\Z)", re.IGNORECASE)
TABLE_END = "</table>"
_TABLE_TAG = re.compile(r"</?(?:table|thead|tbody|tfoot|tr|t[dh])(?:\s[^<>]*)?>", re.IGNORECASE)
_MARGIN = re.compile(r"(?:[ \t>]|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*")
_LIST_SIGN = re.compile(r"[-*+]|\d{1,9}[.)]")
_CELL_GAP = "\u2003"
_PLACEHOLDERS = frozenset("audio caption col del ins s source strike table td th tr".split())
"""Names of tags that are also placeholders in text, such as `cp <source> <target>`, where they are not closed."""
END_OF_BLOCK = re.compile(r"[ \t]*<.*</(?:center|div|h[1-6]|p|summary)>[ \t]*", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"(?<![\w-])([\w-]{1,100})[ \t]*=[ \t]*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
NEW_LINE = "\u2028"
"""The character with which Qt begins a new line in a paragraph."""
LINE_BREAK = f" {NEW_LINE}"
"""Its Markdown: without the space, Qt's importer reads neither an address nor `~~` directly before it."""
_DEFINITION = re.compile(r"[ \t]*\[[^\]\n]{1,1000}\]:")
_ESCAPED = re.compile(r"([\\`*_\[\]<>~$=|&#!])")

ShowImage = Callable[[str, str, str], str]
"""Returns Markdown for an image, by its markup, its address, and its description with the width."""


def without_html(text: str, image: ShowImage) -> str:
    """Rewrite the tags in a line; those that change the look must be closed in the same line."""
    link_ends: list[str] = []
    tags = list(_tags(text))
    spans = pairwise((0, *chain.from_iterable(tag.span() for tag in tags), len(text)))
    between = [text[start:end] for start, end in islice(spans, 0, None, 2)]
    closed = {tag[2].lower() for tag in tags if tag[1]}
    has_text = bool("".join(between).strip(" \t>*+-"))

    def rewritten(tag: re.Match[str]) -> str:
        name = (tag[2] or "").lower()
        if name == "br":
            return LINE_BREAK
        attributes = {key.lower(): one or two or three for key, one, two, three in _ATTRIBUTE.findall(tag[3] or "")}
        if name in _PLACEHOLDERS and has_text and not attributes and name not in closed:
            return tag[0]
        if name == "img":
            source, words, width = (attributes.get(key, "").strip("<> ") for key in ("src", "alt", "width"))
            markup = f"![{escaped(words)}](<{source}>)"
            return image(markup, source, f"{words}|{width}" if width.isdigit() else words) if source else ""
        if name in ("td", "th"):
            return _CELL_GAP if tag[1] else ""
        if name in ("audio", "iframe", "video"):
            address = attributes.get("src", "")
            return f"<{address}>" if address.startswith(("http://", "https://")) else ""
        if name == "a" and not tag[1]:
            address = attributes.get("href", "").strip("<> ") if "a" in closed else ""
            link_ends.append(f"](<{address}>)" if address else "")
            return "[" if address else "" if attributes.keys() & {"href", "id", "name"} else tag[0]
        if name == "a":
            return link_ends.pop() if link_ends else ""
        return _MARKS_OF_TAGS.get(name, "") if name in closed else ""

    written = [*map(rewritten, tags), ""]
    return "".join(chain.from_iterable(zip(between, written, strict=True)))


def _tags(text: str) -> Iterator[re.Match[str]]:
    start = 0
    while start < len(text):
        end = text.find("<", start + _SEARCHED)  # no tag contains one
        end = len(text) if end < 0 else end
        yield from _HTML.finditer(text, start, end)
        start = end


class OpenTable:
    """Joins the lines of a table of HTML, so that it can become one of Markdown."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        """Lines from the one that opens the table; empty outside of tables."""
        self._open = self._length = 0
        """Number of tables that are open, one in the other, and of characters."""

    def add(self, line: str) -> list[str]:
        """Add a line; returns those that can be read: the whole table as one line, or all lines up to a blank one or
        to too many.
        """
        self.lines.append(line)
        plain = without_code(line)
        self._open += plain.count("<table") - plain.count(TABLE_END)
        self._length += len(line)
        ends = not line.strip(" \t>") or self._length > _LONGEST_TABLE
        if self._open > 0 and not ends:
            return []
        lines, self.lines, self._open, self._length = self.lines, [], 0, 0
        if ends:  # what follows is Markdown, such as a block of code in a cell
            texts = (outside_code(_TABLE_TAG, lambda _: "", more) for more in lines)
            return [text.lstrip(" \t") for text in texts]  # not code, though indented
        return [" ".join((lines[0], *(more.lstrip(" \t>") for more in lines[1:])))]


def markdown_table(table: re.Match[str]) -> str:
    """Return a table of HTML as one of Markdown, in the quote or list item in which its line begins."""
    found = _ROW.findall(table[1]) or [table[1]]
    rows = [[cell.strip().replace("|", "\\|") for cell in _CELL.findall(row)] for row in found]
    columns = max(map(len, rows), default=0)
    if not columns:
        return table[0]
    lines = [f"| {' | '.join([*row, *[''] * (columns - len(row))])} |" for row in rows]
    lines = [lines[0], f"{'|---' * columns}|", *lines[1:]]
    margin = _LIST_SIGN.sub(lambda sign: " " * len(sign[0]), (_MARGIN.match(table.string) or [""])[0])
    return f"\n{margin}\n" + "\n".join(f"{margin}{line}" for line in lines) + f"\n{margin}\n{margin}"


def outside_code(pattern: re.Pattern[str], replace: Callable[[re.Match[str]], str], text: str) -> str:
    """Replace the matches of a pattern that don't begin in code."""
    codes = [code.span() for code in CODE_SPAN.finditer(text)] if "`" in text else []

    def replaced(match: re.Match[str]) -> str:
        before = bisect(codes, (match.start(), len(text)))
        return match[0] if before and match.start() < codes[before - 1][1] else replace(match)

    return pattern.sub(replaced, text)


def without_code(line: str) -> str:
    """Return the line with blanks for inline code."""
    return CODE_SPAN.sub(lambda code: " " * len(code[0]), line)


def escaped(text: str) -> str:
    """Return the text with all Markdown markup in it escaped."""
    return _ESCAPED.sub(r"\\\1", text)


def may_break(text: str) -> bool:
    """Return whether the last line has text that is not in a table, nor a link's definition, nor ends with a break."""
    last = text.rpartition("\n")[2]
    return not last.endswith("\\") and "|" not in last and any(map(str.isalnum, last)) and not _DEFINITION.match(last)
