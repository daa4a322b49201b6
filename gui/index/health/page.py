"""The page that says whether the index is sound, and mends what is not."""

import time
from collections.abc import Collection

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QHideEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine import CancelToken, HealthFinding, HealthProgress, HealthRepair, IndexInsight, MemorySearchManager
from gui.index.health.findings_list import FindingsList
from gui.index.health.words import STOPPED, STOPPED_LOOKING, attention_of, outcome, step_text, summary
from gui.index.page import IndexPage
from gui.job_slot import JobSlot
from gui.jobs import Jobs
from gui.widgets.folding_row import FoldingRow
from gui.widgets.labels import breakable, label
from gui.widgets.state import StateDot
from gui.widgets.sync_bar import ProgressLine
from gui.widgets.wording import clock_time, exact

_FULL = 1000
_CALM_MS = 1500
_SUMMARY_LETTERS = 36


class HealthPage(IndexPage):
    """Looks when someone comes, when the index has come to rest after a change, and when they say so.

    A look reads the whole database, so not every commit of an update is worth one.
    """

    _came = Signal(object, object)
    _stepped = Signal(object, object)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs)
        self._deep = False
        self._looked_at = 0.0
        """When all was looked at; 0 before."""
        self._outcome = ""
        """What the last repair did, while that is to be read."""
        self._repairing = JobSlot(self)
        self._list = FindingsList()
        self._list.repair_wanted.connect(lambda id_: self.repair([id_]))
        self._calm = QTimer(self, singleShot=True, interval=_CALM_MS)
        self._calm.timeout.connect(self._look_again)
        self._came.connect(self._show_finding)
        self._stepped.connect(self._show_step)
        column = QVBoxLayout()
        column.setContentsMargins(16, 4, 16, 16)
        column.addWidget(self._list)
        column.addStretch(1)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._head())
        page.addWidget(_scrolling(column), 1)
        self.setFocusProxy(self._again)
        self.setAccessibleName("Health of the index")

    def _head(self) -> QWidget:
        """What was found at the left; at the right what can be done, or what is being done, in the same room."""
        self._dot = StateDot()
        self._summary = label("", "strong", wrap=True)
        self._said = label("", "meta", wrap=True)
        self._said.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        said = QWidget()
        lines = QGridLayout(said)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setHorizontalSpacing(10)
        lines.setVerticalSpacing(4)
        lines.addWidget(self._dot, 0, 0)
        lines.addWidget(self._summary, 0, 1)
        lines.addWidget(self._said, 1, 1)
        lines.setColumnStretch(1, 1)
        self._again, self._deeper, self._all = (QPushButton(w) for w in ("Check again", "Check deeply", "Repair all"))
        self._deeper.setToolTip("Also try the model, and embed a few passages anew on this computer to compare them.")
        self._all.setToolTip("Mend what can be mended, and bring the index up to date. Notes are never touched.")
        self._again.clicked.connect(lambda: self._asked(deep=False))
        self._deeper.clicked.connect(lambda: self._asked(deep=True))
        self._all.clicked.connect(lambda: self.repair(None))
        self._bar = ProgressLine()
        self._stop = QPushButton("Cancel")
        self._stop.clicked.connect(self._cancel)
        self._right = QStackedWidget()
        self._right.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._right.addWidget(_beside(self._again, self._deeper, self._all))
        self._right.addWidget(_beside(self._bar, self._stop))
        return FoldingRow(said, self._right, _SUMMARY_LETTERS)

    @property
    def findings(self) -> tuple[HealthFinding, ...]:
        """What was found, what needs attention first."""
        return self._list.findings

    @property
    def busy(self) -> bool:
        return super().busy or self._repairing.busy or self._calm.isActive()

    # --- looking ----------------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._repairing.cancel()
        self._deep = False
        super().set_manager(manager)
        self._show_state()

    @Slot()
    def refresh(self) -> None:
        if self.isVisible() and self.insight is not None:
            self._calm.start()
        else:
            self._stale = self.insight is not None

    @Slot()
    def _look_again(self) -> None:
        if self._repairing.busy or self._reading.busy:
            self._calm.start()
        else:
            self._look(deep=self._deep)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._calm.isActive():
            self._calm.stop()
            self._stale = True

    def read(self, insight: IndexInsight, cancel: CancelToken) -> tuple[HealthFinding, ...]:
        found = []
        deep = self._deep

        def tell(progress: HealthProgress) -> None:
            self._stepped.emit(insight, progress)

        for finding in insight.health(cancel, ask=deep, deep=deep, progress=tell):
            found.append(finding)
            self._came.emit(insight, finding)
        return tuple(found)

    def show_read(self, found: tuple[HealthFinding, ...]) -> None:
        self._looked_at = time.time()
        self._list.keep(finding.id for finding in found)
        self._show_state()
        if not self._outcome:
            self._say(f"Checked at {clock_time(self._looked_at)}.")
            self._said.setToolTip(exact(self._looked_at))
        self._announce(summary(found))
        self.attention_changed.emit(attention_of(self.findings))

    def show_problem(self, sentence: str) -> None:
        self._show_state()
        self._say(sentence)
        self._announce(sentence)

    def clear(self) -> None:
        self._calm.stop()
        self._looked_at = 0.0
        self._outcome = ""
        self._list.keep(())
        self.attention_changed.emit(())
        self._say("")
        self._show_state()

    def _read_if_due(self) -> None:
        super()._read_if_due()
        self._show_state()

    def _asked(self, *, deep: bool) -> None:
        self._outcome = ""
        self._look(deep=deep)

    def _look(self, *, deep: bool) -> None:
        if self._reading.busy or self._repairing.busy:
            return
        self._calm.stop()
        self._deep = deep
        self._stale = self.insight is not None
        self._read_if_due()

    @Slot(object, object)
    def _show_finding(self, insight: IndexInsight, finding: HealthFinding) -> None:
        if insight is self.insight and self._reading.busy:
            self._list.put(finding)

    @Slot(object, object)
    def _show_step(self, insight: IndexInsight, progress: HealthProgress) -> None:
        if insight is not self.insight or not (self._reading.busy or self._repairing.busy):
            return
        if not (self._outcome and self._reading.busy):  # what a repair did stays to be read while all is checked again
            self._said.setText(step_text(progress))
        self._bar.setValue(round(_FULL * progress.done / progress.total) if progress.total else 0)

    # --- mending ----------------------------------------------------------------------------------------------------

    def repair(self, ids: Collection[str] | None) -> None:
        """Mend what the findings of these ids told of; None: all."""
        insight = self.insight
        if insight is None or self._repairing.busy:
            return
        self._reading.cancel()
        self._outcome = ""

        def tell(progress: HealthProgress) -> None:
            self._stepped.emit(insight, progress)

        def work(token: CancelToken) -> HealthRepair:
            return insight.repair(ids, token, progress=tell)

        self._repairing.put(self.jobs.write(work, self._repaired, self._not_repaired))
        self._show_state()

    def _repaired(self, repair: HealthRepair) -> None:
        self._end_repair(outcome(repair))

    def _not_repaired(self, sentence: str) -> None:
        self._end_repair(sentence)

    def _end_repair(self, sentence: str) -> None:
        self._repairing.done()
        self._outcome = sentence
        self._say(sentence)
        self._announce(sentence)
        self._deep = False
        self._stale = self.insight is not None
        self._read_if_due()

    @Slot()
    def _cancel(self) -> None:
        if self._repairing.busy:
            self._repairing.cancel()
            self._end_repair(STOPPED)
        elif self._reading.busy:
            self._reading.cancel()
            self._say(STOPPED_LOOKING)
            self._show_state()

    # --- what is seen and heard -------------------------------------------------------------------------------------

    def _show_state(self) -> None:
        busy = self._reading.busy or self._repairing.busy
        held = self._holds_keys()  # a button that goes takes them along
        found = self._list.findings
        bad = any(finding.state != "fine" for finding in found)
        mendable = any(finding.repair for finding in found)
        self._list.set_repairable(not self._repairing.busy)
        if self._repairing.busy:
            self._summary.setText("Repairing…")
        elif self._reading.busy:
            self._summary.setText("Checking…")
        else:
            self._summary.setText(summary(found))
        self._dot.set_state("working" if busy else "degraded" if bad else "fine" if found else "off")
        for button, on in ((self._again, True), (self._deeper, True), (self._all, mendable)):
            button.setEnabled(on and not busy and self.insight is not None)
        if bool(self._right.currentIndex()) != busy:
            self._right.setCurrentIndex(int(busy))
            if held:
                (self._stop if busy else self._again).setFocus(Qt.FocusReason.OtherFocusReason)

    def _holds_keys(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self._right.isAncestorOf(focus)

    def _say(self, sentence: str) -> None:
        self._said.setText(breakable(sentence))

    def _announce(self, sentence: str) -> None:
        if QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))


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


def _scrolling(column: QLayout) -> QScrollArea:
    """On the window's own ground, as wide as there is room."""
    inside = QWidget()
    inside.setLayout(column)
    scroll = QScrollArea()
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setWidget(inside)
    scroll.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)  # Qt switches it on with setWidget
    return scroll
