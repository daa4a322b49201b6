"""One part of an explanation: its name with its figure, what draws it, and what it says."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gui.widgets.labels import breakable, label


class Section(QWidget):
    """Hidden while it has nothing to say; changed in place, so that nothing jumps from result to result."""

    def __init__(self, title: str, drawing: QWidget | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = title
        self._figure = label(role="muted")
        self._sentence = label(role="meta", wrap=True)
        self._sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        head = QHBoxLayout()
        head.addWidget(label(title, "section"), 1)
        head.addWidget(self._figure)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(head)
        self.drawing = drawing
        if drawing is not None:
            column.addWidget(drawing)
        column.addWidget(self._sentence)
        self.hide()

    def show_part(self, figure: str, sentence: str) -> None:
        """An empty sentence hides the section."""
        self._figure.setText(figure)
        self._sentence.setText(breakable(sentence))
        self.setAccessibleName(f"{self._name} {figure}. {sentence}")
        self.setVisible(bool(sentence))
