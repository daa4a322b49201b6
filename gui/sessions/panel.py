"""The sessions panel: lists the sessions that match the box and filters, and opens one of them.

It owns two widgets that the window places separately: `header` for the top bar and `body` for the left column.
"""

from collections.abc import Callable, Set
from datetime import date

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine import (
    CancelToken,
    Feature,
    FoundSources,
    MemoryProviderStatus,
    MemorySearchManager,
    SessionSummary,
    find_sources,
    tr,
)
from gui.core.capabilities import Gate, capabilities, why_missing
from gui.core.jobs import Jobs, JobSlot
from gui.core.view_spec import ViewPanel
from gui.sessions import listing_view
from gui.sessions.content_search import ContentSearch
from gui.sessions.filter_controller import FilterChips, FilterController, SessionsViewState
from gui.sessions.list_builder import ListBuilder, RunningSessions, SessionListLoader, SimilarList
from gui.sessions.listing_view import ListingView
from gui.sessions.session_catalog import EMPTY
from gui.sessions.session_list import SessionActions
from gui.widgets.layouts import FoldingRow
from gui.widgets.placeholder_page import NothingToRead
from gui.widgets.query_box import QueryBox

BOX_CHARACTERS = 40
"""Least width of the box in characters; if it would be narrower, the filters move below it."""
_CHECK_MS = 60_000
"""Milliseconds between checks of the date; a timer until midnight would be late after the machine has slept."""
PREVIEW_MS = 120


class SessionFollower(QObject):
    """Debounces the current session of the list, so that scrolling does not open each one.

    Signals:
        selected: SessionSummary to show as a preview, or None.
        activated: SessionSummary to open.
    """

    selected = Signal(object)
    activated = Signal(object)

    def __init__(
        self,
        current: Callable[[], SessionSummary | None],
        best_match: Callable[[str], tuple[object, ...]],
        parent: QObject,
    ) -> None:
        """`current`: returns the current session of the list. `best_match`: returns the location of the best match in a
        path."""
        super().__init__(parent)
        self._current = current
        self._best_match = best_match
        self._emitted: tuple[object, ...] = ()
        self._pause = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._pause.timeout.connect(self._emit_selected)

    @property
    def pending(self) -> bool:
        """Whether a change is still to be emitted."""
        return self._pause.isActive()

    @Slot(object)
    def follow(self, summary: SessionSummary | None) -> None:
        """Emit the current session after a pause, unless neither it nor the location in it has changed."""
        if self._identity(summary) != self._emitted:
            self._pause.start()

    def forget(self) -> None:
        """Cancel a pending signal and forget the last session; call it when the list is cleared."""
        self._pause.stop()
        self._emitted = ()

    def activate(self, summary: SessionSummary) -> None:
        """Emit the signal to open this session without a pause."""
        self._pause.stop()
        self._emitted = self._identity(summary)
        self.activated.emit(summary)

    @Slot()
    def _emit_selected(self) -> None:
        summary = self._current()
        self._emitted = self._identity(summary)
        self.selected.emit(summary)

    def _identity(self, summary: SessionSummary | None) -> tuple[object, ...]:
        return () if summary is None else (summary.path, *self._best_match(summary.path))


class DateChange(QObject):
    """Checks whether the local date has changed, so that "Today" stays correct.

    Signals: changed: the date differs from that of the last check.
    """

    changed = Signal()

    def __init__(self, today: Callable[[], date], parent: QObject) -> None:
        super().__init__(parent)
        self._today = today
        self._day = today()
        self._timer = QTimer(self, interval=_CHECK_MS)
        self._timer.setTimerType(Qt.TimerType.VeryCoarseTimer)
        self._timer.timeout.connect(self.check)

    def run(self, on: bool) -> None:
        """Start or (not `on`) stop checking."""
        self._day = self._today()
        self._timer.start() if on else self._timer.stop()

    @Slot()
    def check(self) -> None:
        """Compare the current date with that of the last check."""
        before, self._day = self._day, self._today()
        if self._day != before:
            self.changed.emit()


