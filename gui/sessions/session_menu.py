"""What can be done with one session of the list."""

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gui.keys.binding import show_keys_of
from gui.keys.keymap import command
from gui.keys.shared import LINK, REMEMBER
from gui.lacking import Gates, Lacks
from gui.search.result_menu import copy_text
from gui.sessions.rows import SessionRow
from gui.sessions.wording import parts_text

COPY_PATH = command("sessions.copy-path", "Copy path", "sessions", QKeySequence.StandardKey.Copy)


class SessionMenu(QMenu):
    """The context menu of `row`. Copying happens here; the other actions are for the owner to connect."""

    def __init__(self, row: SessionRow, lacks: Lacks, parent: QWidget) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        summary = row.entry.summary
        self.open = self.addAction("Open")
        self.open.setShortcut(QKeySequence("Return"))
        parts = parts_text(len(row.entry.parts))
        self.fold = self.addAction(f"Hide {parts}" if row.opened else f"Show {parts}")
        self.fold.setVisible(bool(row.entry.parts))
        self.remember = self.addAction(REMEMBER.words)
        show_keys_of(self.remember, REMEMBER.name)
        self.addSeparator()
        resume = self.addAction("Copy resume command")
        resume.setEnabled(bool(summary.resume_command))
        resume.triggered.connect(lambda: copy_text(summary.resume_command))
        copy = self.addAction(COPY_PATH.words)
        show_keys_of(copy, COPY_PATH.name)
        copy.triggered.connect(lambda: copy_text(summary.path))
        self.link = self.addAction(LINK.words)
        show_keys_of(self.link, LINK.name)
        self.addSeparator()
        self.alike = self.addAction("Sessions like this one")
        gates = Gates()
        gates.hear(lacks)
        gates.add(self.alike, "alike")
