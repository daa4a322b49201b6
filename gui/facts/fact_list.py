"""The list of facts: what is to be remembered, and below it what kind it is, how much it matters and whose it is."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QMenu, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import Fact, tr
from gui.commands.binding import key_action, show_keys_of
from gui.commands.keymap import command
from gui.facts.wording import age_text, meta_text, told
from gui.search.result_menu import copy_text
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.elided import elide
from gui.widgets.mirrored import mirror, write
from gui.widgets.row_list import RowList
from gui.widgets.row_model import Index, RowModel, RowRole
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT, GUTTER, paint_ground

_COPY = command("facts.copy", "Copy the fact", "facts", QKeySequence.StandardKey.Copy)
_FORGET = command("facts.forget", "Forget the fact", "facts", "Delete")
_PAD = 8
_GAP = 12


@dataclass(frozen=True)
class FactRow:
    fact: Fact

    @property
    def key(self) -> str:
        return self.fact.id


class FactModel(RowModel):
    """Rows without headings."""

    def told(self, row: FactRow) -> str:
        return told(row.fact)

    def tip(self, row: FactRow) -> str:
        return row.fact.text


class _Delegate(QStyledItemDelegate):
    """Two lines: the fact, and what is known of it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.restyle()

    def restyle(self) -> None:
        """The font changed: measure anew."""
        self._fonts = font_at(13), font_at(12)
        self._metrics = [QFontMetrics(font) for font in self._fonts]
        self._heights = [round(metrics.height() * 1.3) for metrics in self._metrics]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, sum(self._heights) + 2 * _PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        fact = index.data(RowRole).fact
        colours = tokens(option.palette)
        painter.save()
        mirror(painter, option.rect, option.direction)
        paint_ground(painter, option, colours)
        rect = option.rect.adjusted(GUTTER, _PAD, -GUTTER, 0)
        rect.setHeight(self._heights[0])
        painter.setFont(self._fonts[0])
        painter.setPen(colours.text if fact.forgotten is None else colours.muted)
        text = " ".join(fact.text.split())
        write(painter, rect, AT_LEFT, elide(self._metrics[0], text, Qt.TextElideMode.ElideRight, rect.width()))
        rect.translate(0, self._heights[0])
        rect.setHeight(self._heights[1])
        painter.setFont(self._fonts[1])
        painter.setPen(colours.muted)
        age = age_text(fact)
        write(painter, rect, AT_RIGHT, age)
        rect.setRight(rect.right() - self._metrics[1].horizontalAdvance(age) - _GAP)
        meta = meta_text(fact)
        painter.setPen(colours.degraded if fact.waiting and fact.forgotten is None else colours.muted)
        write(painter, rect, AT_LEFT, elide(self._metrics[1], meta, Qt.TextElideMode.ElideRight, rect.width()))
        painter.restore()


class FactList(RowList):
    """Signals:
    chosen: the `Fact` that is current now, or None.
    opened: Enter or a double click: edit it.
    forget_wanted: Delete, or by the menu.
    """

    chosen = Signal(object)
    opened = Signal()
    forget_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(FactModel(), tr("Facts"), parent)
        self._paint = _Delegate(self)
        self.setUniformItemSizes(True)
        self.setItemDelegate(self._paint)
        self.doubleClicked.connect(self._activate)
        copy, forget = key_action(self, _COPY), key_action(self, _FORGET)
        copy.triggered.connect(lambda: self._with_current(lambda fact: copy_text(fact.text)))
        forget.triggered.connect(lambda: self._with_current(self.forget_wanted.emit))

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """The same fact stays current where it is still there, else the one in its place."""
        rows = [FactRow(fact) for fact in facts]
        if self.rows.shows(rows):
            return
        place = self._remember()
        before = self.current
        self._arranging = True
        self._put(rows)
        if rows:
            self._return_to(place)
        self._arranging = False
        if self.current != before:
            self.chosen.emit(self.current)

    @property
    def current(self) -> Fact | None:
        row = self.rows.row(self.currentIndex().row())
        return None if row is None else row.fact

    def go_to(self, id_: str) -> bool:
        """Make this fact current; False where it is not listed."""
        number = self.rows.place(id_)
        if number >= 0:
            self._set_current(number)
            self.scrollTo(self.rows.index(number))
        return number >= 0

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if not self._arranging:
            self.chosen.emit(self.current)

    def _with_current(self, run: Callable[[Fact], None]) -> None:
        if self.current is not None:
            run(self.current)

    def _activate(self, index: Index) -> None:
        if index.isValid():
            self.opened.emit()

    def _show_menu(self, at: QPoint) -> None:
        fact = self.current
        if fact is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        edit = menu.addAction(tr("Edit") if fact.forgotten is None else tr("Show"))
        edit.setShortcut("Return")
        edit.triggered.connect(self.opened)
        copy = menu.addAction(tr("Copy"))
        show_keys_of(copy, _COPY.name)
        copy.triggered.connect(lambda: copy_text(fact.text))
        if fact.forgotten is None:
            forget = menu.addAction(tr("Forget"))
            show_keys_of(forget, _FORGET.name)
            forget.triggered.connect(lambda: self.forget_wanted.emit(fact))
        menu.popup(at)

    def _restyle(self) -> None:
        self._paint.restyle()
