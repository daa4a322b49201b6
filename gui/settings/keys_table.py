"""All commands with their keys, in a table of which no word is cut: what is too long goes on in a second line."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QRect, Qt, QTimer, Slot
from PySide6.QtGui import QResizeEvent

from engine import tr
from gui.widgets.table import Column, RecordsTable

_LEAST_HEIGHT = 160
_SHARES = (0.2, 0.34, 0.16)
"""Of the table, what place, keys and mark have at most, unless a single word is longer."""
_SIDES = 14
"""Pixels beside the words of a cell."""
_MAY_BREAK = "\u200b"
_MARK = 3
"""The column that tells which keys are the person's own; without any, the names of commands have its room."""


@dataclass(frozen=True)
class KeyRow:
    """A command as the table shows it."""

    name: str
    words: str
    english: str
    """Not shown, but searched."""
    where: str
    keys: str
    own: bool


class KeysTable(RecordsTable[KeyRow]):
    """Rows as they come, until a header is clicked."""

    _all: Sequence[KeyRow] = ()
    """Of all commands; Qt tells of other fonts before there are any."""

    def __init__(self) -> None:
        super().__init__(
            (
                Column(tr("Command"), 0, lambda row: row.words),
                Column(tr("Where"), 22, lambda row: row.where),
                Column(tr("Keys"), 22, lambda row: row.keys, lambda row: _in_parts(row.keys)),
                Column("", 9, lambda row: tr("changed") if row.own else ""),
            ),
            lambda row: f"{row.words} ({row.name})",
        )
        self.setAccessibleName(tr("Commands and their keys"))
        self.setMinimumHeight(_LEAST_HEIGHT)
        self.setWordWrap(True)
        self._due = QTimer(self, singleShot=True, interval=0)  # once the columns have their widths
        self._due.timeout.connect(self._wrap)
        self.horizontalHeader().sectionResized.connect(lambda *_: self._due.start())
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # places and related commands stay together

    @property
    def ready(self) -> bool:
        """All rows have their height."""
        return not self._due.isActive()

    def show_found(self, found: tuple[KeyRow, ...], among: Sequence[KeyRow], *, marked: bool) -> None:
        """Show these of all commands; `marked` where some have keys of the person's own."""
        self._all = among
        self.show_records(found)
        self.setColumnHidden(_MARK, not marked)
        self._fit_columns()

    def choose(self, name: str) -> None:
        """Make this command current, where it is listed."""
        model = self.model()
        for number in range(model.rowCount()):
            record = self.record_at(model.index(number, 0))
            if record is not None and record.name == name:
                self.selectRow(number)
                return

    def _fit_columns(self) -> None:
        """By all commands, whichever are found: columns stay where they are while somebody types."""
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        words = ([row.where for row in self._all], [_in_parts(row.keys) for row in self._all], [tr("changed")])
        for column, (cells, share) in enumerate(zip(words, _SHARES, strict=True), 1):
            parts = " ".join(cells).replace(_MAY_BREAK, " ").split()
            longest, part = (max(map(metrics.horizontalAdvance, found), default=0) + _SIDES for found in (cells, parts))
            least = max(part, header.sectionSizeHint(column))
            header.resizeSection(column, max(least, min(longest, round(self.width() * share))))
        self._due.start()  # for rows that were not there before, too

    @Slot()
    def _wrap(self) -> None:
        """Measured here, and only what is too long: Qt takes a fifth of a second for the heights of all rows."""
        metrics = self.fontMetrics()
        usual = self.verticalHeader().defaultSectionSize()
        rooms = [self.columnWidth(column) - _SIDES for column in range(_MARK)]
        for number in range(self.model().rowCount()):
            row = self.record_at(self.model().index(number, 0))
            assert row is not None
            lines = metrics.height()
            for words, room in zip((row.words, row.where, _in_parts(row.keys)), rooms, strict=True):
                if metrics.horizontalAdvance(words) > room:
                    whole = QRect(0, 0, room, 0)
                    lines = max(lines, metrics.boundingRect(whole, Qt.TextFlag.TextWordWrap, words).height())
            self.setRowHeight(number, usual - metrics.height() + lines)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_columns()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and self._all:
            self._fit_columns()


def _in_parts(keys: str) -> str:
    """So that a line may end between keys that are pressed together."""
    return keys.replace("+", f"+{_MAY_BREAK}")
