"""The shown text as lines that count from 1 (those of a file of any size, or the blocks of a rendered page), and the
selection in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engine import NumberedText, tr

LINE_LIMIT = 20_000
"""Most characters shown of one line; laying out more would block the window."""

Place = tuple[int, int]
"""A line, and a column in code points from 0."""


class Lines(Protocol):
    @property
    def line_count(self) -> int: ...

    def lines(self, first: int, last: int) -> Sequence[str]:
        """Return lines `first` to `last`, both included, of at most `LINE_LIMIT` characters each. Any thread."""


@dataclass(frozen=True)
class TextLines:
    """Lines that are in memory already."""

    texts: Sequence[str]

    @property
    def line_count(self) -> int:
        return len(self.texts)

    def lines(self, first: int, last: int) -> Sequence[str]:
        return [text[:LINE_LIMIT] for text in self.texts[max(0, first - 1) : last]]


class FileLines:
    """A file's lines, clamped for the screen and whole for the clipboard."""

    def __init__(self, text: NumberedText) -> None:
        self._text = text

    @property
    def line_count(self) -> int:
        return self._text.line_count

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self._text.size

    @property
    def encoding(self) -> str:
        """Name of the file's encoding; empty for UTF-8."""
        return self._text.encoding

    def lines(self, first: int, last: int) -> Sequence[str]:
        return self._text.lines(first, last, limit=LINE_LIMIT)

    def shown(self, number: int) -> tuple[str, bool]:
        """One line as displayed, and whether it continues. A read error is shown instead."""
        try:
            text = self._text.line(number, limit=LINE_LIMIT + 1)
        except (OSError, ValueError) as problem:
            return tr("(this line can no longer be read: {problem})", problem=problem), False
        return text[:LINE_LIMIT], len(text) > LINE_LIMIT

    def whole(self, first: int, last: int) -> str:
        """Lines `first` to `last` in full, joined by "\\n"."""
        return self._text.text(first, last)

    def between(self, start: Place, end: Place) -> str:
        """The text from `start` up to `end`; the end of a cut line stands for the end of the real one."""
        (first, from_column), (last, to_column) = start, end
        text = self.whole(first, last)
        if to_column < LINE_LIMIT:
            last_length = len(text) - text.rfind("\n") - 1
            text = text[: len(text) - max(0, last_length - to_column)]
        return text[from_column:]

    def close(self) -> None:
        self._text.close()


class Selection:
    """The selected text, empty until the first click; `caret` is the end that moves."""

    def __init__(self) -> None:
        self.anchor: Place | None = None
        self.caret: Place | None = None

    @property
    def ends(self) -> tuple[Place, Place] | None:
        """First and last place; None when nothing is selected."""
        if self.anchor is None or self.caret is None or self.anchor == self.caret:
            return None
        return min(self.anchor, self.caret), max(self.anchor, self.caret)

    def put(self, place: Place) -> None:
        """Clear the selection and start a new one here."""
        self.anchor = self.caret = place

    def extend(self, place: Place) -> None:
        """Move the caret and select what lies between; begins there if nothing was clicked before."""
        if self.anchor is None:
            self.anchor = place
        self.caret = place

    def select(self, anchor: Place, caret: Place) -> None:
        self.anchor, self.caret = anchor, caret

    def clear(self) -> None:
        self.anchor = self.caret = None

    def columns(self, line: int, length: int) -> tuple[int, int] | None:
        """The selected columns of a line that is `length` long; one more than that stands for its line end."""
        if self.ends is None:
            return None
        (first, from_column), (last, to_column) = self.ends
        if not first <= line <= last:
            return None
        start = from_column if line == first else 0
        end = to_column if line == last else length + 1
        return (start, end) if start < end else None


def word_at(text: str, column: int) -> tuple[int, int]:
    """The columns of the word, or else the run of blanks or the single sign, that a column touches."""
    if not text:
        return 0, 0
    column = min(column, len(text) - 1)
    kind = _kind(text[column])
    if kind == "sign":
        return column, column + 1
    start, end = column, column + 1
    while start > 0 and _kind(text[start - 1]) == kind:
        start -= 1
    while end < len(text) and _kind(text[end]) == kind:
        end += 1
    return start, end


def _kind(character: str) -> str:
    if character.isalnum() or character == "_":
        return "word"
    return "blank" if character.isspace() else "sign"
