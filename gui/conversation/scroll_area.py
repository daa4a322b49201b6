"""The scrolling part of a conversation of any length: the visible rows, and scrolling to a location.

Only visible rows are processed. Texts are laid out in short steps; until then a height is estimated, and when it is
known, the text being read stays in place.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from gui.conversation.document_cache import PieceDocuments
from gui.conversation.entries import Conversation
from gui.conversation.piece_builder import PieceLayout, PieceStyle
from gui.conversation.row_layout import Measures, RowLayout
from gui.conversation.rows import Detail, Row, Rows
from gui.conversation.scroll_bar import MessageScrollBar
from gui.core.reading_place import ReadingPlace
from gui.style.theme import tokens
from gui.style.typography import fixed_font, font_scale
from gui.viewer.markdown_page import PageStyle
from gui.viewer.matches import Finder
from gui.viewer.scroll_position import ScrollPosition
from gui.widgets.utf16 import utf16_ranges

_TEXT_PIXELS = 13
_CODE_PIXELS = 12
_LINE_HEIGHT = 130
"""In percent; less than on a page, since messages have many short paragraphs."""
_UNIT = 32
"""How long a row is for the scroll bar."""
_WHEEL_PIXELS = 60
_WHEEL_NOTCH = 120


@dataclass(frozen=True)
class Goal:
    """The target of the last jump; it stays in place while texts around it are laid out, until the user scrolls."""

    row: Row
    above: int
    """Pixels between the top of the view and the row, or the hit in it."""
    hit: int | None = None
    """Which hit in the piece, from 0."""


class ConversationScroll(QAbstractScrollArea):
    """Rows of one conversation; scrolls by pixels."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._conversation: Conversation | None = None
        self._rows: Rows | None = None
        self._layout: RowLayout | None = None
        self._documents = PieceDocuments(self)
        self._documents.arrived.connect(self._on_arrived)
        self._finders: tuple[Finder | None, Finder | None] = None, None
        self._goal: Goal | None = None
        self._return: Goal | None = None
        self._hit_entries = bytearray()
        self._top_height = 0
        self._scroll = ScrollPosition(self._height_of, self._guess_of)
        self._moving_bar = False
        self._map = MessageScrollBar(self)
        self._map.jumped.connect(self._jump_to_row)
        self.setVerticalScrollBar(self._map)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setProperty("role", "page")

    # --- display --------------------------------------------------------------------------------------------------

    @property
    def conversation(self) -> Conversation | None:
        return self._conversation

    @property
    def detail(self) -> Detail:
        return self._rows.detail if self._rows is not None else "short"

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        """Show another conversation from its start; `rows` are its rows."""
        self._conversation, self._rows = conversation, rows
        self._documents.set_conversation(conversation)
        self._goal = None
        self._hit_entries = bytearray(len(conversation.entries) if conversation is not None else 0)
        self._scroll.reset(self._count)
        self._map.show_view(0, 0)
        self._map.show_rows(rows, self._hit_entries)
        self._relayout()

    def grow(self, conversation: Conversation, rows: Rows, same: int) -> None:
        """Show a later state of the conversation, whose first `same` pieces are unchanged, at the same position."""
        position, top = next(self._visible(), (0, 0))
        if self._rows is not None and self._count:
            rows.fold_like(self._rows)
            self._goal = Goal(self._rows.rows[position], top)
        self._conversation, self._rows = conversation, rows
        self._documents.grow(conversation, same)
        self._hit_entries = bytearray(
            self._hit_entries[: len(conversation.entries)].ljust(len(conversation.entries), b"\0")
        )
        self._map.show_rows(rows, self._hit_entries)
        self._relayout()

    @property
    def shows_end(self) -> bool:
        """Whether the last row is in view."""
        return not self._count or any(position == self._count - 1 for position, _ in self._visible())

    @property
    def _count(self) -> int:
        return len(self._rows.rows) if self._rows is not None else 0

    @property
    def reading(self) -> ReadingPlace | None:
        """The location at the top of the view."""
        position, top = next(self._visible(), (0, 0))
        if self._conversation is None or self._rows is None or position >= self._count:
            return None
        row = self._rows.rows[position]
        line = self._conversation.message(self._conversation.entries[row.entry]).line
        return ReadingPlace(path=self._conversation.session.summary.path, line=line, slot=row.slot, top=top)

    def return_to(self, place: ReadingPlace) -> None:
        """Scroll back to this location, as far as it exists."""
        if self._conversation is not None and self._count:
            self._return = Goal(Row(self._conversation.at_line(place.line)[0], place.slot), place.top)
            self.go_to(self._return)

    @property
    def has_returned(self) -> bool:
        """Whether the user has not scrolled since."""
        return self._goal is not None and self._goal is self._return

    # --- navigation -----------------------------------------------------------------------------------------------

    def scroll_by(self, pixels: int) -> None:
        self._goal = None
        self._scroll.move(pixels)
        self._moved()

    def scroll_to_end(self, *, top: bool) -> None:
        self._goal = None
        if top:
            self._scroll.go_to(1)
        else:
            self._scroll.go_to_end()
        self._moved()

    def go_to(self, goal: Goal) -> None:
        """Bring a row, or a hit in it, to a place in the view."""
        self._goal = goal
        self._reach_goal()
        self._moved()

    def _reach_goal(self) -> None:
        goal = self._goal
        if goal is None or self._rows is None or self._layout is None or not self._count:
            return
        position = min(self._rows.position(goal.row), self._count - 1)
        within = 0
        if goal.hit is not None:
            within = self._layout.head(position).height + self._hit_top(self._rows.rows[position], goal.hit)
        self._scroll.go_to(position + 1, above=goal.above, within=within)

    def _hit_top(self, row: Row, hit: int) -> int:
        """Distance from the top of a row's body to its hit; 0 while the hit is not laid out."""
        assert self._layout is not None
        piece = self._layout.piece_of(row)
        laid = self._documents.of(piece) if piece is not None else None
        place = self._block_of_hit(laid, hit) if laid is not None else None
        if laid is None or place is None:
            return 0
        block = laid.document.findBlockByNumber(place[0])
        line = block.layout().lineForTextPosition(place[1])
        rect = laid.document.documentLayout().blockBoundingRect(block)
        return self._layout.pads(row)[0] + round(rect.top() + (line.y() if line.isValid() else 0))

    def _block_of_hit(self, laid: PieceLayout, hit: int) -> tuple[int, int, int] | None:
        """Block, start and end of a hit of the find bar's or else of the query's; the last one if there are fewer."""
        finder = self._finders[1] or self._finders[0]
        found = None
        if finder is not None:
            for number, text in enumerate(laid.texts):
                for start, end in utf16_ranges(text, finder(text)):
                    found = number, start, end
                    if not hit:
                        return found
                    hit -= 1
        return found

    def _jump_to_row(self, position: int, _clicked: bool) -> None:
        if self._rows is not None and position < self._count:
            self.go_to(Goal(self._rows.rows[position], self.viewport().height() // 3))

    def _on_arrived(self) -> None:
        """Texts are laid out: their heights are known now."""
        top = self._scroll.line - 1
        if self._goal is not None:
            self._reach_goal()
        elif self._scroll.hidden > 0 and self._layout is not None:  # the row at the top ends where it ended
            self._scroll.hidden = max(0, self._scroll.hidden + self._layout.height(top) - self._top_height)
        self._scroll.resize(self.viewport().height(), self._count)
        self._moved()

    def _moved(self) -> None:
        """The view shows another part of the conversation."""
        self._top_height = self._layout.height(self._scroll.line - 1) if self._layout and self._count else 0
        bar = self.verticalScrollBar()
        self._moving_bar = True
        bar.setRange(0, self._scroll.maximum(_UNIT))
        bar.setPageStep(max(_UNIT, self.viewport().height()))
        bar.setSingleStep(_UNIT)
        bar.setValue(self._scroll.value(_UNIT))
        self._moving_bar = False
        positions = [position for position, _ in self._visible()]
        self._map.show_view(positions[0] if positions else 0, positions[-1] + 1 if positions else 0)
        self.viewport().update()

    def _rows_changed(self) -> None:
        """Rows were folded or unfolded, or other entries have hits."""
        self._scroll.resize(self.viewport().height(), self._count)
        self._map.show_rows(self._rows, self._hit_entries)

    # --- geometry -------------------------------------------------------------------------------------------------

    def _height_of(self, number: int, _enough: float) -> int:
        return self._guess_of(number)

    def _guess_of(self, number: int) -> int:
        assert self._layout is not None
        last = self._layout.measures.px(24) if number == self._count else 0
        return self._layout.height(number - 1) + last

    def _visible(self) -> Iterator[tuple[int, int]]:
        """Position and top of the rows in view."""
        top = -self._scroll.hidden
        for number in range(self._scroll.line, self._count + 1):
            if top >= self.viewport().height():
                return
            yield number - 1, top
            top += self._guess_of(number)

    def _row_at(self, point: QPoint) -> tuple[int, int] | None:
        """Position and top of the row at a point, or of the nearest one."""
        found = None
        for position, top in self._visible():
            if found is not None and point.y() < top:
                break
            found = position, top
        return found

    def _relayout(self) -> None:
        """Width, font, colours or conversation changed."""
        measures = Measures.of(self.viewport().width(), font_scale())
        if self._conversation is None or self._rows is None:
            self._layout = None
        else:
            self._layout = RowLayout(self._conversation, self._rows, self._documents, measures)
            self._documents.set_style(self._style(measures))
        self._scroll.resize(self.viewport().height(), self._count)
        self._reach_goal()
        self._moved()

    def _style(self, measures: Measures) -> PieceStyle:
        text_font = QGuiApplication.font()
        text_font.setPointSizeF(fixed_font(_TEXT_PIXELS).pointSizeF())
        colours = tokens(self.palette())
        page = PageStyle(text_font, fixed_font(_CODE_PIXELS), colours, measures.scale, _LINE_HEIGHT)
        key = (measures.text_width, measures.scale, text_font.key(), colours.base.name())
        return PieceStyle(page, measures.text_width, measures.plain_width, key)

    # --- Qt's events ----------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._relayout()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        if dy and not self._moving_bar:
            self._goal = None
            self._scroll.set_value(self.verticalScrollBar().value(), _UNIT)
            self._moved()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """By pixels, since the bar's unit is a row, which may be taller than the view."""
        pixels = event.pixelDelta().y() or round(event.angleDelta().y() / _WHEEL_NOTCH * _WHEEL_PIXELS)
        self.scroll_by(-pixels)
        event.accept()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange, QEvent.Type.PaletteChange):
            self._relayout()
