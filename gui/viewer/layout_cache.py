"""The lines of one file as they are laid out, made when they come into view; the last ones are kept."""

from collections import OrderedDict

from engine import marked, tr
from gui.style.typography import Typography
from gui.viewer.line_layout import LineLayout, LineStyle
from gui.viewer.lines import LINE_LIMIT, FileLines
from gui.viewer.outline import Outline

CUT_MARK = marked(" … line cut at {limit:,} characters")
_KEPT = 600
"""Laid-out lines kept: more than the tallest screen shows."""
_KEPT_CHARACTERS = 3_000_000
"""Their characters: as many lines of full length as the tallest screen shows, in some 140 MB."""


class LayoutCache:
    """Lines of one file for one width; `wrap_width` None keeps each on one row."""

    def __init__(self, typography: Typography) -> None:
        self._lines: FileLines | None = None
        self._outline = Outline()
        self._kept: OrderedDict[int, LineLayout] = OrderedDict()
        self._characters = 0
        self.typography = typography
        self.wrap_width: int | None = None

    def set_lines(self, lines: FileLines | None, outline: Outline) -> None:
        self._lines, self._outline = lines, outline
        self._forget()

    def set_geometry(self, typography: Typography, wrap_width: int | None) -> bool:
        """False when nothing changed."""
        if (typography, wrap_width) == (self.typography, self.wrap_width):
            return False
        self.typography, self.wrap_width = typography, wrap_width
        self._forget()
        return True

    def _forget(self) -> None:
        self._kept.clear()
        self._characters = 0

    def known(self, number: int) -> bool:
        return number in self._kept

    def line(self, number: int) -> LineLayout:
        """A line, of which at least the beginning is laid out."""
        laid = self._kept.get(number)
        if laid is not None:
            self._kept.move_to_end(number)
            return laid
        text, cut = self._lines.shown(number) if self._lines is not None else ("", False)
        bold, code = self._outline.is_heading(number), self._outline.is_code(number)
        style = LineStyle(self.typography, self.wrap_width, bold=bold, code=code)
        laid = self._kept[number] = LineLayout(text, tr(CUT_MARK, limit=LINE_LIMIT) if cut else "", style)
        self._characters += len(text)
        while len(self._kept) > _KEPT or self._characters > _KEPT_CHARACTERS:
            self._characters -= len(self._kept.popitem(last=False)[1].text)
        return laid
