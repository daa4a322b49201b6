"""Text selection in a conversation, and hit testing."""

from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QTextCursor, QTextDocument
from PySide6.QtWidgets import QWidget

from gui.conversation.canvas import ConversationCanvas
from gui.conversation.entries import Conversation
from gui.conversation.rows import Rows
from gui.core.jobs import Jobs
from gui.viewer.lines import Place
from gui.viewer.selection import Selection

_PARAGRAPH, _LINE_END = "\u2029", "\u2028"


class SelectableConversation(ConversationCanvas):
    """Places are pieces, from 0, with a position in the piece's document."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._selection = Selection()

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        self._selection.clear()
        super().set_conversation(conversation, rows)

    def grow(self, conversation: Conversation, rows: Rows, same: int) -> None:
        ends = self._selection.ends
        if ends is not None and ends[1][0] >= same:
            self._selection.clear()
        super().grow(conversation, rows, same)

    def _selected(self, piece: int, length: int) -> tuple[int, int] | None:
        return self._selection.columns(piece, length)

    def selected_text(self) -> str:
        """As it is seen; empty when nothing is selected."""
        ends = self._selection.ends
        if ends is None or self._conversation is None:
            return ""
        (first, _), (last, _) = ends
        return "\n".join(self._text_of(piece) for piece in range(first, last + 1))

    def _text_of(self, piece: int) -> str:
        """What is selected of a piece; of one that is not laid out any more, its source."""
        assert self._conversation is not None
        laid = self._documents.of(piece)
        if laid is None:
            return self._conversation.source(piece)
        length = laid.document.characterCount() - 1
        start, end = self._selection.columns(piece, length) or (0, 0)
        cursor = QTextCursor(laid.document)
        cursor.setPosition(min(start, length))
        cursor.setPosition(min(end, length), QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace(_PARAGRAPH, "\n").replace(_LINE_END, "\n")

    def _place_at(self, point: QPoint) -> Place | None:
        """Piece and position in its document nearest to a point; None over a row without text."""
        spot = self._location(point)
        if spot is None:
            return None
        return spot[0], spot[1].documentLayout().hitTest(spot[2], Qt.HitTestAccuracy.FuzzyHit)

    def _location(self, point: QPoint) -> tuple[int, QTextDocument, QPointF] | None:
        """The piece nearest to a point, its document, and where in that the point is."""
        found = self._row_at(point)
        if found is None or self._rows is None or self._layout is None:
            return None
        position, top = found
        row = self._rows.rows[position]
        piece = self._layout.piece_of(row)
        laid = self._documents.of(piece) if piece is not None else None
        if piece is None or laid is None:
            return None
        top += self._layout.head(position).height + self._layout.pads(row)[0]
        return piece, laid.document, QPointF(point.x() - self._layout.text_left(row), point.y() - top)

    def _select_word(self, place: Place) -> None:
        laid = self._documents.of(place[0])
        if laid is not None:
            cursor = QTextCursor(laid.document)
            cursor.setPosition(place[1])
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            self._selection.select((place[0], cursor.selectionStart()), (place[0], cursor.selectionEnd()))

    def _extend_by_key(self, move: QTextCursor.MoveOperation) -> None:
        """Move the end of a selection that was begun with the mouse or with Ctrl+A."""
        caret = self._selection.caret
        laid = self._documents.of(caret[0]) if caret is not None else None
        if caret is None or laid is None:
            return
        cursor = QTextCursor(laid.document)
        cursor.setPosition(min(caret[1], laid.document.characterCount() - 1))
        cursor.movePosition(move)
        self._selection.extend((caret[0], cursor.position()))
        self.viewport().update()

    def copy_selection(self) -> bool:
        """Put the selected text on the clipboard; False when there is none."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)
        return bool(text)

    def _link_at(self, point: QPoint) -> str:
        """The target of the link at a point; empty if there is none."""
        spot = self._location(point)
        return spot[1].documentLayout().anchorAt(spot[2]) if spot is not None else ""
