"""Checks the health of one open memory, and repairs the problems found.

Notes are never written. Every repair leaves an index that answers at each of its commits, so a cancelled or killed one
is simply run again.
"""

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, IndexCorrupt, MnemoscopeError
from engine.base.language import marked, tr, tr_count
from engine.corpus.folder_walk import Drives
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.embedding.provider_selection import Selection
from engine.indexing.cost_estimate import name_of
from engine.insight.health import database, keywords, provider, sources, vectors
from engine.insight.health.health_check import UPDATE, HealthCheck, Report, Subject, degraded, failed, fine
from engine.memory.embedding_models import still_awaiting
from engine.memory.index_updates import IndexUpdates
from engine.memory.memory_context import MemoryContext
from engine.records import (
    HealthFinding,
    HealthProgress,
    HealthRepair,
    MemorySyncProgressUpdate,
    SyncReport,
)
from engine.store import stored_models
from engine.store.sessions import transcripts
from engine.store.stored_models import ModelName

_ROW_CHECKS = (database.CHUNKS, keywords.ROWS, keywords.SAMPLE, database.WORDS, vectors.VECTORS, database.GENERATIONS)
_QUICK_CHECKS = (database.CHUNKS, keywords.ROWS, database.WORDS, database.GENERATIONS, database.SPACE)
"""Checks that take milliseconds, without reading stored content."""
_COPY_CHECKS = (vectors.MATRIX, vectors.TABLE)
_DATABASE_CHECKS: tuple[HealthCheck, ...] = (*_ROW_CHECKS, database.SPACE, *_COPY_CHECKS)
_FIXED_BY_SYNC = frozenset({"index", "notes", "transcripts", "meaning"})
"""Ids of findings that a sync fixes."""
_DATABASE = marked("Database file")
_REBUILD = marked("Rebuild")


