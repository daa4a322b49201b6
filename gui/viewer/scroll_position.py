"""The scroll position in a text whose line heights are known only once a line is laid out.

The position is the line at the top and how much of it is hidden. The scroll bar is derived from it and counts every
line equally, wrapped or not, so that later layouts can't move the visible text.
"""

import math
from collections.abc import Callable


class ScrollPosition:
    """Stores the line at the top of the view and how many pixels of it are hidden.

    `height_of(number, enough)` may lay the line out: it returns the line's height, or any value of at least `enough`
    for a taller line. It is called only for lines near the view. `guess_of(number)` estimates a height for the scroll
    bar without layout.
    """

    def __init__(self, height_of: Callable[[int, float], int], guess_of: Callable[[int], int]) -> None:
        self._height_of = height_of
        self._guess_of = guess_of
        self._count = 0
        self._view = 0
        self.line = 1
        """The line at the top."""
        self.hidden = 0
        """Pixels of it above the view."""

    def reset(self, line_count: int, line: int = 1) -> None:
        """Go to a line of another text with this number of lines; `resize` follows."""
        self._count = line_count
        self.line, self.hidden = min(line, max(1, line_count)), 0

    def resize(self, view_height: int, line_count: int) -> None:
        """Set the view's height and the text's length; the top line stays if there is enough text below it."""
        self._view, self._count = view_height, line_count
        self._correct()

    def move(self, pixels: int) -> None:
        """Scroll down by some pixels (up, if negative), as far as there is text."""
        self.hidden += pixels
        self._correct()

    def go_to(self, line: int, *, above: int = 0, within: int = 0) -> None:
        """Scroll `line` to `above` pixels below the top; `within`: pixels of the line itself that may be hidden."""
        self.line, self.hidden = line, within - above
        self._correct()

    def go_to_end(self) -> None:
        self.line, self.hidden = self._end()

    def top_of(self, line: int) -> int | None:
        """Return how many pixels a line begins below the top of the view; None if it is not in view."""
        if not self.line <= line <= self._count:
            return None
        top = -self.hidden
        for number in range(self.line, line):
            top += self._height_of(number, self._view - top)
            if top >= self._view:
                return None
        return top

    def value(self, unit: int) -> int:
        """Return the scroll bar's value if each line has the length `unit`."""
        return self._value(self.line, self.hidden, unit) if self._count else 0

    def maximum(self, unit: int) -> int:
        """Return the scroll bar's maximum if each line has the length `unit`."""
        remaining = self._view
        for number in range(self._count, 0, -1):
            remaining -= self._guess_of(number)
            if remaining <= 0:
                return self._value(number, -remaining, unit)
        return 0

    def set_value(self, value: int, unit: int) -> None:
        """Scroll to a value of the scroll bar, on which each line has the length `unit`."""
        if value >= self.maximum(unit):
            self.go_to_end()
            return
        line, part = divmod(value, unit)
        self.line = min(line + 1, max(1, self._count))
        self.hidden = part * self._guess_of(self.line) // unit if part else 0
        self._correct()

    def _value(self, line: int, hidden: int, unit: int) -> int:
        return (line - 1) * unit + min(unit, hidden * unit // max(1, self._guess_of(line)))

    def _correct(self) -> None:
        """Correct the position so that the hidden pixels belong to the top line and the view ends with the text."""
        if self._count == 0:
            self.line, self.hidden = 1, 0
            return
        self.line = min(max(1, self.line), self._count)
        while self.hidden < 0 and self.line > 1:
            self.line -= 1
            self.hidden += self._height_of(self.line, math.inf)
        self.hidden = max(0, self.hidden)
        while self.line < self._count and self.hidden >= (height := self._height_of(self.line, self.hidden + 1)):
            self.hidden -= height
            self.line += 1
        remaining = self._view + self.hidden
        for number in range(self.line, self._count + 1):
            remaining -= self._height_of(number, remaining)
            if remaining <= 0:
                return
        self.line, self.hidden = self._end()

    def _end(self) -> tuple[int, int]:
        """Return the position (line, hidden pixels) at which the last line ends at the bottom of the view."""
        remaining = self._view
        for number in range(self._count, 0, -1):
            remaining -= self._height_of(number, math.inf)
            if remaining <= 0:
                return number, -remaining
        return 1, 0
