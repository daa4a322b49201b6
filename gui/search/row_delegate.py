"""Paints the rows of the result list.

The layouts of recently visible rows are cached for a width, font and theme, so that scrolling, or an answer with the
same rows, only draws. Heights depend on the font alone, so a list of any length is laid out without its text.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QHelpEvent,
    QPainter,
    QPalette,
    QTextCharFormat,
    QTextLayout,
    QTextLine,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import folder_name, marked, split_name, tr
from gui.commands.commands import EXPLAIN, with_key
from gui.search.result_rows import (
    LEGS,
    CopiesRow,
    FileRow,
    MoreInFileRow,
    MoreRow,
    ResultRow,
    Row,
    button_text,
    spoken_score,
)
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, mark_pen, tokens
from gui.text.excerpt import ELLIPSIS, Excerpt, Range
from gui.text.plain_text import show_tip, utf16_length, utf16_ranges
from gui.text.right_to_left import (
    cursor_x,
    in_reading_order,
    is_mirrored,
    line_direction,
    mirror,
    range_edges,
    text_direction,
    upright,
    write,
)
from gui.text.session_texts import agent_name
from gui.widgets.labels import AT_LEFT, AT_RIGHT, elide
from gui.widgets.row_list import GUTTER
from gui.widgets.rows import Index, RowModel, RowRole, paint_row_background

PAD = 6
META_GAP = 2
FILE_TOP = 6
"""Additional space above a file's title, so that the title is nearer to its own results."""
BAR_WIDTH = 64
BAR_HEIGHT = 4
BAR_GAP = 8
BUTTON_PAD, BUTTON_RADIUS = 5, 4
NOTE_SHARE = 0.4
"""Largest share of the common width of path and heading for the heading, if the path's folders need room."""
_WHY = marked("Click to see why")
MIN_NOTE = 8
"""Minimum number of characters shown of a cut heading."""
MAX_CACHED = 400
"""Maximum number of cached rows: many screens, about 1 MB."""
LINES = 2
MARK_RADIUS = 2.5
MARK_PAD = 1
_T = TypeVar("_T")
_DIRECTIONS = (Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft)


class ExcerptLayout:
    """The excerpt in at most two lines of `width` pixels; longer text is cut at a word, with an ellipsis.

    Attributes:
        mark_boxes: boxes of the highlighted words, relative to the excerpt's top left.
        drawn_length: length of the drawn text, in UTF-16 units.
        ellipsis: position of the ellipsis (its baseline's left end); None if nothing was cut.
    """

    def __init__(
        self, excerpt: Excerpt, font: QFont, metrics: QFontMetrics, *, width: int, line_height: int, mark_text: QColor
    ) -> None:
        text = excerpt.text[:width]  # two lines of the narrowest letters contain less; shaping more would be useless
        ranges = utf16_ranges(text, [(start, end) for start, end in excerpt.marks if end <= len(text)])
        self._font = font
        self._layout = QTextLayout(text, font)
        self._layout.setTextOption(_OPTIONS[text_direction(text)])
        self._layout.setFormats([_format_range(start, end, mark_text) for start, end in ranges])
        self._layout.setCacheEnabled(True)
        whole = utf16_length(text) if len(text) == len(excerpt.text) else -1
        lines = self._break(width, whole, metrics.horizontalAdvance(ELLIPSIS))
        for number, line in enumerate(lines):
            line.setPosition(QPointF(0, number * line_height + (line_height - line.height()) / 2))
        self.drawn_length = lines[-1].textStart() + lines[-1].textLength() if lines else 0
        self.ellipsis = None if not lines or self.drawn_length == whole else _ellipsis_position(lines[-1], metrics)
        self.mark_boxes = [box for line in lines for box in _mark_boxes(self._layout, line, ranges)]

    def draw(self, painter: QPainter, origin: QPointF, colours: Tokens) -> None:
        """Draw with the excerpt's top left at `origin`; the painter is antialiasing."""
        _draw_marks(painter, self.mark_boxes, origin, colours)
        painter.setPen(colours.text)
        self._layout.draw(painter, origin)
        if self.ellipsis is not None:
            painter.setFont(self._font)
            painter.drawText(origin + self.ellipsis, ELLIPSIS)

    def _break(self, width: int, whole: int, ellipsis_width: int) -> list[QTextLine]:
        """Break into lines; the last leaves room for an ellipsis unless it reaches `whole`, the text's end."""
        lines = []
        self._layout.beginLayout()
        for number in range(LINES):
            line = self._layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(width)
            if number == LINES - 1 and line.textStart() + line.textLength() != whole:
                line.setLineWidth(max(1, width - ellipsis_width))
            lines.append(line)
        self._layout.endLayout()
        return lines