class SessionsPanel(QObject, ViewPanel):
    """The sessions view: the search box with its filters, the list, and the signal with the session to open."""

    session_activated = Signal(object)
    """SessionSummary to open."""
    session_selected = Signal(object)
    """SessionSummary, or None: the conversation should follow."""
    narrowed = Signal()
    """The criteria or the order have changed."""
    settled = Signal()
    """Nothing is running or due: the list is up to date."""

    def __init__(self, jobs: Jobs, *, today: Callable[[], date] = date.today, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._compared_next = ""
        self._return_next = ""
        self._when_shown: list[Callable[[], None]] = []
        """Functions to call once, as soon as the list that is being built is shown."""
        self._reader = SessionListLoader(jobs, self)
        self._content = ContentSearch(jobs, self)
        self._days = DateChange(today, self)
        self.box = QueryBox(
            tr("Search by title, project or words"), tr("Find a session"), tr("Title, project or words")
        )
        self.chips = FilterChips()
        self.view = ListingView(parent)
        self._filters = FilterController(self.box, self.chips, self.view, self)
        self.listed = ListBuilder(self._reader, self._content, self._filters, self.view, today, self)
        self.running = RunningSessions(jobs, self._reader, self.view, self)
        self.actions = SessionActions(self.view.list, self)
        self._similar = SimilarList(jobs, self._reader, self.view, self)
        self._find_job = JobSlot(self, jobs)
        self._follower = SessionFollower(self._session_to_read, self.best_match, self)
        Gate(self.box.edit, "sessions")
        self.header = FoldingRow(self.box, self.chips, BOX_CHARACTERS)
        self.body: QWidget = self.view
        self._connect()
        self.set_manager(None)

    def _connect(self) -> None:
        capabilities().changed.connect(self._follow_features)
        self._follower.selected.connect(self._emit_session)
        self._follower.activated.connect(self._emit_activated)
        self._reader.read.connect(self._on_sessions)
        self._reader.idle.connect(self._emit_settled)
        self.running.changed.connect(lambda: self.view.list.show_running(self.running.paths))
        self._similar.left.connect(self._go_back)
        self._similar.settled.connect(self._emit_settled)
        self._days.changed.connect(self._show_again)
        self._content.found.connect(self._show_again)
        self._content.slow.connect(self._show_searching)
        self._content.failed.connect(self._show_failed_search)
        self._content.idle.connect(self._emit_settled)
        self.box.text_changed.connect(self._typed)
        self.box.edit.list_requested.connect(self.focus_list)
        self.box.edit.accepted.connect(self._accept)
        self._filters.narrowed.connect(self._show_filtered)
        for signal in (self._filters.narrowed, self._filters.order_changed):
            signal.connect(self.narrowed)
        self.listed.shown.connect(self._on_shown)
        self.listed.again_requested.connect(self.refresh)
        self.view.folders_requested.connect(self._find_folders)
        listed = self.view.list
        listed.current_changed.connect(self._follower.follow)
        listed.opened.connect(self._follower.activate)
        listed.left.connect(self._leave_list)
        listed.typed.connect(self.box.type_key)
        self.actions.open_requested.connect(self._follower.activate)
        self.actions.folded.connect(self.listed.fold)
        self.actions.similar_requested.connect(self.show_similar)
        self.view.header.sort_button.menu().addAction(self.actions.figures)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether sessions are being read or searched; False once `settled` was emitted."""
        parts = self._reader, self.listed, self._content, self._similar, self._find_job
        return self._follower.pending or any(part.busy for part in parts)

    @property
    def listing(self) -> bool:
        """Whether the list for the current criteria is still being built."""
        return self.listed.busy

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory whose sessions are listed; emits no signal for the sessions that disappear.

        `reopening`: it is one of the same folder; the position in the list stays.
        """
        self._manager = manager
        self._content.set_manager(None if why_missing("filters") else manager, reopening=reopening)
        if not reopening:
            self._forget_listed()
        listed = None if why_missing("sessions") else manager
        self._reader.set_manager(listed, reopening=reopening)
        self.running.set_manager(listed)
        if manager is not None or not reopening:
            self._content.start_search(self._filters.criteria.text)

    def _forget_listed(self) -> None:
        """Empty the list before the sessions of another folder are read."""
        self._similar.end()
        self._compared_next = ""
        if self._manager is None:
            self._return_next = ""
        self._days.run(self._manager is not None)
        self.box.setEnabled(self._manager is not None)
        self.chips.show_catalogue(EMPTY)
        self._when_shown.clear()
        self.listed.begin(reading=self._manager is not None)
        self._follower.forget()

    @Slot(object)
    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the messages about missing sessions after a change of the index status."""
        if self.listed.update_status(status):
            self._show_again()

    @Slot(object)
    def _follow_features(self, features: Set[Feature]) -> None:
        if features & {"sessions", "filters"}:
            self.set_manager(self._manager)

    @Slot()
    def refresh(self) -> None:
        """Read the list again after a change of the index, without moving it."""
        self._reader.refresh()
        self._content.repeat()

    @Slot()
    def focus_box(self) -> None:
        """Focus the search box and select its text."""
        self.box.focus_all()

    @Slot()
    def focus_list(self) -> None:
        """Focus the list or the buttons shown instead of it; else the box."""
        if self.view.has_rows:
            self.view.list.take_focus()
        elif not self.view.page.take_focus():
            self.box.focus()

    def search(self, text: str) -> None:
        """Enter `text` in the box and search for it."""
        self.box.edit.setText(text)
        self._content.search_now()

    def best_match(self, path: str) -> tuple[int | None, str]:
        """Return the line of the best hit in a session (None without one) and the text that was searched for."""
        return self._content.hits.line(path, self.chips.role), self._filters.criteria.text

    @Slot(str, str)
    def filter_by(self, name: str, value: str) -> None:
        """Set the filter for agent, project, machine, model or day (2026-02-11)."""
        self._filters.choose(name, value)
        self.focus_list()

    @property
    def view_state(self) -> SessionsViewState:
        """The criteria, and the user's position in the list."""
        current = self._session_to_read()
        return self._filters.make_view_state(self._return_next or (current.path if current else ""))

    def return_to(self, target: SessionsViewState) -> None:
        """Restore the criteria and the position of a view state."""
        self._return_next = target.path
        if target != self.view_state:
            self._filters.return_to(target)
        self._restore_selection()

    def _restore_selection(self) -> None:
        """Select the session of a restored position, again after the search in messages, which may sort the list."""
        if self._reader.loaded is None or self.listed.busy:
            return  # called again once there is a list
        if self._return_next:
            self.view.list.go_to(self._return_next)
        if not self._content.busy:
            self._return_next = ""

    @property
    def nothing_to_read(self) -> NothingToRead:
        """The message to show instead of a session: why none is selected."""
        return self.listed.nothing_to_read

    @Slot(str)
    def show_similar(self, path: str) -> None:
        """List the sessions similar to the session `path`, with a button to return."""
        if self._manager is not None and self._reader.loaded is None:
            self._compared_next = path  # as soon as there is a list
        elif self._manager is not None and not why_missing("similar"):
            self.listed.cancel()
            self._similar.start(self._manager, path)

    # --- reading ----------------------------------------------------------------------------------------------------

    @Slot()
    def _on_sessions(self) -> None:
        assert self._reader.loaded is not None
        self.chips.show_catalogue(self._reader.loaded.catalogue)
        if not self._similar.shown:
            self._when_shown.append(self._emit_nothing)
        self._show_again()
        to_compare, self._compared_next = self._compared_next, ""
        if to_compare:
            self.show_similar(to_compare)

    def _emit_nothing(self) -> None:
        """Clear the conversation if nothing is listed: a list that is empty from the beginning signals no change."""
        if not self.view.has_rows:
            self.session_selected.emit(None)

    @Slot()
    def _on_shown(self) -> None:
        self._restore_selection()
        due, self._when_shown = self._when_shown, []
        for run in due:
            run()
        self._emit_settled()

    # --- filtering --------------------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        if self.box.query != self._filters.criteria.text:
            self.box.set_state("")
            self._content.start_search(self.box.query)
            self._filters.read()

    @Slot()
    def _show_filtered(self) -> None:
        """List the sessions of changed criteria from the top."""
        self._similar.end()
        self.listed.show()

    @Slot()
    def _accept(self) -> None:
        """Handle Enter in the box: search messages, or open the first session if that is done."""
        if self._content.busy:
            self._content.search_now()
        elif self.listed.busy:
            self._when_shown.append(self._accept)
        elif self.view.has_rows:
            self.view.list.open_current()

    @Slot()
    def _show_again(self) -> None:
        """Update the list from new data at the user's position, unless similar sessions are shown."""
        if not self._similar.shown:
            self.listed.show(self.view.has_rows)

    # --- messages ---------------------------------------------------------------------------------------------------

    @Slot(str)
    def _show_failed_search(self, sentence: str) -> None:
        self.box.set_state("")
        self._show_again()
        if not self._similar.shown:
            self.view.notice.show_notice(sentence, tr("Try again"), self._search_again)

    @Slot()
    def _search_again(self) -> None:
        self._content.start_search(self._filters.criteria.text)
        self._content.search_now()

    @Slot()
    def _show_searching(self) -> None:
        self.box.set_state(tr(listing_view.SEARCHING))

    @Slot(str)
    def _go_back(self, path: str) -> None:
        """Return from similar sessions to all sessions, with the compared one current."""
        self._return_next = path
        self._when_shown.append(self.focus_list)
        self.listed.show()

    # --- one session ------------------------------------------------------------------------------------------------

    def _session_to_read(self) -> SessionSummary | None:
        """Return the current session of the list; if a list of similar sessions is empty, the compared one."""
        compared = self._similar.compared
        return compared if compared is not None and not self.view.has_rows else self.view.list.current_session()

    @Slot(object)
    def _emit_session(self, summary: SessionSummary | None) -> None:
        self.session_selected.emit(summary)
        self._emit_settled()

    @Slot(object)
    def _emit_activated(self, summary: SessionSummary) -> None:
        self._return_next = ""
        self.session_activated.emit(summary)
        self._emit_settled()

    @Slot()
    def _leave_list(self) -> None:
        if self._similar.shown:
            self._similar.return_to_all()
        else:
            self.box.focus()

    @Slot()
    def _find_folders(self) -> None:
        """Look for folders of agents on this machine, to show them while no session is listed."""

        def work(token: CancelToken) -> FoundSources:
            return find_sources(cancel=token)

        self._find_job.read(work, self._show_folders, lambda _sentence: self._show_folders(None))

    def _show_folders(self, found: FoundSources | None) -> None:
        if found is not None:
            self.view.folders.show_found(found.sources)
        self._emit_settled()

    @Slot()
    def _emit_settled(self) -> None:
        if not self.busy:
            self.settled.emit()
