"""The LanceDB backend: indexes this machine's files as usual, and searches a table that several machines share."""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import msgspec

from engine.backends.builtin import BuiltinMemory
from engine.backends.lancedb.error_messages import TableMissing
from engine.backends.lancedb.search import TableSearcher, other_model
from engine.backends.lancedb.table import SharedTable, TableView
from engine.backends.lancedb.table_location import FileNames, Machine, find_table, is_foreign, machine_of, this_machine
from engine.backends.lancedb.table_schema import Row, sql_one_of
from engine.backends.lancedb.table_sync import TablePublisher
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, PathRefused, Unsupported
from engine.base.language import tr
from engine.corpus.line_reader import NumberedText
from engine.corpus.transcripts.message_offsets import read_offsets
from engine.memory.memory_context import IndexOverride
from engine.memory.status_report import with_degraded
from engine.records import (
    EmbeddingEstimate,
    Feature,
    FileText,
    FtsStatus,
    MemoryProviderStatus,
    Passage,
    PathState,
    Probe,
    SearchOutcome,
    SessionSummary,
    SessionText,
    Source,
    SourceCount,
    StoredModelInfo,
    SyncReason,
    SyncReport,
    VectorStatus,
)
from engine.settings import Settings
from engine.store.index_paths import usable_index_files

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.corpus.path_guard import PathGuard
    from engine.memory.active_provider import ActiveProvider
    from engine.memory.facts import Facts
    from engine.memory.index_inspection import IndexInsight
    from engine.memory.memory_context import Listeners, StatusListener
    from engine.memory.search_requests import SearchOptions
    from engine.records.sync import ProgressCallback
    from engine.store.index import IndexStore
    from engine.store.saved_searches import SavedSearches
    from engine.store.user_data import UnseenNotes, UserData

# --- Files of other machines, assembled from their passages in the table ---------------------------------------------


class RemoteFiles:
    """Reads files of other machines from the table. Thread-safe. Raises the errors of `SharedTable.view`."""

    def __init__(self, table: SharedTable, naming: FileNames) -> None:
        self._table = table
        self._naming = naming

    def open(self, path: str, cancel: CancelToken | None = None) -> NumberedText:
        """Return a file's text, composed of its passages, each line at its number. Raises `PathRefused`."""

        def rows(view: TableView) -> list[Row]:
            files = view.files(cancel)
            key = next((key for key, name in self._naming.of(files).items() if name == path), None)
            if key is None:
                raise PathRefused
            return view.where(sql_one_of("file", [key]), cancel)

        found = self._table.read(rows, cancel)
        return NumberedText.of(composed(sorted(found, key=lambda row: row.ordinal)))


def elsewhere(path: str) -> Unsupported:
    """Return the error for opening a file that is on another machine; the table has only its passages."""
    return Unsupported(
        tr(
            "This file is on the machine “{machine}”. Only its indexed text is available here, so it can't be opened.",
            machine=machine_of(path),
        )
    )


def composed(rows: Iterable[Row]) -> str:
    """Compose a file's text from passages: each line at its number, missing ones empty."""
    lines: dict[int, str] = {}
    for row in rows:
        for number, text in _numbered(row):
            before = lines.get(number)
            if before is None:
                lines[number] = text
            elif text not in before:  # another part of an overlong line, or another message on it
                lines[number] = f"{before} {text}" if row.chunk.message_offsets else before + text
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


def _numbered(row: Row) -> Iterable[tuple[int, str]]:
    chunk = row.chunk
    if chunk.message_offsets is None:
        return enumerate(chunk.text.split("\n"), chunk.start_line)
    offsets = read_offsets(chunk.message_offsets)
    ends = [*(one.offset for one in offsets[1:]), len(chunk.text)]
    return [(one.line, " ".join(chunk.text[one.offset : end].split())) for one, end in zip(offsets, ends, strict=True)]


# ---------------------------------------------------------------------------------------------------------------------

_LOOK_AGAIN_SECONDS = 30.0
"""Seconds until an unreachable table is asked for its status again."""


