"""The current message of a conversation, the folding of its tool calls and reasoning, and the selected text."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QTextCursor

from gui.conversation.hit_navigation import ConversationHits
from gui.conversation.row_folding import GROUP, Detail, Fold, Row
from gui.conversation.scroller import ABOVE, ConversationScroller, ScrollTarget
from gui.viewer.text_lines import Selection, TextPosition

_FOLDS: Sequence[Fold] = ("folded", "clamped", "all")

_PARAGRAPH, _LINE_END = "\u2029", "\u2028"
_BEHIND_ALL = 1 << 40
"""A position after the last one of any piece."""


class CurrentMessage(QObject):
    """The message that keys and actions apply to, stored as the number of its entry.

    Signals: changed: another message is current (number of its entry).
    """

    changed = Signal(int)

    def __init__(self, scroller: ConversationScroller, parent: QObject) -> None:
        super().__init__(parent)
        self._scroller = scroller
        self._number: int | None = None

    @property
    def number(self) -> int | None:
        """The entry's number; None without a conversation, or in an empty one."""
        return self._number

    def clear(self) -> None:
        """Deselect the current message."""
        self._number = None

    @Slot(int)
    def set(self, number: int) -> None:
        """Make an entry current without scrolling."""
        if number != self._number and self._scroller.layout is not None:
            self._number = number
            self.changed.emit(number)

    @Slot(int)
    def go_to(self, number: int) -> None:
        """Make an entry current and bring it to the top of the view."""
        self.set(number)
        self._scroller.go_to_entry(number)

    def step(self, *, forward: bool, prompts: bool = False) -> None:
        """Go to the next or previous message that is not hidden; with `prompts`, of the user's only."""
        layout = self._scroller.layout
        in_view = [visible_row.row.entry for visible_row in self._scroller.visible()]
        if layout is None or not in_view:
            return
        if self._number in in_view:
            here = self._number
        else:
            here = in_view[0] - 1 if forward else in_view[0] + 1
        rows = layout.rows
        if prompts:
            candidates = [
                number for number in layout.conversation.prompts if (number > here if forward else number < here)
            ]
            target = None if not candidates else candidates[0] if forward else candidates[-1]
        else:
            position = rows.position(Row(here + 1, GROUP)) if forward else rows.position_of_entry(here) - 1
            target = rows.rows[position].entry if 0 <= position < layout.count else None
        if target is not None:
            self.set(target)
            self._scroller.show_entry(target)


