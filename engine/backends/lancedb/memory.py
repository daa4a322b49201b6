"""The LanceDB backend: indexes this machine's files as usual, and searches a table that several machines share."""

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from engine.backends.builtin import BuiltinMemory
from engine.backends.lancedb.error_messages import TableMissing
from engine.backends.lancedb.search import TableSearcher, other_model
from engine.backends.lancedb.table import SharedTable, TableView
from engine.backends.lancedb.table_location import FileNames, Machine, find_table, is_foreign, machine_of, this_machine
from engine.backends.lancedb.table_schema import Row, SharedFile, sql_one_of
from engine.backends.lancedb.table_sync import TablePublisher
from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, PathRefused, Unsupported
from engine.base.language import tr
from engine.corpus.line_reader import NumberedText
from engine.corpus.transcripts.message_offsets import read_offsets
from engine.memory.memory_context import IndexOverride
from engine.memory.status_report import with_degraded
from engine.records import (
    FileText,
    FtsStatus,
    MemoryProviderStatus,
    Probe,
    SessionText,
    Source,
    SourceCount,
    VectorStatus,
)
from engine.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Executor


# --- Files of other machines, assembled from their passages in the table ---------------------------------------------


class RemoteFiles:
    """Reads files of other machines from the table. Thread-safe. Raises the errors of `SharedTable.view`."""

    def __init__(self, table: SharedTable, naming: FileNames) -> None:
        self._table = table
        self._file_names = naming

    def open(self, path: str, cancel: CancelToken | None = None) -> NumberedText:
        """Return a file's text, composed of its passages, each line at its number. Raises `PathRefused`."""

        def rows(view: TableView) -> list[Row]:
            files = view.files(cancel)
            key = next((key for key, name in self._file_names.stable_names(files).items() if name == path), None)
            if key is None:
                raise PathRefused
            return view.where(sql_one_of("file", [key]), cancel)

        rows_of_files = self._table.read(rows, cancel)
        return NumberedText.of(composed(sorted(rows_of_files, key=lambda row: row.ordinal)))


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
    ends = [*(offset.offset for offset in offsets[1:]), len(chunk.text)]
    return [
        (offset.line, " ".join(chunk.text[offset.offset : end].split()))
        for offset, end in zip(offsets, ends, strict=True)
    ]


# ---------------------------------------------------------------------------------------------------------------------

_LOOK_AGAIN_SECONDS = 30.0
"""Seconds until the status of an unreachable table is requested again."""