class MarkedLine:
    """One line of a row, such as a title, with its highlighted words.

    Attributes:
        text: the drawn text.
        mark_boxes: boxes of the highlighted words, relative to the text's top left.
    """

    def __init__(self, whole: str, text: str, ranges: Sequence[Range], font: QFont, mark_text: QColor) -> None:
        """`text` is `whole`, or a shortened form with an ellipsis at one end; `ranges` are code points of `whole`."""
        self.text = text = in_reading_order(text)
        self.mark_boxes: list[QRectF] = []
        self._font = font
        self._layout: QTextLayout | None = None
        if marks := utf16_ranges(text, _ranges_in_cut(in_reading_order(whole), text, ranges)):
            self._layout = layout = QTextLayout(text, font)
            option = QTextOption(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignAbsolute)
            option.setTextDirection(line_direction(text))
            option.setWrapMode(QTextOption.WrapMode.NoWrap)
            layout.setTextOption(option)
            layout.setFormats([_format_range(start, end, mark_text) for start, end in marks])
            layout.setCacheEnabled(True)
            layout.beginLayout()
            line = layout.createLine()
            line.setLineWidth(QFontMetrics(font).horizontalAdvance(text))
            layout.endLayout()
            self.mark_boxes = _mark_boxes(layout, line, marks)

    def draw(self, painter: QPainter, rect: QRect, *, at_end: bool, text_colour: QColor, colours: Tokens) -> None:
        """Draw at the start or (`at_end`) the end of the line `rect`; the painter is antialiasing."""
        if self._layout is None:
            painter.setFont(self._font)
            painter.setPen(text_colour)
            write(painter, rect, AT_RIGHT if at_end else AT_LEFT, self.text)
            return
        at_right = at_end != is_mirrored(painter)
        with upright(painter, rect) as bounds:
            line = self._layout.lineAt(0)
            x = bounds.right() - line.naturalTextWidth() if at_right else bounds.left()
            origin = QPointF(x, bounds.top() + round((bounds.height() - line.height()) / 2))
            _draw_marks(painter, self.mark_boxes, origin, colours)
            painter.setPen(text_colour)
            self._layout.draw(painter, origin)


def _draw_marks(painter: QPainter, boxes: Sequence[QRectF], origin: QPointF, colours: Tokens) -> None:
    painter.setPen(mark_pen(colours))
    painter.setBrush(colours.mark)
    for box in boxes:
        painter.drawRoundedRect(box.translated(origin), MARK_RADIUS, MARK_RADIUS)


def _ranges_in_cut(whole: str, text: str, ranges: Sequence[Range]) -> list[Range]:
    """Map ranges of `whole` to `text`, which is `whole` or one end of it with an ellipsis."""
    first, last, shift = 0, len(whole), 0
    if text != whole:
        length = len(text) - 1
        if whole.startswith(text[:-1]):
            last = length
        elif whole.endswith(text[1:]):
            first, shift = len(whole) - length, 1
        else:
            return []
    moved = ((max(start, first) - first + shift, min(end, last) - first + shift) for start, end in ranges)
    return [(start, end) for start, end in moved if start < end]


def _make_option(direction: Qt.LayoutDirection) -> QTextOption:
    option = QTextOption()
    option.setTextDirection(direction)
    if direction == Qt.LayoutDirection.RightToLeft:
        option.setAlignment(Qt.AlignmentFlag.AlignRight)
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    return option


_OPTIONS = {direction: _make_option(direction) for direction in _DIRECTIONS}


def _ellipsis_position(line: QTextLine, metrics: QFontMetrics) -> QPointF:
    """Return the position of the ellipsis: after the line's last word, so at the left in right-to-left text."""
    rect = line.naturalTextRect()
    to_left = cursor_x(line, line.textStart()) > cursor_x(line, line.textStart() + line.textLength())
    x = rect.left() - metrics.horizontalAdvance(ELLIPSIS) if to_left else rect.right()
    return QPointF(x, line.y() + line.ascent())


def _format_range(start: int, end: int, text_colour: QColor) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    span.start, span.length = start, end - start
    style = QTextCharFormat()
    style.setForeground(text_colour)
    span.format = style
    return span


