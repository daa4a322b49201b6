"""Shows the file as a rendered page. Of all that a note names it loads images of the searched folders, nothing else."""

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPixmap,
    QResizeEvent,
    QTextBlock,
    QTextDocument,
    QTextOption,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractSlider, QApplication, QTextBrowser

from engine import CancelToken, tr
from gui.core.jobs import Jobs, JobSlot
from gui.style.stylesheet import font_scale
from gui.style.theme import tokens
from gui.style.typography import fixed_font
from gui.text.plain_text import no_resource, utf16_ranges
from gui.viewer.line_layout import spans
from gui.viewer.line_painter import FOUND_OPACITY, faded
from gui.viewer.markdown_extensions import NoteMarkup, Resolve
from gui.viewer.markdown_page import Page, PagePainter, PageStyle
from gui.viewer.markdown_parts import PageBuilder, StepwiseLayout, markdown_slices
from gui.viewer.match_list import Finder, Hit, MatchMap, MatchMarks, MatchScrollBar
from gui.viewer.outline import HeadingPosition, Outline, heading_key, page_source
from gui.viewer.pictures import LocateImage, Picture, PictureLoader, Pictures
from gui.viewer.text_lines import FileLines, TextLines, TextPosition

MAX_BYTES = 1024 * 1024
_TEXT_PIXELS = 14
_LINE_CHARACTERS = 84
_SIDE = 28
_ABOVE_HEADING = 12
_LATE = 0.05
"""Seconds of a turn after which the layout waits for the next one."""


