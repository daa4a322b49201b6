"""One sync with `qmd`: export sessions, configure it, update, and embed if that is due."""

import time
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from engine.backends.qmd import output_parsing
from engine.backends.qmd.collections import Collection, plan
from engine.backends.qmd.command import QmdCommand, QmdError
from engine.backends.qmd.index_maintenance import Maintenance, QmdIndexFile
from engine.backends.qmd.output_parsing import Counts
from engine.backends.qmd.session_exports import Exported, SessionExports
from engine.base.cancellation import CancelToken, pause
from engine.base.errors import Cancelled, MnemoscopeError
from engine.base.language import tr
from engine.indexing.sync_progress import ProgressMeter
from engine.records import FileIssue, MemorySyncProgressUpdate, SyncReason, SyncReport
from engine.settings import Settings
from engine.store.connection import WriterLock

_LOCK_POLL = 0.25

Listener = Callable[[MemorySyncProgressUpdate], None]


class QmdSync:
    """Runs syncs with `qmd`; the caller ensures that only one runs."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        command: QmdCommand,
        index: QmdIndexFile,
        exports: SessionExports | None,
        changed: Callable[[], None],
    ) -> None:
        """`settings` have the paths; `exports` None where no sessions are searched; `changed`: `qmd` has written."""
        self.workspace = workspace
        self.settings = settings
        self.command = command
        self.index = index
        self.exports = exports
        self.changed = changed
        self.maintenance = Maintenance(settings.qmd, command, index)
        self.lock = WriterLock(command.folder / "qmd.lock")
        self.failed: tuple[FileIssue, ...] = ()
        self.skipped: tuple[FileIssue, ...] = ()
        self.problem = ""
        """Why the last update failed; empty if it succeeded."""
        self.embed_problem = ""
        """Why the last embedding run failed; empty if it succeeded."""

    def run(self, reason: SyncReason, force: bool, listener: Listener, token: CancelToken) -> SyncReport:
        """Run one sync, with errors in its report. What `qmd` has stored before an error stays."""
        return _Run(self, reason, listener, token).report(force)

    def pending(self) -> int:
        """Number of texts without a vector, if vectors are enabled."""
        return 0 if self.settings.qmd.search_mode == "search" else self.index.counts().pending

    def close(self) -> None:
        self.lock.close()


class _Run:
    """State of one sync with `qmd`."""

    def __init__(
        self,
        sync: QmdSync,
        reason: SyncReason,
        listener: Listener,
        token: CancelToken,
    ) -> None:
        self._sync = sync
        self._reason = reason
        self._token = token
        self._meter = ProgressMeter(reason, listener)
        self._files_seen = self._embedded = 0
        self._earlier: dict[str, Counts] = {}
        """Counts before transcripts were read, by collection."""
        self._counts: dict[str, Counts] = {}
        """Counts by collection: a repeated update reports some twice, and the last count is valid."""
        self._passed: dict[str, list[FileIssue]] = {}
        """Files that `qmd` skipped, by collection."""
        self._failed: list[FileIssue] = []
        self._skipped: list[FileIssue] = []
        self._names: dict[str, Collection] = {}
        self._collection = ""
        self._embed_problem = ""
        self._from_nothing = not sync.index.counts().total

    @property
    def _indexed(self) -> int:
        return sum(counts.new + counts.updated for counts in self._all_counts())

    @property
    def _unchanged(self) -> int:
        if not self._counts:
            return sum(counts.unchanged for counts in self._earlier.values())
        just_indexed = sum(counts.new + counts.updated for counts in self._earlier.values())
        return max(0, sum(counts.unchanged for counts in self._counts.values()) - just_indexed)

    @property
    def _removed(self) -> int:
        return sum(counts.removed for counts in self._all_counts())

    def _all_counts(self) -> Iterable[Counts]:
        return chain(self._earlier.values(), self._counts.values())

    def report(self, force: bool) -> SyncReport:
        started, clock = time.time(), time.monotonic()
        cancelled, error = False, ""
        try:
            self._lock()
            try:
                self._work(force)
            finally:
                self._sync.lock.release()
        except Cancelled:
            cancelled = True
        except MnemoscopeError as failure:
            error = str(failure)
        except OSError as failure:
            error = tr("The files for qmd cannot be written: {reason}.", reason=failure.strerror or failure)
        self._failed += [issue for issues in self._passed.values() for issue in issues]
        if not cancelled:
            self._sync.problem = error
            self._sync.failed, self._sync.skipped = tuple(self._failed), tuple(self._skipped)
        self._sync.changed()
        self._meter.start("done")
        return SyncReport(
            reason=self._reason,
            started=started,
            seconds=time.monotonic() - clock,
            cancelled=cancelled,
            error=error or self._embed_problem,
            files_seen=self._files_seen,
            files_indexed=self._indexed,
            files_unchanged=self._unchanged,
            files_removed=self._removed,
            chunks_indexed=self._indexed,
            chunks_removed=self._removed,
            vectors_reused=0,
            vectors_embedded=self._embedded,
            vectors_pending=self._sync.pending(),
            full=force,
            failed=tuple(self._failed),
            skipped=tuple(self._skipped),
            provider_failed=bool(self._embed_problem),
        )

    def _lock(self) -> None:
        """Wait while another process lets `qmd` write."""
        self._sync.command.folder.mkdir(parents=True, exist_ok=True)
        waiting = False
        while not self._sync.lock.acquire():
            if not waiting:
                self._meter.start("waiting")
                waiting = True
            pause(_LOCK_POLL, self._token)

    def _work(self, force: bool) -> None:
        sync, token = self._sync, self._token
        sync.command.check(sync.settings.qmd.command_timeout_seconds, token)
        self._meter.start("discovering")
        made = plan(sync.workspace, sync.settings, None if sync.exports is None else sync.exports.folder, token)
        self._names = {collection.name: collection for collection in made.collections}
        self._files_seen = len(made.files)
        self._skipped += made.skipped
        if force:
            sync.maintenance.clear(token)
        sync.maintenance.apply(made.collections, token)
        sync.maintenance.share_models()
        exported = Exported()
        if sync.exports is not None:
            exported = sync.exports.update(
                token, self._meter, lambda: self._notes_first(made.collections), retry_crashed=force
            )
            self._files_seen += exported.seen
            self._skipped += exported.skipped
            self._failed += exported.failed
        if not self._earlier or exported.written or exported.removed:
            self._update(made.collections)
        if self._removed or self._indexed:
            sync.changed()
        if self._removed:
            sync.maintenance.clean(token)
        self._embed(force)

    def _notes_first(self, collections: Sequence[Collection]) -> None:
        """Index the notes first, in case a transcript crashes its reader."""
        self._update(collections)
        self._earlier, self._counts = self._counts, {}

    def _update(self, collections: Sequence[Collection]) -> None:
        sync, token = self._sync, self._token
        token.checkpoint()
        self._meter.start("indexing", self._files_seen)
        sync.maintenance.update(token, self._line, self._report_progress)
        if self._passed.keys() != self._names.keys():
            sync.maintenance.apply_skipped(collections, token)
            sync.maintenance.update(token, self._line, self._report_progress)

    def _embed(self, force: bool) -> None:
        if not self._sync.maintenance.embed_due(self._reason, force):
            return
        pending = self._sync.pending()
        self._meter.start("embedding", pending)

        def look() -> None:
            self._meter.step(max(0, pending - self._sync.pending()), "")

        try:
            self._embedded = self._sync.maintenance.embed(self._token, look)
        except QmdError as error:
            self._embed_problem = tr("{failure} Keyword search works meanwhile.", failure=str(error))
        self._sync.embed_problem = self._embed_problem

    def _report_progress(self) -> None:
        """Report progress by the growth of qmd's index, since it reports only whole collections."""
        if self._from_nothing:
            done = max(self._indexed + self._unchanged, self._sync.index.counts().total)
            self._meter.step(min(done, self._files_seen), self._collection)

    def _line(self, line: str) -> None:
        """Parse a line of `qmd update`."""
        name = output_parsing.parse_collection(line)
        if name is not None:
            self._collection = name
            self._passed[name] = []
        counts = output_parsing.parse_counts(line)
        if counts is not None:
            self._counts[self._collection] = counts
        skipped = output_parsing.parse_skipped(line)
        collection = self._names.get(self._collection)
        if skipped is not None and collection is not None:
            path = collection.stable_name(skipped[0]) or skipped[0]
            self._passed[self._collection].append(FileIssue(path=path, rule="unreadable", detail=skipped[1]))
        self._meter.step(self._indexed + self._unchanged, self._collection)