def _mark_boxes(layout: QTextLayout, line: QTextLine, ranges: Sequence[tuple[int, int]]) -> list[QRectF]:
    """Return the rectangles of `ranges` (UTF-16) in this line; a range that spans two lines has one on each."""
    first = line.textStart()
    last = first + line.textLength()
    boxes = []
    for start, end in ranges:
        if start >= last or end <= first:
            continue
        left, right = range_edges(layout, line, max(start, first), min(end, last))
        boxes.append(QRectF(left - MARK_PAD, line.y(), right - left + 2 * MARK_PAD, line.height()))
    return boxes


class RowMetrics:
    """Fonts and heights of the rows, from the interface font."""

    def __init__(self) -> None:
        self.body = font_at(13)
        self.meta = font_at(12)
        self.title = font_at(13, QFont.Weight.DemiBold)
        self.body_metrics = QFontMetrics(self.body)
        self.meta_metrics = QFontMetrics(self.meta)
        self.title_metrics = QFontMetrics(self.title)
        self.line = round(self.body_metrics.height() * 1.25)
        self.meta_line = round(self.meta_metrics.height() * 1.4)
        self.file_height = self.title_metrics.height() + 18
        self.result_height = PAD + 2 * self.line + META_GAP + self.meta_line + PAD
        self.small_button_height = self.body_metrics.height() + 2 * PAD
        self.more_height = self.body_metrics.height() + 24