class RenderedView(QTextBrowser):
    """Shows one page of rendered Markdown; the page's text blocks count as lines, from 1.

    Signals:
        rendered: the last requested page is shown.
        failed: it could not be created, as one sentence.
    """

    rendered = Signal()
    failed = Signal(str)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._job = JobSlot(self, jobs)
        self._lines: FileLines | None = None
        self._outline = Outline()
        self._name = ""
        self._page: Page | None = None
        self._document: QTextDocument | None = None
        self._requested_heading: HeadingPosition | None = None
        self.anchor = ""
        """The block or footnote to go to, instead of the next heading."""
        self.unfold = False
        """Whether callouts are open that the note folds, since the user looks for words in them."""
        self.keep_breaks = False
        """Whether each line of a paragraph begins a new line."""
        self._toggled: frozenset[int] = frozenset()
        """Lines of the callouts that the user has folded or unfolded."""
        self.resolve: Resolve = lambda target, anchor: None
        """Reads the target of a link on this page, on a pool thread."""
        self.images: Callable[[], LocateImage] = lambda: lambda target: None
        """Returns the function that finds the images of this page; called on a pool thread."""
        self._pictures: Mapping[str, Picture] = {}
        """The images of the page that is being built."""
        self._loader = PictureLoader(jobs, self)
        self._loader.loaded.connect(self.viewport().update)
        self._keep_position = self._heading_pending = False
        self._returning: tuple[int, int] | None = None
        """Block number of the position to show once it is laid out again, and the pixels of it above the view."""
        self._former = QPixmap()
        """Picture of the previous content, painted until then."""
        self._page_builder = PageBuilder(jobs, self)
        self._page_builder.made.connect(self._show)
        self._layout_steps = StepwiseLayout(self)
        self._layout_steps.reached.connect(self._on_reached)
        self._layout_steps.finished.connect(self._move_ticks)
        self._layout_steps.finished.connect(self._fit_tables)
        self._marks, self._found = MatchMarks(jobs, self), MatchMarks(jobs, self)
        for marks in (self._marks, self._found):
            marks.found.connect(self.viewport().update)
        self.current_hit: Hit | None = None
        self._hits: frozenset[int] = frozenset()
        self._overview = MatchScrollBar(self)
        self.setVerticalScrollBar(self._overview)
        self._overview.actionTriggered.connect(self._scroll_position)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOn)
        self.setProperty("role", "page")
        self.setOpenLinks(False)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setAccessibleName(tr("Rendered text"))

    # --- the page -------------------------------------------------------------------------------------------------

    def show_markdown(
        self,
        lines: FileLines,
        outline: Outline,
        at: HeadingPosition | None,
        *,
        name: str = "",
        keep_position: bool = False,
    ) -> None:
        """Build the page in the background and scroll it to a heading or the top; the old page stays until then.

        `name`: the stable name of the file, whose extension gives the format; empty for Markdown.
        `keep_position`: a new version of the shown page, which keeps its position.
        """
        if not keep_position and lines is not self._lines:
            self._toggled = frozenset()
        self._lines, self._outline, self._name = lines, outline, name
        self._requested_heading, self._keep_position = at, keep_position
        self._start(lines)

    def _start(self, lines: FileLines) -> None:
        self.cancel()
        source, resolve, images = (self._name, self._outline), self.resolve, self.images
        toggled, unfold, keep_breaks = self._toggled, self.unfold, self.keep_breaks
        text_font = QGuiApplication.font()
        text_font.setPointSizeF(fixed_font(_TEXT_PIXELS).pointSizeF())
        width = self.viewport().width()
        style = PageStyle(text_font, fixed_font(), tokens(self.palette()), font_scale(), width=width)

        def work(token: CancelToken) -> tuple[list[str], Mapping[str, Picture]]:
            slices, pictures = [], Pictures(images(), style.scale)
            text, outline = page_source(lines, source[0], token, source[1])
            markup = NoteMarkup(resolve, toggled, pictures, unfold=unfold, keep_breaks=keep_breaks)
            for part in markdown_slices(text, outline, markup):
                token.checkpoint()
                slices.append(part)
            return slices, pictures.found

        def make(content: tuple[list[str], Mapping[str, Picture]]) -> None:
            slices, self._pictures = content
            self._page_builder.start(slices, style, self._pictures)

        self._job.read(work, make, self.failed.emit)

    def cancel(self) -> None:
        self._page_builder.stop()
        self._job.cancel()

    def close_text(self) -> None:
        """Stop reading the text, which is about to be closed; the page stays visible."""
        self.cancel()
        self._loader.stop()
        self._lines = None

    @property
    def blocks(self) -> TextLines:
        """The text blocks of the page, as lines to search."""
        return TextLines(self._page.texts if self._page is not None else ())

    def go_to_anchor(self, name: str) -> bool:
        """Scroll to a block with this id (`^id`), a footnote, or a heading; returns False if there is none."""
        page = self._page
        number = page.anchors.get(name) if page is not None else None
        if page is not None and number is None and not name.startswith("^"):
            number = next((block for block, key in page.headings if key == heading_key(name)), None)
        if number is not None:
            self._scroll_to(round(self._rect(self._block(number + 1)).top()) - _ABOVE_HEADING)
        return number is not None

    def toggle_fold(self, line: int) -> None:
        """Fold or unfold the callout that begins in this line of the source."""
        self._toggled ^= {line}
        self._keep_position = True
        if self._lines is not None:
            self._start(self._lines)

    def go_to_heading(self, at: HeadingPosition | None) -> None:
        """Scroll to a heading; None scrolls to the top."""
        number = self._heading_block(at)
        self.anchor = ""
        self._scroll_to(round(self._rect(self._block(number + 1)).top()) - _ABOVE_HEADING)

    def _heading_block(self, at: HeadingPosition | None) -> int:
        """Return the number of the heading's text block, from 0."""
        headings = self._page.headings if self._page is not None else ()
        if self._page is not None and self.anchor in self._page.anchors:
            return self._page.anchors[self.anchor]
        same = [number for number, key in headings if at is not None and key == at.key]
        if at is None or not headings:
            return 0
        return same[min(at.nth_of_key, len(same) - 1)] if same else headings[min(at.nth, len(headings) - 1)][0]

    @Slot(object)
    def _show(self, page: Page) -> None:
        late = time.perf_counter() + _LATE
        if self._keep_position:
            self._scroll_to_top_for_layout()
        else:
            self._returning, self._former, self._heading_pending = None, QPixmap(), True
        self._page = page
        self.current_hit = None
        self._marks.forget()
        self._found.forget()
        self._show_document(page)
        self._loader.start(page.document, self._pictures, self.devicePixelRatioF())
        self.rendered.emit()  # once visible it has its width, which the layout needs
        target = 0 if self._keep_position else self._heading_block(self._requested_heading)
        if self._returning is not None:
            target = min(self._returning[0], page.document.blockCount() - 1)
            self._returning = target, self._returning[1]
        self._layout_steps.start(target, begin=time.perf_counter() < late)

    def _on_reached(self) -> None:
        if self._returning is not None:
            number, above = self._returning
            scrolled = self.verticalScrollBar().value()  # how far the user has scrolled from the top meanwhile
            self._scroll_to(round(self._rect(self._block(number + 1)).top()) + above + scrolled)
        elif self._heading_pending:  # not if a link was followed meanwhile
            self.go_to_heading(self._requested_heading)
        self._keep_position = True  # also when the page is rendered again in other colours

    def _fit_tables(self) -> None:
        """Build the page again if other tables than before are too wide for it."""
        if self._lines is not None and self._page is not None and not self._page.fits(self.viewport().width()):
            self._start(self._lines)

    def _show_document(self, page: Page) -> None:
        """Replace the shown document by that of a page."""
        old, self._document = self._document, page.document
        page.document.setParent(self)  # only then Qt asks this view, and not the disk, for the page's resources
        page.document.setTextWidth(self.viewport().width())  # without one, `setDocument` lays out whole long paragraphs
        self.setDocument(page.document)
        if old is not None:  # Qt deletes its own first document, but no other
            old.deleteLater()
        self._layout_steps.set_document(page.document)

    # --- hits (the protocol `MatchView`) --------------------------------------------------------------------------

    def position(self) -> TextPosition:
        return self._first_block().blockNumber() + 1, -1

    def level(self, hit: Hit) -> float | None:
        rect, view = self._hit_rect(hit).translated(self._origin()), self.viewport()
        beside = self.horizontalScrollBar().maximum() and not 0 <= rect.left() < rect.right() <= view.width()
        in_view = not beside and 0 <= rect.top() < view.height() - _ABOVE_HEADING
        return rect.top() / view.height() if in_view else None

    def set_finders(self, marks: Finder | None, found: Finder | None) -> None:
        self._marks.set_finder(marks)
        self._found.set_finder(found)
        self.viewport().update()

    def show_hit(self, hit: Hit | None) -> None:
        self.current_hit = hit
        if hit is not None and self.level(hit) is None:
            rect, bar = self._hit_rect(hit), self.horizontalScrollBar()
            self._scroll_to(round(rect.top()) - self.viewport().height() // 3)
            left = round(rect.left()) - self.viewport().width() // 3 if rect.right() > self.viewport().width() else 0
            bar.setValue(bar.maximum() - left if self.isRightToLeft() else left)
        self.viewport().update()

    def show_hits(self, marks: MatchMap, found: MatchMap | None) -> None:
        self._hits = frozenset((marks if found is None else found).lines())
        self._move_ticks()

    def _move_ticks(self) -> None:
        if not self._layout_steps.complete:
            return
        self._overview.set_length(max(round(self.document().size().height()), self.viewport().height()))
        self._overview.set_ticks(round(self._rect(self._block(line)).top()) for line in self._hits)

    # --- geometry -------------------------------------------------------------------------------------------------

    def _block(self, line: int) -> QTextBlock:
        return self.document().findBlockByNumber(line - 1)

    def _rect(self, block: QTextBlock) -> QRectF:
        return self.document().documentLayout().blockBoundingRect(block)

    def _hit_rect(self, hit: Hit) -> QRectF:
        """Return the rectangle of the first row of a hit, in page coordinates."""
        block = self._block(hit.line)
        [(start, end)] = utf16_ranges(block.text(), [(hit.start, hit.end)])
        return next(spans(block.layout(), start, end), QRectF()).translated(self._rect(block).topLeft())

    def _origin(self) -> QPointF:
        """Return the position of the page's top left corner in the viewport; Qt mirrors the bar, not the page."""
        bar = self.horizontalScrollBar()
        left = bar.maximum() - bar.value() if self.isRightToLeft() else bar.value()
        return QPointF(-left, -self.verticalScrollBar().value())

    def _scroll_to_top_for_layout(self) -> None:
        """Scroll to the top until the page is laid out again: Qt would lay out all above the view in one step."""
        if self._returning is None and self.verticalScrollBar().value():
            self._returning = self._top()
            if self.viewport().isVisible():  # for a picture of a hidden page, Qt would resize it again, without end
                self._former = self.viewport().grab()
            self.verticalScrollBar().setValue(0)

    def _scroll_to(self, pixels: int) -> None:
        self._returning, self._former, self._heading_pending = None, QPixmap(), False
        self.verticalScrollBar().setValue(pixels)
        self.viewport().update()

    @Slot(int)
    def _scroll_position(self, action: int) -> None:
        """Scroll up, by a key, the part that is laid out again later: the bar would only scroll from the top."""
        actions, bar = QAbstractSlider.SliderAction, self._overview
        if action == actions.SliderToMinimum.value:
            self._scroll_to(0)
        steps = {actions.SliderSingleStepSub.value: bar.singleStep(), actions.SliderPageStepSub.value: bar.pageStep()}
        self._scroll_position_up(steps.get(action, 0))

    def _scroll_position_up(self, pixels: int) -> None:
        """Scroll the position that is laid out again later; until then the bar is at the top and can't."""
        if self._returning is not None and not self._overview.value():
            self._returning = self._returning[0], self._returning[1] - pixels

    def _top(self) -> tuple[int, int]:
        """Return the number of the first visible block and the pixels of it above the view."""
        block = self._first_block()
        return block.blockNumber(), self.verticalScrollBar().value() - round(self._rect(block).top())

    def _first_block(self) -> QTextBlock:
        if self._returning is not None:
            return self._block(self._returning[0] + 1)
        point = QPointF(0, self.verticalScrollBar().value())
        position = self.document().documentLayout().hitTest(point, Qt.HitTestAccuracy.FuzzyHit)
        return self.document().findBlock(max(0, position))

    def _visible(self) -> Iterator[tuple[QTextBlock, QRectF]]:
        """Yield the text blocks in view with their rectangles in the viewport."""
        block = self._first_block()
        while block.isValid():
            rect = self._rect(block).translated(self._origin())
            if rect.top() > self.viewport().height():
                return
            yield block, rect
            block = block.next()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint backgrounds and highlights first, then Qt's text over them."""
        painter = QPainter(self.viewport())
        if not self._former.isNull():
            painter.drawPixmap(0, 0, self._former)
            painter.end()
            return
        colours = tokens(self.palette())
        pen = PagePainter(painter, self.document(), colours, scale=font_scale())
        first = self._first_block()
        for block, rect in self._visible():
            line, text = block.blockNumber() + 1, block.text()
            pen.paint_backgrounds(block, rect, first=block == first)
            pen.boxes(block, rect, self._marks.ranges_in(line, text), colours.mark)
            pen.boxes(block, rect, self._found.ranges_in(line, text), faded(colours.accent, FOUND_OPACITY))
            if self.current_hit is not None and self.current_hit.line == line:
                pen.boxes(block, rect, utf16_ranges(text, [(self.current_hit.start, self.current_hit.end)]), None)
        painter.end()
        super().paintEvent(event)

    # --- Qt's events ----------------------------------------------------------------------------------------------

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return no_resource(kind)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Limit the width of the text; a wide window has empty margins."""
        scale = font_scale()
        widest = round(self.fontMetrics().averageCharWidth() * _LINE_CHARACTERS * _TEXT_PIXELS / 13)
        side = round(_SIDE * scale)
        free = self.width() - self._overview.width() - 2 * side - widest
        widens = event.size().width() != event.oldSize().width()
        if widens:
            self._scroll_to_top_for_layout()
        self.setViewportMargins(side, round(16 * scale), side + max(0, free), 0)
        super().resizeEvent(event)
        if widens and self._returning is not None:
            self._layout_steps.start(self._returning[0])
        elif widens:
            self._layout_steps.restart()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()  # Qt would enlarge the text of this page alone
            return
        lines = event.angleDelta().y() * QApplication.wheelScrollLines() / 120
        self._scroll_position_up(max(0, event.pixelDelta().y() or round(lines * self._overview.singleStep())))
        super().wheelEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Build the page again after a change of colours or sizes, which are part of it."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._lines is not None:
            self._start(self._lines)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open Qt's standard context menu with the actions of the page added."""
        menu = self.createStandardContextMenu(event.pos())
        menu.addSeparator()
        menu.addActions(self.actions())
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Pass letters and Esc on to the viewer; QTextBrowser would consume some of them."""
        plain = not event.modifiers() & ~Qt.KeyboardModifier.ShiftModifier
        if (plain and event.text().isprintable() and event.text().strip()) or event.key() == Qt.Key.Key_Escape:
            event.ignore()
        elif event.matches(QKeySequence.StandardKey.MoveToStartOfDocument):
            self.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMinimum)
        elif event.matches(QKeySequence.StandardKey.MoveToEndOfDocument):
            self.verticalScrollBar().triggerAction(QAbstractSlider.SliderAction.SliderToMaximum)
        else:
            super().keyPressEvent(event)
