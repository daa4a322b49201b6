"""The page that shows whether the index is sound, and repairs it."""

import time
from collections.abc import Collection, Sequence

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QLayout,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from engine import (
    CancelToken,
    HealthFinding,
    HealthProgress,
    HealthRepair,
    IndexInsight,
    MemoryProviderStatus,
    MemorySearchManager,
    marked,
    tr,
    tr_count,
)
from gui.core.jobs import Jobs, JobSlot
from gui.index.attention_items import Attention
from gui.index.base_page import IndexPage
from gui.index.health_findings import FindingsList
from gui.text.formatting import clock_time, exact
from gui.text.plain_text import set_tip
from gui.text.status_texts import State, why_no_update
from gui.widgets.accessibility import announce
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import FoldingRow, PageStack, VerticalScrollArea, column_of, row_of
from gui.widgets.state_dot import StateDot
from gui.widgets.sync_bar import ProgressLine

_FULL = 1000
_SUMMARY_CHARACTERS = 36

_RECHECK_MS = 1500
_IN_STATUS = frozenset(
    "index notes transcripts meaning failed-file failed-files not-embedded embedding writing user-data".split()
)
"""Findings that the overview shows in separate rows."""
STOPPED_LOOKING = marked("The health check was stopped before all checks had run.")
STOPPED = marked("The repair was stopped. Repairs made so far remain.")


# --- The bar above the findings: a summary sentence, and the actions, or their progress ------------------------------


class HealthSummaryBar(QWidget):
    """Buttons to check and repair; during a check or repair, its progress and a stop button replace them.

    Signals:
        check_requested: check, deeply if True.
    """

    check_requested = Signal(bool)

    def __init__(self) -> None:
        super().__init__()
        self._refused = False
        self.dot = StateDot()
        self.summary = label("", "strong", wrap=True)
        self.message_label = label("", "meta", wrap=True)
        self.message_label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.again, self.deeper, self.all = (
            QPushButton(words) for words in (tr("Check again"), tr("Run deep check"), tr("Repair all"))
        )
        set_tip(
            self.deeper,
            tr("Also test the embedding model, and re-embed a few passages on this machine to compare their vectors."),
        )
        self.again.clicked.connect(lambda: self.check_requested.emit(False))
        self.deeper.clicked.connect(lambda: self.check_requested.emit(True))
        self.bar = ProgressLine()
        self.stop = QPushButton(tr("Cancel"))
        self._right = PageStack()
        self._right.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._right.addWidget(_in_a_row(self.again, self.deeper, self.all))
        self._right.addWidget(_in_a_row(self.bar, self.stop))
        column_of(FoldingRow(self._left_part(), self._right, _SUMMARY_CHARACTERS), parent=self)

    def _left_part(self) -> QWidget:
        left = QWidget()
        lines = QGridLayout(left)
        lines.setContentsMargins(0, 0, 0, 0)
        lines.setHorizontalSpacing(10)
        lines.setVerticalSpacing(4)
        lines.addWidget(self.dot, 0, 0)
        lines.addWidget(self.summary, 0, 1)
        lines.addWidget(self.message_label, 1, 1)
        lines.setColumnStretch(1, 1)
        return left

    def show_refusal(self, refusal: str) -> None:
        """Show why nothing can be repaired; an empty text shows what repairing does."""
        self._refused = bool(refusal)
        set_tip(self.all, refusal or tr("Repair everything and update the index. Notes are never changed."))

    def show_state(self, state: State, summary: str, *, working: bool, able: bool, repairable: bool) -> None:
        """Show a state and its summary without moving the focus.

        `working`: a check or repair runs. `able`: there is an index to check. `repairable`: there is something to
        repair.
        """
        focus = QApplication.focusWidget()
        # A button that disappears would lose the focus.
        had_focus = focus is not None and self._right.isAncestorOf(focus)
        self.dot.set_state(state)
        self.summary.setText(summary)
        for button in (self.again, self.deeper):
            button.setEnabled(able and not working)
        self.all.setEnabled(able and not working and not self._refused)
        if self.all is focus and not repairable:
            self.again.setFocus(Qt.FocusReason.OtherFocusReason)
        self.all.setVisible(repairable)
        if bool(self._right.currentIndex()) != working:
            self._right.setCurrentIndex(int(working))
            if had_focus:
                (self.stop if working else self.again).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_progress(self, progress: HealthProgress) -> None:
        self.bar.setValue(round(_FULL * progress.done / progress.total) if progress.total else 0)

    def show_message(self, sentence: str, tip: str = "") -> None:
        """Show a sentence about the current or the last check or repair."""
        self.message_label.setText(breakable(sentence))
        set_tip(self.message_label, tip)


