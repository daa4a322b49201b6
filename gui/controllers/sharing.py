"""Shares results, notes and sessions: as links, exports, prints, or by dragging them as files or citations."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, QMimeData, QObject, QPoint, QRect, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QAction, QDrag, QFileOpenEvent, QFontMetrics, QGuiApplication, QKeySequence, QPainter, QPixmap
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from engine import (
    Cancelled,
    CancelToken,
    Link,
    LinkRefused,
    MemorySearchManager,
    MemorySearchResult,
    MnemoscopeError,
    PathRefused,
    SessionSummary,
    Unsupported,
    is_link,
    marked,
    parse_link,
    result_quote,
    split_name,
    tr,
    tr_count,
    write_link,
)
from gui.commands.commands import EXPORT, Commands
from gui.controllers.folders import FolderController
from gui.controllers.navigation import ResultOpener
from gui.controllers.printing import PrintController
from gui.conversation.panel import ConversationPanel
from gui.core.jobs import JobSlot
from gui.core.location import Location
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenFailure, OpenWorkspace
from gui.sessions.panel import SessionsPanel
from gui.sessions.session_list import SessionList
from gui.sharing.export import Exports, SessionCopies, SessionExports
from gui.shell.views import Views
from gui.style.theme import tokens
from gui.viewer.header import ViewerHeader
from gui.widgets.row_list import RowList

_LINK_NOTICE = "link"


class LinkController(Controller):
    """Copies links to locations, and opens links; a new request cancels an older one."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        folders: FolderController,
        opener: ResultOpener,
    ) -> None:
        super().__init__(context)
        self._folders = folders
        self._opener = opener
        self._lookup = JobSlot(self, self._jobs)
        self._requested: Link | None = None
        """The link to follow once its folder is open."""
        self._opening = ""
        self._workspace.opening.connect(self._handle_opening)
        self._workspace.opened.connect(self._handle_opened)
        self._workspace.failed.connect(self._handle_open_failure)
        for actions in (views.search.actions, views.viewer.file_actions):
            actions.link_requested.connect(self.copy)
        views.made.when(SessionsPanel, lambda sessions: sessions.actions.link_requested.connect(self.copy))
        views.made.when(ConversationPanel, lambda reader: reader.session_actions.link_requested.connect(self.copy))
        link_events = LinkEvents(self)
        link_events.link_requested.connect(self.open)

    # --- copying ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def copy(self, location: Location) -> None:
        """Copy the link to a location in the open workspace."""
        opened = self._workspace.current
        if opened is None:
            return
        name, path = split_name(location.path)
        folder = opened.all_workspaces.folder_of(location.path) if name else str(opened.folder)
        try:
            text = write_link(Link(workspace=folder, **location._replace(path=path)._asdict()))
        except LinkRefused as refusal:
            self._banner.show_error(str(refusal))
            return
        QGuiApplication.clipboard().setText(text)

    # --- opening ----------------------------------------------------------------------------------------------------

    def folder_of(self, text: str) -> Path | None:
        """Return the folder that a link names if it may be opened without asking the user, else None."""
        try:
            folder = parse_link(text).workspace
        except LinkRefused:
            return None
        return self._known_folder(folder)

    @Slot(str)
    def open(self, text: str) -> None:
        """Show the location that a link names, or the reason why that is impossible."""
        self._requested = None
        self._lookup.cancel()
        self._banner.clear(_LINK_NOTICE)
        try:
            link = parse_link(text)
        except LinkRefused as refusal:
            self._show_notice(str(refusal))
            return
        folder = self._known_folder(link.workspace)
        opened = self._workspace.current
        if folder is None:
            self._offer_folder(link)
        elif opened is not None and _is_same_folder(str(opened.folder), link.workspace):
            self._open_link(link, opened)
        else:
            self._requested = link
            if not _is_same_folder(self._opening, link.workspace):
                self._folders.open(folder)

    def _known_folder(self, folder: str) -> Path | None:
        """Return the known folder with this path, else None. Only strings are compared.

        No part of a link is used as a path before the user agrees.
        """
        opened = self._workspace.current
        known = (str(opened.folder) if opened else "", self._opening, *self._state.recent)
        return next((Path(path) for path in known if path and _is_same_folder(path, folder)), None)

    def _offer_folder(self, link: Link) -> None:
        self._banner.show_message(
            tr(
                "This link opens a folder that you have not opened here before: {folder}. Open it?",
                folder=link.workspace,
            ),
            "working",
            (tr("Preview this folder…"), partial(self._offer, link)),
            (tr("Don't open"), partial(self._banner.clear, _LINK_NOTICE)),
            key=_LINK_NOTICE,
        )

    def _offer(self, link: Link) -> None:
        """Show a preview of the folder that a link names, from which the user can open it."""
        self._requested = link
        self._folders.offer(Path(link.workspace))

    def _open_link(self, link: Link, opened: OpenWorkspace) -> None:
        def found(_: object) -> None:
            if self._workspace.current is opened:
                self._opener.open_location(Location(link.path, link.line, link.end, link.message))

        check = partial(_check, opened.manager, link)
        self._lookup.read(check, found, self._show_notice)

    def _show_notice(self, sentence: str) -> None:
        self._banner.show_message(sentence, "degraded", key=_LINK_NOTICE)

    # --- the workspace ----------------------------------------------------------------------------------------------

    @Slot(object)
    def _handle_opening(self, folder: Path) -> None:
        self._opening = str(folder)
        if self._requested is not None and not _is_same_folder(self._opening, self._requested.workspace):
            self._requested = None  # the user navigated elsewhere

    @Slot(object)
    def _handle_opened(self, opened: OpenWorkspace) -> None:
        self._opening = ""
        link, self._requested = self._requested, None
        if link is not None:
            self._open_link(link, opened)

    @Slot(object)
    def _handle_open_failure(self, _: OpenFailure) -> None:
        self._opening = ""
        self._requested = None


