"""Writes Markdown, as which notes in other formats are shown as a page.

It is Markdown as Obsidian writes it, with callouts (`> [!note]`) and footnotes (`[^1]`), and `_underlined_` as Qt reads
it. All other text is escaped, so that nothing in it is read as markup.
"""

import csv
import re
from collections.abc import Iterable, Sequence

from engine.base import lazy_pattern

MAX_NESTED = 10
"""Maximum number of lists, quotes and callouts around each other that are shown as such."""
_MAX_COLUMNS = 60
_LONGEST_PARAGRAPH = 4_000
_MARKUP = lazy_pattern(r"([\\`*_\[\]<>~$=|#!&^%{}(])")
_AT_START = lazy_pattern(r"\A([ \t]*+)(?:([-+])(?=[-+ \t]|$)|(\d{1,9})(?=[.)](?:[ \t]|$)))")
_BAR = lazy_pattern(r"(?<!\\)\|")
_TICKS = lazy_pattern(r"`+")
_FIRST_TOKEN, _LAST_TOKEN = 0xF0000, 0xFFFFD
_TOKEN = re.compile(f"[{chr(_FIRST_TOKEN)}-{chr(_LAST_TOKEN)}]")
_URL_ESCAPES = str.maketrans({" ": "%20", "<": "%3C", ">": "%3E", "\\": "%5C", "\n": "", "\t": "%20"})
CALLOUTS = frozenset("note tip hint important warning caution danger error attention info todo example".split())
"""Names of blocks that are shown as a callout of this kind."""


class Inline:
    """Converts the inline markup of a text to Markdown; each finished part is replaced by one character, its token."""

    def __init__(self, text: str) -> None:
        self.text = _TOKEN.sub("\ufffd", text)
        self._written: list[str] = []

    def token(self, markdown: str) -> str:
        """Return a token for this Markdown, which no later rule changes."""
        if _FIRST_TOKEN + len(self._written) > _LAST_TOKEN:
            return ""
        self._written.append(markdown)
        return chr(_FIRST_TOKEN + len(self._written) - 1)

    def marked(self, text: str, pattern: re.Pattern[str], mark: str) -> str:
        """Return a text with `mark` around group 1 of each match."""
        return pattern.sub(lambda match: f"{self.token(mark)}{match[1]}{self.token(mark)}", text)

    def code(self, text: str) -> str:
        return self.token(code(self.plain(text)))

    def link(self, label: str, target: str) -> str:
        """Return a token for a link: `target` is an address, or the name or path of a note with `#` and a heading."""
        return self.token(f"[{self.done(label)}](<{target.translate(_URL_ESCAPES)}>)")

    def image(self, description: str, target: str, width: str = "") -> str:
        return self.token(image(self.plain(description), target, width))

    def footnote(self, name: str) -> str:
        return self.token(f"[^{footnote_name(name)}]")

    def done(self, text: str | None = None) -> str:
        """Return the text (all of it by default) as Markdown."""
        escaped = literal(self.text if text is None else text)
        return _TOKEN.sub(lambda match: self._written[ord(match[0]) - _FIRST_TOKEN], escaped)

    def plain(self, text: str) -> str:
        """Return the text without the writer's own tokens for links and images."""
        return _TOKEN.sub("", text)


