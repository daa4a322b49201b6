"""Finds the headings and code blocks of a note; a `#` inside a code block is not a heading."""

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

from engine import CancelToken, is_document, markdown_of, markdown_outline, note_title, structure_of
from gui.viewer.text_lines import FileLines, Lines, TextLines

_MAX_READ = 4 * 1024 * 1024
"""Maximum number of characters read; a longer file is a log rather than a note."""
_BLOCK = 512
_HEAD = 64 * 1024
"""Maximum number of characters searched for a title."""
_HEAD_LINES = 16


@dataclass(frozen=True)
class Heading:
    line: int
    title: str
    """Title without inline markup."""

    @property
    def key(self) -> str:
        """Only the letters and digits of the title, which are the same in the rendered page, except for links."""
        return heading_key(self.title)


@dataclass(frozen=True)
class HeadingPosition:
    """Identifies a heading: number `nth_of_key` of those with this key or, if no heading has it any more, number `nth`
    of all, from 0.
    """

    key: str
    nth_of_key: int = 0
    nth: int = 0


def title_of(lines: Lines, name: str) -> str:
    """Return the title of a note from its first lines; `name` is its stable name."""
    head = ""
    for first in range(1, lines.line_count + 1, _HEAD_LINES):
        head += "\n".join((*lines.lines(first, first + _HEAD_LINES - 1), ""))
        if len(head) > _HEAD:
            break
    return note_title(head, name)


def heading_key(title: str) -> str:
    return "".join(filter(str.isalnum, title)).casefold()


class Outline:
    """The headings of a file in order, and the first and last line of each code block, including the fences."""

    def __init__(
        self,
        headings: Iterable[Heading] = (),
        code: Iterable[tuple[int, int]] = (),
        front_matter: int = 0,
        separate_title: str = "",
    ) -> None:
        self._title_keys = [heading_key(separate_title)] if separate_title else []
        """Key of the title with which the page begins, if it is none of the headings."""
        self.front_matter = front_matter
        """Number of lines of front matter or properties with which a Markdown file begins."""
        self.headings = tuple(headings)
        self._code = tuple(code)
        self._lines = [heading.line for heading in self.headings]
        self._set = frozenset(self._lines)

    @classmethod
    def of(cls, lines: Lines, cancel: CancelToken) -> "Outline":
        """Make the outline of a Markdown file from its first megabytes. Raises `Cancelled`."""
        headings, code, front_matter = markdown_outline(_beginning(lines, cancel, _MAX_READ), cancel.checkpoint)
        return cls((Heading(heading.line, heading.title) for heading in headings), code, front_matter)

    @classmethod
    def of_markup(cls, lines: Lines, name: str, cancel: CancelToken) -> "Outline | None":
        """Read the first megabytes of a file with its own structure, and all of a document; None for others."""
        if structure_of("\n".join(lines.lines(1, 1)), name) is None:
            return None
        most = math.inf if is_document(name) else _MAX_READ  # the text of a document is bounded
        structure = structure_of(_beginning(lines, cancel, most), name)
        if structure is None:
            return None
        headings = (Heading(heading.line, heading.title) for heading in structure.headings)
        return cls(headings, structure.code, separate_title=structure.title if structure.separate_title else "")

    def is_heading(self, line: int) -> bool:
        return line in self._set

    def is_code(self, line: int) -> bool:
        """Return whether a line is in a code block."""
        return self.code_block(line) is not None

    def code_block(self, line: int) -> tuple[int, int] | None:
        """Return first and last line of the code block around a line, including its fences; None without one."""
        block = bisect_right(self._code, line, key=lambda lines: lines[0]) - 1
        return self._code[block] if block >= 0 and line <= self._code[block][1] else None

    def heading_above(self, line: int) -> HeadingPosition | None:
        """Return the page's heading for the one above a line; None before the first heading."""
        nth = bisect_right(self._lines, line) - 1
        if nth < 0:
            return None
        key = self.headings[nth].key
        before = self._title_keys + [heading.key for heading in self.headings[:nth]]
        return HeadingPosition(key, before.count(key), len(before))


def page_source(
    lines: FileLines, name: str, cancel: CancelToken, outline: Outline | None = None
) -> tuple[FileLines | TextLines, Outline]:
    """Return the Markdown from which the page of a file is made, and its outline. `outline`: that of `lines`.

    `name` is the stable name of the file. Raises `Cancelled`.
    """
    if markdown_of("", name) is None:  # the name decides, and the whole text may be long
        return lines, outline or Outline.of(lines, cancel)
    markdown = markdown_of(lines.full_lines(1, lines.line_count), name) or ()
    texts = [""]  # so that a rule in the first line doesn't begin front matter
    for line in markdown:
        cancel.checkpoint()
        texts.append(line)
    written = TextLines(texts)
    return written, Outline.of(written, cancel)


def _beginning(lines: Lines, cancel: CancelToken, most: float) -> str:
    """Return the lines up to about `most` characters, joined."""
    collected: list[str] = []
    characters = 0
    for first in range(1, lines.line_count + 1, _BLOCK):
        cancel.checkpoint()
        collected += lines.lines(first, first + _BLOCK - 1)
        characters += sum(map(len, collected[first - 1 :]))
        if characters > most:
            break
    return "\n".join(collected)
