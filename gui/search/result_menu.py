"""What can be done with one result besides opening it."""

from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import MemorySearchResult


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


class ResultMenu(QMenu):
    """The context menu of `result`. Copying happens here; `why`, `editor` and `reveal` are for the owner to connect."""

    def __init__(self, result: MemorySearchResult, parent: QWidget) -> None:
        super().__init__(parent)
        for text, copied in (
            ("Copy citation", result.citation),
            ("Copy path", result.path),
            ("Copy snippet", result.snippet),
        ):
            self.addAction(text).triggered.connect(lambda _=False, copied=copied: copy_text(copied))
        self.actions()[0].setShortcut(QKeySequence.StandardKey.Copy)
        self.addSeparator()
        self.why = self.addAction("Why this result?")
        self.why.setShortcut("Ctrl+I")
        self.addSeparator()
        self.editor = self.addAction("Open in editor")
        self.editor.setShortcut("Ctrl+E")
        self.reveal = self.addAction("Reveal in file manager")
