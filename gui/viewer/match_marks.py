"""The highlighted ranges of visible lines, found when painted and then cached."""

from collections import OrderedDict

from PySide6.QtCore import QObject, Signal

from gui.core.jobs import Job, Jobs
from gui.viewer.matches import Finder
from gui.widgets.plain_text import utf16_ranges

Ranges = list[tuple[int, int]]

_KEPT = 2_000
_LONG_LINE = 2_000
"""Characters from which on a line is looked through in the background: it may take a tenth of a second."""


class MatchMarks(QObject):
    """Ranges in UTF-16 units, by line, for one finder.

    Signals:
        found: the ranges of a line that had none yet have arrived.
    """

    found = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._finder: Finder | None = None
        self._kept: OrderedDict[int, Ranges] = OrderedDict()
        self._sought: dict[int, Job] = {}

    def set_finder(self, finder: Finder | None) -> None:
        self._finder = finder
        self.forget()

    def forget(self) -> None:
        """The text changed."""
        for job in self._sought.values():
            job.cancel()
        self._sought.clear()
        self._kept.clear()

    def known(self, line: int) -> bool:
        return self._finder is None or line in self._kept

    def of(self, line: int, text: str) -> Ranges:
        """The ranges of a line; for a long one perhaps none now, and `found` follows."""
        finder = self._finder
        if finder is None:
            return []
        if line not in self._kept:
            if len(text) > _LONG_LINE:
                if line not in self._sought:
                    self._sought[line] = self._jobs.read(
                        lambda _: utf16_ranges(text, finder(text)), lambda ranges: self._arrive(line, ranges)
                    )
                return []
            self._keep(line, utf16_ranges(text, finder(text)))
        return self._kept[line]

    def _arrive(self, line: int, ranges: Ranges) -> None:
        self._sought.pop(line, None)
        self._keep(line, ranges)
        self.found.emit()

    def _keep(self, line: int, ranges: Ranges) -> None:
        self._kept[line] = ranges
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
