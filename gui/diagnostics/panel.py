"""The diagnostics dock: the whole status record, updated live, with reasons and remedies."""

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QPushButton, QWidget

from engine import FileIssue, MemoryProviderStatus, MemorySearchManager, PathRemedy, PathState, Probe, tr
from gui.core.jobs import Jobs
from gui.diagnostics.group_view import REMEDY_WORDS, Group, GroupView, Remedy, links_width, must_stack
from gui.diagnostics.path_explainer import ACTION_WORDS, PathExplainer
from gui.diagnostics.status_diagnostics import diagnostics_of
from gui.style.stylesheet import font_at
from gui.style.typography import FontSized
from gui.text.status_texts import skipped_count
from gui.widgets.accessibility import insert_after, preceding
from gui.widgets.buttons import CopyJsonButton
from gui.widgets.charts.bars import BarChart
from gui.widgets.charts.sync_history import sync_series
from gui.widgets.form_controls import Chip
from gui.widgets.labels import label, line
from gui.widgets.layouts import VerticalScrollArea, column_of, row_of
from gui.widgets.table import IssuesTable

# --- The table of files that are not in the index, failed or skipped, in the diagnostics -----------------------------

_GAP = 8
_CHIP_PADS = 24
_MANY = 888_888
"""Number of excluded files for which the layout reserves room."""


class ExcludedFiles(QWidget):
    """The table of failed or of skipped files; two chips switch between them. Hidden if both are empty.

    Signals:
        chosen: `failed` or `skipped`, whose chip was pressed.
    """

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._requested_table = ""
        self._failed_chip, self._skipped_chip = Chip(_failed(0)), Chip(_skipped(0))
        for chip, which in ((self._failed_chip, "failed"), (self._skipped_chip, "skipped")):
            chip.clicked.connect(partial(self._choose, which))
        self._chips = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._chips.setSpacing(_GAP)
        self._chips.addWidget(self._failed_chip)
        self._chips.addWidget(self._skipped_chip)
        self._chips.addStretch(1)
        self._title = label(tr("Not indexed"), "section")
        self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._head.setSpacing(_GAP)
        self._head.addWidget(self._title, 1)
        self._head.addLayout(self._chips)
        self.table = IssuesTable()
        self.table.setAccessibleName(tr("Files that are not indexed"))
        self.table.setMinimumHeight(200)
        column_of(self._head, self.table, self.table.detail, parent=self)

    @staticmethod
    def narrowest() -> int:
        """Return the width of the longer chip with a long number."""
        bold = QFontMetrics(font_at(13, QFont.Weight.DemiBold))
        return max(map(bold.horizontalAdvance, (_failed(_MANY), _skipped(_MANY)))) + _CHIP_PADS

    def fold(self, width: int) -> None:
        """Stack title and chips if they don't fit next to each other in `width` pixels."""
        title, directions = self._title.sizeHint().width(), QBoxLayout.Direction
        chips = self._failed_chip.sizeHint().width() + self._skipped_chip.sizeHint().width() + _GAP
        self._chips.setDirection(directions.LeftToRight if chips <= width else directions.TopToBottom)
        self._head.setDirection(directions.LeftToRight if title + _GAP + chips <= width else directions.TopToBottom)

    def choose(self, which: str) -> None:
        """Select the table, `failed` or `skipped`, to show from the next status record on."""
        self._requested_table = which

    def show_issues(self, failed: tuple[FileIssue, ...], skipped: tuple[FileIssue, ...]) -> None:
        skipped_shown = bool(skipped) and (self._requested_table == "skipped" or not failed)
        self._failed_chip.setText(_failed(len(failed)))
        self._skipped_chip.setText(_skipped(skipped_count(skipped)))
        self._failed_chip.setEnabled(bool(failed))
        self._skipped_chip.setEnabled(bool(skipped))
        self._failed_chip.setChecked(not skipped_shown)
        self._skipped_chip.setChecked(skipped_shown)
        self.setVisible(bool(failed or skipped))
        self.table.show_records(skipped if skipped_shown else failed)

    def take_focus(self) -> None:
        """Give the keyboard focus to the table of excluded files."""
        self.table.setFocus()

    def _choose(self, which: str, _checked: bool = False) -> None:
        self.chosen.emit(which)


def _failed(count: int) -> str:
    return tr("Failed files: {count:,}", count=count)


def _skipped(count: int) -> str:
    return tr("Skipped {count:,}", count=count)


# ---------------------------------------------------------------------------------------------------------------------

_POLL_MS = 2000
_GUTTER = 16
_MIN_WIDTH = 260
_SCROLL_BAR = 12
GROUP_SPACING = 14


