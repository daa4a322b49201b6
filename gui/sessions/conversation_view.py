"""The conversation as a person uses it: with keys, mouse, selection and steps from hit to hit."""

from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, Qt, QUrl, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QTextCursor,
    QTextDocument,
)
from PySide6.QtWidgets import QWidget

from gui.jobs import Jobs
from gui.sessions.conversation_canvas import ConversationCanvas, Goal
from gui.sessions.conversation_rows import MORE, SUMMARY, Detail, Fold, Row, Rows
from gui.sessions.conversation_text import Conversation
from gui.sessions.conversation_wording import spoken
from gui.viewer.hits import Finder, Hit, HitMap
from gui.viewer.lines import Place
from gui.viewer.selection import Selection

_ABOVE = 24
"""Pixels of what comes before that stay in view above a message that was gone to."""
_PARAGRAPH, _LINE_END = "\u2029", "\u2028"


class ConversationView(ConversationCanvas):
    """One message at a time is current; hits are those of a `HitNavigator`, whose lines are the pieces, from 1.

    Signals:
        current_changed: another message is current (number of the entry).
        menu_wanted: a context menu should open (place on the screen).
        link_clicked: a link in a message (QUrl).
    """

    current_changed = Signal(int)
    menu_wanted = Signal(QPoint)
    link_clicked = Signal(QUrl)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._current: int | None = None
        self._selection = Selection()
        self._pressed: QPoint | None = None
        self._stepped_to: Hit | None = None
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Conversation")

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        self._selection.clear()
        self._current = self._stepped_to = None
        super().set_conversation(conversation, rows)
        if conversation is not None and conversation.entries:
            self._set_current(0)

    # --- the current message --------------------------------------------------------------------------------------

    @property
    def current(self) -> int | None:
        """Number of the current entry."""
        return self._current

    def go_to_entry(self, number: int) -> None:
        """Make an entry current and bring it to the top of the view."""
        self._set_current(number)
        self.go_to(Goal(Row(number, SUMMARY), _ABOVE))

    def step(self, *, forward: bool, prompts: bool = False) -> None:
        """Go to the next message that is shown, or the one before; `prompts`: only to what the person wrote."""
        if self._rows is None or self._conversation is None or not self._count:
            return
        rows = self._rows.rows
        in_view = [rows[position].entry for position, _ in self._visible()]
        here = self._current if self._current in in_view else None
        if here is None:
            here = in_view[0] - 1 if forward else in_view[0] + 1
        if prompts:
            found = [number for number in self._conversation.prompts if (number > here if forward else number < here)]
            target = None if not found else found[0] if forward else found[-1]
        else:
            position = (
                self._rows.position(Row(here + 1, SUMMARY)) if forward else self._rows.position_of_entry(here) - 1
            )
            target = rows[position].entry if 0 <= position < len(rows) else None
        if target is not None:
            self._set_current(target)
            self._show_entry(target)

    def _show_entry(self, number: int) -> None:
        """Scroll as little as needed, but show the beginning of what is taller than the view."""
        assert self._rows is not None
        tops = {self._rows.rows[position].entry: (position, top) for position, top in reversed(list(self._visible()))}
        if number in tops and self._layout is not None:
            position, top = tops[number]
            after = self._rows.position(Row(number + 1, SUMMARY))
            height = sum(self._layout.height(place) for place in range(position, min(after, position + 60)))
            begins = self._rows.position_of_entry(number) == position
            if begins and top >= 0 and top + height <= self.viewport().height():
                self.viewport().update()
                return
        self.go_to(Goal(Row(number, SUMMARY), _ABOVE))

    def _set_current(self, number: int) -> None:
        if number == self._current or self._conversation is None:
            return
        self._current = number
        self._announce()
        self.current_changed.emit(number)
        self.viewport().update()

    def _announce(self) -> None:
        """Tell those who hear the program what is current."""
        if self._conversation is None or self._current is None or self._rows is None:
            return
        text = spoken(self._conversation, self._current, folded=self._rows.fold(self._current) == "folded")
        self.setAccessibleDescription(text)
        if self.hasFocus():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, text))

    def _current_entry(self) -> int | None:
        return self._current

    # --- folding --------------------------------------------------------------------------------------------------

    def set_detail(self, detail: Detail) -> None:
        """Fold all tools and thinking alike; what is at the top of the view stays there as far as it is shown."""
        if self._rows is None or not self._count:
            return
        position, top = next(self._visible(), (0, 0))
        entry = self._rows.rows[position].entry
        self._rows.set_detail(detail)
        self._selection.clear()
        self._rows_changed()
        self.go_to(Goal(Row(entry, SUMMARY), max(0, top)))

    def toggle(self, number: int) -> None:
        """Unfold one call or one thought, or fold it again."""
        if self._rows is not None:
            self._fold(number, "clamped" if self._rows.fold(number) == "folded" else "folded")

    def _show_all(self, number: int, *, everything: bool) -> None:
        self._fold(number, "all" if everything else "clamped")

    def _fold(self, number: int, fold: Fold) -> None:
        """Change the fold of an entry whose beginning stays where it is, or comes into view."""
        if self._rows is None or self._conversation is None:
            return
        if self._conversation.entries[number].kind in ("user", "speech") or self._rows.fold(number) == fold:
            return
        first = self._rows.position_of_entry(number)
        top = next((top for position, top in self._visible() if position == first), None)
        self._rows.set_fold(number, fold)
        self._rows_changed()
        self._set_current(number)
        self.go_to(Goal(Row(number, SUMMARY), _ABOVE if top is None or top < 0 else top))
        self._announce()

    def _unfold_more(self, *, more: bool) -> None:
        """One step towards everything, or back."""
        if self._current is None or self._rows is None:
            return
        folds: tuple[Fold, ...] = ("folded", "clamped", "all")
        fold = self._rows.fold(self._current)
        if fold in folds:
            index = folds.index(fold) + (1 if more else -1)
            if 0 <= index < len(folds):
                self._fold(self._current, folds[index])

    # --- hits (the protocol `HitView`) ----------------------------------------------------------------------------

    def place(self) -> Place:
        if self._stepped_to is not None and self.shows(self._stepped_to):
            return self._stepped_to.place
        position, _ = next(self._visible(), (0, 0))
        if self._rows is None or self._conversation is None or position >= self._count:
            return 1, -1
        row = self._rows.rows[position]
        entry = self._conversation.entries[row.entry]
        return entry.first_piece + (row.slot if 0 <= row.slot < entry.piece_count else 0) + 1, -1

    def shows(self, hit: Hit) -> bool:
        piece = hit.line - 1
        for position, top in self._visible():
            row = self._rows.rows[position] if self._rows is not None else None
            if row is not None and self._layout is not None and self._layout.piece_of(row) == piece:
                y = top + self._layout.head(position).height + self._hit_top(row, self._rank(hit))
                return 0 <= y < self.viewport().height() - _ABOVE
        return False

    def set_finders(self, marks: Finder | None, found: Finder | None) -> None:
        self._finders = marks, found
        self._marks.set_finder(marks)
        self._found.set_finder(found)
        self._framed = self._stepped_to = None
        self.viewport().update()

    def show_hit(self, hit: Hit | None) -> None:
        self._framed, self._stepped_to = None, hit
        if hit is not None and self._rows is not None and self._conversation is not None:
            shown, rank = self.shows(hit), self._rank(hit)
            self._framed = hit.line - 1, rank
            count = self._count
            position = self._rows.reveal(hit.line - 1)
            if self._count != count:
                self._rows_changed()
            self._set_current(self._conversation.entry_of_piece[hit.line - 1])
            if not shown:
                self.go_to(Goal(self._rows.rows[position], self.viewport().height() // 3, rank))
        self.viewport().update()

    def show_hits(self, marks: HitMap, found: HitMap | None) -> None:
        if self._conversation is None:
            return
        flags = bytearray(len(self._conversation.entries))
        for line in (marks if found is None else found).lines():
            flags[self._conversation.entry_of_piece[line - 1]] = 1
        before, self._hit_entries = self._hit_entries, flags
        self._map.show_rows(self._rows, flags)
        first, after = self._map.entries_in_view
        if before[first:after] != flags[first:after]:  # folded entries say that they hold one
            self.viewport().update()

    def _rank(self, hit: Hit) -> int:
        """Which hit of its piece it is, from 0."""
        finder = self._finders[1] or self._finders[0]
        if finder is None or self._conversation is None:
            return 0
        ranges = finder(self._conversation.searchable(hit.line - 1))
        return sum(start < hit.start for start, _ in ranges)

    # --- selection ------------------------------------------------------------------------------------------------

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

    def select_message(self) -> None:
        """Select all text of the current message."""
        if self._conversation is not None and self._current is not None:
            entry = self._conversation.entries[self._current]
            last = entry.first_piece + entry.piece_count - 1
            self._selection.select((entry.first_piece, 0), (last, 1 << 40))
            self.viewport().update()

    def _place_at(self, point: QPoint) -> Place | None:
        """Piece and position in its document nearest to a point; None over a row without text."""
        spot = self._spot(point)
        if spot is None:
            return None
        return spot[0], spot[1].documentLayout().hitTest(spot[2], Qt.HitTestAccuracy.FuzzyHit)

    def _spot(self, point: QPoint) -> tuple[int, QTextDocument, QPointF] | None:
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

    # --- mouse ----------------------------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        found = self._row_at(point)
        if found is None or self._rows is None:
            return
        self._set_current(self._rows.rows[found[0]].entry)
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed = point
        place = self._place_at(point)
        if place is None:
            self._selection.clear()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self._selection.extend(place)
        else:
            self._selection.put(place)
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if not event.buttons() & Qt.MouseButton.LeftButton or self._pressed is None:
            self._show_cursor(point)
            return
        beyond = min(0, point.y()) + max(0, point.y() - self.viewport().height())
        if beyond:
            self.scroll_by(beyond)
        place = self._place_at(point)
        if place is not None and self._selection.anchor is not None:
            self._selection.extend(place)
            self.viewport().update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if event.button() != Qt.MouseButton.LeftButton or pressed is None or self._rows is None:
            return
        row = self._button_at(event.position().toPoint())
        if row is not None and row == self._button_at(pressed):
            if row.slot == SUMMARY:
                self.toggle(row.entry)
            else:
                self._show_all(row.entry, everything=self._rows.fold(row.entry) != "all")
        link = self._link_at(pressed)
        if link and self._selection.ends is None and link == self._link_at(event.position().toPoint()):
            self.link_clicked.emit(QUrl(link))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        place = self._place_at(point)
        if place is None:
            self.mousePressEvent(event)  # two quick clicks fold and unfold
        else:
            self._select_word(place)
            self.viewport().update()

    def _button_at(self, point: QPoint) -> Row | None:
        """The row at a point if a click there does something."""
        found = self._row_at(point)
        if found is None or self._rows is None or self._layout is None:
            return None
        position, top = found
        row = self._rows.rows[position]
        top += self._layout.head(position).height
        box = self._layout.measures.column(top, self._layout.body_height(row))
        return row if row.slot in (SUMMARY, MORE) and box.contains(point) else None

    def _link_at(self, point: QPoint) -> str:
        """Where the link at a point leads; empty where there is none."""
        spot = self._spot(point)
        return spot[1].documentLayout().anchorAt(spot[2]) if spot is not None else ""

    def _show_cursor(self, point: QPoint) -> None:
        shape = Qt.CursorShape.ArrowCursor
        if self._button_at(point) is not None or self._link_at(point):
            shape = Qt.CursorShape.PointingHandCursor
        elif self._place_at(point) is not None:
            shape = Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_wanted.emit(event.globalPos())

    # --- keys -----------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_message()
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        others = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        run = None if others else self._command(Qt.Key(event.key()), shift=shift)
        if run is None:
            event.ignore()  # n, Esc and the rest belong to the panel
        else:
            run()

    def _command(self, key: Qt.Key, *, shift: bool) -> Callable[[], None] | None:
        page = self.viewport().height() - self._map.singleStep()
        keys = Qt.Key
        moves = QTextCursor.MoveOperation
        if shift and self._selection.caret is not None:
            by_key = {
                keys.Key_Left: moves.Left,
                keys.Key_Right: moves.Right,
                keys.Key_Up: moves.Up,
                keys.Key_Down: moves.Down,
                keys.Key_Home: moves.StartOfLine,
                keys.Key_End: moves.EndOfLine,
            }
            if key in by_key:
                return lambda: self._extend_by_key(by_key[key])
        match key:
            case keys.Key_J | keys.Key_K:
                return lambda: self.step(forward=key == keys.Key_J, prompts=shift)
            case keys.Key_Return | keys.Key_Enter if self._current is not None:
                current = self._current
                return lambda: self.toggle(current)
            case keys.Key_Right | keys.Key_Left:
                return lambda: self._unfold_more(more=key == keys.Key_Right)
            case keys.Key_Down | keys.Key_Up:
                step = self._map.singleStep()
                return lambda: self.scroll_by(step if key == keys.Key_Down else -step)
            case keys.Key_PageDown | keys.Key_PageUp:
                return lambda: self.scroll_by(page if key == keys.Key_PageDown else -page)
            case keys.Key_Space:
                return lambda: self.scroll_by(-page if shift else page)
            case keys.Key_Home | keys.Key_End:
                return lambda: self.scroll_to_end(top=key == keys.Key_Home)
        return None

    def copy_selection(self) -> bool:
        """Put the selected text on the clipboard; False when there is none."""
        text = self.selected_text()
        if text:
            QGuiApplication.clipboard().setText(text)
        return bool(text)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._announce()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
