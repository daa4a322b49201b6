"""The table of files that are not in the index, failed or skipped, in the diagnostics."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QBoxLayout, QVBoxLayout, QWidget

from engine import FileIssue, tr
from gui.style.stylesheet import font_at
from gui.widgets.chip import Chip
from gui.widgets.labels import breakable, label
from gui.widgets.skip_rules import files_left_out
from gui.widgets.table import IssuesTable

_GAP = 8
_CHIP_PADS = 24
_MANY = 888_888
"""As much as there may be of left-out files: what their number is given room for."""


class ExcludedFiles(QWidget):
    """Shows one of both lists; hidden if both are empty.

    Signals: chosen: `failed` or `skipped`, whose chip was pressed. reveal_requested: path of a file, as in its record.
    """

    chosen = Signal(str)
    reveal_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._which = ""
        self._failed_chip, self._skipped_chip = Chip(_failed(0)), Chip(_skipped(0))
        for chip, which in ((self._failed_chip, "failed"), (self._skipped_chip, "skipped")):
            chip.clicked.connect(partial(self._choose, which))
        self._chips = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._chips.setSpacing(_GAP)
        self._chips.addWidget(self._failed_chip)
        self._chips.addWidget(self._skipped_chip)
        self._chips.addStretch(1)
        self._title = label(tr("Left out"), "section")
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(_GAP)
        self._head.addWidget(self._title, 1)
        self._head.addLayout(self._chips)
        self._table = IssuesTable()
        self._table.setAccessibleName(tr("Files that were left out"))
        self._table.setMinimumHeight(200)
        self._table.reveal_requested.connect(self.reveal_requested)
        detail = label("", "meta", wrap=True)
        self._table.chosen.connect(lambda text: detail.setText(breakable(text)))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(self._head)
        column.addWidget(self._table)
        column.addWidget(detail)

    @staticmethod
    def narrowest() -> int:
        """Width of the longer chip with a long number."""
        bold = QFontMetrics(font_at(13, QFont.Weight.DemiBold))
        return max(map(bold.horizontalAdvance, (_failed(_MANY), _skipped(_MANY)))) + _CHIP_PADS

    def fold(self, width: int) -> None:
        """Put title and chips below each other where so little room is."""
        title, way = self._title.sizeHint().width(), QBoxLayout.Direction
        chips = self._failed_chip.sizeHint().width() + self._skipped_chip.sizeHint().width() + _GAP
        self._chips.setDirection(way.LeftToRight if chips <= width else way.TopToBottom)
        self._head.setDirection(way.LeftToRight if title + _GAP + chips <= width else way.TopToBottom)

    def choose(self, which: str) -> None:
        """Select the list, from the next record on."""
        self._which = which

    def show_issues(self, failed: tuple[FileIssue, ...], skipped: tuple[FileIssue, ...]) -> None:
        skipped_shown = bool(skipped) and (self._which == "skipped" or not failed)
        self._failed_chip.setText(_failed(len(failed)))
        self._skipped_chip.setText(_skipped(files_left_out(skipped)))
        self._failed_chip.setEnabled(bool(failed))
        self._skipped_chip.setEnabled(bool(skipped))
        self._failed_chip.setChecked(not skipped_shown)
        self._skipped_chip.setChecked(skipped_shown)
        self.setVisible(bool(failed or skipped))
        self._table.show_records(skipped if skipped_shown else failed)

    def take_focus(self) -> None:
        """Into the table."""
        self._table.setFocus()

    def _choose(self, which: str, _checked: bool = False) -> None:
        self.chosen.emit(which)


def _failed(count: int) -> str:
    return tr("Failed {count:,}", count=count)


def _skipped(count: int) -> str:
    return tr("Skipped {count:,}", count=count)