class ConversationSelection(QObject):
    """The selected text between an anchor and a caret: each is a piece, from 0, and a position in its document.

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
        """Whether anchor and caret are set, even without text between them."""
        return self._selection.caret is not None

    @property
    def empty(self) -> bool:
        return self._selection.ends is None

    def columns(self, piece: int, length: int) -> tuple[int, int] | None:
        """Return the selected range in a piece whose document has `length` characters; None if nothing in it is
        selected."""
        return self._selection.columns(piece, length)

    def text(self) -> str:
        """Return the selected text as displayed; empty when nothing is selected."""
        ends = self._selection.ends
        if ends is None:
            return ""
        (first, _), (last, _) = ends
        return "\n".join(self._text_of(piece) for piece in range(first, last + 1))

    def _text_of(self, piece: int) -> str:
        """Return the selected text of a piece; if the piece is no longer laid out, its whole source."""
        layout = self._scroller.layout
        assert layout is not None
        laid = layout.documents.layout_of(piece)
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
        """Clear the selection if it extends to this piece or a later one, since these have changed."""
        ends = self._selection.ends
        if ends is not None and ends[1][0] >= piece:
            self.clear()

    def begin(self, position: TextPosition) -> None:
        """Set anchor and caret to a position."""
        self._selection.start_at(position)
        self.changed.emit()

    def extend(self, position: TextPosition) -> None:
        """Move the caret to a position; the text between anchor and caret is selected."""
        self._selection.extend(position)
        self.changed.emit()

    def extend_by_key(self, move: QTextCursor.MoveOperation) -> None:
        """Move the caret by a cursor operation within its piece, if a selection was begun."""
        caret, layout = self._selection.caret, self._scroller.layout
        laid = layout.documents.layout_of(caret[0]) if caret is not None and layout is not None else None
        if caret is None or laid is None:
            return
        cursor = QTextCursor(laid.document)
        cursor.setPosition(min(caret[1], laid.document.characterCount() - 1))
        cursor.movePosition(move)
        self.extend((caret[0], cursor.position()))

    def select_word(self, position: TextPosition) -> None:
        """Select the word at a position."""
        layout = self._scroller.layout
        laid = layout.documents.layout_of(position[0]) if layout is not None else None
        if laid is not None:
            cursor = QTextCursor(laid.document)
            cursor.setPosition(position[1])
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            self._selection.select((position[0], cursor.selectionStart()), (position[0], cursor.selectionEnd()))
            self.changed.emit()

    def select_entry(self, number: int) -> None:
        """Select all text of an entry."""
        if self._scroller.layout is not None:
            entry = self._scroller.layout.conversation.entries[number]
            self._selection.select((entry.first_piece, 0), (entry.after_piece - 1, _BEHIND_ALL))
            self.changed.emit()


class Folding(QObject):
    """Folds and unfolds tool calls and reasoning, one by one or all together.

    An entry with hits is unfolded as far as its first hit, which is then framed. The entry also becomes current.

    Signals: changed: one entry was folded or unfolded.
    """

    changed = Signal()

    def __init__(
        self,
        scroller: ConversationScroller,
        current: CurrentMessage,
        hits: ConversationHits,
        selection: ConversationSelection,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._scroller = scroller
        self._current = current
        self._hits = hits
        self._selection = selection

    @property
    def detail(self) -> Detail:
        """How far entries are unfolded that the user has not folded or unfolded individually."""
        layout = self._scroller.layout
        return "short" if layout is None else layout.rows.detail

    def set_detail(self, detail: Detail) -> None:
        """Fold or unfold all entries; the message at the top of the view stays there if it is still visible."""
        layout, top = self._scroller.layout, self._scroller.top_row
        if layout is None:
            return
        layout.rows.set_detail(detail)
        self._selection.clear()
        self._scroller.update_rows()
        group = range(0) if self._current.number is None else layout.rows.group(self._current.number)
        if group and layout.rows.fold(group[0]) == "grouped":
            self._current.set(group[0])
        if top is None:  # everything was hidden
            self._scroller.scroll_to_end(top=True)
        else:
            self._scroller.go_to(ScrollTarget(Row(top.row.entry, GROUP), max(0, top.top)))

    def toggle(self, number: int) -> None:
        """Unfold an entry, or fold it again; if its group is closed, open the group instead."""
        layout = self._scroller.layout
        if layout is None:
            return
        hit, fold = self._hits.first_in_fold(number), layout.rows.fold(number)
        if fold == "grouped":
            self.set_group(number, opened=True)
        else:
            self._fold(number, "clamped" if fold == "folded" else "folded")
        if hit is not None:
            self._hits.show_hit(hit)

    def toggle_group(self, number: int) -> None:
        """Open the group of an entry, or close it again."""
        layout = self._scroller.layout
        if layout is not None and layout.rows.fold(number) == "grouped":
            self.toggle(number)
        else:
            self.set_group(number, opened=False)

    def set_group(self, number: int, *, opened: bool) -> None:
        """Open or close the group of an entry, whose line stays in place, and make its first entry current."""
        layout = self._scroller.layout
        group = range(0) if layout is None else layout.rows.group(number)
        if layout is not None and group:
            self._change(group[0], lambda: layout.rows.set_group(number, opened=opened))

    def toggle_all_lines(self, number: int) -> None:
        """Switch an unfolded entry between all its lines and the first ones."""
        layout = self._scroller.layout
        if layout is not None:
            self._fold(number, "clamped" if layout.rows.fold(number) == "all" else "all")

    def unfold_current(self, *, more: bool) -> None:
        """Unfold the current message by one step or, if not `more`, fold it by one."""
        number, layout = self._current.number, self._scroller.layout
        if number is None or layout is None:
            return
        fold = layout.rows.fold(number)
        if more and fold == "grouped":
            self.toggle(number)
        elif not more and fold == "folded" and layout.rows.group(number):
            self.set_group(number, opened=False)
        elif fold in _FOLDS:
            index = _FOLDS.index(fold) + (1 if more else -1)
            if 0 <= index < len(_FOLDS):
                self._fold(number, _FOLDS[index])

    def show_pieces(self, number: int, pieces: Sequence[int]) -> None:
        """Go to an entry, and unfold it if it is folded, so that these pieces of it are shown."""
        layout = self._scroller.layout
        if layout is not None and pieces and layout.rows.fold(number) in ("gone", "grouped", "folded"):
            layout.rows.reveal(pieces[0])
            self._scroller.update_rows()
        self._current.go_to(number)

    def show_hidden(self, number: int, pieces: Sequence[int]) -> None:
        """Go to an entry: open its group and, if the entry shows nothing while folded, unfold it."""
        layout = self._scroller.layout
        if layout is not None and layout.rows.group(number):
            layout.rows.set_group(number, opened=True)
            self._scroller.update_rows()
        if layout is not None and layout.rows.fold(number) == "gone":
            self.show_pieces(number, pieces)
        else:
            self._current.go_to(number)

    def _fold(self, number: int, fold: Fold) -> None:
        """Fold or unfold an entry; its first row stays in place or is scrolled into view."""
        layout = self._scroller.layout
        if layout is None or layout.conversation.entries[number].kind in ("user", "speech"):
            return
        if layout.rows.fold(number) != fold:
            self._change(number, lambda: layout.rows.set_fold(number, fold))

    def _change(self, number: int, change: Callable[[], None]) -> None:
        """Fold or unfold something of an entry, whose first row stays in place, and make it current."""
        layout = self._scroller.layout
        if layout is None:
            return
        first = layout.rows.position_of_entry(number)
        top = next((visible_row.top for visible_row in self._scroller.visible() if visible_row.position == first), None)
        change()
        self._scroller.update_rows()
        self._current.set(number)
        self._scroller.go_to(ScrollTarget(Row(number, GROUP), ABOVE if top is None or top < 0 else top))
        self.changed.emit()
