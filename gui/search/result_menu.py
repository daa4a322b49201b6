"""What can be done with one result besides opening it."""

from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import MemorySearchResult
from gui.keys.binding import show_keys_of
from gui.keys.keymap import Command, command
from gui.keys.shared import EDIT, EXPLAIN, LIKE, LINK, WITHIN
from gui.lacking import Gates, Lacks

CITE = command("results.cite", "Copy citation", "results", QKeySequence.StandardKey.Copy)
COPY_PATH = command("results.copy-path", "Copy path", "results")
COPY_SNIPPET = command("results.copy-snippet", "Copy snippet", "results")
REVEAL = command("results.reveal", "Reveal in file manager", "results")


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


class ResultMenu(QMenu):
    """The context menu of `result`. Copying happens here; the other actions are for the owner to connect."""

    def __init__(self, result: MemorySearchResult, lacks: Lacks, parent: QWidget) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self.like = self._entry(LIKE)
        self.within = self._entry(WITHIN)
        self.addSeparator()
        for known, copied in (
            (CITE, result.citation),
            (COPY_PATH, result.path),
            (COPY_SNIPPET, result.snippet),
        ):
            self._entry(known).triggered.connect(lambda _=False, copied=copied: copy_text(copied))
        self.link = self._entry(LINK)
        self.addSeparator()
        self.why = self._entry(EXPLAIN)
        self.addSeparator()
        self.editor = self._entry(EDIT)
        self.reveal = self._entry(REVEAL)
        gates = Gates()
        gates.hear(lacks)
        gates.add(self.like, "alike")
        gates.add(self.within, "narrowing")
        gates.add(self.why, "explanation")

    def _entry(self, known: Command) -> QAction:
        made = self.addAction(known.words)
        show_keys_of(made, known.name)
        return made