def _in_a_row(*widgets: QWidget) -> QWidget:
    holder = QWidget()
    row_of(None, *widgets, spacing=8, parent=holder)
    return holder


# ---------------------------------------------------------------------------------------------------------------------


def summary(findings: Sequence[HealthFinding]) -> str:
    """Summarise the findings in one sentence."""
    bad = [finding for finding in findings if finding.state != "fine"]
    if not findings:
        return tr("No checks have run yet.")
    if not bad:
        return tr_count("{count} check passed.", "All {count} checks passed.", len(findings))
    checks = tr_count("{count} check", "{count} checks", len(findings))
    return tr_count(
        "{count} of {checks} needs attention.", "{count} of {checks} need attention.", len(bad), checks=checks
    )


def attention_of(findings: Sequence[HealthFinding]) -> tuple[Attention, ...]:
    """Return attention items for findings that the index status doesn't include."""
    bad = [
        finding.name
        for finding in findings
        if finding.state != "fine" and finding.id.partition(":")[0] not in _IN_STATUS
    ]
    if not bad:
        return ()
    title = tr_count("{count:,} health check needs attention", "{count:,} health checks need attention", len(bad))
    return (Attention("health", "degraded", title, ", ".join(bad), (tr("Show"), "health")),)


def step_text(progress: HealthProgress) -> str:
    if not progress.total:
        return tr("{step}…", step=progress.step)
    return tr("{step}: {done:,} of {total:,}", step=progress.step, done=progress.done, total=progress.total)


def outcome(repair: HealthRepair) -> str:
    """Return sentences with the outcome of a repair."""
    return " ".join((*repair.done, repair.problem)).strip() or tr("There was nothing to repair.")


