"""Shows sessions similar to one instead of all, and returns to all."""

from PySide6.QtCore import QObject, Signal, Slot

from engine import MemorySearchManager, SessionSummary, marked, tr
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.sessions import messages
from gui.sessions.catalog import Entry
from gui.sessions.list_builder import SessionListLoader
from gui.sessions.listing_view import ListingView
from gui.sessions.rows import Row, build_alike

_BACK = marked("Back to all")
MOST_ALIKE = 30

Alike = tuple[tuple[SessionSummary, float], ...]


class SimilaritySearch(QObject):
    """At most one session is compared with the others at a time; `entry` is that one, until `end`."""

    found = Signal(object)
    """The similar sessions, nearest first, with their cosine."""
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entry: Entry | None = None
        self._jobs = jobs
        self._job = JobSlot(self)

    @property
    def busy(self) -> bool:
        return self._job.busy

    def start(self, manager: MemorySearchManager, entry: Entry) -> None:
        self.end()
        self.entry = entry
        path = entry.summary.path
        self._job.put(
            self._jobs.read(lambda _: manager.similar_sessions(path, max_results=MOST_ALIKE), self._take, self._fail)
        )

    def end(self) -> Entry | None:
        """Back to all sessions; returns the one that was compared."""
        self._job.cancel()
        before, self.entry = self.entry, None
        return before

    def _take(self, alike: Alike) -> None:
        self._job.done()
        self.found.emit(alike)

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self.failed.emit(sentence)


class SimilarList(QObject):
    """Signals: left: show all sessions again, with this one current (its path). settled: the comparison has ended."""

    left = Signal(str)
    settled = Signal()

    def __init__(self, jobs: Jobs, reader: SessionListLoader, view: ListingView, parent: QObject) -> None:
        super().__init__(parent)
        self._reader = reader
        self._view = view
        self._comparison = SimilaritySearch(jobs, self)
        self._comparison.found.connect(self._show)
        self._comparison.failed.connect(self._show_failure)

    @property
    def busy(self) -> bool:
        return self._comparison.busy

    @property
    def shown(self) -> bool:
        """Whether it is shown, or about to be shown, instead of all sessions."""
        return self._comparison.entry is not None

    @property
    def compared(self) -> SessionSummary | None:
        """The session that the others are compared with."""
        entry = self._comparison.entry
        return entry.summary if entry is not None else None

    def start(self, manager: MemorySearchManager, path: str) -> None:
        """Compare the session with this path with all others, if it is listed."""
        known = self._reader.known
        entry = known.catalogue.by_path.get(path) if known else None
        if entry is not None:
            self._comparison.start(manager, entry)
            self._view.notice.show_notice(tr("Comparing sessions…"), tr(_BACK), self.leave)

    def end(self) -> None:
        """Something else is shown now."""
        self._comparison.end()

    @Slot()
    def leave(self) -> None:
        """Back to all sessions."""
        before = self._comparison.end()
        self.left.emit(before.summary.path if before is not None else "")

    @Slot(object)
    def _show(self, alike: Alike) -> None:
        known, entry = self._reader.known, self._comparison.entry
        rows: list[Row] = build_alike(known.catalogue, alike) if known else []
        title = entry.title if entry else ""
        self._view.notice.show_notice(messages.alike(title, len(rows)), tr(_BACK), self.leave)
        if rows:
            self._view.show_rows(rows, (tr("Most alike first"),), sortable=False)
            self._view.list.take_focus()
        else:
            words = tr("Nothing comes close"), tr(messages.NOTHING_ALIKE)
            self._view.show_page(words, actions=((tr(_BACK), self.leave),))
            self._view.page.take_focus()
        self.settled.emit()

    @Slot(str)
    def _show_failure(self, sentence: str) -> None:
        self._view.notice.show_notice(sentence, tr(_BACK), self.leave)
        self.settled.emit()