class ResultDelegate(QStyledItemDelegate):
    """Draws file, result and "more" rows in the colours of the widget's palette."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.metrics = RowMetrics()
        self._sizes: dict[type, QSize] = {}
        self._drawings: OrderedDict[tuple[object, ...], _ResultDrawing] = OrderedDict()
        self._titles: OrderedDict[tuple[object, ...], MarkedLine] = OrderedDict()
        self.hovered = -1
        """The row whose score bar is under the mouse; -1 for none."""
        self.restyle()

    def restyle(self) -> None:
        """Recompute sizes and drop cached layouts after a change of the font."""
        self.metrics = RowMetrics()
        self._sizes = {
            FileRow: QSize(0, self.metrics.file_height),
            ResultRow: QSize(0, self.metrics.result_height),
            CopiesRow: QSize(0, self.metrics.small_button_height),
            MoreInFileRow: QSize(0, self.metrics.small_button_height),
            MoreRow: QSize(0, self.metrics.more_height),
        }
        self._drawings.clear()
        self._titles.clear()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        rows = cast(RowModel, index.model())  # a layout needs every row, and `data` takes twice as long
        return self._sizes[type(rows.row(index.row()))]

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = cast(RowModel, index.model()).row(index.row())
        colours = tokens(option.palette)
        rect = option.rect.adjusted(GUTTER, 0, -GUTTER, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, option.rect, option.direction)
        if not isinstance(row, FileRow):
            paint_row_background(painter, option, colours)
        match row:
            case FileRow():
                self._paint_file(painter, rect, row, colours)
            case ResultRow():
                if index.row() == self.hovered or option.state & QStyle.StateFlag.State_Selected:
                    self._paint_button(painter, rect, colours, hovered=index.row() == self.hovered)
                self._paint_result(painter, rect, row, self._drawing(rect.width(), row, colours), colours)
            case CopiesRow() | MoreInFileRow() | MoreRow():
                painter.setFont(self.metrics.body)
                painter.setPen(colours.accent)
                write(painter, rect, AT_LEFT, button_text(row))
        painter.restore()

    def height(self, rows: Sequence[Row]) -> int:
        """Return the height of these rows together."""
        return sum(self._sizes[type(row)].height() for row in rows)

    def lay_out(self, rows: Sequence[Row], size: QSize, palette: QPalette) -> None:
        """Lay out the first rows, as many as an area of this size shows, and cache their layouts."""
        colours, width, left = tokens(palette), size.width() - 2 * GUTTER, size.height()
        for row in rows:
            if left <= 0:
                break
            left -= self._sizes[type(row)].height()
            if isinstance(row, FileRow):
                self._title(width, row, _changed(row), colours)
            elif isinstance(row, ResultRow):
                self._drawing(width, row, colours)

    def helpEvent(self, event: QHelpEvent, view: QAbstractItemView, option: QStyleOptionViewItem, index: Index) -> bool:
        row = index.data(RowRole)
        if event.type() == QEvent.Type.ToolTip and isinstance(row, ResultRow):
            if self.is_on_bar(option.rect, event.pos(), option.direction):
                show_tip(event.globalPos(), f"{spoken_score(row)}\n{with_key(tr(_WHY), EXPLAIN.name)}", view)
                return True
            if event.pos().y() < option.rect.bottom() - PAD - self.metrics.meta_line:
                show_tip(event.globalPos(), "", view)  # a tooltip would cover excerpts that are being read
                return True
        return super().helpEvent(event, view, option, index)

    def is_on_bar(self, row: QRect, at: QPoint, direction: Qt.LayoutDirection) -> bool:
        """Return whether a point is on or near the score bar of a result's row."""
        bar = QRect(row.left() + GUTTER, row.bottom() - PAD - self.metrics.meta_line, BAR_WIDTH, self.metrics.meta_line)
        return QStyle.visualRect(direction, row, bar).contains(at)

    def _paint_button(self, painter: QPainter, rect: QRect, colours: Tokens, *, hovered: bool) -> None:
        """Paint the frame that shows the score bar as a button."""
        metrics = self.metrics
        top = rect.top() + PAD + 2 * metrics.line + META_GAP
        frame = QRectF(rect.left() - BUTTON_PAD, top, BAR_WIDTH + 2 * BUTTON_PAD, metrics.meta_line)
        painter.setPen(colours.accent if hovered else colours.edge)
        painter.setBrush(colours.base)
        painter.drawRoundedRect(frame.adjusted(0.5, 0.5, -0.5, -0.5), BUTTON_RADIUS, BUTTON_RADIUS)

    def _paint_file(self, painter: QPainter, rect: QRect, row: FileRow, colours: Tokens) -> None:
        metrics = self.metrics
        line = rect.adjusted(0, FILE_TOP, 0, 0)
        when = _changed(row)
        painter.setFont(metrics.meta)
        painter.setPen(colours.muted)
        write(painter, line, AT_RIGHT, when)
        title = self._title(line.width(), row, when, colours)
        title.draw(painter, line, at_end=False, text_colour=colours.text, colours=colours)

    def _title(self, width: int, row: FileRow, when: str, colours: Tokens) -> MarkedLine:
        metrics = self.metrics
        room = width - metrics.meta_metrics.horizontalAdvance(when) - BAR_GAP * 2

        def lay_out() -> MarkedLine:
            title = metrics.title_metrics.elidedText(row.title, Qt.TextElideMode.ElideRight, room)
            return MarkedLine(row.title, title, marks, metrics.title, colours.mark_text)

        marks = row.best.title_ranges
        return _cached(self._titles, (row.title, marks, room, colours.base.rgb()), lay_out)

    def _paint_result(
        self, painter: QPainter, rect: QRect, row: ResultRow, drawing: "_ResultDrawing", colours: Tokens
    ) -> None:
        metrics = self.metrics
        with upright(painter, rect) as area:
            drawing.excerpt.draw(painter, QPointF(area.left(), area.top() + PAD), colours)
        line = QRect(rect.left(), rect.top() + PAD + 2 * metrics.line + META_GAP, rect.width(), metrics.meta_line)
        _paint_score(painter, QPointF(line.left(), line.center().y() - BAR_HEIGHT / 2 + 0.5), row, colours)
        drawing.note.draw(painter, line, at_end=True, text_colour=colours.muted, colours=colours)
        rest = line.adjusted(BAR_WIDTH + BAR_GAP, 0, 0, 0)
        drawing.location.draw(painter, rest, at_end=False, text_colour=colours.muted, colours=colours)

    def _drawing(self, width: int, row: ResultRow, colours: Tokens) -> "_ResultDrawing":
        """Return the layout of a row from a cache: while the user types, most answers repeat many rows."""
        key = (row.drawn, width, colours.base.rgb())
        return _cached(self._drawings, key, lambda: self._lay_out(width, row, colours))

    def _lay_out(self, width: int, row: ResultRow, colours: Tokens) -> "_ResultDrawing":
        metrics = self.metrics
        meta = metrics.meta_metrics
        excerpt = ExcerptLayout(
            row.excerpt,
            metrics.body,
            metrics.body_metrics,
            width=width,
            line_height=metrics.line,
            mark_text=colours.mark_text,
        )
        whole, lines = _location(row)
        room = width - BAR_WIDTH - 3 * BAR_GAP - meta.horizontalAdvance(f" · {lines}")
        note = self._fit_note(row, whole, room)
        # A path is cut at its front, since the file name is most informative; for a session the agent stays.
        mode = Qt.TextElideMode.ElideRight if row.result.message else Qt.TextElideMode.ElideLeft
        location = elide(meta, whole, mode, room - meta.horizontalAdvance(note))
        end, text_colour = f" · {lines}", colours.mark_text
        heading_marks = () if row.leg else row.heading_marks
        return _ResultDrawing(
            excerpt,
            MarkedLine(whole + end, location + end, row.result.path_ranges, metrics.meta, text_colour),
            MarkedLine(row.heading, note, heading_marks, metrics.meta, text_colour),
        )

    def _fit_note(self, row: ResultRow, path: str, room: int) -> str:
        """Return the note at the right of a row, shortened so that the file name fits; empty if too little is left.

        "Words only" becomes "words" before the innermost folder is cut, since it distinguishes notes of the same name.
        """
        meta = self.metrics.meta_metrics
        parts = path.split("/")
        own, name = (meta.horizontalAdvance(_last_parts(parts, count)) for count in (2, 1))
        free = room - name
        if row.leg:
            widths = {words: meta.horizontalAdvance(words) for words in map(tr, LEGS[row.leg])}
            kept = (room - own, free)
            return next((words for left in kept for words, width in widths.items() if width <= left), "")
        free = min(free, max(int(room * NOTE_SHARE), room - meta.horizontalAdvance(path)))
        fits = meta.horizontalAdvance(row.heading) <= free or free >= meta.averageCharWidth() * MIN_NOTE
        return elide(meta, row.heading, Qt.TextElideMode.ElideRight, free) if fits else ""