class LanceMemory:
    """The memory that searches a shared table; `MemorySearchManager` documents its methods.

    Searches are answered by the table, including files of other machines. Everything else is local and answered by this
    machine's index: sessions, models, health, the map. The window therefore has every feature, a sync works without a
    network, and a fallback has its index.
    """

    def __init__(self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool) -> None:
        self._settings = settings
        self._background = background
        self._workspace = workspace.resolve()
        files = usable_index_files(self._workspace, settings.store.path)
        self.table = SharedTable(lambda cancel: find_table(self._workspace, settings, files.folder, cancel=cancel))
        self._machine: Machine | None = None
        self._failed = 0.0
        self._naming: FileNames
        self._local = BuiltinMemory(workspace, settings, executor=executor, background=background, share=self._share)
        self._remote = RemoteFiles(self.table, self._naming)

    def _share(
        self, store: "IndexStore", slot: "ActiveProvider", guard: "PathGuard", listeners: "Listeners"
    ) -> IndexOverride:
        def indexed_under() -> object:
            with store.read() as snapshot:
                return snapshot.meta("names")

        self._naming = FileNames(self._this_machine, guard, indexed_under)
        remembering = self._settings.query.cache
        searcher = TableSearcher(remembering, self.table, self._naming, slot.provider, slot.note, guard)
        publisher = TablePublisher(self.table, self._this_machine, slot.known, listeners.notify)
        return IndexOverride(searcher, publisher)

    def _this_machine(self) -> Machine:
        if self._machine is None:
            self._machine = this_machine(self._workspace, self._settings)
        return self._machine

    # --- the table's ----------------------------------------------------------------------------------------------

    @property
    def user_data(self) -> "UserData":
        return self._local.user_data

    @property
    def unsupported(self) -> Mapping[Feature, str]:
        return self._local.unsupported

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._local.search(query, cancel=cancel, **options)

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        return self._local.search_like(passage, cancel=cancel, **options)

    def answer_as(self, settings: Settings) -> None:
        self._local.answer_as(settings)

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        return self._local.query_values(operator, start)

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        if not is_foreign(path):
            return self._local.read_file(path, start=start, lines=lines)
        from engine.memory.file_reading import read_slice

        with self._remote.open(path) as text:
            return read_slice(text, path, start, lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        if is_foreign(path):
            return self._remote.open(path, cancel)
        return self._local.open_file(path, cancel=cancel)

    def locate(self, path: str) -> Path:
        if is_foreign(path):
            raise elsewhere(path)
        return self._local.locate(path)

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        if is_foreign(path):
            raise elsewhere(path)
        return self._local.read_session(path, reveal=reveal, cancel=cancel)

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        if is_foreign(path):
            raise elsewhere(path)
        return self._local.raw_lines(path, lines, reveal=reveal, cancel=cancel)

    def status(self) -> MemoryProviderStatus:
        own = self._local.status()
        view, vectors_there, unseen = self._seen()
        problem = unseen
        files = [] if view is None else list(view.files().values())
        counts = {source: [file.passages for file in files if file.source == source] for source in _SOURCES}
        chunks = sum(file.passages for file in files)
        location = None
        words = FtsStatus(enabled=True, available=view is not None or not unseen, error=None)
        if not words.available:
            words = msgspec.structs.replace(words, error=unseen)
        # The vector engine of this machine's own index doesn't search the table.
        vectors = VectorStatus(
            enabled=own.vector.enabled,
            available=None,
            extension_path=None,
            load_error=None,
            dims=own.vector.dims,
            engine="lancedb",
            rows=0,
        )
        if view is not None:
            location = self.table.location()
            mine = (own.provider, own.model) if view.model is None else (view.model.provider, view.model.model)
            if view.model is not None and mine != (own.provider, own.model) and own.provider != "none":
                problem = problem or tr("No search by meaning: {reason}", reason=other_model(view))
            vectors = msgspec.structs.replace(vectors, rows=vectors_there, dims=view.dims)
        status = msgspec.structs.replace(
            own,
            backend="lancedb",
            db_path=own.db_path if location is None else location.shown,
            files=len(files),
            chunks=chunks,
            source_counts=tuple(
                SourceCount(source=source, files=len(passages), chunks=sum(passages))
                for source, passages in counts.items()
                if passages
            ),
            fts=words,
            vector=vectors,
            index_error=problem or own.index_error,
            custom={**own.custom, "table": self._table_status(view, own)},
        )
        return with_degraded(status)

    def _seen(self) -> tuple[TableView | None, int, str]:
        """Return the last known state of the table, its number of vectors, and why it can't be read.

        Reads the table if its state is not known completely, or on the command line, which can wait.
        """
        if self._failed and time.monotonic() - self._failed < _LOOK_AGAIN_SECONDS:
            return *_remembered(self.table.known()), self.table.problem or ""
        known = self.table.known() if self._background else None
        try:
            if known is not None and known.complete:
                return known, known.vectors(), self.table.problem or ""
            return *self.table.read(_whole), ""
        except TableMissing:
            return None, 0, ""
        except MnemoscopeError as error:
            self._failed = time.monotonic()
            return *_remembered(self.table.known()), str(error)

    def _table_status(self, view: TableView | None, own: MemoryProviderStatus) -> dict[str, Any]:
        """Return status fields specific to a table."""
        try:
            location = self.table.location()
        except MnemoscopeError:
            return {"machines": [], "remote": None, "ownFiles": own.files, "ownChunks": own.chunks}
        holders = {} if view is None else {holder for file in view.files().values() for holder in file.holders}
        return {
            "address": location.shown,
            "remote": location.remote,
            "consent": "lancedb.uri" if location.remote else None,
            "version": None if view is None else view.version,
            "machine": self._this_machine().label,
            "machines": sorted(label for _, label in holders),
            "ownFiles": own.files,
            "ownChunks": own.chunks,
        }

    # --- this machine's own ---------------------------------------------------------------------------------------

    @property
    def saved_searches(self) -> "SavedSearches":
        return self._local.saved_searches

    @property
    def facts(self) -> "Facts":
        return self._local.facts

    @property
    def unseen_notes(self) -> "UnseenNotes":
        return self._local.unseen_notes

    @property
    def insight(self) -> "IndexInsight | None":
        return self._local.insight

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> PathState:
        return self._local.explain_path(path, config=config, cancel=cancel)

    def sessions(self) -> tuple[SessionSummary, ...]:
        return self._local.sessions()

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        return self._local.similar_sessions(path, max_results=max_results)

    def sync(
        self,
        *,
        reason: SyncReason = "manual",
        force: bool = False,
        progress: "ProgressCallback | None" = None,
        cancel: CancelToken | None = None,
        approve: bool | EmbeddingEstimate = False,
    ) -> SyncReport:
        return self._local.sync(reason=reason, force=force, progress=progress, cancel=cancel, approve=approve)

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        return self._local.estimate_embedding(settings, cancel=cancel)

    def approve_embedding(self) -> None:
        self._local.approve_embedding()

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        return self._local.stored_models()

    def purge_model(self, provider: str, model: str, key: str) -> int:
        return self._local.purge_model(provider, model, key)

    def warm_session(self, session_key: str) -> None:
        self._local.warm_session(session_key)

    def catch_up(self, seconds: float) -> None:
        self._local.catch_up(seconds)

    def add_status_listener(self, listener: "StatusListener") -> Callable[[], None]:
        return self._local.add_status_listener(listener)

    def current_sync(self) -> CancelToken | None:
        return self._local.current_sync()

    def probe_embedding(self) -> Probe:
        return self._local.probe_embedding()

    def probe_vector(self) -> Probe:
        """Whether the table answers."""
        try:
            self.table.view(fresh=True)
        except TableMissing:
            return Probe(ok=True, error="")
        except MnemoscopeError as error:
            return Probe(ok=False, error=str(error))
        return Probe(ok=True, error="")

    def close(self) -> None:
        self._local.close()
        self.table.close()


_SOURCES: tuple[Source, ...] = ("memory", "sessions")


def _whole(view: TableView) -> tuple[TableView, int]:
    """Read everything the status needs from the table."""
    view.files()
    return view, view.vectors()


def _remembered(view: TableView | None) -> tuple[TableView | None, int]:
    """Return a cached view of the table with its number of vectors; None and 0 if it was not read completely."""
    return (None, 0) if view is None or not view.complete else (view, view.vectors())
