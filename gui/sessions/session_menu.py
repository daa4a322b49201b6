"""What can be done with one session of the list."""

from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import marked, tr, tr_count
from gui.commands.binding import show_keys_of
from gui.commands.keymap import command
from gui.commands.shared import LINK, REMEMBER
from gui.core.capabilities import Gates, MissingFeatures
from gui.search.result_menu import copy_text
from gui.sessions.rows import SessionRow

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
