"""The card of items that need attention."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from engine import marked, tr
from gui.index.attention import Attention
from gui.widgets.labels import ElidedLabel, breakable, label, line
from gui.widgets.state import StateDot, with_state
from gui.widgets.tab_order import stop_before

_DOT_TOP = 3

ALL_WELL = Attention("", "fine", marked("Nothing needs your attention."))


class _Row(QWidget):
    """Signals: pressed: the action of its button."""

    pressed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: Attention | None = None
        self._dot = StateDot()
        self._title = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._detail = label("", "meta", wrap=True)
        self.button = QPushButton()
        self.button.setAutoDefault(True)
        self.button.clicked.connect(self._press)
        words = QVBoxLayout()
        words.setSpacing(2)
        words.addWidget(self._title)
        words.addWidget(self._detail)
        row = QHBoxLayout()
        row.setContentsMargins(0, 8, 0, 8)
        row.setSpacing(10)
        beside = QVBoxLayout()  # the dot next to the first line
        beside.setContentsMargins(0, _DOT_TOP, 0, 0)
        beside.addWidget(self._dot)
        beside.addStretch(1)
        row.addLayout(beside)
        row.addLayout(words, 1)
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        self._line = line()
        column.addWidget(self._line)

    def show_row(self, row: Attention) -> None:
        if row == self._shown:
            return
        self._shown = row
        words, _ = row.action
        self._dot.set_state(row.state)
        title = tr(row.title) if row == ALL_WELL else row.title
        self._title.setText(title)
        self._detail.setText(breakable(row.detail))
        self._detail.setVisible(bool(row.detail))
        self._line.setVisible(row != ALL_WELL)
        self.button.setText(words)
        self.button.setVisible(bool(words))
        self.button.setAccessibleName(f"{words}: {title}")
        self.setAccessibleName(". ".join(part for part in (with_state(title, row.state), row.detail) if part))

    @Slot()
    def _press(self) -> None:
        if self._shown is not None:
            self.pressed.emit(self._shown.action[1])


class AttentionCard(QFrame):
    """Rows of several groups, in the order in which these are named first; an unchanged row keeps its focus.

    Signals: action_requested: the action of a row's button.
    """

    action_requested = Signal(str)

    def __init__(self, groups: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._groups: dict[str, tuple[Attention, ...]] = dict.fromkeys(groups, ())
        self._rows: dict[str, _Row] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(14, 10, 14, 12)
        self._column.setSpacing(0)
        self._column.addWidget(label(tr("Needs attention"), "strong"))
        self._list = QVBoxLayout()
        self._list.setSpacing(0)
        self._column.addLayout(self._list)
        self.setAccessibleName(tr("Needs attention"))
        self._arrange()

    def show_rows(self, group: str, rows: Sequence[Attention]) -> None:
        """In place of the rows that this group had."""
        if self._groups[group] != tuple(rows):
            self._groups[group] = tuple(rows)
            self._arrange()

    def _stop_before(self) -> QWidget:
        """Of a card that has moved to another column only what takes the keys has moved in their order, too."""
        item = self._list.itemAt(0)
        first = item.widget() if item is not None else None
        return stop_before(first.button if isinstance(first, _Row) else self)

    def _arrange(self) -> None:
        wanted = {f"{group} {row.key}": row for group, rows in self._groups.items() for row in rows}
        wanted = wanted or {"": ALL_WELL}
        before = self._stop_before()
        for key in self._rows.keys() - wanted.keys():
            gone = self._rows.pop(key)
            self._list.removeWidget(gone)
            gone.hide()
            gone.deleteLater()
        for place, (key, row) in enumerate(wanted.items()):
            if key not in self._rows:
                self._rows[key] = _Row()
                self._rows[key].pressed.connect(self.action_requested)
            widget = self._rows[key]
            widget.show_row(row)
            at = self._list.itemAt(place)
            if at is None or at.widget() is not widget:
                self._list.insertWidget(place, widget)
            QWidget.setTabOrder(before, widget.button)
            before = widget.button
