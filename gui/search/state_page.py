"""What stands in the list's place when there are no results: one sentence, and what can be done about it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QGridLayout, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from engine import SearchExplanation
from gui.style import font_at
from gui.widgets.labels import label
from gui.widgets.wording import grouped

KEYS = (
    ("Down", "go to the results"),
    ("Enter", "open the result"),
    ("Esc", "back to the box, then clear it"),
    ("Alt Up", "an earlier question"),
    ("Ctrl K", "search from anywhere"),
)
_WIDEST = 420
_BESIDE = 2
"""Buttons that a narrow list has room for beside each other."""

Action = tuple[str, Callable[[], None]]


class StatePage(QScrollArea):
    """A title, a sentence, an optional table and buttons; replaced as a whole by each `show_state`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._title = label()
        self._buttons: list[QPushButton] = []

    def show_state(
        self, title: str, sentence: str, *, actions: Sequence[Action] = (), table: QWidget | None = None
    ) -> None:
        """Show this, and nothing of what was shown before."""
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(32, 40, 32, 24)
        column.setSpacing(8)
        self._title = label(title, "strong", wrap=True)
        self._title.setFont(font_at(15))
        for words in (self._title, label(sentence, "meta", wrap=True)):
            words.setMaximumWidth(_WIDEST)
            column.addWidget(words)
            if not words.text():
                words.hide()
        if table is not None:
            column.addSpacing(8)
            column.addWidget(table)
        self._buttons = [self._button(text, act) for text, act in actions]
        for start in range(0, len(self._buttons), _BESIDE):
            row = QHBoxLayout()
            row.setSpacing(8)
            for button in self._buttons[start : start + _BESIDE]:
                row.addWidget(button)
            row.addStretch(1)
            column.addSpacing(0 if start else 8)
            column.addLayout(row)
        column.addStretch(1)
        page.setAccessibleName(" ".join(part for part in (title, sentence) if part))
        self.setAccessibleName(page.accessibleName())
        self.setWidget(page)  # deletes the page before

    def has_focus(self) -> bool:
        """One of the page's buttons has the focus."""
        return any(button.hasFocus() for button in self._buttons)

    def take_focus(self) -> bool:
        """Go to the first action; False where there is none."""
        if self._buttons:
            self._buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
        return bool(self._buttons)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._title.setFont(font_at(15))

    @staticmethod
    def _button(text: str, act: Callable[[], None]) -> QPushButton:
        button = QPushButton(text)
        button.clicked.connect(lambda _checked: act())
        return button


def make_key_table() -> QWidget:
    """The keys that matter here, each with what it does."""
    table = QWidget()
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(6)
    for row, (key, does) in enumerate(KEYS):
        grid.addWidget(label(key), row, 0)
        grid.addWidget(label(does, "meta", wrap=True), row, 1)
    grid.setColumnStretch(1, 1)
    return table


def make_stage_table(explanation: SearchExplanation) -> QWidget:
    """What each stage of the search took in, let through and why it kept the rest."""
    table = QWidget()
    grid = QGridLayout(table)
    grid.setContentsMargins(0, 0, 0, 0)
    grid.setVerticalSpacing(2)
    for number, stage in enumerate(explanation.stages):
        name = stage.name[:1].upper() + stage.name[1:]
        grid.addWidget(label(name, "strong"), 3 * number, 0)
        counts = label(f"{grouped(stage.entered)} in, {grouped(stage.left)} left", "meta")
        grid.addWidget(counts, 3 * number, 1, Qt.AlignmentFlag.AlignRight)
        grid.addWidget(label(stage.note, "meta", wrap=True), 3 * number + 1, 0, 1, 2)
        grid.setRowMinimumHeight(3 * number + 2, 8)
    grid.setColumnStretch(0, 1)
    return table