class GroupColumn(QWidget):
    """Shows all groups of diagnostics below each other.

    Signals:
        remedy_pressed: name of a remedy.
        built: all missing groups were created; now they can be shown.
    """

    remedy_pressed = Signal(str)
    built = Signal()

    def __init__(self, follower: QWidget) -> None:
        """`follower`: the widget after the last button in tab order."""
        super().__init__()
        self._follower = follower
        self._views: dict[str, GroupView] = {}
        self._requested_groups: Sequence[Group] = ()
        self._answers: Mapping[str, str] = {}
        self._stacked = False
        self._column = column_of(spacing=GROUP_SPACING, parent=self)
        self._build_timer = QTimer(self, singleShot=True, interval=0)
        self._build_timer.timeout.connect(self._build_next)

    def show_groups(self, groups: Sequence[Group], answers: Mapping[str, str]) -> bool:
        """Show these groups; returns False if some must be created first: then `built` follows.

        `answers`: remedy name -> result of its last try.
        """
        self._requested_groups, self._answers = groups, answers
        if any(group.title not in self._views for group in groups):
            self._build_timer.start()
            return False
        before = self._buttons()
        for group in groups:
            self._views[group.title].show_group(group, answers)
        if self._buttons() != before:
            self._order_tabs()
        return True

    def stop(self) -> None:
        """Stop creating groups; the caller hides the column."""
        self._build_timer.stop()

    def fold(self, width: int) -> None:
        """Put values below their labels if `width` pixels are too few for both."""
        self._stacked = must_stack(width)
        self._column.setSpacing(GROUP_SPACING + 8 * self._stacked)
        for view in self._views.values():
            view.set_stacked(self._stacked)

    @Slot()
    def _build_next(self) -> None:
        """Create one group per turn of the event loop, hidden; all together would block it for some 50 ms."""
        for group in self._requested_groups:
            if group.title not in self._views:
                view = GroupView(group.title)
                view.remedy_pressed.connect(self.remedy_pressed)
                view.set_stacked(self._stacked)
                self._views[group.title] = view
                self._column.addWidget(view)
                view.show_group(group, self._answers)
                for part in view.findChildren(QWidget):
                    part.ensurePolished()
                self._build_timer.start()
                return
        self._order_tabs()
        self.built.emit()

    def _buttons(self) -> list[QPushButton]:
        """Return the buttons of all rows from top to bottom."""
        return [button for view in self._views.values() for button in view.buttons()]

    def _order_tabs(self) -> None:
        """Set the tab order: Qt puts new buttons last, but they belong before the widget after the column."""
        buttons = self._buttons()
        before = preceding(self._follower)
        while before in buttons or not before.focusPolicy() & Qt.FocusPolicy.TabFocus:
            before = preceding(before)  # ends at the follower itself
        insert_after(before, buttons)


class _UprightScroll(VerticalScrollArea):
    """A scroll area whose content has to fit the width."""

    width_changed = Signal()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.width_changed.emit()