class LinkEvents(QObject):
    """Receives links that macOS sends to a running program; other systems start a second process.

    Signals: link_requested: the URL, unchanged.
    """

    link_requested = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        app = QApplication.instance()
        assert app is not None
        if sys.platform == "darwin":  # elsewhere it would wait for the interpreter lock at each event
            app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FileOpen and isinstance(event, QFileOpenEvent):
            text = bytes(event.url().toEncoded().data()).decode("ascii", "replace")
            if is_link(text):
                self.link_requested.emit(text)
                return True
        return False


def _check(manager: MemorySearchManager, link: Link, token: CancelToken) -> None:
    """Raise an error with the reason if the location is not among the searched files."""
    token.checkpoint()
    try:
        manager.locate(link.path)
    except Unsupported:
        pass  # only another machine has the file, but its text may be here: the viewer reports it
    except PathRefused:
        raise LinkRefused(
            tr("This link opens {path}, which is not among the searched files.", path=link.path)
        ) from None
    except FileNotFoundError:
        raise LinkRefused(tr("This link opens {path}, which no longer exists.", path=link.path)) from None


def _is_same_folder(one: str, other: str) -> bool:
    """Return whether two paths name the same folder, by their texts alone."""
    return bool(one) and os.path.normcase(os.path.normpath(one)) == os.path.normcase(os.path.normpath(other))


MARKDOWN = "text/markdown"
_PAD = 8
_MENU_TOP = 56
_WIDEST = 360
_DRAG_NOTICE = "drag"
_LATE_SECONDS = 0.4
"""Seconds; if the button is released later, a message explains why nothing was dropped."""
_LATE = marked("The content was not ready to drag. Hold the mouse button until the content appears at the pointer.")


