"""Chooses between the source of a file and its rendered page."""

from PySide6.QtCore import QObject, Signal

from engine import is_document, tr
from gui.core.jobs import Jobs
from gui.text.formatting import size_text
from gui.viewer.chunks.view import ChunkedSource
from gui.viewer.file_loader import OpenedFile, ViewTarget
from gui.viewer.match_navigator import MatchNavigator, MatchView
from gui.viewer.outline import HeadingPosition
from gui.viewer.rendered_view import MAX_BYTES, RenderedView
from gui.viewer.text_lines import Lines


class SourceAndPage(QObject):
    """Switches between the source of a file and the page rendered from its Markdown.

    The chosen mode applies to later files too; hits are searched in the visible one.

    Signals:
        mode_changed: the widget of the mode whose text is loaded now.
        notified: why the source is shown instead of the page.
    """

    mode_changed = Signal(object)
    notified = Signal(str)

    def __init__(self, jobs: Jobs, source: ChunkedSource, hits: MatchNavigator, parent: QObject) -> None:
        super().__init__(parent)
        self.rendered = RenderedView(jobs)
        self.rendered.rendered.connect(self._show_rendered)
        self.rendered.failed.connect(self._show_source_instead)
        self._source = source
        self._hits = hits
        self.prefers_page = False
        """Whether files are shown as pages."""
        self._opened: OpenedFile | None = None
        self._target: ViewTarget | None = None
        self._page_of: OpenedFile | None = None
        """The file whose page has been created."""
        self._unfolded_for = ""
        """The query for which the callouts of the page were opened."""
        self._hinted = ""
        """Name of the file for which the hint was shown that it has no page."""

    def show(self, opened: OpenedFile, target: ViewTarget, *, keep_position: bool) -> None:
        """Show a file in the chosen mode, scrolled to the heading that the source shows.

        `keep_position`: the page is visible already, and keeps its position.
        """
        self._opened, self._target = opened, target
        if opened.name != self._hinted:
            self._hinted = ""
        size = opened.lines.size
        if not self.prefers_page or is_document(opened.name):
            self._show_source()
        elif size > MAX_BYTES:
            size_words = size_text(size)
            self._show_source_instead(
                tr("This file has {size}, too much to render. Its source is shown.", size=size_words)
            )
        elif self._page_of is not opened or target.query not in ("", self._unfolded_for):
            if self._page_of is opened:
                self.rendered.close_text()  # forgets the callouts that the user folded and unfolded
            self._page_of, self._unfolded_for = None, target.query
            self.rendered.unfold, self.rendered.keep_breaks = bool(target.query), opened.line_breaks
            self.rendered.show_markdown(
                opened.lines, opened.outline, self._heading(opened), name=opened.name, keep_position=keep_position
            )
        else:
            if not keep_position:
                self.rendered.go_to_heading(self._heading(opened))
            self._show_rendered()

    def choose(self, *, rendered: bool, keep_position: bool) -> None:
        """Switch to source or page, also for later files."""
        self.prefers_page = rendered
        self._hinted = ""
        if not rendered:
            self.rendered.cancel()
        if self._opened is not None and self._target is not None:
            self.show(self._opened, self._target, keep_position=keep_position)

    def close_file(self, *, forget: bool) -> None:
        """Stop using the file, which is about to be closed; `forget` also drops its page."""
        self._hits.stop()
        self.rendered.close_text()
        self._opened = None
        if forget:
            self._page_of, self._hinted = None, ""

    def _show_source(self) -> None:
        if self._opened is not None and self._target is not None:
            self._search_in(self._source, self._opened.lines, near=self._target.focus)
            self.mode_changed.emit(self._source)

    def _show_rendered(self) -> None:
        if self._opened is not None:
            self._page_of = self._opened
            self._search_in(self.rendered, self.rendered.blocks, near=1)
            self.mode_changed.emit(self.rendered)

    def _show_source_instead(self, sentence: str) -> None:
        name = "" if self._opened is None else self._opened.name
        if name != self._hinted:
            self._hinted = name
            self.notified.emit(sentence)
        self._show_source()

    def _search_in(self, view: MatchView, lines: Lines, near: int) -> None:
        if self._opened is not None and self._target is not None:
            query, language = self._target.query, self._opened.language
            self._hits.search_in(view, lines, near=near, query=query, language=language)

    def _heading(self, opened: OpenedFile) -> HeadingPosition | None:
        """Return the heading above the position that the source shows."""
        return opened.outline.heading_above(max(1, self._source.position()[0]))