class DiagnosticsPanel(FontSized, QWidget):
    """Shows the status record; requests a new one every two seconds, but only while visible.

    Signals:
        action_requested: `sync`, `rebuild`, `embed`, `settings`, `engine` or `try-again`, which the window runs.
        setting_requested: key of the option that excludes a file.
        refresh_requested: request a new record.
        reveal_requested: path of a failed or skipped file, as in its record.
        open_requested: PathState of a file to open.
        add_requested: path of a file or folder to index, too.
    """

    action_requested = Signal(str)
    setting_requested = Signal(str)
    refresh_requested = Signal()
    reveal_requested = Signal(str)
    open_requested = Signal(object)
    add_requested = Signal(str)

    def __init__(self, jobs: Jobs, config: Path | None = None, parent: QWidget | None = None) -> None:
        """`config`: settings file in place of the user's own."""
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._jobs = jobs
        self._status: MemoryProviderStatus | None = None
        self._answers: dict[str, str] = {}
        self._explainer_requested = False

        self._scroll = scroll = _UprightScroll(self)
        self._page = QFrame()
        scroll.setWidget(self._page)  # first: see `scrolling_column`
        self._page.setProperty("role", "side")
        self._column = column_of(spacing=GROUP_SPACING, margins=(_GUTTER, 14, _GUTTER, 14), parent=self._page)
        self.why = PathExplainer(jobs, config)
        self.why.action_requested.connect(self._act_on_path)
        self._column.addWidget(self.why)
        self._history = BarChart(tr("Recent updates"), 52, bar_width=16)
        self._groups = GroupColumn(self._history)
        self._groups.remedy_pressed.connect(self._run_remedy)
        self._groups.built.connect(self._show_again)
        self._column.addWidget(self._groups)
        self._column.addWidget(label(tr("Recent updates"), "section"))
        self._column.addWidget(self._history)
        self._excluded = ExcludedFiles()
        self._excluded.table.reveal_requested.connect(self.reveal_requested)
        self._excluded.chosen.connect(self.show_files)
        self._excluded_requested = False
        self._column.addWidget(self._excluded)
        self._column.addStretch(1)

        scroll.width_changed.connect(self._fold)
        column_of((scroll, 1), line(), self._footer(), spacing=0, parent=self)

        self._poll = QTimer(self, interval=_POLL_MS)
        self._poll.timeout.connect(self.refresh_requested)
        self.setAccessibleName(tr("Diagnostics"))
        self.measure()
        self.show_status(None)

    def _footer(self) -> QWidget:
        self._copy = CopyJsonButton(lambda: self._status, tr("Copy the whole status record"))
        footer = QFrame()
        row_of(self._copy, None, margins=(_GUTTER, 6, _GUTTER, 6), parent=footer)
        return footer

    # --- widths -----------------------------------------------------------------------------------------------------

    def measure(self) -> None:
        """Set the minimum width so that each button fits on one line."""
        words = (*REMEDY_WORDS.values(), *ACTION_WORDS.values())
        content = max(links_width(words), self._excluded.narrowest())
        self.setMinimumWidth(max(_MIN_WIDTH, content + 2 * _GUTTER + _SCROLL_BAR))
        self._fold()

    @Slot()
    def _fold(self) -> None:
        """Stack parts that don't fit next to each other."""
        self._groups.fold(self._content_width)
        self._excluded.fold(self._content_width)

    @property
    def _content_width(self) -> int:
        """Width available for content, in pixels."""
        return self._scroll.viewport().width() - 2 * _GUTTER

    # --- display ----------------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory that is shown. `reopening`: the folder is the same, and the values stay until updated."""
        self._manager = manager
        self.why.set_manager(manager, reopening=reopening)
        self._answers.clear()
        if not reopening:
            self.show_status(None)

    @property
    def busy(self) -> bool:
        """Whether the values are still to be shown."""
        return self._page.isHidden()

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update every value in place. While the panel is hidden, the record is only stored."""
        self._status = status
        self._copy.setEnabled(status is not None)
        if status is None:
            self._groups.stop()
            self._page.hide()
        elif self.isVisible():
            self._show_now(status)

    def _show_now(self, status: MemoryProviderStatus) -> None:
        if not self._groups.show_groups(diagnostics_of(status, time.time()), self._answers):
            return  # they are being made
        self.why.refresh((status.generation, status.files, status.chunks, status.vector.rows, status.last_sync))
        self._history.show_series(sync_series(status.recent_syncs))
        self._excluded.show_issues(status.failed_files, status.skipped_files)
        self._excluded.fold(self._content_width)
        self._page.show()
        if self._excluded_requested and not self._excluded.isHidden():
            QTimer.singleShot(0, self._go_to_excluded)
        self._excluded_requested = False
        if self._explainer_requested:
            self._explainer_requested = False
            QTimer.singleShot(0, self._go_to_explainer)

    def _go_to_explainer(self) -> None:
        self._scroll.ensureWidgetVisible(self.why)
        self.why.edit.setFocus()
        self.why.edit.selectAll()

    @Slot()
    def _show_again(self) -> None:
        self.show_status(self._status)

    @Slot(str)
    def show_files(self, which: str) -> None:
        """Show the table of `failed` or `skipped` files and scroll to it."""
        self._excluded.choose(which)
        self._excluded_requested = True
        self.show_status(self._status)

    def _go_to_excluded(self) -> None:
        self._scroll.ensureWidgetVisible(self._excluded, 0, 16)
        self._excluded.take_focus()

    @Slot()
    def focus_explainer(self) -> None:
        """Focus the field that explains why a file isn't found."""
        self._explainer_requested = True
        self.show_status(self._status)

    # --- remedies ---------------------------------------------------------------------------------------------------

    @Slot(str)
    def _run_remedy(self, name: Remedy) -> None:
        match name:
            case "sync" | "rebuild" | "retry" | "embed" | "settings" | "engine" | "try-again" | "restore-data":
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

    @Slot(str, object)
    def _act_on_path(self, remedy: PathRemedy, state: PathState) -> None:
        match remedy:
            case "sync":
                self.action_requested.emit("sync")
            case "settings" if state.origin is not None:
                self.setting_requested.emit(state.origin.key)
            case "add":
                self.add_requested.emit(state.file)
            case "open":
                self.open_requested.emit(state)

    def _probe(self, name: Remedy) -> None:
        manager = self._manager
        if manager is None:
            return
        self._answers[name] = tr("Testing…")
        self.show_status(self._status)
        probe = manager.probe_embedding if name == "probe-embedding" else manager.probe_vector
        self._jobs.read(lambda _: probe(), partial(self._probed, name), lambda why: self._show_answer(name, why))

    def _probed(self, name: Remedy, probe: Probe) -> None:
        self._show_answer(name, tr("The test succeeded.") if probe.ok else probe.error)
        self.refresh_requested.emit()

    def _show_answer(self, name: Remedy, answer: str) -> None:
        self._answers[name] = answer
        self.show_status(self._status)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.show_status(self._status)
        self.refresh_requested.emit()
        self._poll.start()

    def hideEvent(self, event: QHideEvent) -> None:
        self._poll.stop()
        super().hideEvent(event)
