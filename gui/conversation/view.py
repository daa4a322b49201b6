"""The widget that shows a conversation: keyboard, mouse, scroll bar and accessibility."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QPoint, QRect, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QAccessible,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from engine import tr
from gui.conversation.display_entries import Conversation, spoken
from gui.conversation.hit_navigation import ConversationHits, Highlights
from gui.conversation.painter import ConversationPainter
from gui.conversation.row_folding import GROUP, SUMMARY, Rows
from gui.conversation.row_layout import Measures, PieceDocuments, PieceStyle, RowLayout
from gui.conversation.scroller import BAR_UNIT, ConversationScroller, MessageScrollBar, ScrollTarget
from gui.conversation.selection import ConversationSelection, CurrentMessage, Folding
from gui.core.jobs import Jobs
from gui.style.stylesheet import font_scale
from gui.style.theme import tokens
from gui.style.typography import Resized, fixed_font
from gui.viewer.markdown_page import PageStyle
from gui.widgets.accessibility import Part, announce

_TEXT_PIXELS = 13
_CODE_PIXELS = 12
_LINE_HEIGHT = 130
"""Line height in percent; less than on a page, since messages have many short paragraphs."""
_WHEEL_PIXELS = 60
_WHEEL_NOTCH = 120
_Move = QTextCursor.MoveOperation
_SELECTION_KEYS = {
    Qt.Key.Key_Left: _Move.Left,
    Qt.Key.Key_Right: _Move.Right,
    Qt.Key.Key_Up: _Move.Up,
    Qt.Key.Key_Down: _Move.Down,
    Qt.Key.Key_Home: _Move.StartOfLine,
    Qt.Key.Key_End: _Move.EndOfLine,
}


class ConversationView(Resized, QAbstractScrollArea):
    """Shows one conversation, and passes events to the objects that it consists of:

    - `scroller`: the scroll position, the rows in view and their sizes
    - `selection`: the selected text
    - `current`: the current message
    - `folding`: folds and unfolds tool calls and reasoning
    - `highlights`, `hits`: the highlighted words, and going to the next or previous one

    Signals:
        menu_requested: open a context menu (position on the screen).
        link_clicked: a link in a message (QUrl).
    """

    menu_requested = Signal(QPoint)
    link_clicked = Signal(QUrl)

    spoken_role = QAccessible.Role.List

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._conversation: Conversation | None = None
        self._rows: Rows | None = None
        self._documents = PieceDocuments(self)
        self.scroller = ConversationScroller(self)
        self.selection = ConversationSelection(self.scroller, self)
        self.current = CurrentMessage(self.scroller, self)
        self.highlights = Highlights(jobs, self)
        self.hits = ConversationHits(self.highlights, self.scroller, self)
        self.folding = Folding(self.scroller, self.current, self.hits, self.selection, self)
        self._painter = ConversationPainter(self.scroller, self.highlights, self.selection, self.current)
        self._map = MessageScrollBar(self)
        self._moving_bar = False
        self.painted = True
        """Whether the last frame showed all visible text: the rest follows in the next ones."""
        self._pressed: QPoint | None = None
        self.setVerticalScrollBar(self._map)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "page")
        self.viewport().setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Conversation"))
        self._connect()

    def _connect(self) -> None:
        self._documents.arrived.connect(self.scroller.update_heights)
        self._map.jumped.connect(self._jump_to_row)
        self.scroller.moved.connect(self._show_position)
        self.scroller.rows_changed.connect(self._show_map)
        self.hits.entries_changed.connect(self._show_map)
        self.hits.shown.connect(self.current.set)
        for spoken_change in (self.current.changed, self.folding.changed):
            spoken_change.connect(self._announce)
        for painted_change in (self.current.changed, self.selection.changed, self.highlights.changed):
            painted_change.connect(self.viewport().update)

    # --- the conversation -----------------------------------------------------------------------------------------

    @property
    def conversation(self) -> Conversation | None:
        return self._conversation

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        """Show a conversation from its start; `rows` are its rows. None shows none."""
        self._conversation, self._rows = conversation, rows
        entry_count = 0 if conversation is None else len(conversation.entries)
        self.current.clear()
        self.selection.clear()
        self.highlights.reset(entry_count)
        self.hits.reset()
        self.scroller.reset()
        self._documents.set_conversation(conversation)
        self._map.show_view(0, 0)
        self._show_map()
        self.fit()
        if entry_count:
            self.current.set(0)

    def grow(self, conversation: Conversation, rows: Rows, same: int) -> None:
        """Show a later state of the conversation, whose first `same` pieces are unchanged, at the same position."""
        self.scroller.hold_top_row()
        if self._rows is not None:
            rows.fold_like(self._rows)
        self._conversation, self._rows = conversation, rows
        entry_count = len(conversation.entries)
        self.selection.clear_from(same)
        self.highlights.grow(entry_count, same)
        self._documents.grow(conversation, same)
        self._show_map()
        self.fit()
        if self.current.number is not None and self.current.number >= entry_count:
            self.current.set(entry_count - 1)

    def fit(self) -> None:
        """Recompute the layout after a change of width, font, colours or conversation."""
        layout = None
        if self._conversation is not None and self._rows is not None:
            measures = Measures.of(self.viewport().width(), font_scale())
            layout = RowLayout(self._conversation, self._rows, self._documents, measures)
            self._documents.set_style(self._style(measures))
        self.scroller.set_layout(layout, self.viewport().height())

    def _style(self, measures: Measures) -> PieceStyle:
        text_font = QGuiApplication.font()
        text_font.setPointSizeF(fixed_font(_TEXT_PIXELS).pointSizeF())
        colours = tokens(self.palette())
        page = PageStyle(text_font, fixed_font(_CODE_PIXELS), colours, measures.scale, _LINE_HEIGHT)
        key = (measures.text_width, measures.scale, text_font.key(), colours.base.name())
        return PieceStyle(page, measures.text_width, measures.plain_width, key)

    # --- display --------------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        late = self._painter.paint(self)
        layout, visible_rows = self.scroller.layout, self.scroller.visible()
        waiting = layout is not None and any(
            layout.piece_of(row) is not None and layout.document_of(row) is None for _, row, _ in visible_rows
        )
        self.painted = not (late or waiting)
        self._documents.request(self.scroller.near_pieces())
        if late:
            self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self.fit()

    @Slot()
    def _show_map(self) -> None:
        """Update the messages and hits in the scroll bar's map."""
        self._map.show_rows(self._rows, self.highlights.entries)

    @Slot()
    def _show_position(self) -> None:
        """Update the scroll bar and the viewport."""
        bar = self._map
        self._moving_bar = True
        bar.setRange(0, self.scroller.bar_maximum)
        bar.setPageStep(max(BAR_UNIT, self.viewport().height()))
        bar.setSingleStep(BAR_UNIT)
        bar.setValue(self.scroller.bar_value)
        self._moving_bar = False
        positions = [visible_row.position for visible_row in self.scroller.visible()]
        bar.show_view(positions[0] if positions else 0, positions[-1] + 1 if positions else 0)
        self.viewport().update()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if dy and not self._moving_bar:
            self.scroller.set_bar_value(self._map.value())

    @Slot(int, bool)
    def _jump_to_row(self, position: int, clicked: bool) -> None:
        """Scroll to a row that was clicked or dragged to in the scroll bar."""
        layout = self.scroller.layout
        if layout is None or position >= layout.count:
            return
        row = layout.rows.rows[position]
        self.scroller.go_to(ScrollTarget(row))
        hit = self.hits.first_in_fold(row.entry) if clicked else None
        if hit is not None:
            self.hits.show_hit(hit)

    # --- accessibility --------------------------------------------------------------------------------------------

    @Slot()
    def _announce(self) -> None:
        """Announce the current message to a screen reader."""
        if self._conversation is None or self._rows is None or self.current.number is None:
            return
        text = _spoken(self._conversation, self._rows, self.current.number)
        self.setAccessibleDescription(text)
        if self.hasFocus():
            announce(self, text)

    def spoken_parts(self) -> Sequence[Part]:
        """Return the visible messages for screen readers, without folded parts."""
        layout = self.scroller.layout
        if layout is None:
            return []
        rects: dict[int, QRect] = {}
        for position, (entry, _), top in self.scroller.visible():
            row = QRect(0, top, self.viewport().width(), layout.height(position))
            rects[entry] = rects[entry].united(row) if entry in rects else row
        return [Part(_spoken(layout.conversation, layout.rows, entry), rect) for entry, rect in rects.items()]

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._announce()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    # --- mouse ----------------------------------------------------------------------------------------------------

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll by pixels, since the scroll bar's unit is a row, which may be taller than the view."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # the viewer changes the size of the text
            return
        pixels = event.pixelDelta().y() or round(event.angleDelta().y() / _WHEEL_NOTCH * _WHEEL_PIXELS)
        self.scroller.scroll_by(-pixels)
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        visible_row = self.scroller.row_at(point.y())
        if visible_row is None:
            return
        self.current.set(visible_row.row.entry)
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._pressed = point
        text = self.scroller.text_at(point)
        if text is None:
            self.selection.clear()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.selection.extend(text.position)
        else:
            self.selection.begin(text.position)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        point = event.position().toPoint()
        if not event.buttons() & Qt.MouseButton.LeftButton or self._pressed is None:
            self._show_cursor(point)
            return
        beyond = min(0, point.y()) + max(0, point.y() - self.viewport().height())
        if beyond:
            self.scroller.scroll_by(beyond)
        text = self.scroller.text_at(point)
        if text is not None and self.selection.started:
            self.selection.extend(text.position)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        if event.button() != Qt.MouseButton.LeftButton or pressed is None:
            return
        released = event.position().toPoint()
        row = self.scroller.fold_control_at(released)
        if row is not None and row == self.scroller.fold_control_at(pressed):
            if row.slot == GROUP:
                self.folding.toggle_group(row.entry)
            elif row.slot == SUMMARY:
                self.folding.toggle(row.entry)
            else:
                self.folding.toggle_all_lines(row.entry)
        link = self._link_at(pressed)
        if link and self.selection.empty and link == self._link_at(released):
            self.link_clicked.emit(QUrl(link))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        text = self.scroller.text_at(event.position().toPoint())
        if text is None:
            self.mousePressEvent(event)  # two quick clicks fold and unfold
        else:
            self.selection.select_word(text.position)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu_requested.emit(event.globalPos())

    def _link_at(self, point: QPoint) -> str:
        text = self.scroller.text_at(point)
        return text.link if text is not None else ""

    def _show_cursor(self, point: QPoint) -> None:
        """Set the mouse cursor at a point of the view: a hand over links and fold controls, an I-beam over text."""
        shape = Qt.CursorShape.ArrowCursor
        if self.scroller.fold_control_at(point) is not None or self._link_at(point):
            shape = Qt.CursorShape.PointingHandCursor
        elif self.scroller.text_at(point) is not None:
            shape = Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)

    # --- keyboard -------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.SelectAll):
            if self.current.number is not None:
                self.selection.select_entry(self.current.number)
            return
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        others = event.modifiers() & ~(Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier)
        if event.key() in (Qt.Key.Key_Home, Qt.Key.Key_End):
            others &= ~Qt.KeyboardModifier.ControlModifier  # as in other texts
        run = None if others else self._command(Qt.Key(event.key()), shift=shift)
        if run is None:
            event.ignore()  # n, Esc and the rest belong to the panel
        else:
            run()

    def _command(self, key: Qt.Key, *, shift: bool) -> Callable[[], None] | None:
        """Return the function that a key runs, or None."""
        if shift and self.selection.started and key in _SELECTION_KEYS:
            return lambda: self.selection.extend_by_key(_SELECTION_KEYS[key])
        page = self.viewport().height() - BAR_UNIT
        keys, scroller = Qt.Key, self.scroller
        match key:
            case keys.Key_J | keys.Key_K:
                return lambda: self.current.step(forward=key == keys.Key_J, prompts=shift)
            case keys.Key_Return | keys.Key_Enter if self.current.number is not None:
                number = self.current.number
                return lambda: self.folding.toggle(number)
            case keys.Key_Right | keys.Key_Left:
                return lambda: self.folding.unfold_current(more=(key == keys.Key_Right) != self.isRightToLeft())
            case keys.Key_Down | keys.Key_Up:
                return lambda: scroller.scroll_by(BAR_UNIT if key == keys.Key_Down else -BAR_UNIT)
            case keys.Key_PageDown | keys.Key_PageUp:
                return lambda: scroller.scroll_by(page if key == keys.Key_PageDown else -page)
            case keys.Key_Space:
                return lambda: scroller.scroll_by(-page if shift else page)
            case keys.Key_Home | keys.Key_End:
                return lambda: scroller.scroll_to_end(top=key == keys.Key_Home)
        return None


def _spoken(conversation: Conversation, rows: Rows, number: int) -> str:
    """An entry, or the closed group that begins with it, for screen readers."""
    fold = rows.fold(number)
    line = rows.group_line(number) if fold == "grouped" else ()
    return spoken(conversation, number, folded=fold in ("folded", "grouped"), line=line)
