"""Finding in the shown text: the words of the query, or the text of the open find bar."""

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from engine import tr
from gui.core.jobs import Jobs
from gui.viewer.find_messages import FindMessages
from gui.viewer.match_navigator import MatchNavigator
from gui.widgets.buttons import add_clear_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import label, line
from gui.widgets.mirrored import margins


class FindBar(QFrame):
    """A line edit, a count, and buttons to step.

    Signals: needle_changed: the text to find. step_requested: True for the next match, False for the previous. closed:
    the user closed the bar.
    """

    needle_changed = Signal(str)
    step_requested = Signal(bool)
    closed = Signal()

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        """`words` is the placeholder text."""
        super().__init__(parent)
        self.setProperty("role", "side")
        self.box = QLineEdit()
        self.box.setPlaceholderText(words)
        self.box.setAccessibleName(words)
        add_clear_button(self.box)
        self.box.textChanged.connect(self.needle_changed)
        self.box.installEventFilter(self)
        self.count = label(role="meta")
        self.count.setMinimumWidth(72)
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        before = IconButton("chevron-up", tr("Previous match"))
        before.set_accessible(tr("Previous match"), tr("Previous match (Shift+Enter)"))
        after = IconButton("chevron-down", tr("Next match"))
        after.set_accessible(tr("Next match"), tr("Next match (Enter)"))
        close = IconButton("close", tr("Close the find bar"))
        close.set_accessible(tr("Close the find bar"), tr("Close (Esc)"))
        before.clicked.connect(lambda: self.step_requested.emit(False))
        after.clicked.connect(lambda: self.step_requested.emit(True))
        close.clicked.connect(self.closed)
        row = QHBoxLayout()
        row.setContentsMargins(margins(12, 6, 8, 6))
        row.setSpacing(4)
        row.addWidget(self.box, 1)
        row.addWidget(self.count)
        for button in (before, after, close):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row)
        column.addWidget(line())

    def open(self, needle: str) -> None:
        """Show the bar with this text (or the last one) and take the keys."""
        self.show()
        if needle and needle != self.box.text():
            self.box.setText(needle)
        elif self.box.text():
            self.needle_changed.emit(self.box.text())
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter and Shift+Enter step; a line edit would drop the Shift."""
        enter = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in enter:
            self.step_requested.emit(not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


class FindInText(QObject):
    """Connects the find bar with navigation between hits.

    Signals: closed: the find bar was closed. notice: a message that a step wrapped around or found nothing.
    """

    closed = Signal()
    notice = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject, words: FindMessages) -> None:
        super().__init__(parent)
        self.bar = FindBar(tr(words.find))
        self.bar.hide()
        self.hits = MatchNavigator(jobs, self, words)
        self.bar.needle_changed.connect(self.hits.find)
        self.bar.step_requested.connect(self.step)
        self.bar.closed.connect(self.closed)
        self.hits.counted.connect(self.bar.count.setText)
        self.hits.notice.connect(self.notice)

    @property
    def open(self) -> bool:
        """Whether the find bar is open."""
        return not self.bar.isHidden()

    def step(self, forward: bool) -> None:
        """Go to the next hit, or to the one before."""
        self.hits.step(forward=forward)

    def close(self) -> bool:
        """Close the bar and remove its highlights; returns whether it had the focus."""
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.bar.isAncestorOf(focus)
        self.bar.hide()
        self.hits.find("")
        return had_focus
