"""The line above a list: number of results, legend of the score bars, and a button for the sort order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QPushButton, QSizePolicy, QWidget

from engine import tr
from gui.style.stylesheet import font_at, scaled
from gui.style.theme import tokens
from gui.style.typography import FontSized
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins, mirrored_painter, write
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide
from gui.widgets.layouts import row_of
from gui.widgets.row_list import GUTTER

_SQUARE = 10
_ARROW = 12


@dataclass(frozen=True)
class Order:
    """A sort order: its value, its label on the button, its label in a sentence, and its description."""

    value: str
    label: str
    name: str
    tip: str


class CountLine(QWidget):
    """Shows counts and, if there is room, the legend of the score bars."""

    def __init__(self) -> None:
        super().__init__()
        self._texts: tuple[str, ...] = ("",)
        self._legend = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def show_counts(self, *texts: str, legend: bool) -> None:
        """Show the longest of `texts` (versions from long to short) that fits next to the legend."""
        if (texts, legend) == (self._texts, self._legend):
            return
        before = self.minimumSizeHint()
        self._texts, self._legend = texts, legend
        self.setAccessibleName(texts[0])
        if self.minimumSizeHint() != before:  # a new layout reaches the whole window
            self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return self.minimumSizeHint()

    def minimumSizeHint(self) -> QSize:
        metrics = QFontMetrics(font_at(12))
        return QSize(metrics.horizontalAdvance(self._texts[-1]), metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = mirrored_painter(self)
        painter.setFont(font_at(12))
        painter.setPen(colours.muted)
        metrics = painter.fontMetrics()
        legend = [(" · " + tr("words"), colours.accent), (tr("meaning"), colours.meaning)] if self._legend else []
        available = self.width() - sum(metrics.horizontalAdvance(word) + _SQUARE + 8 for word, _ in legend)
        fitting = [text for text in self._texts if metrics.horizontalAdvance(text) <= available]
        text = fitting[0] if fitting else elide(metrics, self._texts[-1], Qt.TextElideMode.ElideRight, self.width())
        x = self._draw_word(painter, 0, text)
        if fitting:
            for word, colour in legend:
                x = self._draw_word(painter, x, word) + 4
                self._draw_square(painter, x, colour)
                painter.setPen(colours.muted)
                x += _SQUARE + 4

    def _draw_word(self, painter: QPainter, x: int, word: str) -> int:
        rect = self.rect().adjusted(x, 0, 0, 0)
        write(painter, rect, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), word)
        return x + painter.fontMetrics().horizontalAdvance(word)

    def _draw_square(self, painter: QPainter, x: int, colour: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        painter.drawRoundedRect(QRectF(x, (self.height() - _SQUARE) / 2 + 0.5, _SQUARE, _SQUARE), 1, 1)


class SortButton(QPushButton):
    """A button that shows the sort order and opens a menu of orders; the first order is the initial one."""

    order_chosen = Signal(str)

    def __init__(self, orders: Sequence[Order]) -> None:
        super().__init__()
        self._order = orders[0]
        self._extras: tuple[str, ...] = ()
        self._extra_tip = ""
        menu = QMenu(self)
        self._group = group = QActionGroup(menu)
        for order in orders:
            action = menu.addAction(tr(order.label))
            action.setData(order)
            action.setCheckable(True)
            action.setChecked(order is orders[0])
            group.addAction(action)
        group.triggered.connect(self._choose)
        self.setMenu(menu)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._show()

    def add_option(self, words: str, choose: Callable[[bool], None]) -> QAction:
        """Add an option to the menu, off initially, and return it."""
        self.menu().addSeparator()
        action = self.menu().addAction(words)
        action.setCheckable(True)
        action.toggled.connect(choose)
        return action

    @property
    def order(self) -> str:
        """The value of the selected order."""
        return self._order.value

    def show_order(self, value: str) -> None:
        """Select the order with this value, without a signal."""
        action = next(action for action in self._group.actions() if action.data().value == value)
        action.setChecked(True)
        self._order = action.data()
        self._show()

    def offer(self, value: str, offered: bool) -> None:
        """Show or hide the order with this value in the menu."""
        next(action for action in self._group.actions() if action.data().value == value).setVisible(offered)

    def set_extras(self, words: Sequence[str], tip: str) -> None:
        """Show in the label the options that affect the order, one word each; `tip` describes them."""
        self._extras, self._extra_tip = tuple(words), tip
        self._show()

    @property
    def has_extras(self) -> bool:
        return bool(self._extras)

    def _show(self) -> None:
        order, tip = self._order, tr(self._order.tip)
        self.setText(" · ".join((tr(order.label), *self._extras)))
        self.setAccessibleName(", ".join((tr("List sorted by {order}", order=tr(order.name)), *self._extras)))
        set_tip(self, f"{tip}. {self._extra_tip}" if self._extra_tip else tip)
        self.updateGeometry()
        self.update()

    @Slot(QAction)
    def _choose(self, action: QAction) -> None:
        self._order = action.data()
        self._show()
        self.order_chosen.emit(self._order.value)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(font_at(12))
        return QSize(metrics.horizontalAdvance(self.text()) + self._arrow() + 14, metrics.height() + 8)

    def minimumSizeHint(self) -> QSize:
        """Return the width without a label, so that the counts next to it are never shortened."""
        return QSize(self._arrow() + 14, QFontMetrics(font_at(12)).height() + 8)

    def fitting(self, metrics: QFontMetrics, available: int) -> str:
        """Return a label that fits in `available` pixels; empty if that is too little room for the order.

        If there is too little room for all, only the active options are shown, since the menu also shows the order.
        """
        if metrics.horizontalAdvance(tr(self._order.label)) > available:
            return ""
        extras = " · ".join(self._extras)
        words = self.text() if not extras or metrics.horizontalAdvance(self.text()) <= available else extras
        return elide(metrics, words, Qt.TextElideMode.ElideRight, available)

    @staticmethod
    def _arrow() -> int:
        return scaled(_ARROW)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        active = self.underMouse() or self.isDown()
        text_colour = colours.text if active else colours.muted
        painter = mirrored_painter(self)
        if self.hasFocus():
            painter.setPen(colours.accent)
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setFont(font_at(12))
        painter.setPen(text_colour)
        side = self._arrow()
        words = self.rect().adjusted(5, 0, -side - 5, 0)
        fitted = self.fitting(painter.fontMetrics(), words.width())
        write(painter, words, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), fitted)
        arrow = icon_pixmap("chevron-down", text_colour, side, self.devicePixelRatioF())
        painter.drawPixmap(self.width() - side - 4, (self.height() - side) // 2 + 1, arrow)


class ListHeader(FontSized, QWidget):
    """The line above a list: counts at the left, sort button at the right."""

    def __init__(self, orders: Sequence[Order]) -> None:
        super().__init__()
        self._counts = CountLine()
        self._tools: list[QWidget] = []
        self._buttons: list[QWidget] = []
        self.sort_button = SortButton(orders)
        around = margins(GUTTER, 0, GUTTER - 4, 1)
        self._row = row_of((self._counts, 1), self.sort_button, spacing=8, margins=around, parent=self)
        self.measure()

    def add_tool(self, tool: QWidget) -> None:
        """Add a widget before the sort button."""
        self._insert(tool)

    def show_counts(self, *texts: str, legend: bool, sortable: bool) -> None:
        self._counts.show_counts(*texts, legend=legend)
        self.sort_button.setVisible(sortable or self.sort_button.has_extras)
        for button in self._buttons:
            button.setVisible(sortable)

    def add_button(self, button: QWidget) -> None:
        """Add a button for the whole list next to the sort button."""
        self._buttons.append(button)
        self._insert(button)
        button.hide()

    def _insert(self, widget: QWidget) -> None:
        """Insert a widget before the sort button, also in tab order."""
        index = self._row.indexOf(self.sort_button)
        self._row.insertWidget(index, widget)
        self._tools.append(widget)
        for before, after in pairwise((*self._tools, self.sort_button)):
            QWidget.setTabOrder(before, after)

    def measure(self) -> None:
        self.setFixedHeight(QFontMetrics(font_at(12)).height() + 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.fillRect(self.rect(), colours.alternate)
        painter.fillRect(0, self.height() - 1, self.width(), 1, colours.line)