class LanceMemory(BuiltinMemory):
    """The memory that searches a shared table; `MemorySearchManager` documents its methods.

    Searches are answered by the table, including files of other machines. Everything else is local and answered by this
    machine's index: sessions, models, health, the map. The window therefore has every feature, a sync works without a
    network, and a fallback has its index.
    """

    table: SharedTable
    _file_names: FileNames
    _remote: RemoteFiles

    def __init__(self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool) -> None:
        self._background = background
        self._machine: Machine | None = None
        self._failed = 0.0
        super().__init__(workspace, settings, executor=executor, background=background)

    def _shared(self) -> IndexOverride:
        def indexed_under() -> object:
            with self.store.read() as snapshot:
                return snapshot.meta("names")

        workspace, settings, folder = self._workspace, self._settings, self.store.files.folder
        self.table = SharedTable(lambda cancel: find_table(workspace, settings, folder, cancel=cancel))
        self._file_names = FileNames(self._this_machine, self._guard, indexed_under)
        self._remote = RemoteFiles(self.table, self._file_names)
        cache, provider = settings.query.cache, self._provider
        searcher = TableSearcher(
            cache, self.table, self._file_names, provider.provider, provider.report_failure, self._guard
        )
        publisher = TablePublisher(self.table, self._this_machine, provider.selected, self._listeners.notify)
        return IndexOverride(searcher, publisher)

    def _this_machine(self) -> Machine:
        if self._machine is None:
            self._machine = this_machine(self._workspace, self._settings)
        return self._machine

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        if not is_foreign(path):
            return super().read_file(path, start=start, lines=lines)
        from engine.memory.file_reading import read_slice

        with self._remote.open(path) as text:
            return read_slice(text, path, start, lines)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        if is_foreign(path):
            return self._remote.open(path, cancel)
        return super().open_file(path, cancel=cancel)

    def locate(self, path: str) -> Path:
        if is_foreign(path):
            raise elsewhere(path)
        return super().locate(path)

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        if is_foreign(path):
            raise elsewhere(path)
        return super().read_session(path, reveal=reveal, cancel=cancel)

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        if is_foreign(path):
            raise elsewhere(path)
        return super().raw_lines(path, lines, reveal=reveal, cancel=cancel)

    def session_image(
        self, path: str, message: int, number: int, *, cancel: CancelToken | None = None
    ) -> tuple[bytes, str] | None:
        if is_foreign(path):
            raise elsewhere(path)
        return super().session_image(path, message, number, cancel=cancel)

    def status(self) -> MemoryProviderStatus:
        own = super().status()
        view, vectors, problem = self._table_state()
        files = [] if view is None else list(view.files().values())
        unreadable = problem if view is None else ""
        status = msgspec.structs.replace(
            own,
            backend="lancedb",
            db_path=own.db_path if view is None else self.table.location().address,
            files=len(files),
            chunks=sum(file.passages for file in files),
            source_counts=tuple(_source_counts(files)),
            fts=FtsStatus(enabled=True, available=not unreadable, error=unreadable or None),
            # The vector engine of this machine's own index doesn't search the table.
            vector=VectorStatus(
                enabled=own.vector.enabled,
                available=None,
                extension_path=None,
                load_error=None,
                dims=own.vector.dims if view is None else view.dims,
                engine="lancedb",
                rows=vectors,
            ),
            index_error=problem or _another_model(view, own) or own.index_error,
            custom={**own.custom, "table": self._table_status(view, own)},
        )
        return with_degraded(status)

    def _table_state(self) -> tuple[TableView | None, int, str]:
        """Return the last known state of the table, its number of vectors, and why it can't be read.

        Reads the table if its state is not known completely, or on the command line, which can wait.
        """
        if self._failed and time.monotonic() - self._failed < _LOOK_AGAIN_SECONDS:
            return *_remembered(self.table.last_read()), self.table.problem or ""
        known = self.table.last_read() if self._background else None
        try:
            if known is not None and known.complete:
                return known, known.vectors(), self.table.problem or ""
            return *self.table.read(_with_counts), ""
        except TableMissing:
            return None, 0, ""
        except MnemoscopeError as error:
            self._failed = time.monotonic()
            return *_remembered(self.table.last_read()), str(error)

    def _table_status(self, view: TableView | None, own: MemoryProviderStatus) -> dict[str, Any]:
        """Return status fields specific to a table."""
        try:
            location = self.table.location()
        except MnemoscopeError:
            return {"machines": [], "remote": None, "ownFiles": own.files, "ownChunks": own.chunks}
        holders = {} if view is None else {holder for file in view.files().values() for holder in file.holders}
        return {
            "address": location.address,
            "remote": location.remote,
            "consent": "lancedb.uri" if location.remote else None,
            "version": None if view is None else view.version,
            "machine": self._this_machine().label,
            "machines": sorted(label for _, label in holders),
            "ownFiles": own.files,
            "ownChunks": own.chunks,
        }

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
        super().close()
        self.table.close()


_SOURCES: tuple[Source, ...] = ("memory", "sessions")


def _source_counts(files: Sequence[SharedFile]) -> Iterator[SourceCount]:
    for source in _SOURCES:
        if passages := [file.passages for file in files if file.source == source]:
            yield SourceCount(source=source, files=len(passages), chunks=sum(passages))


def _another_model(view: TableView | None, own: MemoryProviderStatus) -> str:
    """Return why the table can't be searched by meaning; empty if it can, or this machine has no model."""
    if view is None or view.model is None or own.provider == "none":
        return ""
    if (view.model.provider, view.model.model) == (own.provider, own.model):
        return ""
    return tr("No search by meaning: {reason}", reason=other_model(view))


def _with_counts(view: TableView) -> tuple[TableView, int]:
    """Read everything the status needs from the table."""
    view.files()
    return view, view.vectors()


def _remembered(view: TableView | None) -> tuple[TableView | None, int]:
    """Return a cached view of the table with its number of vectors; None and 0 if it was not read completely."""
    return (None, 0) if view is None or not view.complete else (view, view.vectors())