class Health:
    """Checks or repairs one open memory. Thread-safe."""

    def __init__(
        self,
        context: MemoryContext,
        updates: IndexUpdates,
        selection: Callable[[], Selection],
        cancel: CancelToken,
        report: Report,
    ) -> None:
        self._context = context
        self._workspace = context.workspace
        self._settings = context.settings
        self._store = context.store
        self._vectors = context.vectors
        self._user = context.user_data
        self._updates = updates
        self._indexing = context.indexing
        self._selection = selection
        self._cancel = cancel
        self._report = report

    # --- checks -----------------------------------------------------------------------------------------------------

    def run_checks(self, *, probe: bool, deep: bool) -> Iterator[HealthFinding]:
        """Yield the findings of all checks, one by one.

        `probe`: test the provider with one word; `deep`: re-embed a sample of passages. Raises `Cancelled`, `Closed`.
        """
        selection = self._selection()
        subject = self._subject(selection)
        yield database.check_index(self._store)
        yield database.check_writer(self._store, updating=self._indexing.current() is not None)
        yield from self._check_database(subject, selection)
        yield self._check_user_data()
        if probe:
            yield from provider.check_keys(self._settings)
        yield provider.check_provider(
            self._settings, selection, self._context.provider.error, self._cancel, probe=probe
        )
        if deep and selection.provider is not None:
            yield provider.check_agreement(subject, selection.provider)
        if probe or subject.prefers_table():
            yield vectors.check_extension(subject)
        if (watcher := self._indexing.watcher_status()) is not None:
            yield sources.check_watcher(watcher, watching=self._settings.sync.watch)

    def quick_check(self) -> tuple[HealthFinding, ...]:
        """Return the findings that only need a few counts. Raises `Cancelled`, `Closed`, and the store's errors."""
        subject = self._subject(Selection(None, ""))
        return database.check_index(self._store), *(check.finding(subject) for check in _QUICK_CHECKS)

    def _check_database(self, subject: Subject, selection: Selection) -> Iterator[HealthFinding]:
        subject.step(tr("Reading the database file"), 0, 0)
        if damage := self._damage(subject):
            yield failed(database.DATABASE, tr(_DATABASE), damage, repair=tr(_REBUILD))
            return  # checks of a damaged file's contents would be misleading
        yield fine(database.DATABASE, tr(_DATABASE), database.sound(subject))
        try:
            for check in _DATABASE_CHECKS:
                subject.step(tr(check.progress_text), 0, 0)
                yield check.finding(subject)
            yield from self._check_sources(subject, selection)
        except IndexCorrupt as error:
            yield failed(database.DATABASE, tr(_DATABASE), str(error), repair=tr(_REBUILD))

    def _check_sources(self, subject: Subject, selection: Selection) -> Iterator[HealthFinding]:
        subject.step(tr("Looking through the folders"), 0, 0)
        with self._store.read(self._cancel) as snapshot:
            drives = Drives(snapshot.mounts("sessions"))
        found_transcripts = find_transcripts(self._settings, cancel=self._cancel, drives=drives)
        with self._store.read(self._cancel) as snapshot:
            known = transcripts(snapshot)
        yield from sources.check_stores(self._settings, found_transcripts, known)
        yield sources.check_notes(subject)
        with self._store.read(self._cancel) as snapshot:
            inside = [
                sources.check_transcripts(self._settings, found_transcripts, snapshot),
                *sources.check_issues(snapshot),
            ]
        yield from inside
        if subject.name is not None:
            yield self._check_vectors(subject, subject.name)

    def _check_vectors(self, subject: Subject, name: ModelName) -> HealthFinding:
        """Report how many chunks have no vector, and why."""
        with self._store.read(self._cancel) as snapshot:
            pending = snapshot.pending_vectors(snapshot.stored_model(*name))
            awaiting = stored_models.unapproved_embedding(snapshot)
            chunks = snapshot.chunk_count()
        id_, title = "meaning", tr("Meaning")
        if not pending:
            detail = tr_count("{count:,} passage has a vector.", "All {count:,} passages have a vector.", chunks)
            return fine(id_, title, detail)
        estimate = still_awaiting(awaiting, name, self._settings, self._updates.approvals.tokens)
        detail = tr_count(
            "{count:,} passage is found by words only, for now.",
            "{count:,} passages are found by words only, for now.",
            pending,
        )
        if estimate is not None:
            waits = tr("Embedding the passages with {provider} waits for your approval.", provider=estimate.provider)
            advice = tr("Allow the embedding, or choose another provider.")
            return degraded(id_, title, f"{detail} {waits}", advice=advice, count=pending)
        return degraded(id_, title, detail, repair=tr(UPDATE), count=pending)

    def _check_user_data(self) -> HealthFinding:
        try:
            return database.check_user_data(self._user)
        except (Cancelled, Closed):
            raise
        except MnemoscopeError as error:
            return failed("user-data", tr("Facts and saved searches"), str(error))

    def _subject(self, selection: Selection) -> Subject:
        name = None if selection.provider is None else name_of(selection.provider)
        return Subject(self._workspace, self._settings, self._store, self._vectors, name, self._cancel, self._report)

    # --- repairs ----------------------------------------------------------------------------------------------------

    def repair(self, ids: Collection[str] | None) -> HealthRepair:
        """Repair the findings with these ids, or all that can be repaired, in order of their dependencies.

        Raises `IndexBusy` while another writer is active, `Cancelled`, and the store's errors.
        """
        subject = self._subject(self._selection())
        done: list[str] = []
        if ids is None or database.USER_DATA in ids:
            done += self._restore(requested=ids is not None)
        damage = self._damage(subject) if ids is None or database.DATABASE in ids else ""
        if damage and self._store.repair(IndexCorrupt(damage)):
            self._updates.replaced()
            done.append(self._store.recovered)
        elif not damage:
            with self._exclusive():
                done += self._repair(
                    subject, [check for check in (*_ROW_CHECKS, database.SPACE) if _is_requested(check, ids)]
                )
        problem = ""
        if ids is None or damage or _FIXED_BY_SYNC.intersection(ids):
            report = self._update()
            problem = report.error
            done += _summary(report)
        copies = [check for check in _COPY_CHECKS if _is_requested(check, ids)]
        if copies:
            with self._exclusive():
                done += self._repair(subject, copies)
        if done:
            self._updates.notify()
        return HealthRepair(done=tuple(filter(None, done)), problem=problem)

    def _restore(self, *, requested: bool) -> Iterator[str]:
        status = self._user.status()
        if status is not None and (requested or status.backup is not None):
            yield self._user.restore()

    def _damage(self, subject: Subject) -> str:
        """Return a sentence about damage to the database file; empty if it is intact."""
        try:
            return database.damage(subject)
        except IndexCorrupt as error:
            return str(error)

    def _repair(self, subject: Subject, checks: list[HealthCheck]) -> Iterator[str]:
        for check in checks:
            subject.step(tr(check.progress_text), 0, 0)
            if check.repair is not None and check.inspect(subject).count:
                yield check.repair(subject)

    def _update(self) -> SyncReport:
        def forward(update: MemorySyncProgressUpdate) -> None:
            self._report(HealthProgress(step=update.label, done=update.completed, total=update.total))

        report = self._updates.run("manual", force=False, progress=forward, cancel=self._cancel, approve=False)
        self._cancel.checkpoint()
        return report

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Hold the writer lock during the block, with no sync of this program running."""
        with self._indexing.exclusive(self._cancel), self._store.locked():
            try:
                yield
            finally:
                self._store.free_memory()


def _is_requested(check: HealthCheck, ids: Collection[str] | None) -> bool:
    return ids is None or check.id in ids


def _summary(report: SyncReport) -> Iterator[str]:
    if report.full or report.files_indexed or report.files_removed or report.vectors_embedded or report.chunks_indexed:
        yield tr("The index was brought up to date with the notes.")
    if report.awaiting_approval is not None:
        yield tr_count(
            "{count:,} passage waits for your approval before it is embedded.",
            "{count:,} passages wait for your approval before they are embedded.",
            report.awaiting_approval.chunks,
        )
