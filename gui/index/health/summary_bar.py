"""The bar above the findings: a summary sentence, and the actions, or their progress."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QApplication,
    QGridLayout,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine import HealthProgress, tr
from gui.widgets.flow_layout import FoldingRow
from gui.widgets.labels import breakable, label
from gui.widgets.plain_text import set_tip
from gui.widgets.state import State, StateDot
from gui.widgets.sync_bar import ProgressLine

_FULL = 1000
_SUMMARY_LETTERS = 36


class HealthSummaryBar(QWidget):
    """Buttons for actions and, in the same place, during an action, its progress and a stop button.

    Signals: look_wanted: whether deeply. repair_wanted: of everything. stop_wanted: of the action.
    """

    look_wanted = Signal(bool)
    repair_wanted = Signal()
    stop_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dot = StateDot()
        self.summary = label("", "strong", wrap=True)
        self.said = label("", "meta", wrap=True)
        self.said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.again, self.deeper, self.all = (
            QPushButton(words) for words in (tr("Check again"), tr("Check deeply"), tr("Repair all"))
        )
        set_tip(self.deeper, tr("Also test the model, and re-embed a few passages on this computer to compare them."))
        set_tip(self.all, tr("Repair everything and update the index. Notes are never changed."))
        self.again.clicked.connect(lambda: self.look_wanted.emit(False))
        self.deeper.clicked.connect(lambda: self.look_wanted.emit(True))
        self.all.clicked.connect(self.repair_wanted)
        self.bar = ProgressLine()
        self.stop = QPushButton(tr("Cancel"))
        self.stop.clicked.connect(self.stop_wanted)
        self._right = QStackedWidget()
        self._right.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._right.addWidget(_beside(self.again, self.deeper, self.all))
        self._right.addWidget(_beside(self.bar, self.stop))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(FoldingRow(self._left(), self._right, _SUMMARY_LETTERS))

    def _left(self) -> QWidget:
        left = QWidget()
        lines = QGridLayout(left)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setHorizontalSpacing(10)
        lines.setVerticalSpacing(4)
        lines.addWidget(self.dot, 0, 0)
        lines.addWidget(self.summary, 0, 1)
        lines.addWidget(self.said, 1, 1)
        lines.setColumnStretch(1, 1)
        return left

    def show_state(self, state: State, summary: str, *, working: bool, able: bool, repairable: bool) -> None:
        """`able`: whether there is anything to check; `repairable`: to repair. The focus stays."""
        focus = QApplication.focusWidget()
        held = focus is not None and self._right.isAncestorOf(focus)  # a button that disappears would lose the focus
        self.dot.set_state(state)
        self.summary.setText(summary)
        for button, on in ((self.again, True), (self.deeper, True), (self.all, repairable)):
            button.setEnabled(on and able and not working)
        if bool(self._right.currentIndex()) != working:
            self._right.setCurrentIndex(int(working))
            if held:
                (self.stop if working else self.again).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_progress(self, progress: HealthProgress) -> None:
        self.bar.setValue(round(_FULL * progress.done / progress.total) if progress.total else 0)

    def say(self, sentence: str, tip: str = "") -> None:
        """What is being done, or was."""
        self.said.setText(breakable(sentence))
        set_tip(self.said, tip)


def _beside(*widgets: QWidget) -> QWidget:
    row = QHBoxLayout()
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    row.addStretch(1)
    for widget in widgets:
        if isinstance(widget, QPushButton):
            widget.setAutoDefault(True)
        row.addWidget(widget)
    made = QWidget()
    made.setLayout(row)
    return made
