"""The conversation with keyboard, mouse and navigation between hits."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Qt, QUrl, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QKeySequence, QMouseEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from engine import tr
from gui.conversation.current_message import ABOVE, ConversationWithCurrent
from gui.conversation.entries import Conversation
from gui.conversation.rows import MORE, SUMMARY, Row, Rows
from gui.conversation.scroll_area import Goal
from gui.core.jobs import Jobs
from gui.viewer.lines import Place
from gui.viewer.matches import Finder, Hit, MatchMap, Step


class ConversationView(ConversationWithCurrent):
    """Hits are those of a `HitNavigator`, whose lines are the pieces, from 1.

    Signals: menu_wanted: open a context menu (position on the screen). link_clicked: a link in a message (QUrl).
    """

    menu_wanted = Signal(QPoint)
    link_clicked = Signal(QUrl)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._pressed: QPoint | None = None
        self._stepped_to: Hit | None = None
        self._hit_map: MatchMap | None = None
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Conversation"))

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        self._stepped_to = self._hit_map = None
        super().set_conversation(conversation, rows)

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
                return 0 <= y < self.viewport().height() - ABOVE
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

    def show_hits(self, marks: MatchMap, found: MatchMap | None) -> None:
        if self._conversation is None:
            return
        flags = bytearray(len(self._conversation.entries))
        self._hit_map = marks if found is None else found
        for line in self._hit_map.lines():
            flags[self._conversation.entry_of_piece[line - 1]] = 1
        before, self._hit_entries = self._hit_entries, flags
        self._map.show_rows(self._rows, flags)
        first, after = self._map.entries_in_view
        if before[first:after] != flags[first:after]:  # folded entries say that they hold one
            self.viewport().update()

    def toggle(self, number: int) -> None:
        """Unfold an entry as far as its first hit, which is marked, or fold it again."""
        hit = self._hit_in_fold(number)
        super().toggle(number)
        if hit is not None:
            self.show_hit(hit)

    def show_line(self, number: int, pieces: Sequence[int]) -> None:
        """Go to an entry for these pieces of it, which a fold does not hide."""
        if self._rows is not None and pieces and self._rows.fold(number) in ("gone", "folded"):
            self._rows.reveal(pieces[0])
            self._rows_changed()
        self.go_to_entry(number)

    def _jump_to_row(self, position: int, clicked: bool) -> None:
        super()._jump_to_row(position, clicked)
        hit = self._hit_in_fold(self._rows.rows[position].entry) if clicked and self._rows is not None else None
        if hit is not None:
            self.show_hit(hit)

    def _hit_in_fold(self, number: int) -> Hit | None:
        """The first hit in a folded entry, if it is known."""
        if self._rows is None or self._conversation is None or self._rows.fold(number) != "folded":
            return None
        entry = self._conversation.entries[number]
        step = self._hit_map.step((entry.first_piece + 1, -1), forward=True) if self._hit_map is not None else None
        return step.hit if isinstance(step, Step) and entry.first_piece < step.hit.line <= entry.after_piece else None

    def _rank(self, hit: Hit) -> int:
        """Which hit of its piece it is, from 0."""
        finder = self._finders[1] or self._finders[0]
        if finder is None or self._conversation is None:
            return 0
        ranges = finder(self._conversation.searchable(hit.line - 1))
        return sum(start < hit.start for start, _ in ranges)

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
                return lambda: self._unfold_more(more=(key == keys.Key_Right) != self.isRightToLeft())
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

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._announce()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()
