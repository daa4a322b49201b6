"""The sheet of keys: what can be done by which, by place, found by typing."""

from collections.abc import Callable

from PySide6.QtCore import QMargins, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from engine import tr, tr_count
from gui.commands.keymap import keymap
from gui.core.key_listing import groups
from gui.widgets.announcer import announce
from gui.widgets.buttons import add_clear_button
from gui.widgets.labels import label
from gui.widgets.small_windows import sheet

_LEAST_HEIGHT = 220
_AROUND, _BESIDE = 200, 60
"""What the sheet leaves of the window's height and width."""


class KeySheet(QWidget):
    """Every key that holds now. What is typed leaves out the rows without it; Down and Page Down scroll the rest."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: list[tuple[str, tuple[QLabel, QLabel]]] = []
        """What is searched of each row, and its labels."""
        self._titles: list[tuple[QLabel, int]] = []
        """The title above a group, and the number of its rows."""
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(tr("Find a shortcut by command or key"))
        self.edit.setAccessibleName(tr("Find a key"))
        add_clear_button(self.edit)
        self.edit.textChanged.connect(self._filter)
        self._nothing = label(tr("No shortcut found."), "muted")
        self._nothing.hide()
        content = QWidget()
        grid = self._grid()
        content.setLayout(grid)
        self.area = QScrollArea()
        self.area.setWidget(content)
        self.area.setWidgetResizable(True)
        self.area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area.setAccessibleName(tr("Keys"))
        bar = self.area.verticalScrollBar().sizeHint().width()
        self.wanted = content.sizeHint().grownBy(QMargins(0, 0, bar, 0))
        for place in range(2):
            widths = [labels[place].sizeHint().width() for _, labels in self._rows]
            grid.setColumnStretch(place, max(widths, default=1))  # where both are too wide, each gives its share
        for _, labels in self._rows:
            for one in labels:
                one.setWordWrap(True)  # only now, since a wrapped label has no preferred width
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        self.change = QPushButton(tr("Change keys…"))
        self.change.setAutoDefault(True)
        head = QHBoxLayout()
        head.setSpacing(8)
        head.addWidget(self.edit, 1)
        head.addWidget(self.change)
        column.addLayout(head)
        column.addWidget(self._nothing)
        column.addWidget(self.area, 1)
        self.setFocusProxy(self.edit)

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(24)
        grid.setVerticalSpacing(6)
        for title, rows in groups(keymap()):
            above = label(title, "section")
            above.setContentsMargins(0, 10 if self._titles else 0, 0, 0)
            grid.addWidget(above, grid.rowCount(), 0, 1, 2)
            self._titles.append((above, len(rows)))
            for keys, words in rows:
                number = grid.rowCount()
                shown = label(keys), label(words, "muted")
                shown[0].setAlignment(_leading() | Qt.AlignmentFlag.AlignTop)
                for place, one in enumerate(shown):
                    grid.addWidget(one, number, place)
                self._rows.append((f"{keys} {words} {title}".casefold(), shown))
        grid.setRowStretch(grid.rowCount(), 1)
        return grid

    @property
    def shown(self) -> list[str]:
        """Texts of the visible rows."""
        return [f"{key.text()}: {words.text()}" for _, (key, words) in self._rows if not key.isHidden()]

    @Slot(str)
    def _filter(self, text: str) -> None:
        parts = text.casefold().split()
        rows = iter(self._rows)
        found = 0
        for title, count in self._titles:
            some = 0
            for _ in range(count):
                searched, labels = next(rows)
                fits = all(part in searched for part in parts)
                some += fits
                for one in labels:
                    one.setVisible(fits)
            title.setVisible(some > 0)
            found += some
        self._nothing.setVisible(not found)
        announce(self.edit, tr_count("{count:,} key", "{count:,} keys", found) if found else self._nothing.text())


def _leading() -> Qt.AlignmentFlag:
    """The alignment to the start of lines, also for a key with letters of another direction."""
    mirrored = QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
    return (Qt.AlignmentFlag.AlignRight if mirrored else Qt.AlignmentFlag.AlignLeft) | Qt.AlignmentFlag.AlignAbsolute


def show_keys(window: QWidget, change: Callable[[], None]) -> None:
    """Open the sheet over `window`, scrolled where that is low; `change` opens where keys are changed."""
    keys = KeySheet()
    keys.area.setMinimumHeight(min(keys.wanted.height(), max(_LEAST_HEIGHT, window.height() - _AROUND)))
    keys.area.setMinimumWidth(min(keys.wanted.width(), window.width() - _BESIDE))
    dialog = sheet(tr("Keys"), keys, window)
    keys.change.clicked.connect(dialog.accept)
    keys.change.clicked.connect(change)
    keys.setFocus()
