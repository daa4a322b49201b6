"""Actions on a session of the list: its menu and shortcuts."""

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import SessionSummary, marked, tr, tr_count
from gui.commands.commands import LINK, REMEMBER, key_action, show_keys_of
from gui.commands.keymap import command
from gui.core.capabilities import Gates, MissingFeatures
from gui.core.location import Location
from gui.search.result_actions import copy_text
from gui.sessions.rows import SessionRow
from gui.sessions.session_list import SessionList
from gui.sessions.wording import UNTITLED

COPY_PATH = command("sessions.copy-path", marked("Copy path"), "sessions", QKeySequence.StandardKey.Copy)


class SessionMenu(QMenu):
    """The context menu of `row`. Copying happens here; the other actions are for the owner to connect."""

    def __init__(self, row: SessionRow, lacks: MissingFeatures, parent: QWidget) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        summary = row.entry.summary
        self.open = self.addAction(tr("Open"))
        self.open.setShortcut(QKeySequence("Return"))
        self.fold = self.addAction(_fold_words(len(row.entry.parts), opened=row.opened))
        self.fold.setVisible(bool(row.entry.parts))
        self.remember = self.addAction(REMEMBER.words)
        show_keys_of(self.remember, REMEMBER.name)
        self.addSeparator()
        resume = self.addAction(tr("Copy resume command"))
        resume.setEnabled(bool(summary.resume_command))
        resume.triggered.connect(lambda: copy_text(summary.resume_command))
        copy = self.addAction(COPY_PATH.words)
        show_keys_of(copy, COPY_PATH.name)
        copy.triggered.connect(lambda: copy_text(summary.path))
        self.link = self.addAction(LINK.words)
        show_keys_of(self.link, LINK.name)
        self.addSeparator()
        self.alike = self.addAction(tr("Sessions like this one"))
        gates = Gates()
        gates.hear(lacks)
        gates.add(self.alike, "alike")


def _fold_words(parts: int, *, opened: bool) -> str:
    if opened:
        return tr_count("Hide {count:,} sub-agent", "Hide {count:,} sub-agents", parts)
    return tr_count("Show {count:,} sub-agent", "Show {count:,} sub-agents", parts)


class SessionActions(QObject):
    """Copies itself; the other actions are signals to the owner of the sessions."""

    open_wanted = Signal(object)
    """SessionSummary to go to."""
    folded = Signal(str, bool)
    """The parts of the session with this path are to be shown, or hidden."""
    alike_wanted = Signal(str)
    """Path of the session like which others are to be found."""
    remember_wanted = Signal(str, str)
    """A note is to be made of the session with this path and title."""
    link_wanted = Signal(object)
    """Copy a link to this Location."""

    def __init__(self, sessions: SessionList, parent: QObject) -> None:
        super().__init__(parent)
        self._sessions = sessions
        self.lacks: MissingFeatures = {}
        sessions.folded.connect(self.folded)
        key_action(sessions, COPY_PATH).triggered.connect(self._copy_path)
        sessions.menu_wanted.connect(self._show_menu)
        key_action(sessions, LINK).triggered.connect(lambda: self._link(sessions.current_session()))
        remember = key_action(sessions, REMEMBER)
        remember.triggered.connect(lambda: self._remember(sessions.current_session()))

    @Slot()
    def _copy_path(self) -> None:
        summary = self._sessions.current_session()
        if summary is not None:
            copy_text(summary.path)

    @Slot(object, QPoint)
    def _show_menu(self, row: SessionRow, at: QPoint) -> None:
        menu = SessionMenu(row, self.lacks, self._sessions)
        summary = row.entry.summary
        menu.open.triggered.connect(lambda: self.open_wanted.emit(summary))
        menu.fold.triggered.connect(lambda: self.folded.emit(summary.path, not row.opened))
        menu.remember.triggered.connect(lambda: self._remember(summary))
        menu.link.triggered.connect(lambda: self._link(summary))
        menu.alike.triggered.connect(lambda: self.alike_wanted.emit(summary.path))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(at)

    def _link(self, summary: SessionSummary | None) -> None:
        if summary is not None:
            self.link_wanted.emit(Location(summary.path))

    def _remember(self, summary: SessionSummary | None) -> None:
        if summary is not None:
            self.remember_wanted.emit(summary.path, summary.title or tr(UNTITLED))
