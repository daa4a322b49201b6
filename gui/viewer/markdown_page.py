"""Turns Markdown into a page of rich text and paints it, in steps of a few milliseconds; it loads nothing.

It runs on the GUI thread alone. A pool thread that hands a document over takes a lock of Qt's while it holds Python's.
A window that disconnects a signal at that moment holds the former and waits for the latter, so both would wait forever.

Qt draws the text, the lists and the tables; the view draws the backgrounds of code and quotes, which it finds by the
properties that Qt's importer sets on the blocks.
"""

import re
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QFontMetricsF,
    QPainter,
    QPen,
    QTextBlock,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
    QTextFrameFormat,
    QTextLength,
    QTextTable,
)

from gui.style.theme import Tokens, edge_pen
from gui.text.plain_text import SealedDocument
from gui.viewer.line_layout import spans, unbroken
from gui.viewer.markdown_extensions import ANCHOR, ANCHOR_END, MARK, MARK_END, QUOTED, SEPARATOR
from gui.viewer.markdown_html import NEW_LINE
from gui.viewer.outline import heading_key
from gui.viewer.pictures import Picture, place_images, reserve

_HEADING_LINE_HEIGHT = 130
_CELL_LINE_HEIGHT = 115
_PROPORTIONAL = QTextBlockFormat.LineHeightTypes.ProportionalHeight.value
_CODE = QTextFormat.Property.BlockCodeLanguage.value
_QUOTE_LEVEL = QTextFormat.Property.BlockQuoteLevel.value
_RULER = QTextFormat.Property.BlockTrailingHorizontalRulerWidth.value
_SIZE_ADJUSTMENT = QTextFormat.Property.FontSizeAdjustment.value
_IMAGE = "\ufffc"
"""The character in place of an image in the text of a block."""
_FEATURES = QTextDocument.MarkdownFeature.MarkdownDialectGitHub | QTextDocument.MarkdownFeature.MarkdownNoHTML
_FEATURES &= ~QTextDocument.MarkdownFeature(0x4000)  # MD_FLAG_UNDERLINE of md4c, which underlines `_x_` and `__x__`
_HEADING_SCALES = {1: 1.5, 2: 1.25, 3: 1.1}
_HEADING_MARGINS = {1: (8, 10), 2: (20, 8), 3: (16, 6)}
_BLOCKS_PER_EDIT = 200
_DEEPEST_QUOTE = 20
_GAP = 6  # height of a separator in pixels

_ANCHOR = re.compile(f"{ANCHOR}([^{ANCHOR_END}]*){ANCHOR_END}")
_MARKED = re.compile(f"{MARK}[^{MARK}{MARK_END}]*{MARK_END}")
_STRAY_MARK = re.compile(
    f"[{ANCHOR}{ANCHOR_END}{MARK}{MARK_END}{QUOTED}]| +(?={NEW_LINE})|(?<={NEW_LINE}) +|{NEW_LINE}$"
)

QUOTE_INDENT, CODE_INDENT, _ITEM_INDENT = 18, 12, 24


@dataclass(frozen=True)
class PageStyle:
    """Fonts and colours of a page; distances are for font scale 1."""

    font: QFont
    fixed: QFont
    colours: Tokens
    scale: float
    line_height: int = 150
    """Line height of prose, in percent."""
    width: float | None = None
    """Width of a page that scrolls sideways, in pixels: a table may be wider."""


@dataclass(frozen=True)
class Page:
    document: QTextDocument
    texts: tuple[str, ...]
    """The text of each block."""
    headings: tuple[tuple[int, str], ...]
    """Number of each heading's block, from 0, and the heading's key."""
    anchors: Mapping[str, int]
    """Number of the block by the name of each anchor: `^` and a block's id, or a footnote."""
    width: float | None
    """The width for which it was made, in pixels, if it scrolls sideways."""
    table_widths: tuple[float, ...]
    """The width that the words of each table need, in pixels, if the page scrolls sideways."""

    def fits(self, width: float) -> bool:
        """Return whether the same tables are too wide for a page of this width."""
        return self.width is None or all((need > width) == (need > self.width) for need in self.table_widths)


