"""The dialog that lists all keys."""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QGridLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QWidget,
)

from engine import tr, tr_count
from gui.commands.keymap import keymap
from gui.core.key_listing import Group, groups
from gui.style.stylesheet import character_width
from gui.text.right_to_left import at_start
from gui.widgets.accessibility import announce
from gui.widgets.icons import add_clear_button
from gui.widgets.labels import KeyCaps, key_caps_width, label
from gui.widgets.layouts import column_of, lay_out_now, open_dialog, row_of

_AROUND, _MARGIN = 200, 60
"""Pixels of the window's height and width that the sheet leaves free."""
_COLUMN_SPACING, _ROW_SPACING, _SIDE_SPACING = 24, 6, 40
_MIN_HEIGHT = 220
_TWO_COLUMNS = 150
"""Characters of a window that is wide enough for two columns of keys."""
_ROWS_PER_TURN = 6


class KeySheet(QWidget):
    """A list of all current keys, filled in turns of the event loop. Typing filters it; Down and Page Down scroll."""

    def __init__(self, columns: int = 1) -> None:
        """`columns`: number of columns in which the groups of keys are placed."""
        super().__init__()
        self._rows: list[tuple[str, tuple[KeyCaps, QLabel]]] = []
        """The searchable text of each row, and its labels."""
        self._titles: list[tuple[QLabel, int]] = []
        """The title above a group, and the number of its rows."""
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(tr("Find a shortcut by command or key"))
        self.edit.setAccessibleName(tr("Find a shortcut"))
        add_clear_button(self.edit)
        self.edit.textChanged.connect(self._filter)
        self._nothing = label(tr("No shortcut found."), "muted")
        self._nothing.hide()
        self.area = QScrollArea()
        content = QWidget()
        self.area.setWidget(content)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setProperty("role", "text")
        self.area.setAccessibleName(tr("Keyboard shortcuts"))
        parts = _divided(columns)
        widths = _widths(parts, self.fontMetrics())
        bar = self.area.verticalScrollBar().sizeHint().width()
        self.preferred_width = columns * (sum(widths) + _COLUMN_SPACING + _SIDE_SPACING) - _SIDE_SPACING + bar
        side_by_side = row_of(spacing=_SIDE_SPACING, parent=content)
        grids = []
        for _ in parts:
            grid = QGridLayout()
            grid.setHorizontalSpacing(_COLUMN_SPACING)
            grid.setVerticalSpacing(_ROW_SPACING)
            for side, width in enumerate(widths):
                grid.setColumnStretch(side, width)  # columns that are too wide shrink in proportion
            side_by_side.addLayout(grid, 1)
            grids.append(grid)
        self._steps: Iterator[None] = chain.from_iterable(map(self._add_rows, grids, parts))
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._continue)
        self._timer.start(0)
        self.change = QPushButton(tr("Change shortcuts…"))
        head = row_of((self.edit, 1), self.change, spacing=8)
        column_of(head, self._nothing, (self.area, 1), spacing=12, parent=self)
        self.setFocusProxy(self.edit)

    @property
    def complete(self) -> bool:
        """Whether all keys are listed."""
        return not self._timer.isActive()

    @Slot()
    def _continue(self) -> None:
        if len(list(islice(self._steps, _ROWS_PER_TURN))) < _ROWS_PER_TURN:
            self._timer.stop()
        lay_out_now(self.area)  # else the new rows squash the rows above until the next layout

    def _add_rows(self, grid: QGridLayout, part: Sequence[Group]) -> Iterator[None]:
        """Add the rows of one column, yielding after each."""
        grid.setRowStretch(sum(len(rows) + 1 for _, rows in part), 1)  # the rows are never spread over the height
        number = 0
        for title, rows in part:
            above = label(title, "section")
            above.setContentsMargins(0, 10 if number else 0, 0, 0)
            grid.addWidget(above, number, 0, 1, 2)
            above.show()
            self._titles.append((above, len(rows)))
            for pressed, words, each in rows:
                number += 1
                pair = KeyCaps(pressed, each), label(words, "muted")
                pair[0].setAlignment(at_start(Qt.AlignmentFlag.AlignTop))
                for side, entry in enumerate(pair):
                    entry.setWordWrap(True)
                    grid.addWidget(entry, number, side)
                    entry.show()  # immediately, so that the layout includes it
                self._rows.append((f"{pressed} {words} {title}".casefold(), pair))
                yield
            number += 1

    @property
    def visible_rows(self) -> list[str]:
        """Texts of the visible rows."""
        return [f"{key.text()}: {words.text()}" for _, (key, words) in self._rows if not key.isHidden()]

    @Slot(str)
    def _filter(self, text: str) -> None:
        while not self.complete:
            self._continue()
        parts = text.casefold().split()
        rows = iter(self._rows)
        found = 0
        for title, count in self._titles:
            matching = 0
            for _ in range(count):
                searched, labels = next(rows)
                fits = all(part in searched for part in parts)
                matching += fits
                for cell in labels:
                    cell.setVisible(fits)
            title.setVisible(matching > 0)
            found += matching
        self._nothing.setVisible(not found)
        counted = tr_count("{count:,} shortcut", "{count:,} shortcuts", found)
        announce(self.edit, counted if found else self._nothing.text())


def _divided(columns: int) -> list[list[Group]]:
    """Divide the groups of keyboard shortcuts into columns of about the same height."""
    parts: list[list[Group]] = [[] for _ in range(columns)]
    found = groups(keymap())
    whole = sum(len(group.rows) + 1 for group in found)
    done = 0
    for group in found:
        parts[min(columns - 1, done * columns // whole)].append(group)
        done += len(group.rows) + 1
    return parts


def _widths(parts: Sequence[Sequence[Group]], metrics: QFontMetrics) -> tuple[int, int]:
    """Return the widths in pixels of the longest keys and of the longest label."""
    rows = [row for part in parts for _, rows in part for row in rows]
    keys = max((key_caps_width(metrics, each) for _, _, each in rows), default=1)
    return keys, max((metrics.horizontalAdvance(words) for _, words, _ in rows), default=1) + 1


def show_keys(window: QWidget, change: Callable[[], None]) -> None:
    """Open the list of keys over `window`; `change` opens the page to change keys."""
    sheet = KeySheet(2 if window.width() >= _TWO_COLUMNS * character_width() else 1)
    sheet.area.setMinimumHeight(max(_MIN_HEIGHT, window.height() - _AROUND))
    sheet.area.setMinimumWidth(min(sheet.preferred_width, window.width() - _MARGIN))
    dialog = open_dialog(tr("Keyboard shortcuts"), sheet, window)
    sheet.change.clicked.connect(dialog.accept)
    sheet.change.clicked.connect(change)
    sheet.setFocus()
