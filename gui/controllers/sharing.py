"""Connects what leaves the window: links, exports, prints, and drags of results and sessions as files or citations."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QMimeData, QObject, QPoint, QRect, Qt, QUrl, Slot
from PySide6.QtGui import QDrag, QFontMetrics, QKeySequence, QPainter, QPixmap
from PySide6.QtWidgets import QWidget

from engine import (
    Cancelled,
    CancelToken,
    MemorySearchManager,
    MemorySearchResult,
    MnemoscopeError,
    marked,
    result_quote,
    tr,
    tr_count,
)
from gui.commands.commands import EXPORT, Commands
from gui.controllers.folders import FolderController
from gui.controllers.links import LinkController
from gui.controllers.open_result import ResultOpener
from gui.controllers.printing import PrintController
from gui.core.jobs import Jobs, JobSlot
from gui.core.notices import Notices
from gui.core.window_context import WindowContext
from gui.core.workspace import Workspace
from gui.sharing.export import Exports, SessionCopies
from gui.shell.views import Views
from gui.style.theme import tokens
from gui.widgets.row_list import RowList

MARKDOWN = "text/markdown"
_PAD = 8
_WIDEST = 360
_KEY = "drag"
_PATIENCE = 0.4
"""Seconds after which a user who has released the button wonders why nothing was dropped."""
_LATE = marked("This was not ready yet. Keep the button down until the pointer carries it.")


class SharingFeatures:
    """What the window makes by one line."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        folders: FolderController,
        ways: ResultOpener,
    ) -> None:
        workspace, banner, jobs, window = context.workspace, context.notices, context.jobs, context.window
        self._views = views
        self.links = LinkController(context, views, folders, ways)
        self.exports = Exports(workspace, views.search, views.viewer.external, banner, jobs, window)
        self.printing = PrintController(workspace, views, banner, jobs, window)
        self.dragging = DragController(workspace, views, banner, jobs, window)

    def add_commands(self, commands: Commands) -> None:
        """Add the commands for export and printing to the menu."""
        print_keys = (key.toString() for key in QKeySequence.keyBindings(QKeySequence.StandardKey.Print))
        commands.menu.addSeparator()
        commands.add(EXPORT.name, EXPORT.english, self.exports.choose, *EXPORT.keys)
        on_paper = [
            commands.add("share.print", marked("Print…"), self.printing.print_, *print_keys),
            commands.add("share.pdf", marked("Save as PDF…"), self.printing.save_pdf),
        ]
        for reader in (self._views.viewer, self._views.conversation):
            reader.offer(on_paper)

    def close(self) -> None:
        """Remove temporary files for printing and dragging when the program ends."""
        self.printing.close()
        self.dragging.close()


@dataclass(frozen=True)
class Load:
    """What is being dragged."""

    files: tuple[Path, ...]
    """The notes' files; for sessions, copies with secrets masked. Empty if no file is available."""
    citations: tuple[str, ...]
    quotes: str
    """Markdown."""
    words: str
    """Label next to the pointer."""


def mime_data(load: Load) -> QMimeData:
    """Data for every target: files for a file manager, citations for a text field, quotes for a Markdown editor."""
    data = QMimeData()
    if load.files:
        data.setUrls([QUrl.fromLocalFile(str(file)) for file in load.files])
    data.setText("\n".join(load.citations))
    data.setData(MARKDOWN, QByteArray(load.quotes.encode("utf-8", "replace")))
    return data


class DragController(QObject):
    """The files are located first, off this thread; the drag begins if the button is still down."""

    def __init__(self, workspace: Workspace, views: Views, banner: Notices, jobs: Jobs, window: QWidget) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._banner = banner
        self._jobs = jobs
        self._job = JobSlot(self)
        self._copies = SessionCopies()
        self._results = views.search.body.list
        self._sessions = views.sessions.view.list
        self._results.drag_wanted.connect(self._drag_results)
        self._sessions.drag_wanted.connect(self._drag_session)
        workspace.closed.connect(self._job.cancel)

    def close(self) -> None:
        self._copies.close()

    @Slot()
    def _drag_results(self) -> None:
        results = self._results.selected_results()
        if results:
            self._prepare(self._results, partial(load_of_results, results=results, copies=self._copies))

    @Slot()
    def _drag_session(self) -> None:
        summary = self._sessions.current_session()
        if summary is not None:
            title = summary.title or summary.path
            self._prepare(self._sessions, partial(load_of_session, path=summary.path, title=title, copies=self._copies))

    def _prepare(self, rows: RowList, make: Callable[[MemorySearchManager, CancelToken], Load]) -> None:
        opened = self._workspace.current
        if opened is None:
            return

        began = time.monotonic()

        def ready(load: Load) -> None:
            self._job.done()
            if not rows.button_down and time.monotonic() - began > _PATIENCE:
                self._banner.say(tr(_LATE), "off", key=_KEY)
            if rows.button_down:
                rows.button_down = False  # its release is sent to the drop target
                start_drag(rows, load)

        self._job.put(self._jobs.read(lambda token: make(opened.everywhere, token), ready, self._fail))

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self._banner.say(sentence, "degraded", key=_KEY)


def start_drag(rows: RowList, load: Load) -> None:
    """Copy only: a drop must not move a note."""
    drag = QDrag(rows)
    drag.setMimeData(mime_data(load))
    drag.setPixmap(_label(rows, load.words))
    drag.setHotSpot(QPoint(-_PAD, -_PAD))
    drag.exec(Qt.DropAction.CopyAction)


def load_of_results(
    manager: MemorySearchManager,
    token: CancelToken,
    *,
    results: Sequence[MemorySearchResult],
    copies: SessionCopies,
) -> Load:
    """Each file once, however many of its passages are dragged."""
    files = []
    for path in dict.fromkeys(result.path for result in results):
        token.checkpoint()
        is_session = any(result.path == path and result.source == "sessions" for result in results)
        file = _file(manager, path, token, copies if is_session else None)
        files += [] if file is None else [file]
    citations = tuple(result.citation for result in results)
    words = citations[0] if len(citations) == 1 else tr_count("{count:,} result", "{count:,} results", len(citations))
    return Load(tuple(files), citations, "\n\n".join(map(result_quote, results)), words)


def load_of_session(
    manager: MemorySearchManager, token: CancelToken, *, path: str, title: str, copies: SessionCopies
) -> Load:
    file = copies.make(manager, path, token)
    return Load((file,), (path,), file.read_text("utf-8"), title)


def _file(manager: MemorySearchManager, path: str, token: CancelToken, copies: SessionCopies | None) -> Path | None:
    """None if there is no local file, such as for another machine's note: its citation can be dragged."""
    try:
        return manager.locate(path) if copies is None else copies.make(manager, path, token)
    except Cancelled:
        raise
    except (MnemoscopeError, OSError):
        return None


def _label(rows: RowList, words: str) -> QPixmap:
    colours = tokens(rows.palette())
    metrics = QFontMetrics(rows.font())
    text = metrics.elidedText(" ".join(words.split()), Qt.TextElideMode.ElideMiddle, _WIDEST)
    ratio = rows.devicePixelRatioF()
    box = QRect(0, 0, metrics.horizontalAdvance(text) + 2 * _PAD, metrics.height() + _PAD)
    picture = QPixmap(box.size() * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(colours.accent_ground)
    painter = QPainter(picture)
    painter.setFont(rows.font())
    painter.setPen(colours.text)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    return picture