def page_steps(
    slices: Iterable[str], style: PageStyle, pictures: Mapping[str, Picture] | None = None
) -> Generator[None, None, Page]:
    """Build a page from `markdown_slices`, yielding after each step so that the caller can do other work or stop.

    `pictures`: the images to leave room for, by their URLs; all others are replaced by their descriptions.
    """
    pictures = pictures or {}
    document = SealedDocument()
    document.setUndoRedoEnabled(False)
    document.setDefaultFont(style.font)
    document.setDocumentMargin(0)
    document.setIndentWidth(_ITEM_INDENT * style.scale)
    cursor = QTextCursor(document)
    for part in slices:
        _append(document, cursor, part)
        yield
    _repair_items(document, cursor)
    if is_code(document.begin()):  # whose box begins above its text, and Qt ignores the margin of the first block
        frame = document.rootFrame().frameFormat()
        frame.setTopMargin(_CODE_PAD + 1)
        document.rootFrame().setFrameFormat(frame)
    reserve(document, pictures)  # not before: `setMarkdown` removes all resources
    cursor.beginEditBlock()  # not before: inside one, the tables of new text are not known yet
    table_widths: list[float] = []
    for table in document.rootFrame().childFrames():
        if isinstance(table, QTextTable):
            table_widths.append(_style_table(table, cursor, style))
            yield
    texts: list[str] = []
    headings: list[tuple[int, str]] = []
    anchors: dict[str, int] = {}
    for block in blocks(document):
        place_images(_fragments(block), cursor, pictures, _indentation(block))
        anchors |= dict.fromkeys(_take_anchors(block, cursor), block.blockNumber())
        _quote_heading(block, cursor)
        _style_block(block, cursor, style)
        _highlight(block, cursor, style)
        if block.blockFormat().headingLevel():
            headings.append((len(texts), heading_key(block.text())))
        texts.append(block.text())
        if len(texts) % _BLOCKS_PER_EDIT == 0:
            cursor.endEditBlock()  # Qt processes the changes of a block of edits together
            yield
            cursor.beginEditBlock()
        yield
    cursor.endEditBlock()
    return Page(document, tuple(texts), tuple(headings), anchors, style.width, tuple(table_widths))


