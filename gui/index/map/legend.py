"""Which colour and shape mean what, in words; a click shows one group alone."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from engine import tr, tr_count
from gui.index.map.groups import colours_of, sign_path, signs_of
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.buttons import Toggle
from gui.widgets.flow_layout import FlowLayout
from gui.widgets.formatting import grouped
from gui.widgets.labels import elide
from gui.widgets.mirrored import mirror, write
from gui.widgets.plain_text import set_tip

if TYPE_CHECKING:
    from gui.index.map.groups import Grouping

_DOT, _GAP, _PAD = 9, 6, 6
_LONGEST = 22
"""Characters of a name, approximately; the tooltip has all."""


class LegendItem(Toggle, QPushButton):
    """One group: its colour and shape, its name and how many points it has."""

    def __init__(self, name: str, count: int, sign: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.heed_tools()
        self.colour = QColor()
        self.sign = sign
        self._name, self._count = name, grouped(count)
        self.setCheckable(True)
        self.setAutoDefault(True)
        self.setAccessibleName(", ".join((name, tr_count("{count:,} passage", "{count:,} passages", count))))
        set_tip(
            self,
            tr_count(
                "{name}: show these {count:,} passage alone, or all again",
                "{name}: show these {count:,} passages alone, or all again",
                count,
                name=name,
            ),
        )
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def _cut(self) -> str:
        metrics = QFontMetrics(font_at(12))
        return elide(metrics, self._name, Qt.TextElideMode.ElideMiddle, metrics.averageCharWidth() * _LONGEST)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(font_at(12))
        dot = font_at(_DOT).pixelSize()
        words = metrics.horizontalAdvance(self._cut()) + _GAP + metrics.horizontalAdvance(self._count)
        return QSize(2 * _PAD + dot + _GAP + words, metrics.height() + _PAD)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, self.rect(), self.layoutDirection())
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(colours.accent if self.hasFocus() else Qt.PenStyle.NoPen)
        on = self.isChecked()
        painter.setBrush(colours.accent_ground if on else colours.alternate if self.underMouse() else colours.base)
        painter.drawRoundedRect(box, 4, 4)
        dot = font_at(_DOT).pixelSize()
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self.colour)
        painter.drawPath(sign_path(self.sign, QPointF(_PAD + dot / 2, self.height() / 2), dot / 2))
        painter.setFont(font_at(12))
        text, name = self.rect().adjusted(_PAD + dot + _GAP, 0, -_PAD, 0), self._cut()
        painter.setPen(colours.text)
        write(painter, text, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), name)
        painter.setPen(colours.muted)
        write(painter, text, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter), self._count)


class Legend(QWidget):
    """Signals: isolated: the only group to show, -1 for all."""

    isolated = Signal(int)

    def __init__(self, before: QWidget, parent: QWidget | None = None) -> None:
        """`before`: the preceding widget in tab order."""
        super().__init__(parent)
        self._before = before
        self._grouping: Grouping | None = None
        self.items: list[LegendItem] = []
        self._flow = FlowLayout(2, self)
        self.setAccessibleName(tr("What the colours and shapes mean"))
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_groups(self, grouping: "Grouping", isolated: int) -> None:
        """Show the groups of a grouping; `isolated`: number of the only visible group, -1 for all."""
        if self._grouping is None or (grouping.names, grouping.counts) != (self._grouping.names, self._grouping.counts):
            self._fill(grouping)
        self._grouping = grouping
        self._tint()
        for number, item in enumerate(self.items):
            item.setChecked(number == isolated)

    def _fill(self, grouping: "Grouping") -> None:
        while (taken := self._flow.takeAt(0)) is not None:
            widget = taken.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        self.items = []
        before = self._before
        signs = signs_of(len(grouping.names), has_others=grouping.has_others)
        for number, (name, count, sign) in enumerate(zip(grouping.names, grouping.counts, signs, strict=True)):
            item = LegendItem(name, count, sign, self)
            item.clicked.connect(lambda on, number=number: self.isolated.emit(number if on else -1))
            self._flow.addWidget(item)
            item.show()
            QWidget.setTabOrder(before, item)  # made last, it would come last of all in the window
            before = item
            self.items.append(item)
        self.updateGeometry()

    def _tint(self) -> None:
        if self._grouping is not None:
            for item, colour in zip(self.items, colours_of(self._grouping, self.palette()), strict=True):
                item.colour = colour
                item.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self._tint()
            self._flow.invalidate()