class MarkdownWriter:
    """Collects lines of Markdown, each within the open lists, quotes and callouts."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._containers: list[list[str]] = []
        """Beginnings of the next line and of later ones."""
        self._last = ""

    @property
    def depth(self) -> int:
        """Number of open containers."""
        return len(self._containers)

    def take_lines(self) -> list[str]:
        """Return the lines since the last call."""
        lines, self._lines = self._lines, []
        return lines

    def open(self, first: str, rest: str) -> None:
        """Begin a container: `first` and `rest` come before its first line and its other lines.

        Its lines are written into the container around it if that is the last that may be open.
        """
        if self.depth < MAX_NESTED:
            self._containers.append([first, rest])

    def open_item(self, marker: str) -> None:
        """Begin an item of a list, with a marker such as `- ` or `1. `."""
        self.open(marker, " " * len(marker))

    def open_quote(self, kind: str = "", title: str = "") -> None:
        """Begin a quote, or a callout of this kind; `title` is Markdown."""
        self.blank()
        self.open("> ", "> ")
        self._last = "".join(rest for _, rest in self._containers).rstrip()
        if kind or title:
            self.line(f"[!{kind}] {title}" if kind else f"**{title}**")
            self.blank()

    def close(self, depth: int = 0) -> None:
        """End all containers but the first ones."""
        if any(first != rest for first, rest in self._containers[depth:]):
            self.line("")  # an item without text
        del self._containers[depth:]

    def line(self, text: str) -> None:
        start = ""
        for container in self._containers:
            start += container[0]
            container[0] = container[1]
        self._last = start + text if text.endswith("  ") else (start + text).rstrip()
        self._lines.append(self._last)

    def blank(self) -> None:
        """End a paragraph, except at the beginning of an item."""
        empty = "".join(rest for _, rest in self._containers).rstrip()
        if self._last != empty and not any(first != rest for first, rest in self._containers):
            self.line("")

    def paragraph(self, markdown: str) -> None:
        """Write a paragraph, and escape a beginning that Markdown would read as the marker of a list."""
        self.blank()
        for line in markdown.split("\n"):
            self.line(_AT_START.sub(_escaped_marker, line, count=1) if line[:1] in "-+ \t0123456789" else line)

    def heading(self, level: int, markdown: str) -> None:
        self.close()
        self.blank()
        self.line(f"{'#' * level} {' '.join(markdown.split())}")
        self.blank()

    def rule(self) -> None:
        self.blank()
        self.line("---")
        self.blank()

    def code(self, lines: Sequence[str], language: str = "") -> None:
        """Write a block of code, without the indentation that all of its lines have."""
        self.blank()
        longest = max((len(ticks) for line in lines if "``" in line for ticks in _TICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        self.line(fence + "".join(filter(lambda sign: sign.isalnum() or sign in "+-#_.", language))[:40])
        for line in dedented(lines):
            self.line(line)
        self.line(fence)
        self.blank()

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """Write a table whose cells are Markdown; its first row becomes the header, which Markdown requires."""
        columns = min(max(map(len, rows), default=0), _MAX_COLUMNS)
        if not columns:
            return
        self.blank()
        for number, row in enumerate(rows):
            cells = (_BAR.sub(r"\\|", " ".join(cell.split())) for cell in (*row, *[""] * columns)[:columns])
            self.line(f"| {' | '.join(cells)} |")
            if not number:
                self.line("|---" * columns + "|")
        self.blank()


_PIXELS = lazy_pattern(r"(\d{1,4})[ ]?(?:px)?")
_IN_DESCRIPTION = lazy_pattern(r"[\\`*\[\]<>~&|\n]|(?<!\w)_|_(?!\w)")


def literal(text: str) -> str:
    """Return the text with everything in it escaped that Markdown or Obsidian would take for markup."""
    return _MARKUP.sub(r"\\\1", text)


def code(text: str) -> str:
    """Return inline code."""
    text = " ".join(text.split("\n"))
    ticks = "`" * (1 + max(map(len, _TICKS.findall(text)), default=0))
    pad = " " if text[:1] == "`" or text[-1:] == "`" else ""
    return f"{ticks}{pad}{text}{pad}{ticks}" if text.strip() else literal(text)


def image(description: str, target: str, width: str = "") -> str:
    """Return an image; `width`: its width in pixels, which the viewer reads from the description as Obsidian does."""
    name = target.rpartition("/")[2]
    # An escaped sign would divide the description, and a page repeats the image for each part.
    words = " ".join(_IN_DESCRIPTION.sub(" ", description or name).split()) or "…"
    size = _PIXELS.fullmatch(width)
    return f"![{words}{f'|{size[1]}' if size else ''}](<{target.translate(_URL_ESCAPES)}>)"


def footnote_name(name: str) -> str:
    return "".join("-" if sign in "[]^`" or sign.isspace() else sign for sign in name)[:80] or "1"


def dedented(lines: Sequence[str]) -> list[str]:
    """Return the lines without their common indentation, and without blank lines around them."""
    lines = [line.expandtabs(8) if "\t" in line[:200] else line for line in lines]
    full = [number for number, line in enumerate(lines) if line.strip()]
    if not full:
        return []
    margin = min(indent_of(lines[number]) for number in full)
    return [line[margin:].rstrip() for line in lines[full[0] : full[-1] + 1]]


def indent_of(line: str) -> int:
    return len(line) - len(line.lstrip())


def csv_rows(lines: Iterable[str], delimiter: str = ",") -> list[list[str]] | None:
    """Return the rows of a table of values between delimiters, or None if they cannot be read."""
    written = (f"{line}\n" for line in lines if line)
    try:
        return list(csv.reader(written, delimiter=delimiter, skipinitialspace=True))
    except (csv.Error, TypeError, ValueError):
        return None


def pieces(lines: Iterable[str]) -> list[str]:
    """Join the lines of a paragraph, in pieces that are short enough for patterns."""
    groups, length = list[list[str]](), 0
    for line in lines:
        if not groups or length + len(line) > _LONGEST_PARAGRAPH:
            groups.append([])
            length = 0
        groups[-1].append(line)
        length += len(line)
    return ["\n".join(piece) for piece in groups]


def _escaped_marker(match: re.Match[str]) -> str:
    return f"{match[1]}\\{match[2]}" if match[2] else f"{match[1]}{match[3]}\\"
