"""The diagnostics dock: the whole status record, live, with reasons and remedies."""

import time
from functools import partial

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication, QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from engine import MemoryProviderStatus, MemorySearchManager, Probe, to_json
from gui.diagnostics.group_view import GroupView
from gui.diagnostics.history import SyncHistory
from gui.diagnostics.readings import Remedy, read_status
from gui.jobs import Jobs
from gui.widgets.chip import Chip
from gui.widgets.issues_table import IssuesTable
from gui.widgets.labels import breakable, label, line
from gui.widgets.wording import grouped

_POLL_MS = 2000
_COPIED_MS = 1500


class DiagnosticsPanel(QWidget):
    """Shows status records that others bring; asks for a fresh one every two seconds, but only while visible.

    Signals:
        action_requested: `sync` or `rebuild`, which the window does.
        refresh_requested: the shown record is old.
        reveal_requested: path of a failed or skipped file, as in its record.
    """

    action_requested = Signal(str)
    refresh_requested = Signal()
    reveal_requested = Signal(str)

    def __init__(self, manager: MemorySearchManager | None, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._manager = manager
        self._jobs = jobs
        self._status: MemoryProviderStatus | None = None
        self._answers: dict[str, str] = {}
        self._groups: dict[str, GroupView] = {}

        self._page = QFrame()
        self._page.setProperty("role", "side")
        self._column = QVBoxLayout(self._page)
        self._column.setContentsMargins(16, 14, 16, 14)
        self._column.setSpacing(14)
        self._places = QVBoxLayout()
        self._places.setSpacing(14)
        self._column.addLayout(self._places)
        self._build_history()
        self._build_issues()
        self._column.addStretch(1)

        self._scroll = scroll = QScrollArea()
        scroll.setWidget(self._page)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addWidget(scroll, 1)
        outer.addWidget(line())
        outer.addWidget(self._footer())

        self._poll = QTimer(self)
        self._poll.setInterval(_POLL_MS)
        self._poll.timeout.connect(self.refresh_requested)
        self.setAccessibleName("Diagnostics")
        self.setMinimumWidth(260)
        self.show_status(None)

    def _build_history(self) -> None:
        self._history_title = label("Last syncs", "section")
        self._history = SyncHistory()
        self._column.addWidget(self._history_title)
        self._column.addWidget(self._history)

    def _build_issues(self) -> None:
        self._failed_chip, self._skipped_chip = Chip("Failed", yields=True), Chip("Skipped", yields=True)
        for chip, which in ((self._failed_chip, "failed"), (self._skipped_chip, "skipped")):
            chip.clicked.connect(partial(self.show_files, which))
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(label("Left out", "section"))
        row.addStretch(1)
        row.addWidget(self._failed_chip)
        row.addWidget(self._skipped_chip)
        self._table = IssuesTable()
        self._table.setAccessibleName("Files that were left out")
        self._table.setMinimumHeight(200)
        self._table.reveal_requested.connect(self.reveal_requested)
        detail = label("", "meta", wrap=True)
        self._table.chosen.connect(lambda text: detail.setText(breakable(text)))
        self._issues = QWidget()
        column = QVBoxLayout(self._issues)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self._table)
        column.addWidget(detail)
        self._column.addWidget(self._issues)
        self._chosen = ""

    def _footer(self) -> QWidget:
        self._copy = QPushButton("Copy as JSON")
        self._copy.setToolTip("Copy the whole status record")
        self._copy.clicked.connect(self._copy_json)
        self._copied = QTimer(self)
        self._copied.setSingleShot(True)
        self._copied.setInterval(_COPIED_MS)
        self._copied.timeout.connect(partial(self._copy.setText, self._copy.text()))
        footer = QFrame()
        row = QHBoxLayout(footer)
        row.setContentsMargins(16, 6, 16, 6)
        row.addWidget(self._copy)
        row.addStretch(1)
        return footer

    # --- what is shown ----------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._manager = manager
        self._answers.clear()
        self.show_status(None)

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update every value in place. Does nothing costly while the panel is hidden."""
        self._status = status
        self._copy.setEnabled(status is not None)
        if not self.isVisible() and self._groups and status is not None:
            return
        self._page.setVisible(status is not None)
        if status is None:
            return
        before = [button for view in self._groups.values() for button in view.buttons()]
        for group in read_status(status, time.time()):
            if group.title not in self._groups:
                view = GroupView(group.title)
                view.remedy_pressed.connect(self._remedy)
                self._groups[group.title] = view
                self._places.addWidget(view)
            self._groups[group.title].show_group(group, self._answers)
        buttons = [button for view in self._groups.values() for button in view.buttons()]
        if buttons != before:
            self._order_tabs(buttons)
        self._history.show_syncs(status.recent_syncs)
        self._show_issues()

    def _order_tabs(self, buttons: list[QPushButton]) -> None:
        """Rows come and go, and Qt puts each new button last: they belong before the history."""
        before: QWidget | None = self._history.previousInFocusChain()
        while before is not None and (before in buttons or not before.focusPolicy() & Qt.FocusPolicy.TabFocus):
            before = before.previousInFocusChain()  # at last the history itself
        for button in buttons:
            if before is not None:
                QWidget.setTabOrder(before, button)
            before = button

    @Slot(str)
    def show_files(self, which: str, _checked: bool = False) -> None:
        """Bring the table of `failed` or `skipped` files into view."""
        self._chosen = which
        self._show_issues()
        if not self._issues.isHidden():
            QTimer.singleShot(0, self._scroll_to_issues)

    def _scroll_to_issues(self) -> None:
        self._scroll.ensureWidgetVisible(self._issues, 0, 16)
        self._table.setFocus()

    def _show_issues(self) -> None:
        if self._status is None:
            return
        failed, skipped = self._status.failed_files, self._status.skipped_files
        skipped_shown = bool(skipped) and (self._chosen == "skipped" or not failed)
        self._failed_chip.setText(f"Failed {grouped(len(failed))}")
        self._skipped_chip.setText(f"Skipped {grouped(len(skipped))}")
        self._failed_chip.setEnabled(bool(failed))
        self._skipped_chip.setEnabled(bool(skipped))
        self._failed_chip.setChecked(not skipped_shown)
        self._skipped_chip.setChecked(skipped_shown)
        self._issues.setVisible(bool(failed or skipped))
        self._table.show_records(skipped if skipped_shown else failed)

    # --- remedies ---------------------------------------------------------------------------------------------------

    @Slot(str)
    def _remedy(self, name: Remedy) -> None:
        match name:
            case "sync" | "rebuild":
                self.action_requested.emit(name)
            case "show-failed":
                self.show_files("failed")
            case "show-skipped":
                self.show_files("skipped")
            case "show-index":
                if self._status is not None:
                    self.reveal_requested.emit(self._status.db_path)
            case "probe-embedding" | "probe-vector":
                self._probe(name)

    def _probe(self, name: Remedy) -> None:
        manager = self._manager
        if manager is None:
            return
        self._answers[name] = "Trying…"
        self.show_status(self._status)
        probe = manager.probe_embedding if name == "probe-embedding" else manager.probe_vector
        self._jobs.read(lambda _: probe(), partial(self._probed, name), lambda why: self._tell(name, why))

    def _probed(self, name: Remedy, probe: Probe) -> None:
        self._tell(name, "It answered." if probe.ok else probe.error)
        self.refresh_requested.emit()

    def _tell(self, name: Remedy, answer: str) -> None:
        self._answers[name] = answer
        self.show_status(self._status)

    @Slot()
    def _copy_json(self) -> None:
        if self._status is None:
            return
        QGuiApplication.clipboard().setText(to_json(self._status, indent=2))
        self._copy.setText("Copied")
        self._copied.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_status(self._status)
        self.refresh_requested.emit()
        self._poll.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._poll.stop()
        super().hideEvent(event)
