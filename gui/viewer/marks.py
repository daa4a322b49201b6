"""The marked ranges of the lines that are on the screen, found as they are painted and then kept."""

from collections import OrderedDict

from gui.viewer.hits import Finder
from gui.widgets.utf16 import utf16_ranges

Ranges = list[tuple[int, int]]

_KEPT = 2_000


class LineMarks:
    """Ranges in UTF-16 units, by line, for one finder."""

    def __init__(self) -> None:
        self._finder: Finder | None = None
        self._kept: OrderedDict[int, Ranges] = OrderedDict()

    def set_finder(self, finder: Finder | None) -> None:
        self._finder = finder
        self.forget()

    def forget(self) -> None:
        """The text changed."""
        self._kept.clear()

    def known(self, line: int) -> bool:
        return self._finder is None or line in self._kept

    def of(self, line: int, text: str) -> Ranges:
        if self._finder is None:
            return []
        ranges = self._kept.get(line)
        if ranges is None:
            ranges = self._kept[line] = utf16_ranges(text, self._finder(text))
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return ranges
