"""Status record, change notifications and scripted syncs of a fake memory."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from engine import (
    Cancelled,
    CancelToken,
    EmbeddingEstimate,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    SyncReport,
)
from tests.helpers.fake_notes import sections
from tests.helpers.fake_opening import Closable, wait
from tests.helpers.fake_records import make_progress, make_summary

if TYPE_CHECKING:
    from engine.records.sync import ProgressCallback


class FakeSyncing(Closable):
    """Attributes:
    files: name -> text, the notes that a sync counts.
    step_delay: seconds between two steps of a sync.
    script: the steps of a sync; None makes one step a file and then one a chunk.
    sync_error: raised in place of a report.
    syncs: the requested syncs in order: (reason, force).
    approvals: number of approvals.
    """

    files: dict[str, str]

    def __init__(self, status: MemoryProviderStatus) -> None:
        self.step_delay = 0.0
        self.script: Sequence[MemorySyncProgressUpdate] | None = None
        self.sync_error: Exception | None = None
        self.syncs: list[tuple[str, bool]] = []
        self.approvals = 0
        self._status = status
        self._listeners: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        self._token: CancelToken | None = None
        self._idle = threading.Event()
        self._idle.set()
        self._report: SyncReport | None = None

    def status(self) -> MemoryProviderStatus:
        return self._status

    def set_status(self, status: MemoryProviderStatus | None = None, **changes: Any) -> None:
        """Replace the status or some of its fields, and notify the listeners."""
        with self._lock:
            self._status = msgspec.structs.replace(status or self._status, **changes)
        self.changed()

    def changed(self) -> None:
        """Notify the listeners of a change."""
        for listener in list(self._listeners):
            listener()

    def add_status_listener(self, listener: Callable[[], None]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener) if listener in self._listeners else None

    def current_sync(self) -> CancelToken | None:
        return self._token

    def sync(
        self,
        *,
        reason: str = "manual",
        force: bool = False,
        progress: "ProgressCallback | None" = None,
        cancel: CancelToken | None = None,
        approve: bool | EmbeddingEstimate = False,
    ) -> SyncReport:
        self._check_open()
        if approve:
            self.approvals += 1
            self.set_status(awaiting_approval=None)
        token = cancel or CancelToken()
        with self._lock:
            self.syncs.append((reason, force))
            joining = self._token is not None
            if not joining:
                self._token = token
                self._idle.clear()
        if joining:
            self._idle.wait()
            assert self._report is not None
            return self._report
        started = time.time()
        cancelled = False
        try:
            if self.sync_error is not None:
                raise self.sync_error
            for step in self._steps() if self.script is None else self.script:
                wait(self.step_delay, token)
                token.checkpoint()
                self.set_status(syncing=step)
                if progress is not None:
                    progress(step)
        except Cancelled:
            cancelled = True
        finally:
            report = self._finish(started, reason, force, cancelled)
        return report

    def _steps(self) -> Iterator[MemorySyncProgressUpdate]:
        names = list(self.files)
        yield make_progress(phase="discovering", completed=0, total=0, current_file="", rate=0.0, seconds_left=None)
        for phase in ("indexing", "embedding"):
            for done, name in enumerate(names, 1):
                yield make_progress(
                    phase=phase,
                    completed=done,
                    total=len(names),
                    current_file=name,
                    seconds_left=(len(names) - done) / 118,
                    reused=0,
                    embedded=done if phase == "embedding" else 0,
                    label=f"{phase} {done}/{len(names)}",
                )

    def _finish(self, started: float, reason: str, force: bool, cancelled: bool) -> SyncReport:
        error = "" if self.sync_error is None else str(self.sync_error)
        chunks = sum(1 for text in self.files.values() for _ in sections(text))
        summary = make_summary(
            started=started, seconds=time.time() - started, reason=reason, cancelled=cancelled, error=error
        )
        self._report = SyncReport(
            reason=reason,  # type: ignore[arg-type]
            started=started,
            seconds=summary.seconds,
            cancelled=cancelled,
            error=error,
            files_seen=len(self.files),
            files_indexed=len(self.files),
            files_unchanged=0,
            files_removed=0,
            chunks_indexed=chunks,
            chunks_removed=0,
            vectors_reused=0,
            vectors_embedded=chunks,
            vectors_pending=0,
            full=force,
            failed=(),
            skipped=(),
        )
        with self._lock:
            self._token = None
            self._status = msgspec.structs.replace(
                self._status,
                syncing=None,
                last_sync=summary,
                recent_syncs=(*self._status.recent_syncs, summary)[-30:],
                files=len(self.files),
                chunks=chunks,
            )
        self.changed()
        self._idle.set()
        return self._report

    def end_sync(self) -> None:
        """Cancel a running sync and wait for its end."""
        token = self._token
        if token is not None:
            token.cancel()
        self._idle.wait()
