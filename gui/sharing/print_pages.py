"""Prints a conversation or a note to the pages of a printer or a PDF, in small steps.

A document is a sequence of strips. The caller may pause between any two steps.
"""

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, QPointF, QRectF, Qt, QTimer, Signal
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
    QTextOption,
)

from engine import tr, tr_count
from gui.conversation.display_entries import Conversation, Entry, SummaryLine, clock, day_text, summary
from gui.conversation.row_folding import GROUP, MORE, SUMMARY, PackedRows, call_group, group_summary
from gui.conversation.row_layout import PieceLayout, PieceStyle, piece_steps
from gui.style.theme import Tokens, theme_tokens
from gui.text.formatting import date_of, exact
from gui.text.plain_text import Styled, rich_document
from gui.text.session_texts import UNTITLED, agent_name, message_count
from gui.viewer.markdown_page import PagePainter, PageStyle, blocks, page_steps

Steps = Generator[float, None, None]
"""Each step yields the share done, 0 to 1."""

_BOLD = "font-weight:bold"
_BLOCKS = 20
"""Blocks laid out per step."""

_TURN = 0.010
"""Seconds of work in one turn of the event loop."""

Background = Literal["none", "person", "tool"]
"""Background of a strip: none, that of the user's messages, that of a tool's input or output."""

TEXT_POINTS = 10.0
_CODE_POINTS = 8.5
_SMALL_POINTS = 8.0
_LINE_HEIGHT = 135
"""Percent."""
_PIXELS_AT_SCALE_1 = 96
_POINTS_PER_INCH = 72
_FOOT_LINES = 2.5
_MIN_LINES = 3
"""Minimum number of lines that stay together with a name."""


@dataclass(frozen=True)
class Strip:
    """A document that is printed as one column, over as many pages as needed."""

    document: QTextDocument
    """Document, laid out for its width."""
    indent: float = 0.0
    above: float = 0.0
    """Space above the strip, unless it begins a page."""
    background: Background = "none"
    keeps_next: bool = False
    """Whether the strip is a heading, which never ends a page."""


class Paper:
    """Draws strips on the pages of a printer or PDF, one below the other. Device errors set `ok` to False."""

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
        """Print a strip below the previous one, yielding after each page."""
        height = strip.document.size().height()
        needed = height + (_MIN_LINES * self._line if strip.keeps_next else 0)
        self._y += strip.above if self._y else 0
        if strip.keeps_next and needed > self._bottom - self._y and self._y:
            self._turn_page()
        start = 0.0
        laid = _BlockPositions(strip.document)
        while start < height and self.ok:
            available = self._bottom - self._y
            if height - start <= available + 0.5:
                self._draw(strip, laid, start, height)
                return
            end = laid.last_break(start, start + available)
            if not end and self._y:
                self._turn_page()
                continue
            end = end or start + available  # a line that is higher than a page
            self._draw(strip, laid, start, end)
            self._turn_page()
            start = end
            yield

    def finish(self) -> bool:
        """End the last page; returns False if the device failed."""
        if self.ok:
            self._footer()
            self.ok = self._painter.end()
        return self.ok

    def drop(self) -> None:
        """Abort the print, and release the device."""
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
        available = self.width - metrics.horizontalAdvance(page) - self._line
        title = metrics.elidedText(self._title, Qt.TextElideMode.ElideRight, available)
        pen.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, title)

    def _draw(self, strip: Strip, laid: "_BlockPositions", start: float, end: float) -> None:
        """Draw the part of a strip between the heights `start` and `end` at the current position of the page."""
        pen, document = self._painter, strip.document
        area = QRectF(0, start, document.textWidth(), end - start)
        pen.save()
        pen.translate(QPointF(strip.indent, self._y - start))
        if strip.background != "none":
            pad = self._line / 3
            is_person = strip.background == "person"
            over, under_ = (pad * (is_person and edge) for edge in (start == 0, end == laid.height))
            colour = self._colours.accent_ground if is_person else self._colours.alternate
            pen.fillRect(area.adjusted(-pad, -over, pad, under_), colour)
        pen.setClipRect(area.adjusted(-self._line, 0, self._line, 0))
        under = PagePainter(pen, document, self._colours, scale=_dots() / _PIXELS_AT_SCALE_1)
        layout = document.documentLayout()
        for number, (block, rect) in enumerate(laid.between(start, end)):
            under.paint_backgrounds(block, rect, first=number == 0)
        context = QAbstractTextDocumentLayout.PaintContext()
        palette = QPalette(context.palette)
        palette.setColor(QPalette.ColorRole.Text, self._colours.text)
        context.palette = palette
        # Without the margin, lines that only touch the range would be duplicated in the PDF's text.
        context.clip = area.adjusted(0, 1, 0, -1)
        pen.setClipRect(area)
        layout.draw(pen, context)
        pen.restore()
        self._y += end - start


