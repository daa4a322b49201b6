"""Links to a location in a file: copying them here, and opening those of other programs.

A link only shows something. It opens a folder without asking only if the user has opened it here before; for any other
folder the user is asked, and until then its existence isn't even checked.
"""

import os
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtGui import QFileOpenEvent, QGuiApplication
from PySide6.QtWidgets import QApplication

from engine import (
    CancelToken,
    Link,
    LinkRefused,
    MemorySearchManager,
    PathRefused,
    Unsupported,
    is_link,
    parse_link,
    split_name,
    tr,
    write_link,
)
from gui.controllers.folders import FolderController
from gui.controllers.open_result import ResultOpener
from gui.core.jobs import JobSlot
from gui.core.location import Location
from gui.core.window_context import WindowContext
from gui.core.workspace import Opened, OpenFailure
from gui.shell.views import Views
from gui.widgets.message import Action

_KEY = "link"


class LinkController(QObject):
    """The newest link wins: what an older one waits for is forgotten."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        folders: FolderController,
        ways: ResultOpener,
    ) -> None:
        super().__init__(context.window)
        workspace = self._workspace = context.workspace
        self._folders = folders
        self._ways = ways
        self._banner = context.notices
        self._jobs = context.jobs
        self._state = context.state
        self._look = JobSlot(self)
        self._wanted: Link | None = None
        """The link to follow once its folder is open."""
        self._opening = ""
        workspace.opening.connect(self._note_opening)
        workspace.opened.connect(self._arrive)
        workspace.failed.connect(self._give_up)
        for part in (views.search, views.sessions, views.viewer, views.conversation):
            part.link_wanted.connect(self.copy)
        opener = LinkEvents(self)
        opener.link_wanted.connect(self.open)

    # --- copying ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def copy(self, spot: Location) -> None:
        """Put the link to a place of the open workspace into the clipboard."""
        opened = self._workspace.current
        if opened is None:
            return
        name, path = split_name(spot.path)
        folder = opened.everywhere.folder_of(spot.path) if name else str(opened.folder)
        try:
            text = write_link(Link(workspace=folder, **spot._replace(path=path)._asdict()))
        except LinkRefused as refusal:
            self._banner.complain(str(refusal))
            return
        QGuiApplication.clipboard().setText(text)

    # --- opening ----------------------------------------------------------------------------------------------------

    def folder_of(self, text: str) -> Path | None:
        """The folder of a link, if it may be opened without asking."""
        try:
            folder = parse_link(text).workspace
        except LinkRefused:
            return None
        return self._known(folder)

    @Slot(str)
    def open(self, text: str) -> None:
        """Show the place that a link names, or say why not."""
        self._wanted = None
        self._look.cancel()
        self._banner.clear(_KEY)
        try:
            link = parse_link(text)
        except LinkRefused as refusal:
            self._say(str(refusal))
            return
        folder = self._known(link.workspace)
        opened = self._workspace.current
        if folder is None:
            self._ask(link)
        elif opened is not None and _same(str(opened.folder), link.workspace):
            self._go(link, opened)
        else:
            self._wanted = link
            if not _same(self._opening, link.workspace):
                self._folders.open(folder)

    def _known(self, folder: str) -> Path | None:
        """Compares texts only: nothing of a link is used as a path before the user agrees."""
        opened = self._workspace.current
        known = (str(opened.folder) if opened else "", self._opening, *self._state.recent)
        return next((Path(mine) for mine in known if mine and _same(mine, folder)), None)

    def _ask(self, link: Link) -> None:
        self._banner.say(
            tr(
                "This link leads into a folder that you have not opened here before: {folder}. Open this folder?",
                folder=link.workspace,
            ),
            "working",
            Action(tr("Look at this folder…"), partial(self._offer, link)),
            Action(tr("Leave it"), partial(self._banner.clear, _KEY)),
            key=_KEY,
        )

    def _offer(self, link: Link) -> None:
        """First what opening it would mean; only then may it be opened."""
        self._wanted = link
        self._folders.offer(Path(link.workspace))

    def _go(self, link: Link, opened: Opened) -> None:
        def refused(sentence: str) -> None:
            self._look.done()
            self._say(sentence)

        def found(_: object) -> None:
            self._look.done()
            if self._workspace.current is opened:
                self._ways.read_spot(Location(link.path, link.line, link.end, link.message))

        self._look.put(self._jobs.read(lambda token: _check(opened.manager, link, token), found, refused))

    def _say(self, sentence: str) -> None:
        self._banner.say(sentence, "degraded", key=_KEY)

    # --- the workspace ----------------------------------------------------------------------------------------------

    @Slot(object)
    def _note_opening(self, folder: Path) -> None:
        self._opening = str(folder)
        if self._wanted is not None and not _same(self._opening, self._wanted.workspace):
            self._wanted = None  # the user navigated elsewhere

    @Slot(object)
    def _arrive(self, opened: Opened) -> None:
        self._opening = ""
        link, self._wanted = self._wanted, None
        if link is not None:
            self._go(link, opened)

    @Slot(object)
    def _give_up(self, _: OpenFailure) -> None:
        self._opening = ""
        self._wanted = None


class LinkEvents(QObject):
    """Receives links that the system sends to a running program, as on macOS.

    Signals: link_wanted: the address, unchanged.
    """

    link_wanted = Signal(str)

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        app = QApplication.instance()
        assert app is not None
        app.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FileOpen and isinstance(event, QFileOpenEvent):
            text = bytes(event.url().toEncoded().data()).decode("ascii", "replace")
            if is_link(text):
                self.link_wanted.emit(text)
                return True
        return False


def _check(manager: MemorySearchManager, link: Link, token: CancelToken) -> None:
    """Raise an error with the reason if the location is not among the searched files."""
    token.checkpoint()
    try:
        manager.locate(link.path)
    except Unsupported:
        pass  # only another machine has the file, but its text may be here: the reader will say
    except PathRefused:
        raise LinkRefused(
            tr("This link opens {path}, which is not among the searched files.", path=link.path)
        ) from None
    except FileNotFoundError:
        raise LinkRefused(tr("This link opens {path}, which no longer exists.", path=link.path)) from None


def _same(one: str, other: str) -> bool:
    """Whether both are written as the same folder."""
    return bool(one) and os.path.normcase(os.path.normpath(one)) == os.path.normcase(os.path.normpath(other))
