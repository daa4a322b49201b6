"""The last syncs as bars: how much each one changed, when, and why it ran."""

import math

from PySide6.QtCore import QEvent, QPoint, QRectF, Qt
from PySide6.QtGui import QColor, QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QToolTip, QVBoxLayout, QWidget

from engine import SyncSummary
from gui.diagnostics.readings import REASON_WORDS
from gui.theme import tokens
from gui.widgets.labels import label
from gui.widgets.wording import ago, counted, duration, exact

_BAR, _GAP = 16, 8
_PLOT = 52
_LEAST = 3
_CAPTION_GAP = 4


class SyncHistory(QWidget):
    """Bars with the newest at the right; the one under the mouse, or chosen with the arrow keys, is named below.

    Heights follow the square root of the chunks that were indexed or embedded, so that a day's small changes stay
    visible beside a first run.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._syncs: tuple[SyncSummary, ...] = ()
        self._hovered: int | None = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._caption = label("", "meta", wrap=True)
        self._caption.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._column = QVBoxLayout(self)
        self._column.addWidget(self._caption)
        self._describe()

    def show_syncs(self, syncs: tuple[SyncSummary, ...]) -> None:
        if syncs != self._syncs:
            self._syncs = syncs
            self._hovered = None
            self.update()
        self._describe()  # also where only time has passed

    def _shown(self) -> tuple[SyncSummary, ...]:
        fit = max(1, (self.width() + _GAP) // (_BAR + _GAP))
        return self._syncs[-fit:]

    def _chosen(self) -> int:
        """The bar that is named: the hovered one, else the newest."""
        last = len(self._shown()) - 1
        return last if self._hovered is None else min(self._hovered, last)

    def _describe(self) -> None:
        """The chosen bar in words: briefly below, whole for assistive tools."""
        name, caption = "Last syncs", "No sync yet."
        if self._syncs:
            sync = self._shown()[self._chosen()]
            name += f": {_sentence(sync)}"
            caption = f"{ago(sync.started + sync.seconds)} · {REASON_WORDS[sync.reason]} · {_changed(sync)}"
        self.setAccessibleName(name)
        self._caption.setText(caption)
        self._column.setContentsMargins(0, _PLOT + _CAPTION_GAP if self._syncs else 0, 0, 0)

    def _choose(self, index: int | None) -> None:
        if index != self._hovered:
            self._hovered = index
            self._describe()
            self.update()

    def _index_at(self, position: QPoint) -> int | None:
        index = position.x() // (_BAR + _GAP)
        return index if 0 <= index < len(self._shown()) else None

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.hasFocus():
            painter.setPen(colours.accent)
            plot = QRectF(0, 0, self.width(), _PLOT + 2 if self._syncs else self.height())
            painter.drawRoundedRect(plot.adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        shown = self._shown()
        if not shown:
            return
        most = max(1.0, *(math.sqrt(_amount(sync)) for sync in shown))
        chosen = self._chosen()
        painter.setPen(Qt.PenStyle.NoPen)
        for index, sync in enumerate(shown):
            height = max(_LEAST, (_PLOT - 4) * math.sqrt(_amount(sync)) / most)
            colour = QColor(colours.degraded if sync.error else colours.accent)
            colour.setAlphaF(1.0 if index == chosen else 0.45)
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(index * (_BAR + _GAP), _PLOT - height, _BAR, height), 2, 2)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._choose(self._index_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        self._choose(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if step is None or not self._syncs:
            super().keyPressEvent(event)
            return
        self._choose(min(max(self._chosen() + step, 0), len(self._shown()) - 1))

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent) and self._syncs:
            index = self._index_at(event.pos())
            if index is not None:
                QToolTip.showText(event.globalPos(), _sentence(self._shown()[index]), self)
                return True
        return super().event(event)


def _amount(sync: SyncSummary) -> int:
    return sync.chunks_indexed + sync.vectors_embedded


def _changed(sync: SyncSummary) -> str:
    if sync.error:
        return "failed"
    if sync.cancelled:
        return "stopped"
    return counted(max(sync.chunks_indexed, sync.vectors_embedded), "chunk")


def _sentence(sync: SyncSummary) -> str:
    return (
        f"{exact(sync.started)}, {REASON_WORDS[sync.reason]}: {counted(sync.files_indexed, 'file')}, "
        f"{counted(sync.chunks_indexed, 'chunk')}, {counted(sync.vectors_embedded, 'vector')} in "
        f"{duration(sync.seconds)}. {sync.error}"
    ).strip()