class SharingFeatures:
    """Creates the controllers for links, exports, printing and dragging."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        folders: FolderController,
        opener: ResultOpener,
    ) -> None:
        self._views = views
        self._window = context.window
        self.links = LinkController(context, views, folders, opener)
        self.exports = Exports(context, views.search, views.viewer.external)
        self.session_exports = SessionExports(context, self._open_session, views.viewer.external)
        for exports in (self.exports, self.session_exports):
            views.switched.connect(exports.leave)
        self.printing = PrintController(context, views)
        self.dragging = DragController(context, views)

    def add_commands(self, commands: Commands) -> None:
        """Add the menu *Share*, with the commands for printing and export, to the menu; one key opens it."""
        print_keys = [key.toString() for key in QKeySequence.keyBindings(QKeySequence.StandardKey.Print)]
        commands.menu.addSeparator()
        menu = commands.menu.addMenu(tr("Share…"))
        on_paper = [
            commands.add("share.print", marked("Print…"), self.printing.print_, menu=menu),
            commands.add("share.pdf", marked("Save as PDF…"), self.printing.save_pdf, menu=menu),
        ]
        commands.add(EXPORT.name, EXPORT.english, self.exports.choose, menu=menu)
        exports = [
            commands.add("share.session", marked("Export session…"), self.session_exports.choose, menu=menu),
            commands.add(
                "share.context", marked("Continue in another agent"), self.session_exports.copy_context, menu=menu
            ),
        ]
        commands.add_hidden(
            "share.show", marked("Share…"), partial(_pop_up, menu, self._window), "Ctrl+Shift+E", *print_keys
        )
        self._views.viewer.offer([self._submenu(on_paper)])
        actions = [*on_paper, *exports]
        self._views.made.when(ConversationPanel, lambda reader: reader.offer([self._submenu(actions)]))

    def _submenu(self, actions: Sequence[QAction]) -> QAction:
        inside = QMenu(tr("Share…"), self._window)
        inside.addActions(actions)
        entry = QAction(tr("Share…"), self._window)  # PySide drops menuAction() when a menu with it is cleared
        entry.setMenu(inside)
        return entry

    def _open_session(self) -> SessionSummary | None:
        """Return the session on the screen; None if none is shown."""
        session = self._views.read_session
        return None if session is None else session.conversation.session.summary

    def close(self) -> None:
        """Cancel a print, and delete temporary files of drags, when the program ends."""
        self.printing.close()
        self.dragging.close()


def _pop_up(menu: QMenu, window: QWidget) -> None:
    """Open a menu in the middle of the window's upper part, with its first entry selected."""
    left = (window.width() - menu.sizeHint().width()) // 2
    menu.popup(window.mapToGlobal(QPoint(left, _MENU_TOP)))
    menu.setActiveAction(menu.actions()[0])


@dataclass(frozen=True)
class DragContent:
    """The data of a drag: files and texts."""

    files: tuple[Path, ...]
    """The notes' files; for sessions, copies with secrets masked. Empty if no file is available."""
    citations: tuple[str, ...]
    quotes: str
    """Quotes as Markdown; empty if a whole note is dragged."""
    label: str
    """Label next to the pointer."""


def mime_data(content: DragContent) -> QMimeData:
    """Return the data of a drag in three formats: files, citations as text, quotes as Markdown."""
    data = QMimeData()
    if content.files:
        data.setUrls([QUrl.fromLocalFile(str(file)) for file in content.files])
    data.setText("\n".join(content.citations))
    if content.quotes:
        data.setData(MARKDOWN, QByteArray(content.quotes.encode("utf-8", "replace")))
    return data


