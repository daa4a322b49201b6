"""Derives events for the rest of the window from status records: the index has changed, or has a problem."""

from PySide6.QtCore import QObject, QTimer, Signal

from engine import EmbeddingEstimate, MemoryProviderStatus, SyncSummary, UserDataStatus
from gui.widgets.engine_names import FallbackEngine, engine_instead, index_remedy
from gui.widgets.sync_line import why_words_only

_WHILE_SYNCING_MS = 1000


class StatusEvents(QObject):
    """Receives every record.

    Signals: changed: results may differ now; immediately at the end of a sync, once a second during one. Not after a
    sync that failed immediately: a repeated query may start the next one, and so on. problem: a new problem as one
    sentence, and its `IndexRemedy`. awaiting: EmbeddingEstimate of work that needs approval, if it is new; None once
    there is none. provider_problem: a new reason why the provider of the settings can't be used, as a sentence; empty
    once it can. engine_replaced: Instead, when a fallback answers, or for a new reason; None once the chosen engine
    answers again. user_data: UserDataStatus, on a new problem with facts, saved searches and history; None once it is
    solved. synced: a sync ended well.
    """

    changed = Signal()
    problem = Signal(str, str)
    awaiting = Signal(object)
    provider_problem = Signal(str)
    engine_replaced = Signal(object)
    user_data = Signal(object)
    synced = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._seen: tuple[object, ...] = ()
        self._told = ""
        self._awaited: tuple[str, str] | None = None
        self._user_data = ""
        self._capabilities = ""
        self._instead: FallbackEngine | None = None
        self._last_sync: SyncSummary | None = None
        self._last_change: SyncSummary | None = None
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(_WHILE_SYNCING_MS)
        self._later.timeout.connect(self.changed)

    def hear(self, status: MemoryProviderStatus | None) -> None:
        """None: no index is open any more."""
        if status is None:
            self._later.stop()
            self._seen = ()
            self._told = ""
            self._last_sync = self._last_change = None
            self._hear_user_data(None)
            self._hear_awaiting(None)
            self._hear_provider("")
            self._hear_engine(None)
            return
        self._hear_change(status)
        if status.index_error and status.index_error != self._told:
            self.problem.emit(status.index_error, index_remedy(status))
        self._told = status.index_error or ""
        self._hear_user_data(status.user_data)
        self._hear_awaiting(status.awaiting)
        self._hear_provider(why_words_only(status))
        self._hear_engine(engine_instead(status))
        last, self._last_sync = self._last_sync, status.last_sync
        if status.last_sync is not None and last != status.last_sync and not status.last_sync.error:
            self.synced.emit()

    def _hear_user_data(self, status: UserDataStatus | None) -> None:
        problem = "" if status is None else status.problem
        if problem != self._user_data:
            self._user_data = problem
            self.user_data.emit(status)

    def _hear_provider(self, reason: str) -> None:
        if reason != self._capabilities:
            self._capabilities = reason
            self.provider_problem.emit(reason)

    def _hear_engine(self, instead: FallbackEngine | None) -> None:
        if instead != self._instead:
            self._instead = instead
            self.engine_replaced.emit(instead)

    def _hear_awaiting(self, estimate: EmbeddingEstimate | None) -> None:
        """The same work is reported once, though it grows with every note."""
        wanted = None if estimate is None else (estimate.provider, estimate.model)
        if wanted != self._awaited:
            self._awaited = wanted
            self.awaiting.emit(estimate)

    def _hear_change(self, status: MemoryProviderStatus) -> None:
        if status.last_sync is None or not _came_to_nothing(status.last_sync):
            self._last_change = status.last_sync
        seen = (
            status.backend,
            status.generation,
            status.files,
            status.chunks,
            status.vector.rows,
            self._last_change,
        )
        before, self._seen = self._seen, seen
        if not before or before == seen:
            return
        if status.syncing is None:
            self._later.stop()
            self.changed.emit()
        elif not self._later.isActive():
            self._later.start()


def _came_to_nothing(sync: SyncSummary) -> bool:
    """It failed before it wrote anything, as where the folder is not there."""
    return bool(sync.error) and not (sync.files_indexed or sync.files_removed or sync.vectors_embedded)