def _append(document: QTextDocument, cursor: QTextCursor, part: str) -> None:
    if document.isEmpty():
        # Without a line before it, Qt would take text between two rules for front matter and remove it.
        document.setMarkdown(f"\n{part}", _FEATURES)
        return
    # The first block that Qt inserts loses its format to the block that contains it; a temporary word prevents that.
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertBlock(QTextBlockFormat(), QTextCharFormat())
    start = cursor.position()
    cursor.insertMarkdown(f"x\n\n{part}", _FEATURES)
    cursor.setPosition(start - 1)
    cursor.setPosition(start + 1, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()


def _repair_items(document: QTextDocument, cursor: QTextCursor) -> None:
    """Remove what Qt does to a list that begins with a heading: an empty item, or the heading's level for the next."""
    wrong = [block for block in blocks(document) if block.textList() is not None and block.blockFormat().headingLevel()]
    for block in reversed(wrong):
        look = block.blockFormat()
        look.setHeadingLevel(0)
        cursor.setPosition(block.position())
        cursor.setBlockFormat(look)
        if not block.text():
            cursor.deletePreviousChar()


def blocks(document: QTextDocument) -> Iterator[QTextBlock]:
    block = document.begin()
    while block.isValid():
        yield block
        block = block.next()


def is_code(block: QTextBlock) -> bool:
    """Return whether a text block is a line of a code block."""
    return block.isValid() and block.blockFormat().hasProperty(_CODE)


def _joins(block: QTextBlock, other: QTextBlock) -> bool:
    """Return whether two adjacent text blocks are lines of one block of code."""
    return is_code(block) and is_code(other) and quote_level(block) == quote_level(other)


def quote_level(block: QTextBlock) -> int:
    """Return how many quotes are nested around a text block, up to the supported depth."""
    return min(block.blockFormat().intProperty(_QUOTE_LEVEL), _DEEPEST_QUOTE)


def inline_code(block: QTextBlock) -> list[tuple[int, int]]:
    """Return the ranges of inline code in a text block, in UTF-16 units."""
    if is_code(block):
        return []
    start = block.position()
    return [(at - start, at - start + length) for at, length, look in _fragments(block) if look.fontFixedPitch()]


def _fragments(block: QTextBlock) -> list[tuple[int, int, QTextCharFormat]]:
    """Return position, length and format of each run of text in a block, as a list: restyling ends Qt's iteration."""
    fragments = []
    iterator = block.begin()
    while not iterator.atEnd():
        fragment = iterator.fragment()
        fragments.append((fragment.position(), fragment.length(), fragment.charFormat()))
        iterator += 1
    return fragments


def _take_anchors(block: QTextBlock, cursor: QTextCursor) -> list[str]:
    """Remove the anchors (such as `^id`) of a block from its text; returns their names."""
    names: list[str] = []
    while (match := _ANCHOR.search(block.text())) is not None:
        _remove(block, cursor, *match.span())
        names.append(match[1])
    return names


def _quote_heading(block: QTextBlock, cursor: QTextCursor) -> None:
    """Put a heading back into the quotes that contain it."""
    text = block.text()
    if level := len(text) - len(text.lstrip(QUOTED)):
        _remove(block, cursor, 0, level)
        look = QTextBlockFormat()
        look.setProperty(_QUOTE_LEVEL, level)
        cursor.mergeBlockFormat(look)


def _highlight(block: QTextBlock, cursor: QTextCursor, style: PageStyle) -> None:
    """Give `==highlighted==` text its background."""
    look = QTextCharFormat()
    look.setBackground(QBrush(style.colours.mark))
    while (match := _MARKED.search(block.text())) is not None:
        start, end = (len(block.text()[:at].encode("utf-16-le")) // 2 for at in match.span())
        cursor.setPosition(block.position() + start)
        cursor.setPosition(block.position() + end, QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(look)
        for at in (match.end() - 1, match.start()):
            _remove(block, cursor, at, at + 1)
    while strays := list(_STRAY_MARK.finditer(block.text())):  # not in a pair
        for stray in reversed(strays):
            _remove(block, cursor, *stray.span())


def _remove(block: QTextBlock, cursor: QTextCursor, start: int, end: int) -> None:
    text = block.text()
    cursor.setPosition(block.position() + len(text[:start].encode("utf-16-le")) // 2)
    cursor.setPosition(block.position() + len(text[:end].encode("utf-16-le")) // 2, QTextCursor.MoveMode.KeepAnchor)
    cursor.removeSelectedText()


def _style_block(block: QTextBlock, cursor: QTextCursor, style: PageStyle) -> None:
    level, code = block.blockFormat().headingLevel(), is_code(block)
    cursor.setPosition(block.position())
    cursor.mergeBlockFormat(_block_format(block, level, style))
    if code:
        cursor.setBlockCharFormat(_code_format(style))
    for position, length, char_format in _fragments(block):
        if _style_run(char_format, level, code=code, style=style):
            cursor.setPosition(position)
            cursor.setPosition(position + length, QTextCursor.MoveMode.KeepAnchor)
            cursor.setCharFormat(char_format)


def _block_format(block: QTextBlock, level: int, style: PageStyle) -> QTextBlockFormat:
    """Return margins, line height and colour of a block; `level`: of a heading, else 0."""
    indent = QUOTE_INDENT * quote_level(block) * style.scale
    look = QTextBlockFormat()
    look.setLineHeight(style.line_height, _PROPORTIONAL)
    above, below = 0.0, 8.0
    if level:
        above, below = _HEADING_MARGINS.get(level, (12, 4))
        look.setLineHeight(_HEADING_LINE_HEIGHT, _PROPORTIONAL)
    elif is_code(block):
        above = 0 if _joins(block, block.previous()) else 16
        below = 0 if _joins(block, block.next()) else 22
        look.setNonBreakableLines(False)
        look.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
        look.setLeftMargin(indent + CODE_INDENT * style.scale)
        look.setRightMargin(CODE_INDENT * style.scale)
    elif block.textList() is not None:
        below = 4 if block.next().textList() is not None else 10
    elif block.blockFormat().hasProperty(_RULER):
        look.setBackground(QBrush(style.colours.line))  # Qt draws the ruler in this colour
    elif block.text() == SEPARATOR:
        below = 0
        look.setLineHeight(_GAP * style.scale, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
    if indent and not is_code(block):
        _indent(look, block, indent)
    if QTextCursor(block).currentTable() is not None:
        above = below = 0
        look.setLineHeight(_CELL_LINE_HEIGHT, _PROPORTIONAL)
    if _IMAGE in block.text():
        look.setLineHeight(100, _PROPORTIONAL)  # more would also enlarge the space of the image
    look.setTopMargin(0 if block.blockNumber() == 0 else above * style.scale)
    look.setBottomMargin(below * style.scale)
    return look


def _indentation(block: QTextBlock) -> int:
    """Return the width of the quotes and lists around a block, in pixels for font scale 1."""
    items = block.textList()
    levels = block.blockFormat().indent() if items is None else items.format().indent()
    return _ITEM_INDENT * levels + QUOTE_INDENT * quote_level(block)


def _indent(format: QTextBlockFormat, block: QTextBlock, indent: float) -> None:
    """Set the margin of a quote (`indent` in pixels) at the side where its text begins, and none at the other one."""
    turned = block.textDirection() == Qt.LayoutDirection.RightToLeft
    format.setLeftMargin(0 if turned else indent)
    format.setRightMargin(indent if turned else 0)


def _style_run(char_format: QTextCharFormat, level: int, *, code: bool, style: PageStyle) -> bool:
    """Set font and colour of a run of text in its format `char_format`; returns False if the run needs no change.

    `level`: heading level of the block, 0 for none.
    """
    if code or char_format.fontFixedPitch():
        char_format.merge(_code_format(style))
    elif level:
        char_format.clearProperty(_SIZE_ADJUSTMENT)
        char_format.setFontPointSize(style.font.pointSizeF() * _HEADING_SCALES.get(level, 1.0))
        char_format.setFontWeight(QFont.Weight.DemiBold)
    elif not char_format.isAnchor():
        return False
    if char_format.isAnchor():
        char_format.setForeground(QBrush(style.colours.accent))
        char_format.setFontUnderline(True)
    return True


def _code_format(style: PageStyle) -> QTextCharFormat:
    char_format = QTextCharFormat()
    char_format.setFontFamilies([style.fixed.family()])
    char_format.setFontFixedPitch(True)
    char_format.setFontPointSize(style.fixed.pointSizeF())
    return char_format


def _style_table(table: QTextTable, cursor: QTextCursor, style: PageStyle) -> float:
    """Set the look of a table; returns the width that its words need if the page scrolls sideways, in pixels."""
    look = table.format()
    look.setBorder(1)
    look.setBorderBrush(QBrush(style.colours.line))
    look.setBorderStyle(QTextFrameFormat.BorderStyle.BorderStyle_Solid)
    look.setBorderCollapse(True)
    look.setCellPadding(6 * style.scale)
    look.setCellSpacing(0)
    look.setTopMargin(6 * style.scale)
    look.setBottomMargin(14 * style.scale)
    look.setAlignment(Qt.AlignmentFlag.AlignLeft)
    first = table.cellAt(0, 0)
    cursor.setPosition(first.firstPosition())
    if first.lastPosition() > first.firstPosition() and not cursor.block().text():
        cursor.deleteChar()  # Qt's importer leaves an empty paragraph there
    if quote_level(cursor.block()):  # it gives the format of quoted code above to the first cell alone
        inside = cursor.blockFormat()
        inside.clearProperty(_QUOTE_LEVEL)
        inside.setLeftMargin(0)
        cursor.setBlockFormat(inside)
    needed = 0.0
    if style.width is not None:
        words, widths = _column_widths(table, look.cellPadding(), style)
        needed = sum(words)
        if needed > style.width:  # Qt would break the words after each letter instead
            look.setColumnWidthConstraints([QTextLength(QTextLength.Type.FixedLength, width) for width in widths])
    table.setFormat(look)
    bold = QTextCharFormat()
    bold.setFontWeight(QFont.Weight.DemiBold)
    for column in range(table.columns()):
        cell = table.cellAt(0, column)
        cursor.setPosition(cell.firstPosition())
        cursor.setPosition(cell.lastPosition(), QTextCursor.MoveMode.KeepAnchor)
        cursor.mergeCharFormat(bold)
    return needed


_COLUMN_CHARACTERS = 14
_MEASURED_CELLS = 150
_MEASURED_CHARACTERS = 200


def _column_widths(table: QTextTable, padding: float, style: PageStyle) -> tuple[list[float], list[float]]:
    """Return the widths of each column in pixels: the one its longest word needs, and the one it gets if all are fixed.

    Only the first rows are measured, and the beginnings of long words and cells.
    """
    bold = QFont(style.font)
    bold.setWeight(QFont.Weight.DemiBold)
    text, fixed = QFontMetricsF(bold), QFontMetricsF(style.fixed)
    letter = text.averageCharWidth()
    rows = range(min(table.rows(), max(1, _MEASURED_CELLS // table.columns())))
    needed, widths = [], []
    for column in range(table.columns()):
        word = most = 0.0
        for row in rows:
            block = table.cellAt(row, column).firstCursorPosition().block()
            words = unbroken(block.text()[:_MEASURED_CHARACTERS])
            longest = max(map(len, words), default=0)
            fonts = (text, fixed) if inline_code(block) else (text,)
            sizes = [
                font.horizontalAdvance(long_word)
                for long_word in words
                if 2 * len(long_word) >= longest
                for font in fonts
            ]
            word = max(word, *sizes, 0.0)
            most = max(most, min(block.length(), _COLUMN_CHARACTERS) * letter)
        needed.append(word + letter / 2 + 2 * padding)
        widths.append(max(word, most) + letter / 2 + 2 * padding)
    return needed, widths


_OUT_OF_VIEW = 20
"""Pixels, more than the padding of a code box."""
_CODE_PAD = 6
_BAR_WIDTH = 3
_MAX_IN_QUOTE = 200
"""Paragraphs of a quote above one whose indentation is looked up."""


class PagePainter:
    """Paints code boxes, bars next to quotes, and highlights under the text of one document."""

    def __init__(self, painter: QPainter, document: QTextDocument, colours: Tokens, *, scale: float) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._painter = painter
        self._document = document
        self._colours = colours
        self._scale = scale
        self._view = painter.worldTransform().inverted()[0].mapRect(QRectF(painter.viewport()))
        """The visible rectangle, in coordinates of the document; `combinedTransform` has the pixel ratio."""

    def paint_backgrounds(self, block: QTextBlock, rect: QRectF, *, first: bool) -> None:
        """Paint the backgrounds of a block at `rect`; `first`: it is the topmost visible block."""
        if is_code(block) and (first or not _joins(block, block.previous())):
            self._code_box(block, rect)
        for level in range(quote_level(block)):
            joined = quote_level(block.next()) > level
            height = self._top(block.next()) - self._top(block) if joined else rect.height()
            left = rect.left() + level * QUOTE_INDENT * self._scale + self._list_indent(block)
            if block.textDirection() == Qt.LayoutDirection.RightToLeft:
                left = 2 * rect.left() + self._document.textWidth() - left - _BAR_WIDTH
            self._painter.fillRect(QRectF(left, rect.top(), _BAR_WIDTH, height), self._colours.line)
        self.boxes(block, rect, inline_code(block), self._colours.window)

    def _list_indent(self, block: QTextBlock) -> float:
        """Return the indentation of the list around a quote, which only its first paragraph has."""
        for _ in range(_MAX_IN_QUOTE):
            if not quote_level(block.previous()):
                break
            block = block.previous()
        return 0 if block.textList() is not None else block.blockFormat().indent() * self._document.indentWidth()

    def boxes(self, block: QTextBlock, rect: QRectF, ranges: Sequence[tuple[int, int]], fill: QColor | None) -> None:
        """Paint rounded boxes behind ranges of a block's text or, if `fill` is None, frames around them."""
        self._painter.setPen(edge_pen(self._colours, fill))
        self._painter.setBrush(QBrush() if fill is None else fill)
        first, last = self._units_in_view(block, rect) if ranges else (0, 0)
        for start, end in ranges:
            if end < first or start > last:
                continue
            for box in spans(block.layout(), start, end):
                self._painter.drawRoundedRect(box.translated(rect.topLeft()).adjusted(-1.5, 0, 1.5, 0), 3, 3)

    def _units_in_view(self, block: QTextBlock, rect: QRectF) -> tuple[int, int]:
        """Return the first and last UTF-16 unit that may be in view; a long paragraph has thousands more."""
        top, bottom = self._view.top() - rect.top(), self._view.bottom() - rect.top()
        rows = [block.layout().lineAt(number) for number in range(block.layout().lineCount())]
        visible = [row for row in rows if row.y() + row.height() >= top and row.y() <= bottom]
        return (visible[0].textStart(), visible[-1].textStart() + visible[-1].textLength()) if visible else (0, -1)

    def _code_box(self, block: QTextBlock, rect: QRectF) -> None:
        """Paint one box around all visible lines of the code block that contains `block`."""
        top, bottom, end = rect.top(), rect.bottom(), block
        if _joins(block, block.previous()):
            top -= _OUT_OF_VIEW
        lowest = self._view.bottom() + _OUT_OF_VIEW
        while _joins(end, end.next()) and bottom < lowest:
            end = end.next()
            bottom = rect.top() + self._document.documentLayout().blockBoundingRect(end).bottom() - self._top(block)
        left = rect.left() + block.layout().lineAt(0).x() - CODE_INDENT * self._scale
        right = rect.left() + self._document.textWidth()
        box = QRectF(left, top - _CODE_PAD, right - left, bottom - top + 2 * _CODE_PAD)
        self._painter.setPen(QPen(self._colours.line, 1))
        self._painter.setBrush(self._colours.alternate)
        self._painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)

    def _top(self, block: QTextBlock) -> float:
        return self._document.documentLayout().blockBoundingRect(block).top()
