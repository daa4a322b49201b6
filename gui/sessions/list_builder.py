"""Fills the session list with the requested or similar sessions, or says why it is empty and what to do."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot

from engine import (
    CancelToken,
    MemoryProviderStatus,
    MemorySearchManager,
    MnemoscopeError,
    SearchRemedy,
    SessionSummary,
    last_change,
    marked,
    tr,
)
from gui.core.capabilities import TITLES, why_missing
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.core.session_criteria import Criteria
from gui.search.messages import remedy_label
from gui.sessions import listing_view
from gui.sessions.content_search import ContentHits, ContentSearch
from gui.sessions.filter_controller import FilterController
from gui.sessions.listing_view import ListingView
from gui.sessions.rows import Listing, Row, build_listing, build_similar
from gui.sessions.session_catalog import Entry, SessionCatalog, make_catalogue
from gui.sessions.session_figures import SessionDays, count_days
from gui.text.status_texts import sessions_elsewhere, without_failure
from gui.widgets.buttons import guide_action
from gui.widgets.placeholder_page import NOTHING_FOUND, Action, NothingToRead

_BACK = marked("Back to all")
MAX_SIMILAR = 30
_MAX_WATCHED = 30
"""Newest sessions that are watched for changes."""
_POLL_MS = 2000
_RUNNING_SECONDS = 120

SimilarSessions = tuple[tuple[SessionSummary, float], ...]


# --- Reads the list of sessions from the memory, off the GUI thread, and again when the index has changed ------------
@dataclass(frozen=True)
class LoadedSessions:
    """The session summaries that were read, and the catalogue made from them."""

    summaries: tuple[SessionSummary, ...]
    catalogue: SessionCatalog


class SessionListLoader(JobOwner, QObject):
    """Reads all sessions of a memory in the background, and stores the newest result in `loaded`."""

    read = Signal()
    failed = Signal(str)
    idle = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self.loaded: LoadedSessions | None = None
        self._manager: MemorySearchManager | None = None
        self._job = JobSlot(self, jobs)
        self._stale = False

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Read this memory's sessions; None forgets all. `reopening`: the folder is the same, and the list stays."""
        self._job.cancel()
        if not reopening:
            self.loaded = None
        self._stale = False
        self._manager = manager
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        manager, before = self._manager, self.loaded
        if manager is None:
            return
        if self._job.busy:
            self._stale = True  # a running read may be from before the change
            return

        def work(_token: object) -> LoadedSessions:
            summaries = manager.sessions()
            if before is not None and before.summaries == summaries:
                return before  # the same entries: rows that need no change
            return LoadedSessions(summaries, make_catalogue(summaries))

        self._job.read(work, self._deliver, self._fail)

    def _deliver(self, loaded: LoadedSessions) -> None:
        self.loaded = loaded
        self._end()
        self.read.emit()
        self._emit_idle()

    def _fail(self, sentence: str) -> None:
        self._end()
        self.failed.emit(sentence)
        self._emit_idle()

    def _end(self) -> None:
        if self._stale:
            self._stale = False
            self.refresh()

    def _emit_idle(self) -> None:
        if not self._job.busy:
            self.idle.emit()


