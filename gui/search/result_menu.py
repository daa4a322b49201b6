"""What can be done with one result besides opening it."""

from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import MemorySearchResult
from gui.lacking import Gates, Lacks
from gui.widgets.keys import LIKE, LIKE_KEY, WITHIN, WITHIN_KEY


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


class ResultMenu(QMenu):
    """The context menu of `result`. Copying happens here; the other actions are for the owner to connect."""

    def __init__(self, result: MemorySearchResult, lacks: Lacks, parent: QWidget) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self.like = self.addAction(LIKE)
        self.like.setShortcut(LIKE_KEY)
        self.within = self.addAction(WITHIN)
        self.within.setShortcut(WITHIN_KEY)
        self.addSeparator()
        for text, copied in (
            ("Copy citation", result.citation),
            ("Copy path", result.path),
            ("Copy snippet", result.snippet),
        ):
            action = self.addAction(text)
            action.triggered.connect(lambda _=False, copied=copied: copy_text(copied))
            if copied == result.citation:
                action.setShortcut(QKeySequence.StandardKey.Copy)
        self.addSeparator()
        self.why = self.addAction("Why this result?")
        self.why.setShortcut("Ctrl+I")
        self.addSeparator()
        self.editor = self.addAction("Open in editor")
        self.editor.setShortcut("Ctrl+E")
        self.reveal = self.addAction("Reveal in file manager")
        gates = Gates()
        gates.hear(lacks)
        gates.add(self.like, "alike")
        gates.add(self.within, "narrowing")
        gates.add(self.why, "explanation")
