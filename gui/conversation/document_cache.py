"""Caches laid out pieces of a conversation near the view, and lays out more in short steps."""

import time
from collections import OrderedDict
from collections.abc import Generator, Iterable

from PySide6.QtCore import QObject, QTimer, Signal

from gui.conversation.entries import Conversation
from gui.conversation.piece_builder import PieceLayout, PieceStyle, piece_steps

CACHED = 160
"""Pieces; some screens of them."""
TURN_SECONDS = 0.006
"""Time for laying out in one turn of the event loop; a step that has begun is finished."""


class PieceDocuments(QObject):
    """Documents by number of piece; the last request replaces earlier ones.

    Needs a conversation and a style. A document of an older style is returned until it is laid out again.

    Signals: arrived: more pieces are laid out.
    """

    arrived = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._conversation: Conversation | None = None
        self._cache: OrderedDict[int, PieceLayout] = OrderedDict()
        self._requested: list[int] = []
        self._making: tuple[int, Generator[None, None, PieceLayout]] | None = None
        """The piece in progress, and the generator of its remaining steps."""
        self._style: PieceStyle | None = None
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._lay_some_out)

    def set_conversation(self, conversation: Conversation | None) -> None:
        """Forget all documents; None stops laying out."""
        self._conversation = conversation
        self._cache.clear()
        self._turn.stop()
        self._requested, self._making = [], None

    def grow(self, conversation: Conversation, same: int) -> None:
        """Use a later state of the conversation, and keep the documents of its first `same` pieces."""
        self._conversation = conversation
        self._cache = OrderedDict((piece, laid) for piece, laid in self._cache.items() if piece < same)
        self._requested, self._making = [], None

    def set_style(self, style: PieceStyle) -> None:
        """Set fonts, colours and widths for documents that are laid out from now on."""
        if self._style is None or self._style.key != style.key:
            self._making = None
        self._style = style

    def of(self, piece: int) -> PieceLayout | None:
        """The document of a piece; None if it is not laid out."""
        return self._cache.get(piece)

    def request(self, pieces: Iterable[int]) -> None:
        """Lay these out, in this order, instead of earlier requests; a piece in progress comes first."""
        self._requested = [piece for piece in pieces if self._is_outdated(piece)]
        if self._making is not None:
            begun = self._making[0]
            if begun in self._requested:
                self._requested.remove(begun)
                self._requested.insert(0, begun)
            else:
                self._making = None
        self._continue()

    def _is_outdated(self, piece: int) -> bool:
        laid = self._cache.get(piece)
        if laid is not None:
            self._cache.move_to_end(piece)
        return laid is None or self._style is None or laid.key != self._style.key

    def _continue(self) -> None:
        if self._requested and self._conversation is not None and self._style is not None:
            self._turn.start()

    def _lay_some_out(self) -> None:
        until = time.perf_counter() + TURN_SECONDS
        arrived = False
        while self._requested:
            laid = self._step()
            if laid is not None:
                arrived = True
                self._cache[self._requested[0]] = laid
                self._cache.move_to_end(self._requested.pop(0))
            if time.perf_counter() >= until:
                break
        while len(self._cache) > CACHED:
            self._cache.popitem(last=False)
        self._continue()
        if arrived:
            self.arrived.emit()

    def _step(self) -> PieceLayout | None:
        """Continue the first requested piece; returns it once it is complete."""
        conversation, style = self._conversation, self._style
        assert conversation is not None
        assert style is not None
        if self._making is None:
            self._making = self._requested[0], piece_steps(conversation, self._requested[0], style)
        try:
            next(self._making[1])
        except StopIteration as end:
            self._making = None
            laid: PieceLayout = end.value
            return laid
        return None