def conversation_steps(
    paper: Paper, style: PageStyle, conversation: Conversation, rows: PackedRows, printed: float
) -> Steps:
    """Print a session's messages with speakers and times, yielding between steps.

    `rows` decides which tool calls and reasoning are folded; `printed` is the time to show as the date of the print.
    """
    for strip in _conversation_head(conversation, style, paper.width, printed):
        yield from _paint_strip(paper, strip, 0.0)
    strips = _RowStrips(conversation, rows, style, paper.width)
    for position in range(len(rows)):
        done = position / len(rows)
        for strip in strips.headings(position):
            yield from _paint_strip(paper, strip, done)
        if rows[position].slot in (GROUP, SUMMARY, MORE):
            body = strips.folded(position)
        else:
            body = yield from strips.piece(position, done)
        if body is not None:
            yield from _paint_strip(paper, body, done)
        yield (position + 1) / len(rows)


class _RowStrips:
    """Makes the strips of a session's rows, which are requested in order."""

    def __init__(self, conversation: Conversation, rows: PackedRows, style: PageStyle, width: float) -> None:
        self._conversation = conversation
        self._rows = rows
        self._style = style
        self._width = width
        self._line = letter_height(style)
        self._indent = 1.5 * self._line
        self._pieces = PieceStyle(style, round(width), round(width - 2 * self._indent), (), image_links=False)
        self._day, self._speaker = 0, ""
        self._shown = 0
        """Number of pieces of the current entry that were printed."""

    def _is_first(self, position: int) -> bool:
        """Whether an entry begins with this row."""
        return position == 0 or self._rows[position - 1].entry != self._rows[position].entry

    def headings(self, position: int) -> Iterator[Strip]:
        """Yield the day and the speaker of an entry that begins with this row, where they change."""
        if not self._is_first(position):
            return
        entry = self._conversation.entries[self._rows[position].entry]
        self._shown = 0
        if entry.day and entry.day != self._day:
            self._day, self._speaker = entry.day, ""
            day = _small(day_text(entry.day), self._style, self._width)
            yield Strip(day, above=1.4 * self._line, keeps_next=True)
        if entry.speaker != self._speaker:
            self._speaker = entry.speaker
            yield Strip(_name(entry, self._style, self._width), above=self._line, keeps_next=True)

    def folded(self, position: int) -> Strip | None:
        """Return the line that stands for folded content; None if that content is printed."""
        row, width = self._rows[position], self._pieces.plain_width
        entries = self._conversation.entries
        if row.slot == MORE:
            if self._shown >= entries[row.entry].piece_count:
                return None
            count = entries[row.entry].longest
            words = tr_count(
                "… {count:,} line in all, the rest is collapsed",
                "… {count:,} lines in all, the rest is collapsed",
                count,
            )
            rest = _small(words, self._style, width)
            return Strip(rest, self._indent, 0.2 * self._line, "tool")
        if row.slot == SUMMARY:
            texts = summary(self._conversation, entries[row.entry])
        elif position + 1 < len(self._rows) and not self._is_first(position + 1):
            return None  # the calls of the group follow
        else:
            texts = group_summary(self._conversation, call_group(entries, row.entry))
        return Strip(_folded(texts, self._style, width), self._indent, 0.5 * self._line, "tool")

    def piece(self, position: int, done: float) -> Generator[float, None, Strip]:
        """Lay out the piece of a row in steps, and return its strip."""
        row = self._rows[position]
        entry = self._conversation.entries[row.entry]
        self._shown += 1
        laid = yield from _laid(piece_steps(self._conversation, entry.first_piece + row.slot, self._pieces), done)
        if entry.kind == "tool":
            return Strip(laid, self._indent, 0.0, "tool")
        if entry.kind == "user":
            return Strip(laid, 0.0, 0.6 * self._line if self._is_first(position) else 0.0, "person")
        return Strip(laid, 0.0, 0.6 * self._line, "none")


