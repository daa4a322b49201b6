"""Lays a page out in short steps: Qt would do a long one in one go when asked where its end is."""

import time

from PySide6.QtCore import QEvent, QObject, QSizeF, QTimer, Signal
from PySide6.QtGui import QTextDocument

_STEP = 0.006
"""Seconds before the events of the window have their turn."""
_CHARACTERS = 1_000
"""Laid out before the clock is looked at, in at least one paragraph."""


class StepwiseLayout(QObject):
    """One document at a time.

    Signals:
        reached: the page is laid out as far as the block that was asked for.
        finished: it is laid out to its end.
    """

    reached = Signal()
    finished = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._document: QTextDocument | None = None
        self._done = 0
        self._target = 0
        self.complete = False
        """Whether all of the document is laid out."""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._go_on)

    def take(self, document: QTextDocument) -> None:
        """Nothing of this document is laid out, nor will be before `start`."""
        self._document = document
        self._timer.stop()
        self.complete = False
        document.documentLayout().installEventFilter(self)

    def start(self, target: int) -> None:
        """Lay out from the first block on; `target` is the block to tell of, from 0."""
        self._target = target
        self.restart()
        self._go_on()  # a short page is complete before it is painted for the first time

    def restart(self) -> None:
        """The width changed: where the blocks are has to be found anew."""
        if self._document is not None:
            self.complete = False
            self._done = 0
            self._timer.start(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hold back Qt's own timer meanwhile: its steps double until one takes a tenth of a second."""
        return not self.complete and event.type() == QEvent.Type.Timer

    def _go_on(self) -> None:
        document = self._document
        if document is None:
            self._timer.stop()
            return
        until = time.perf_counter() + _STEP
        before, count = self._done, document.blockCount()
        last = document.begin()
        while self._done < count and time.perf_counter() < until:
            block, characters = document.findBlockByNumber(self._done), 0
            while block.isValid() and characters < _CHARACTERS:
                characters += block.length()
                self._done += 1
                last, block = block, block.next()
            document.documentLayout().blockBoundingRect(last)
        if before <= self._target < self._done:
            self._target = -1
            layout = document.documentLayout()
            # Held back too, and the scroll bar needs it now. `documentSize` would lay out the rest in one go.
            layout.documentSizeChanged.emit(QSizeF(document.textWidth(), layout.blockBoundingRect(last).bottom()))
            self.reached.emit()
        if self._done >= count:
            self._timer.stop()
            self.complete = True
            self.finished.emit()