class HealthPage(IndexPage):
    """The health page. It checks when visible, when the index is idle after a change, and on request.

    A check reads the whole database, so not every commit of an update triggers one.
    """

    _finding_arrived = Signal(object, object)
    _stepped = Signal(object, object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._deep = False
        self._outcome = ""
        """Outcome of the last repair, until the next check."""
        self._repairing, self._quick_check = JobSlot(self, jobs), JobSlot(self, jobs)
        self._for_overview = False
        """Whether the overview shows the findings."""
        self._refusal = ""
        """Why nothing can be repaired: the index cannot be written."""
        self.summary_bar = HealthSummaryBar()
        self.summary_bar.check_requested.connect(self._check_on_request)
        self.summary_bar.all.clicked.connect(lambda: self.repair(None))
        self.summary_bar.stop.clicked.connect(self._cancel)
        self.findings_list = FindingsList()
        self.findings_list.repair_requested.connect(lambda id_: self.repair([id_]))
        self._recheck_timer = QTimer(self, singleShot=True, interval=_RECHECK_MS)
        self._recheck_timer.timeout.connect(self._check_again)
        self._finding_arrived.connect(self._show_finding)
        self._stepped.connect(self._show_step)
        column = column_of(self.findings_list, None, margins=(16, 4, 16, 16))
        column_of(self.summary_bar, (_scrolling(column), 1), spacing=0, parent=self)
        self.setFocusProxy(self.summary_bar.again)
        self.setAccessibleName(tr("Health of the index"))

    @property
    def findings(self) -> tuple[HealthFinding, ...]:
        """The findings in display order, those that need attention first."""
        return self.findings_list.findings

    @property
    def busy(self) -> bool:
        return super().busy or self._repairing.busy or self._recheck_timer.isActive()

    # --- checks -----------------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._repairing.cancel()
        self._quick_check.cancel()
        self._deep = False
        super().set_manager(manager)
        self._show_state()
        self._check_quickly()

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Disable all repairs while the index cannot be written."""
        refusal = why_no_update(status) if status else ""
        if refusal != self._refusal:
            self._refusal = refusal
            self._show_state()

    @Slot()
    def refresh(self) -> None:
        if self.isVisible() and self.insight is not None:
            self._recheck_timer.start()
        else:
            self._stale = self.insight is not None
            self._check_quickly()

    def show_overview(self, shown: bool) -> None:
        """Set whether the overview is visible. It shows the findings of quick counts until a full check has run."""
        self._for_overview = shown
        self._check_quickly()

    def _check_quickly(self) -> None:
        insight = self.insight
        if insight is None or not self._for_overview or self.findings or self._quick_check.busy:
            return
        self._quick_check.read(insight.quick_check, self._show_quick_check)

    def _show_quick_check(self, findings: tuple[HealthFinding, ...]) -> None:
        if not self.findings:
            self.attention_changed.emit(attention_of(findings))

    @Slot()
    def _check_again(self) -> None:
        if self._repairing.busy or self._read_job.busy:
            self._recheck_timer.start()
        else:
            self._check(deep=False)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._recheck_timer.isActive():
            self._recheck_timer.stop()
            self._stale = True

    def read(self, insight: IndexInsight, cancel: CancelToken) -> tuple[HealthFinding, ...]:
        findings = []
        deep = self._deep

        def report(progress: HealthProgress) -> None:
            self._stepped.emit(insight, progress)

        for finding in insight.health(cancel, probe=deep, deep=deep, progress=report):
            findings.append(finding)
            self._finding_arrived.emit(insight, finding)
        return tuple(findings)

    def show_read(self, findings: tuple[HealthFinding, ...]) -> None:
        now = time.time()
        self._deep = False
        self.findings_list.retain(finding.id for finding in findings)
        self._show_state()
        if not self._outcome:
            self.summary_bar.show_message(tr("The index was checked at {time}.", time=clock_time(now)), exact(now))
        announce(self, summary(findings))
        self.attention_changed.emit(attention_of(self.findings))

    def show_problem(self, sentence: str) -> None:
        self._deep = False
        self._show_state()
        self.summary_bar.show_message(sentence)
        announce(self, sentence)

    def clear(self) -> None:
        self._recheck_timer.stop()
        self._outcome = ""
        self.findings_list.retain(())
        self.attention_changed.emit(())
        self.summary_bar.show_message("")
        self._show_state()

    def _read_if_due(self) -> None:
        super()._read_if_due()
        self._show_state()

    @Slot(bool)
    def _check_on_request(self, deep: bool) -> None:
        self._outcome = ""
        self._check(deep=deep)

    def _check(self, *, deep: bool) -> None:
        if self._read_job.busy or self._repairing.busy:
            return
        self._recheck_timer.stop()
        self._deep = deep
        self._stale = self.insight is not None
        self._read_if_due()

    @Slot(object, object)
    def _show_finding(self, insight: IndexInsight, finding: HealthFinding) -> None:
        if insight is self.insight and self._read_job.busy:
            self.findings_list.show_finding(finding)

    @Slot(object, object)
    def _show_step(self, insight: IndexInsight, progress: HealthProgress) -> None:
        if insight is not self.insight or not (self._read_job.busy or self._repairing.busy):
            return
        if not (self._outcome and self._read_job.busy):  # the outcome of a repair stays visible during the next check
            self.summary_bar.show_message(step_text(progress))
        self.summary_bar.show_progress(progress)

    # --- repairs ----------------------------------------------------------------------------------------------------

    def repair(self, ids: Collection[str] | None) -> None:
        """Repair the findings with these ids; None repairs all."""
        insight = self.insight
        if insight is None or self._repairing.busy:
            return
        self._read_job.cancel()
        self._outcome = ""

        def report(progress: HealthProgress) -> None:
            self._stepped.emit(insight, progress)

        def work(token: CancelToken) -> HealthRepair:
            return insight.repair(ids, token, progress=report)

        self._repairing.write(work, lambda repair: self._end_repair(outcome(repair)), self._end_repair)
        self._show_state()

    def _end_repair(self, sentence: str) -> None:
        self._outcome = sentence
        self.summary_bar.show_message(sentence)
        announce(self, sentence)
        self._deep = False
        self._stale = self.insight is not None
        self._read_if_due()

    @Slot()
    def _cancel(self) -> None:
        if self._repairing.busy:
            self._repairing.cancel()
            self._end_repair(tr(STOPPED))
        elif self._read_job.busy:
            self._read_job.cancel()
            self._deep = False
            self.summary_bar.show_message(tr(STOPPED_LOOKING))
            self._show_state()

    # --- display ---------------------------------------------------------------------------------------------------

    def _show_state(self) -> None:
        findings = self.findings_list.findings
        working = self._read_job.busy or self._repairing.busy
        bad = any(finding.state != "fine" for finding in findings)
        headline = tr("Checking…") if working else summary(findings)
        if self._repairing.busy:
            headline = tr("Repairing…")
        self.findings_list.set_complete(not working)
        self.findings_list.set_repairable(not self._repairing.busy, self._refusal)
        self.summary_bar.show_refusal(self._refusal)
        self.summary_bar.show_state(
            "working" if working else "degraded" if bad else "fine" if findings else "off",
            headline,
            working=working,
            able=self.insight is not None,
            repairable=any(finding.repair for finding in findings),
        )


def _scrolling(column: QLayout) -> QScrollArea:
    """Return a scroll area without a background."""
    inside = QWidget()
    inside.setLayout(column)
    scroll = VerticalScrollArea()
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidget(inside)
    scroll.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)  # Qt switches it on with setWidget
    return scroll
