"""Caches laid out pieces of a conversation near the view, and lays out more in short steps."""

import time
from collections import OrderedDict
from collections.abc import Generator, Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from gui.conversation.entries import Conversation
from gui.conversation.piece_builder import PieceLayout, PieceStyle, piece_steps

_KEPT = 160
"""Pieces; some screens of them."""
_TURN = 0.006
"""Seconds that one turn of the loop lays out."""


class PieceDocuments(QObject):
    """Documents by number of piece; the last request has priority.

    Signals: arrived: more pieces are laid out.
    """

    arrived = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._conversation: Conversation | None = None
        self._kept: OrderedDict[int, PieceLayout] = OrderedDict()
        self._wanted: list[int] = []
        self._making: tuple[int, Generator[None, None, PieceLayout]] | None = None
        """The piece in progress, and the generator of its remaining steps."""
        self._style: PieceStyle | None = None
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._lay_some_out)

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Forget everything."""
        self._conversation = conversation
        self._kept.clear()
        self._turn.stop()
        self._wanted, self._making = [], None

    def grow(self, conversation: Conversation, same: int) -> None:
        """The first `same` pieces are what they were."""
        self._conversation = conversation
        self._kept = OrderedDict((piece, laid) for piece, laid in self._kept.items() if piece < same)
        self._wanted, self._making = [], None

    def set_style(self, style: PieceStyle) -> None:
        """Old pieces are shown until they are laid out again."""
        if self._style is None or self._style.key != style.key:
            self._making = None
        self._style = style

    def of(self, piece: int) -> PieceLayout | None:
        return self._kept.get(piece)

    def want(self, pieces: Iterable[int]) -> None:
        """Lay these out, in this order, replacing earlier requests; a piece in progress is finished first."""
        self._wanted = [piece for piece in pieces if self._is_old(piece)]
        if self._making is not None:
            begun = self._making[0]
            if begun in self._wanted:
                self._wanted.remove(begun)
                self._wanted.insert(0, begun)
            else:
                self._making = None
        self._go_on()

    def _is_old(self, piece: int) -> bool:
        laid = self._kept.get(piece)
        if laid is not None:
            self._kept.move_to_end(piece)
        return laid is None or self._style is None or laid.key != self._style.key

    def _go_on(self) -> None:
        if self._wanted and self._conversation is not None and self._style is not None:
            self._turn.start()

    def _lay_some_out(self) -> None:
        until = time.perf_counter() + _TURN
        arrived = False
        while self._wanted:
            laid = self._step()
            if laid is not None:
                arrived = True
                self._kept[self._wanted[0]] = laid
                self._kept.move_to_end(self._wanted.pop(0))
            if time.perf_counter() >= until:
                break
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        self._go_on()
        if arrived:
            self.arrived.emit()

    def _step(self) -> PieceLayout | None:
        """Continue the first requested piece; returns it once it is complete."""
        conversation, style = self._conversation, self._style
        assert conversation is not None
        assert style is not None
        if self._making is None:
            self._making = self._wanted[0], piece_steps(conversation, self._wanted[0], style)
        try:
            next(self._making[1])
        except StopIteration as end:
            self._making = None
            laid: PieceLayout = end.value
            return laid
        return None
