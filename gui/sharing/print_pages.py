"""Flows laid out text over the pages of a printer or a PDF.

Everything is measured in pixels of this screen, so that a point is a point on paper too; the painter is scaled to the
device. Ink is that of the light theme, whatever the window wears.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QFont,
    QFontDatabase,
    QFontMetricsF,
    QGuiApplication,
    QPagedPaintDevice,
    QPainter,
    QPalette,
    QTextBlock,
    QTextDocument,
)

from engine import tr
from gui.style.theme import Tokens, theme_tokens
from gui.viewer.markdown_page import PageStyle, blocks
from gui.viewer.page_painting import PagePainter

Ground = Literal["none", "person", "tool"]
"""Background of a strip: none, that of the user's messages, that of a tool's input or output."""

TEXT_POINTS = 10.0
_CODE_POINTS = 8.5
_SMALL_POINTS = 8.0
_PIXELS_AT_SCALE_1 = 96
_POINTS_PER_INCH = 72
_FOOT_LINES = 2.5
_LEAST_LINES = 3
"""Fewest lines that stay together with a name."""


@dataclass(frozen=True)
class Strip:
    """A part that is printed as one column, over as many pages as needed."""

    document: QTextDocument
    """Laid out for its width."""
    indent: float = 0.0
    above: float = 0.0
    """Space before it, unless it begins a page."""
    ground: Ground = "none"
    keeps_next: bool = False
    """It heads what follows, so it never ends a page."""


def paper_style(line_height: int = 135) -> PageStyle:
    """Fonts and ink for paper."""
    text = QFont(QGuiApplication.font())
    text.setPointSizeF(TEXT_POINTS)
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    fixed.setPointSizeF(_CODE_POINTS)
    for font in (text, fixed):
        # Rounded to pixels of this screen, letters would be uneven on paper.
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return PageStyle(text, fixed, theme_tokens("light"), _dots() / _PIXELS_AT_SCALE_1, line_height)


def letter_height(style: PageStyle) -> float:
    """Of its text, in pixels: by it distances are measured."""
    return style.font.pointSizeF() * _dots() / _POINTS_PER_INCH


class Paper:
    """The pages of one device. Raises nothing: a failing device is reported by `ok`."""

    def __init__(self, device: QPagedPaintDevice, title: str, style: PageStyle) -> None:
        self._device = device
        self._title = " ".join(title.split())
        self._colours: Tokens = style.colours
        self._painter = QPainter()
        self.ok = self._painter.begin(device)
        self._factor = device.logicalDpiY() / _dots()
        self.width = device.width() / self._factor
        self._small = QFont(style.font)
        self._small.setPixelSize(round(_SMALL_POINTS * _dots() / _POINTS_PER_INCH))  # points are the device's own here
        self._line = QFontMetricsF(style.font).lineSpacing()
        self._bottom = device.height() / self._factor - _FOOT_LINES * QFontMetricsF(self._small).lineSpacing()
        self._y = 0.0
        self.pages = 1
        if self.ok:
            self._painter.scale(self._factor, self._factor)
            self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)

    def flow(self, strip: Strip) -> Iterator[None]:
        """Append a strip, a page at a time."""
        height = strip.document.size().height()
        needed = height + (_LEAST_LINES * self._line if strip.keeps_next else 0)
        self._y += strip.above if self._y else 0
        if strip.keeps_next and needed > self._bottom - self._y and self._y:
            self._turn_page()
        start = 0.0
        laid = _Laid(strip.document)
        while start < height and self.ok:
            room = self._bottom - self._y
            if height - start <= room + 0.5:
                self._draw(strip, laid, start, height)
                return
            end = laid.last_break(start, start + room)
            if not end and self._y:
                self._turn_page()
                continue
            end = end or start + room  # a line that is higher than a page
            self._draw(strip, laid, start, end)
            self._turn_page()
            start = end
            yield

    def finish(self) -> bool:
        """The last page is complete; False where the device failed."""
        if self.ok:
            self._footer()
            self.ok = self._painter.end()
        return self.ok

    def drop(self) -> None:
        """Discard it."""
        self._painter.end()
        self.ok = False

    def _turn_page(self) -> None:
        self._footer()
        self.ok = self._device.newPage()
        self.pages += 1
        self._y = 0.0

    def _footer(self) -> None:
        pen = self._painter
        metrics = QFontMetricsF(self._small)
        top = self._bottom + _FOOT_LINES * metrics.lineSpacing() - metrics.height()
        box = QRectF(0, top, self.width, metrics.height())
        pen.setFont(self._small)
        pen.setPen(self._colours.muted)
        page = tr("Page {number:,}", number=self.pages)
        pen.drawText(box, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, page)
        room = self.width - metrics.horizontalAdvance(page) - self._line
        title = metrics.elidedText(self._title, Qt.TextElideMode.ElideRight, room)
        pen.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)

    def _draw(self, strip: Strip, laid: "_Laid", start: float, end: float) -> None:
        """The part of a strip between two heights, at the place that was reached."""
        pen, document = self._painter, strip.document
        area = QRectF(0, start, document.textWidth(), end - start)
        pen.save()
        pen.translate(QPointF(strip.indent, self._y - start))
        if strip.ground != "none":
            pad = self._line / 3
            is_person = strip.ground == "person"
            over, under_ = (pad * (is_person and edge) for edge in (start == 0, end == laid.height))
            colour = self._colours.accent_ground if is_person else self._colours.alternate
            pen.fillRect(area.adjusted(-pad, -over, pad, under_), colour)
        pen.setClipRect(area.adjusted(-self._line, 0, self._line, 0))
        under = PagePainter(
            pen, document, self._colours, scale=_dots() / _PIXELS_AT_SCALE_1, width=round(document.textWidth())
        )
        layout = document.documentLayout()
        for number, (block, rect) in enumerate(laid.between(start, end)):
            under.grounds(block, rect, first=number == 0)
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)
        palette.setColor(QPalette.ColorRole.Text, self._colours.text)
        context.palette = palette
        context.clip = area.adjusted(
            0, 1, 0, -1
        )  # what only touches it would be there twice for who copies or searches
        pen.setClipRect(area)
        layout.draw(pen, context)
        pen.restore()
        self._y += end - start


class _Laid:
    """Positions of a document's blocks, read from Qt once."""

    def __init__(self, document: QTextDocument) -> None:
        layout = document.documentLayout()
        self.height = document.size().height()
        self._blocks = [(block, layout.blockBoundingRect(block)) for block in blocks(document)]
        self._breaks: list[float] = []

    def between(self, start: float, end: float) -> Iterator[tuple[QTextBlock, QRectF]]:
        """The blocks that are partly in this range."""
        return ((block, rect) for block, rect in self._blocks if rect.bottom() >= start and rect.top() <= end)

    def last_break(self, start: float, end: float) -> float:
        """The lowest position in between at which no line is cut; 0 if there is none."""
        self._breaks = self._breaks or list(self._find_breaks())
        return max((place for place in self._breaks if start < place <= end), default=0.0)

    def _find_breaks(self) -> Iterator[float]:
        rows: list[tuple[float, float, bool]] = []
        for block, rect in self._blocks:
            lines, heads = block.layout(), block.blockFormat().headingLevel() > 0
            places = [(rect.top() + lines.lineAt(n).y(), lines.lineAt(n).height()) for n in range(lines.lineCount())]
            rows += [(top, top + height, heads) for top, height in places]
        bottom, after_heading = 0.0, False
        for top, end, heads in sorted(rows):  # the cells of a table are next to each other
            if top >= bottom - 0.5 and bottom and not after_heading:
                yield bottom
            bottom, after_heading = max(bottom, end), heads
        yield bottom


def _dots() -> float:
    return QGuiApplication.primaryScreen().logicalDotsPerInchY()
