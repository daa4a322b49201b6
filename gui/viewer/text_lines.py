"""A text as lines counted from 1 (those of a file of any size, or the blocks of a page), and the selection in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine import NumberedText, tr

LINE_LIMIT = 20_000
"""Maximum number of characters shown of one line; laying out more would block the window."""

TextPosition = tuple[int, int]
"""A line, and a column in code points from 0."""


class Lines(Protocol):
    @property
    def line_count(self) -> int: ...

    def lines(self, first: int, last: int) -> Sequence[str]:
        """Return lines `first` to `last`, both included, of at most `LINE_LIMIT` characters each. Any thread."""


@dataclass(frozen=True)
class TextLines:
    """Random access to the lines of a text held in memory; implements `Lines`."""

    texts: Sequence[str]

    @property
    def line_count(self) -> int:
        return len(self.texts)

    def lines(self, first: int, last: int) -> Sequence[str]:
        return [text[:LINE_LIMIT] for text in self.texts[max(0, first - 1) : last]]

    def full_lines(self, first: int, last: int) -> str:
        """Return lines `first` to `last` in full, joined by newlines."""
        return "\n".join(self.texts[max(0, first - 1) : last])


class FileLines:
    """Random access to the lines of a file: shortened for the screen, whole for the clipboard; implements `Lines`."""

    def __init__(self, text: NumberedText) -> None:
        self._text = text

    @property
    def line_count(self) -> int:
        return self._text.line_count

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self._text.size

    @property
    def encoding(self) -> str:
        """The name of the file's encoding; empty for UTF-8."""
        return self._text.encoding

    def lines(self, first: int, last: int) -> Sequence[str]:
        return self._text.lines(first, last, limit=LINE_LIMIT)

    def display_line(self, number: int) -> tuple[str, bool]:
        """Return a line as displayed, and whether it was shortened. A read error is returned as text."""
        try:
            text = self._text.line(number, limit=LINE_LIMIT + 1)
        except (OSError, ValueError) as problem:
            return tr("(this line can no longer be read: {problem})", problem=problem), False
        return text[:LINE_LIMIT], len(text) > LINE_LIMIT

    def full_lines(self, first: int, last: int) -> str:
        """Return lines `first` to `last` in full, joined by newlines."""
        return self._text.text(first, last)

    def between(self, start: TextPosition, end: TextPosition) -> str:
        """Return the text from `start` to `end`; the end of a shortened line counts as the end of the whole line."""
        (first, from_column), (last, to_column) = start, end
        text = self.full_lines(first, last)
        if to_column < LINE_LIMIT:
            last_length = len(text) - text.rfind("\n") - 1
            text = text[: len(text) - max(0, last_length - to_column)]
        return text[from_column:]

    def close(self) -> None:
        self._text.close()


class Selection:
    """A text selection from a fixed end to the moving end `caret`, by line and column. Empty until the first click."""

    def __init__(self) -> None:
        self.anchor: TextPosition | None = None
        self.caret: TextPosition | None = None

    @property
    def ends(self) -> tuple[TextPosition, TextPosition] | None:
        """Start and end of the selection; None when nothing is selected."""
        if self.anchor is None or self.caret is None or self.anchor == self.caret:
            return None
        return min(self.anchor, self.caret), max(self.anchor, self.caret)

    def start_at(self, position: TextPosition) -> None:
        """Start a new, empty selection at a position."""
        self.anchor = self.caret = position

    def extend(self, position: TextPosition) -> None:
        """Move the caret to a position; without a selection, start one there."""
        if self.anchor is None:
            self.anchor = position
        self.caret = position

    def select(self, anchor: TextPosition, caret: TextPosition) -> None:
        self.anchor, self.caret = anchor, caret

    def clear(self) -> None:
        self.anchor = self.caret = None

    def columns(self, line: int, length: int) -> tuple[int, int] | None:
        """Return the selected columns of a line with `length` characters; an end of `length + 1` includes the break."""
        if self.ends is None:
            return None
        (first, from_column), (last, to_column) = self.ends
        if not first <= line <= last:
            return None
        start = from_column if line == first else 0
        end = to_column if line == last else length + 1
        return (start, end) if start < end else None


def word_at(text: str, column: int) -> tuple[int, int]:
    """Return the columns of the word, run of spaces or single character at a column."""
    if not text:
        return 0, 0
    column = min(column, len(text) - 1)
    kind = _character_class(text[column])
    if kind == "sign":
        return column, column + 1
    start, end = column, column + 1
    while start > 0 and _character_class(text[start - 1]) == kind:
        start -= 1
    while end < len(text) and _character_class(text[end]) == kind:
        end += 1
    return start, end


def _character_class(character: str) -> str:
    if character.isalnum() or character == "_":
        return "word"
    return "blank" if character.isspace() else "sign"