def note_steps(paper: Paper, style: PageStyle, name: str, slices: Sequence[str], printed: float) -> Steps:
    """Print a note as rendered Markdown, yielding between steps; `slices` are those of `markdown_slices`."""
    line = letter_height(style)
    details = tr("{name} · printed {moment}", name=name, moment=exact(printed))
    yield from _paint_strip(paper, Strip(_small(details, style, paper.width)), 0.0)
    for number, part in enumerate(slices):
        making = page_steps([part], style)
        while True:
            try:
                next(making)
            except StopIteration as end:
                document: QTextDocument = end.value.document
                break
            yield number / len(slices)
        _wrap(document, paper.width)
        count = document.blockCount()
        for block in range(0, count, _BLOCKS):
            document.documentLayout().blockBoundingRect(document.findBlockByNumber(block))
            yield (number + block / count) / len(slices)
        yield from _paint_strip(paper, Strip(document, above=line), (number + 1) / len(slices))


def _paint_strip(paper: Paper, strip: Strip, done: float) -> Steps:
    for _ in paper.flow(strip):
        yield done


def _laid(making: Generator[None, None, PieceLayout], done: float) -> Generator[float, None, QTextDocument]:
    while True:
        try:
            next(making)
        except StopIteration as end:
            document: QTextDocument = end.value.document
            return document
        yield done


def _conversation_head(
    conversation: Conversation, style: PageStyle, width: float, printed: float
) -> Generator[Strip, None, None]:
    metadata = conversation.session.summary
    title = " ".join((metadata.title or tr(UNTITLED)).split())
    yield Strip(_rich([(title, _BOLD)], style, width, 1.7))
    details = [agent_name(metadata.agent), metadata.project, metadata.branch, message_count(metadata.messages)]
    times = list(dict.fromkeys(date_of(moment) for moment in (metadata.started, metadata.ended) if moment is not None))
    yield Strip(_small(" · ".join(part for part in (*details, " – ".join(times)) if part), style, width))
    masked = conversation.session.masked
    made = [tr("Printed {moment}", moment=exact(printed))]
    if masked:
        made.append(tr_count("secrets masked in {count:,} message", "secrets masked in {count:,} messages", masked))
    yield Strip(_small(" · ".join(made), style, width))


def _name(entry: Entry, style: PageStyle, width: float) -> QTextDocument:
    """Return a document with the speaker and time of an entry."""
    moment = [(f" {clock(entry.time)}", _muted(style))] if entry.time else []
    return _rich([(entry.speaker, _BOLD), *moment], style, width)


def _folded(line: SummaryLine, style: PageStyle, width: float) -> QTextDocument:
    """Return the summary of folded tool calls or thinking, wrapped instead of cut."""
    rest = " · ".join(filter(None, (line.words, line.size, line.failed)))
    return _rich([(line.name, _BOLD), (f" {rest}", _muted(style))], style, width, 0.85)


def _small(words: str, style: PageStyle, width: float) -> QTextDocument:
    return _rich([(words, _muted(style))], style, width, 0.85)


def _muted(style: PageStyle) -> str:
    return f"color:{style.colours.muted.name()}"


def _rich(parts: Styled, style: PageStyle, width: float, size: float = 1.0) -> QTextDocument:
    """Return a document of one paragraph; `size` is a factor of the default font size."""
    document = rich_document(parts)
    document.setDocumentMargin(0)
    font = style.font
    if size != 1.0:
        font = type(font)(font)
        font.setPointSizeF(font.pointSizeF() * size)
    document.setDefaultFont(font)
    _wrap(document, width)
    return document


