"""The selected text of a conversation."""

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor

from gui.conversation.scroller import ConversationScroller
from gui.viewer.lines import Place
from gui.viewer.selection import Selection

_PARAGRAPH, _LINE_END = "\u2029", "\u2028"
_BEHIND_ALL = 1 << 40
"""A position after the last one of any piece."""


class ConversationSelection(QObject):
    """Text between an anchor and a caret: each is a piece, counted from 0, and a position in its document.

    The documents are those of the scroller's layout. Without a layout only `clear` may be called.

    Signals: changed: other text is selected.
    """

    changed = Signal()

    def __init__(self, scroller: ConversationScroller, parent: QObject) -> None:
        super().__init__(parent)
        self._scroller = scroller
        self._selection = Selection()

    @property
    def started(self) -> bool:
        """Whether there are an anchor and a caret, even without text between them."""
        return self._selection.caret is not None

    @property
    def empty(self) -> bool:
        return self._selection.ends is None

    def columns(self, piece: int, length: int) -> tuple[int, int] | None:
        """The selected positions in a piece whose document has `length` characters; None if there are none."""
        return self._selection.columns(piece, length)

    def text(self) -> str:
        """The selected text as displayed; empty when nothing is selected."""
        ends = self._selection.ends
        if ends is None:
            return ""
        (first, _), (last, _) = ends
        return "\n".join(self._text_of(piece) for piece in range(first, last + 1))

    def _text_of(self, piece: int) -> str:
        """The selected text of a piece; of a piece that is no longer laid out, all of its source."""
        layout = self._scroller.layout
        assert layout is not None
        laid = layout.documents.of(piece)
        if laid is None:
            return layout.conversation.source(piece)
        length = laid.document.characterCount() - 1
        start, end = self._selection.columns(piece, length) or (0, 0)
        cursor = QTextCursor(laid.document)
        cursor.setPosition(min(start, length))
        cursor.setPosition(min(end, length), QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace(_PARAGRAPH, "\n").replace(_LINE_END, "\n")

    def clear(self) -> None:
        """Select nothing, and forget the anchor."""
        self._selection.clear()
        self.changed.emit()

    def clear_from(self, piece: int) -> None:
        """Clear a selection that reaches this piece, which has changed."""
        ends = self._selection.ends
        if ends is not None and ends[1][0] >= piece:
            self.clear()

    def begin(self, place: Place) -> None:
        """Put anchor and caret here."""
        self._selection.put(place)
        self.changed.emit()

    def extend(self, place: Place) -> None:
        """Move the caret, and select the text between it and the anchor."""
        self._selection.extend(place)
        self.changed.emit()

    def extend_by_key(self, move: QTextCursor.MoveOperation) -> None:
        """Move the caret of a selection that was begun, within its piece."""
        caret, layout = self._selection.caret, self._scroller.layout
        laid = layout.documents.of(caret[0]) if caret is not None and layout is not None else None
        if caret is None or laid is None:
            return
        cursor = QTextCursor(laid.document)
        cursor.setPosition(min(caret[1], laid.document.characterCount() - 1))
        cursor.movePosition(move)
        self.extend((caret[0], cursor.position()))

    def select_word(self, place: Place) -> None:
        """Select the word at a place."""
        layout = self._scroller.layout
        laid = layout.documents.of(place[0]) if layout is not None else None
        if laid is not None:
            cursor = QTextCursor(laid.document)
            cursor.setPosition(place[1])
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            self._selection.select((place[0], cursor.selectionStart()), (place[0], cursor.selectionEnd()))
            self.changed.emit()

    def select_entry(self, number: int) -> None:
        """Select all text of an entry."""
        if self._scroller.layout is not None:
            entry = self._scroller.layout.conversation.entries[number]
            self._selection.select((entry.first_piece, 0), (entry.after_piece - 1, _BEHIND_ALL))
            self.changed.emit()