class RunningSessions(JobOwner, QObject):
    """Finds sessions that an agent is writing now: their transcripts changed during the last two minutes.

    Only changes and new sessions since the first check count. Checks only while the session list is visible.

    Signals: changed: `paths` has changed.
    """

    changed = Signal()

    def __init__(self, jobs: Jobs, reader: SessionListLoader, view: ListingView, parent: QObject) -> None:
        super().__init__(parent)
        self.paths: frozenset[str] = frozenset()
        self._reader = reader
        self._view = view
        self._manager: MemorySearchManager | None = None
        self._job = JobSlot(self, jobs)
        self._states: dict[str, _FileState] = {}
        self._timer = QTimer(self, interval=_POLL_MS)
        self._timer.timeout.connect(self.check)
        view.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and self._manager is not None:
            self._timer.start()
        elif event.type() == QEvent.Type.Hide:
            self._timer.stop()
        return False

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory whose sessions are checked; None stops."""
        self._job.cancel()
        self._manager = manager
        self._states = {}
        self._show(frozenset())
        if manager is not None and self._view.isVisible():
            self._timer.start()
        else:
            self._timer.stop()

    @Slot()
    def check(self) -> None:
        """Check the newest sessions and the current one, if the list is visible."""
        manager, loaded, before = self._manager, self._reader.loaded, self._states
        if manager is None or loaded is None or self._job.busy:
            return
        watched = [entry.summary.path for entry in loaded.catalogue.orders["newest"][:_MAX_WATCHED]]
        current = self._view.list.current_session()
        if current is not None and current.path not in watched:
            watched.append(current.path)  # an older session that an agent has resumed
        self._job.read(lambda _: _read_states(manager, watched, before), self._update_states)

    def _update_states(self, states: dict[str, "_FileState"]) -> None:
        self._states = states
        since = time.time() - _RUNNING_SECONDS
        self._show(frozenset(path for path, state in states.items() if state.written > since))

    def _show(self, paths: frozenset[str]) -> None:
        if paths != self.paths:
            self.paths = paths
            self.changed.emit()


class _FileState(NamedTuple):
    file: Path
    stamp: tuple[int, int]
    """Its size, and when it was changed, in nanoseconds, with its other files."""
    written: float
    """When it was written last, as far as a change was noticed; 0 for never."""


def _read_states(
    manager: MemorySearchManager, sessions: Sequence[str], before: Mapping[str, _FileState]
) -> dict[str, _FileState]:
    """Read when transcripts were changed, and their sizes; `before` is the previous result. Any thread."""
    states: dict[str, _FileState] = {}
    files = set()
    for path in sessions:
        known = before.get(path)
        try:
            file = manager.locate(path) if known is None else known.file
            stamp = last_change(str(file), file.stat())
        except (OSError, MnemoscopeError):
            continue
        if file in files:
            continue  # of the sessions in one file, only the newest can be running
        files.add(file)
        if known is not None and known.stamp == stamp:
            written = known.written
        else:  # whether a file of the first listing is being written shows only in the next one
            written = stamp[1] / 1e9 if before else 0.0
        states[path] = _FileState(file, stamp, written)
    return states


# ---------------------------------------------------------------------------------------------------------------------
class ListBuilder(JobOwner, QObject):
    """Fills the list and shows the number of matches in the search box; stores which sessions show their sub-agents."""

    engine_requested = Signal()
    """Open the choice of the engine."""
    tools_requested = Signal()
    """Index the calls and results of tools, too."""
    folder_requested = Signal()
    """Choose session folders: there is none yet, or another one is needed."""
    again_requested = Signal()
    """Retry after a read error."""
    shown = Signal()
    """The sessions that match the criteria are listed, or a page says why there are none."""

    def __init__(
        self,
        reader: SessionListLoader,
        content: ContentSearch,
        filters: FilterController,
        view: ListingView,
        today: Callable[[], date],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._empty_texts = "", tr(listing_view.READING)
        """Title and sentence if there are no sessions."""
        self._elsewhere = ""
        """The sentence that names sessions indexed in other workspaces."""
        self._failure = ""
        """Why the last update failed."""
        self._reader = reader
        self._content = content
        self._filters = filters
        self._view = view
        self._today = today
        self._opened: set[str] = set()
        self._job = JobSlot(self, reader.jobs)
        self._keeps = True
        """Whether the list that is being built preserves the position."""
        self._days: tuple[tuple[SessionCatalog, tuple[str, str, str], date], SessionDays] | None = None
        """The sessions per day, and what they were counted for; the typed text doesn't affect them."""
        reader.failed.connect(self._show_failure)
        filters.order_changed.connect(self.show)

    def begin(self, *, reading: bool) -> None:
        """Show an empty page for a new memory; `reading`: with the message that sessions are being read."""
        self._job.cancel()
        self._opened.clear()
        self._view.show_days(None)
        self._view.notice.show_notice("")
        if reading and (why := why_missing("sessions")):
            act = (tr("Choose another engine…"), self.engine_requested.emit)
            self._view.show_page((tr(TITLES["sessions"]), why), actions=(act,))
        else:
            self._view.show_page(("", tr(listing_view.READING) if reading else ""))

    def update_status(self, status: MemoryProviderStatus | None) -> bool:
        """Store the messages that depend on the index status; returns whether one has changed."""
        before = self._empty_texts, self._elsewhere, self._failure
        self._empty_texts = ("", tr(listing_view.READING)) if status is None else listing_view.without_sessions(status)
        self._elsewhere = "" if status is None else sessions_elsewhere(status)
        self._failure = "" if status is None or status.last_sync is None else status.last_sync.error
        return before != (self._empty_texts, self._elsewhere, self._failure)

    def cancel(self) -> None:
        """Stop building a list, since something else is shown now."""
        self._job.cancel()

    @Slot(bool)
    def show(self, keep: bool = False) -> None:
        """Build the list of the sessions that match the criteria, then show it; `keep` preserves the position."""
        loaded, criteria, hits = self._reader.loaded, self._filters.criteria, self._content.hits
        if loaded is None:
            return
        if not loaded.catalogue.sessions:
            self._job.cancel()
            self._show_nothing_known()
            self.shown.emit()
            return
        self._keeps = keep and (self._keeps or not self._job.busy)  # replaces a list of changed criteria, too
        catalogue, role, opened, today = loaded.catalogue, self._filters.chips.role, set(self._opened), self._today()
        days, days_for = self._days, (catalogue, (criteria.agent, criteria.project, criteria.machine), today)

        def work(_token: CancelToken) -> tuple[Listing, SessionDays]:
            count = hits.count(role)
            similar = {path for path, number in count.items() if not number} if hits.counted else set[str]()
            listing = build_listing(catalogue, criteria, count, opened, today, similar)
            is_counted = days is not None and days[0][0] is catalogue and days[0][1:] == days_for[1:]
            return listing, days[1] if days is not None and is_counted else count_days(catalogue, criteria, today)

        def on_done(built: tuple[Listing, SessionDays]) -> None:
            listing, days = built
            self._days = days_for, days
            self._view.show_days(days, criteria.period.only_day)
            self._show_listing(catalogue, criteria, hits, listing)
            self.shown.emit()

        self._job.read(work, on_done)

    def _show_listing(self, catalogue: SessionCatalog, criteria: Criteria, hits: ContentHits, listing: Listing) -> None:
        unsearched = why_missing("filters") if criteria.text else ""
        others = [(remedy_label(remedy), self._action_of(remedy)) for remedy in hits.remedies]
        tools: tuple[str, Callable[[], None] | None] = others[0] if hits.results and others else ("", None)
        notice = without_failure(listing_view.notice(hits), self._failure)
        self._view.notice.show_notice(notice or unsearched or self._elsewhere, *tools)
        if hits.text and hits.text == criteria.text:
            self._filters.box.set_state(listing_view.box_state(listing) if hits.counted else "")
        if listing.rows:
            counts = listing_view.header_counts(catalogue, criteria, listing)
            self._view.show_rows(listing.rows, counts, words=criteria.words, keep=self._keeps)
        else:
            searching = self._content.busy
            words = listing_view.nothing_matches(criteria, hits, searching=searching)
            clear = tr("Clear the filters") if self._filters.chips.narrows else tr("Clear the search")
            # While messages are searched, Down and Enter must not reach a button that clears the search.
            offered: Sequence[Action] = () if searching else (*others, (clear, self._filters.clear))
            self._view.show_page(words, "" if searching else tr("No sessions"), actions=offered)

    def _action_of(self, remedy: SearchRemedy) -> Callable[[], None]:
        return partial(self._filters.search, remedy.query) if remedy.query else self.tools_requested.emit

    @Slot(str, bool)
    def fold(self, path: str, shown: bool) -> None:
        """Show or hide the sub-agents' sessions below the session `path`."""
        (self._opened.add if shown else self._opened.discard)(path)
        self.show(True)

    @property
    def nothing_to_read(self) -> NothingToRead:
        """The message to show instead of a session: why none is selected."""
        if why := why_missing("sessions"):
            return NothingToRead(why)
        loaded = self._reader.loaded
        if loaded is None or self._view.has_rows:
            return listing_view.CHOOSE_SESSION
        return NOTHING_FOUND

    def _show_nothing_known(self) -> None:
        self._view.show_days(None)
        self._view.notice.show_notice("")
        self._view.show_page(
            self._empty_texts,
            actions=((tr(listing_view.CHOOSE), self.folder_requested.emit), guide_action("sessions")),
            folders=True,
        )

    @Slot(str)
    def _show_failure(self, sentence: str) -> None:
        words = tr("The sessions cannot be listed"), sentence
        self._view.show_page(words, actions=((tr("Try again"), self.again_requested.emit),))