def _wrap(document: QTextDocument, width: float) -> None:
    """Lay out a document at this width, breaking words that are longer than a line."""
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    document.setTextWidth(width)


# --- Runs the steps of one print in short turns of the loop, so that the window answers meanwhile --------------------


class PrintRun(QObject):
    """One print job, run step by step in the event loop.

    Signals:
        progressed: the fraction done, 0 to 1, and the number of pages so far.
        finished: whether all pages were printed; not emitted after `cancel`.
    """

    progressed = Signal(float, int)
    finished = Signal(bool)

    def __init__(self, paper: Paper, steps: Steps, parent: QObject) -> None:
        super().__init__(parent)
        self.paper = paper
        self._steps: Steps | None = steps
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._continue)

    def start(self) -> None:
        self._timer.start(0)

    def cancel(self) -> None:
        """Stop, and release the device."""
        if self._steps is not None:
            self._end()
            self.paper.drop()

    def _continue(self) -> None:
        until = time.perf_counter() + _TURN
        done = 0.0
        while self._steps is not None and time.perf_counter() < until:
            try:
                done = next(self._steps)
            except StopIteration:
                self._end()
                self.finished.emit(self.paper.finish())
                return
            if not self.paper.ok:
                self._end()
                self.paper.drop()
                self.finished.emit(False)
                return
        self.progressed.emit(done, self.paper.pages)

    def _end(self) -> None:
        self._steps = None
        self._timer.stop()


def paper_style() -> PageStyle:
    """Return the fonts and colours for printing."""
    text = QFont(QGuiApplication.font())
    text.setPointSizeF(TEXT_POINTS)
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    fixed.setPointSizeF(_CODE_POINTS)
    for font in (text, fixed):
        # Rounded to pixels of this screen, letters would be uneven on paper.
        font.setHintingPreference(QFont.HintingPreference.PreferNoHinting)
    return PageStyle(text, fixed, theme_tokens("light"), _dots() / _PIXELS_AT_SCALE_1, _LINE_HEIGHT)


def letter_height(style: PageStyle) -> float:
    """Return the font size of the text in pixels; distances on the page are multiples of this size."""
    return style.font.pointSizeF() * _dots() / _POINTS_PER_INCH


class _BlockPositions:
    """Positions of the text blocks of a document that is laid out, read from Qt once."""

    def __init__(self, document: QTextDocument) -> None:
        layout = document.documentLayout()
        self.height = document.size().height()
        self._blocks = [(block, layout.blockBoundingRect(block)) for block in blocks(document)]
        self._breaks: list[float] = []

    def between(self, start: float, end: float) -> Iterator[tuple[QTextBlock, QRectF]]:
        """Return the blocks, with their rectangles, that are at least partly between two heights."""
        return ((block, rect) for block, rect in self._blocks if rect.bottom() >= start and rect.top() <= end)

    def last_break(self, start: float, end: float) -> float:
        """Return the lowest height between `start` and `end` where a page can end without cutting a line; 0 if there
        is none."""
        self._breaks = self._breaks or list(self._find_breaks())
        return max((position for position in self._breaks if start < position <= end), default=0.0)

    def _find_breaks(self) -> Iterator[float]:
        rows: list[tuple[float, float, bool]] = []
        for block, rect in self._blocks:
            lines, heads = block.layout(), block.blockFormat().headingLevel() > 0
            spans = [(rect.top() + lines.lineAt(n).y(), lines.lineAt(n).height()) for n in range(lines.lineCount())]
            rows += [(top, top + height, heads) for top, height in spans]
        bottom, after_heading = 0.0, False
        for top, end, heads in sorted(rows):  # the cells of a table are next to each other
            if top >= bottom - 0.5 and bottom and not after_heading:
                yield bottom
            bottom, after_heading = max(bottom, end), heads
        yield bottom


def _dots() -> float:
    return QGuiApplication.primaryScreen().logicalDotsPerInchY()