def _last_parts(parts: Sequence[str], count: int) -> str:
    """Return the last parts of a path, after "…" if there are more: the text for a row that is too narrow for all."""
    return "/".join(parts if len(parts) <= count else ("…", *parts[-count:]))


def _cached(drawings: OrderedDict[tuple[object, ...], _T], key: tuple[object, ...], lay_out: Callable[[], _T]) -> _T:
    """Return a layout from a cache of the last used ones."""
    known = drawings.get(key)
    if known is None:
        known = drawings[key] = lay_out()
        if len(drawings) > MAX_CACHED:
            drawings.popitem(last=False)
    else:
        drawings.move_to_end(key)
    return known


def _changed(row: FileRow) -> str:
    """Return the text at the right of a file's title: its workspace and its date."""
    return " · ".join(part for part in (row.workspace, row.when) if part)


_SPEAKERS = {"user": marked("you"), "assistant": marked("assistant"), "tool": marked("tool")}
"""Speaker of the found message; its number would count tool calls too, unlike every visible count."""


@dataclass(frozen=True)
class _ResultDrawing:
    excerpt: ExcerptLayout
    location: MarkedLine
    """Path and lines; for a session the agent, the subject, and the speaker."""
    note: MarkedLine
    """Heading, or "words", "meaning" or "filters" if only these found the row."""


def _location(row: ResultRow) -> tuple[str, str]:
    """Return the location of a result in two parts: one that may be shortened, and one that may not."""
    message = row.result.message
    if message is None:
        return split_name(row.result.path)[1], row.where
    named = (agent_name(message.agent), folder_name(message.project)) if message.agent else (tr("Session"),)
    speaker = tr(_SPEAKERS.get(message.role, message.role))
    if message.rewound:
        speaker = tr("{speaker} (abandoned branch)", speaker=speaker)
    return " · ".join(filter(None, (*named, message.machine))), speaker


def _paint_score(painter: QPainter, corner: QPointF, row: ResultRow, colours: Tokens) -> None:
    """Paint the score as a bar; two colours show the shares of keywords and of meaning.

    It is empty for a result of filters alone, whose score only determines its position in the list.
    """
    score = min(1.0, max(0.0, row.result.score)) if row.result.is_scored else 0.0
    filled = BAR_WIDTH * score
    words = filled * row.result.text_share
    painter.setPen(Qt.PenStyle.NoPen)
    for length, colour in ((BAR_WIDTH, colours.line), (filled, colours.meaning), (words, colours.accent)):
        if length >= 1:
            painter.setBrush(colour)
            painter.drawRoundedRect(QRectF(corner.x(), corner.y(), length, BAR_HEIGHT), 2, 2)