class SimilarList(JobOwner, QObject):
    """Shows the sessions similar to one in place of all sessions.

    Signals:
        left: show all sessions again, with this one current (its path).
        settled: the comparison has ended.
    """

    left = Signal(str)
    settled = Signal()

    def __init__(self, jobs: Jobs, reader: SessionListLoader, view: ListingView, parent: QObject) -> None:
        super().__init__(parent)
        self._reader = reader
        self._view = view
        self._entry: Entry | None = None
        """The session that the others are compared with, until `end` is called."""
        self._job = JobSlot(self, jobs)

    @property
    def shown(self) -> bool:
        """Whether similar sessions are shown, or being searched for, instead of all sessions."""
        return self._entry is not None

    @property
    def compared(self) -> SessionSummary | None:
        """The session that the others are compared with."""
        return self._entry.summary if self._entry is not None else None

    def start(self, manager: MemorySearchManager, path: str) -> None:
        """Compare the session `path` with all others, if it is listed."""
        loaded = self._reader.loaded
        entry = loaded.catalogue.by_path.get(path) if loaded else None
        if entry is not None:
            self._entry = entry
            self._job.read(
                lambda _: manager.similar_sessions(path, max_results=MAX_SIMILAR), self._show, self._show_failure
            )
            self._view.notice.show_notice(tr("Comparing sessions…"), tr(_BACK), self.return_to_all)

    def end(self) -> None:
        """Stop, since the list shows something else now."""
        self._job.cancel()
        self._entry = None

    @Slot()
    def return_to_all(self) -> None:
        """Stop, and emit the signal to return to all sessions."""
        before = self.compared
        self.end()
        self.left.emit(before.path if before is not None else "")

    def _show(self, similar: SimilarSessions) -> None:
        loaded, entry = self._reader.loaded, self._entry
        rows: list[Row] = build_similar(loaded.catalogue, similar) if loaded else []
        title = entry.title if entry else ""
        self._view.notice.show_notice(listing_view.similar_count(title, len(rows)), tr(_BACK), self.return_to_all)
        if rows:
            self._view.show_rows(rows, (tr("Most similar first"),), sortable=False)
            self._view.list.take_focus()
        else:
            words = tr("No similar session"), tr(listing_view.NO_SIMILAR_SESSION)
            self._view.show_page(words, actions=((tr(_BACK), self.return_to_all),))
            self._view.page.take_focus()
        self.settled.emit()

    def _show_failure(self, sentence: str) -> None:
        self._view.notice.show_notice(sentence, tr(_BACK), self.return_to_all)
        self.settled.emit()