class DragController(Controller):
    """Starts drags of rows, and of the title of the open note.

    Files are located off the GUI thread; the drag begins if the button is still down.
    """

    def __init__(self, context: WindowContext, views: Views) -> None:
        super().__init__(context)
        self._job = JobSlot(self, self._jobs)
        self._copies = SessionCopies()
        self._results = views.search.body.list
        self._results.drag_requested.connect(self._drag_results)
        views.made.when(SessionsPanel, self._connect_sessions)
        self._viewer = views.viewer
        self._viewer.header.drag_requested.connect(self._drag_file)
        self._workspace.closed.connect(self._job.cancel)

    def close(self) -> None:
        self._copies.close()

    @Slot()
    def _drag_results(self) -> None:
        results = self._results.selected_results()
        if results:
            self._prepare(self._results, partial(content_of_results, results=results, copies=self._copies))

    def _connect_sessions(self, sessions: SessionsPanel) -> None:
        sessions.view.list.drag_requested.connect(partial(self._drag_session, sessions.view.list))

    def _drag_session(self, listed: SessionList) -> None:
        summary = listed.current_session()
        if summary is not None:
            title = summary.title or summary.path
            self._prepare(listed, partial(content_of_session, path=summary.path, title=title, copies=self._copies))

    @Slot()
    def _drag_file(self) -> None:
        if self._viewer.name:
            self._prepare(self._viewer.header, partial(content_of_file, path=self._viewer.name))

    def _prepare(
        self, source: RowList | ViewerHeader, make: Callable[[MemorySearchManager, CancelToken], DragContent]
    ) -> None:
        opened = self._workspace.current
        if opened is None:
            return

        began = time.monotonic()

        def ready(content: DragContent) -> None:
            if not source.button_down and time.monotonic() - began > _LATE_SECONDS:
                self._banner.show_message(tr(_LATE), "off", key=_DRAG_NOTICE)
            if source.button_down:
                source.button_down = False  # its release is sent to the drop target
                start_drag(source, content)

        self._job.read(lambda token: make(opened.all_workspaces, token), ready, self._fail)

    def _fail(self, sentence: str) -> None:
        self._banner.show_message(sentence, "degraded", key=_DRAG_NOTICE)


def start_drag(source: RowList | ViewerHeader, content: DragContent) -> None:
    """Start the drag, for copying only: a drop must not move a note."""
    drag = QDrag(source)
    drag.setMimeData(mime_data(content))
    drag.setPixmap(_label(source, content.label))
    drag.setHotSpot(QPoint(-_PAD, -_PAD))
    drag.exec(Qt.DropAction.CopyAction)


def content_of_results(
    manager: MemorySearchManager,
    token: CancelToken,
    *,
    results: Sequence[MemorySearchResult],
    copies: SessionCopies,
) -> DragContent:
    """Return the data to drag for results, with each file once."""
    files = []
    for path in dict.fromkeys(result.path for result in results):
        token.checkpoint()
        is_session = any(result.path == path and result.source == "sessions" for result in results)
        file = _file(manager, path, token, copies if is_session else None)
        files += [] if file is None else [file]
    citations = tuple(result.citation for result in results)
    words = citations[0] if len(citations) == 1 else tr_count("{count:,} result", "{count:,} results", len(citations))
    return DragContent(tuple(files), citations, "\n\n".join(map(result_quote, results)), words)


def content_of_session(
    manager: MemorySearchManager, token: CancelToken, *, path: str, title: str, copies: SessionCopies
) -> DragContent:
    """Return the data of a drag of a session: a file with its readable text, secrets masked."""
    file = copies.make(manager, path, token)
    return DragContent((file,), (path,), file.read_text("utf-8"), title)


def content_of_file(manager: MemorySearchManager, token: CancelToken, *, path: str) -> DragContent:
    """Return the data of a drag of a file; without the file itself if that is not available."""
    file = _file(manager, path, token, None)
    return DragContent(() if file is None else (file,), (path,), "", path)


def _file(manager: MemorySearchManager, path: str, token: CancelToken, copies: SessionCopies | None) -> Path | None:
    """Return the local file to drag; None if there is none, as for notes of another machine."""
    try:
        return manager.locate(path) if copies is None else copies.make(manager, path, token)
    except Cancelled:
        raise
    except (MnemoscopeError, OSError):
        return None


def _label(source: RowList | ViewerHeader, words: str) -> QPixmap:
    colours = tokens(source.palette())
    metrics = QFontMetrics(source.font())
    text = metrics.elidedText(" ".join(words.split()), Qt.TextElideMode.ElideMiddle, _WIDEST)
    ratio = source.devicePixelRatioF()
    box = QRect(0, 0, metrics.horizontalAdvance(text) + 2 * _PAD, metrics.height() + _PAD)
    picture = QPixmap(box.size() * ratio)
    picture.setDevicePixelRatio(ratio)
    picture.fill(colours.accent_ground)
    painter = QPainter(picture)
    painter.setFont(source.font())
    painter.setPen(colours.text)
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
    painter.end()
    return picture
