"""The remote part of a sync: uses vectors made by other machines, and adds this machine's rows and vectors to the
table.

The program's own index comes first: it reads, chunks, masks and embeds this machine's files, works without a network,
and answers if the table can't. Its contents are compared with the table by content, so that the next sync completes one
that was killed or late.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from engine.backends.lancedb.error_messages import TableMissing
from engine.backends.lancedb.table import SharedTable, TableView
from engine.backends.lancedb.table_location import Machine
from engine.backends.lancedb.table_schema import (
    FILE_ROW,
    SharedFile,
    file_key,
    rows_of_file,
    spelt_holders,
    sql_one_of,
    sql_text,
)
from engine.backends.lancedb.table_writer import TableWriter
from engine.base import in_batches
from engine.corpus.chunking import Chunk
from engine.embedding.provider_interface import EmbeddingProvider
from engine.indexing.commit_groups import VectorStorage
from engine.indexing.note_preparation import chunk_rows
from engine.indexing.stage_data import StageWork, fingerprint
from engine.records import Source
from engine.redaction.secret_masking import redact
from engine.store.index_schema import IN_TEXT_ORDER, stored_dates
from engine.store.snapshot import HEADING_SEPARATOR, Snapshot
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel, decode
from engine.store.writer import NewFile, NewSession
from engine.text import analyse_both

# --- The contents of this machine's own index, in the form of the table ----------------------------------------------

_GROUP = 400


class LocalFile(NamedTuple):
    """A file that is indexed on this machine."""

    id: int
    source: Source
    path: str
    hash: str
    mtime_ns: int
    chunks: int

    @property
    def key(self) -> str:
        return file_key(self.source, self.path, self.hash)


class Stored(NamedTuple):
    """The stored file; its text is analysed again, since the keyword index stores no text."""

    size: int
    title: str
    language: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    dates: tuple[float, ...]
    evergreen: bool
    session: NewSession | None
    chunks: tuple[tuple[Chunk, bytes | None], ...]
    """Each with its message locations, if it is a session's."""


def local_files(snapshot: Snapshot) -> list[LocalFile]:
    """Return all indexed files, newest first, without sessions that are only listed so far."""
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.source, f.path, f.hash, f.mtime_ns,
                (SELECT count(*) FROM {snapshot.tables.chunks} c WHERE c.file_id = f.id) AS chunks
            FROM {snapshot.tables.files} f WHERE f.source = 'memory' OR chunks > 0
            ORDER BY f.mtime_ns DESC, f.path"""
    )
    return [LocalFile(*row) for row in rows]


def read_stored(snapshot: Snapshot, file: LocalFile) -> Stored | None:
    """Read a stored file; None if it was deleted."""
    tables, connection = snapshot.tables, snapshot.connection
    row = connection.execute(f"SELECT size, title, language FROM {tables.files} WHERE id = ?", (file.id,)).fetchone()
    if row is None:
        return None
    tags = tuple(tag for (tag,) in connection.execute(f"SELECT tag FROM {tables.tags} WHERE file_id = ?", (file.id,)))
    front: tuple[str, float | None, int, str] = connection.execute(
        f"SELECT aliases, dated, evergreen, earlier FROM {tables.front_matter} WHERE file_id = ?", (file.id,)
    ).fetchone() or ("", None, 0, "")
    session = connection.execute(
        f"""SELECT transcript, agent, session_id, project, branch, parent, started, ended, messages, bytes,
                unknown, rewound, active, pauses
            FROM {tables.sessions} WHERE file_id = ?""",
        (file.id,),
    ).fetchone()
    chunks = connection.execute(
        f"""SELECT start_line, end_line, text, heading, places FROM {tables.chunks}
            WHERE file_id = ? ORDER BY {IN_TEXT_ORDER}""",
        (file.id,),
    )
    size, title, language = row
    return Stored(
        size=size,
        title=title,
        language=language,
        tags=tags,
        aliases=tuple(front[0].splitlines()),
        dates=stored_dates(front[1], front[3]),
        evergreen=bool(front[2]),
        session=None if session is None else NewSession(*session),
        chunks=tuple(
            (Chunk(start, end, text, _headings(heading)), offsets) for start, end, text, heading, offsets in chunks
        ),
    )


def masked(file: LocalFile, stored: Stored) -> Stored:
    """Mask the secrets in a note before it is sent to other machines. Sessions are masked already."""
    if file.source == "sessions":
        return stored

    # In one text, since a table or a list of passwords may continue in the next chunk.
    lines = redact("\n".join(chunk.text for chunk, _ in stored.chunks)).split("\n")
    chunks, start = [], 0
    for chunk, offsets in stored.chunks:
        end = start + chunk.text.count("\n") + 1
        text, start = "\n".join(lines[start:end]), end
        chunks.append((Chunk(chunk.start_line, chunk.end_line, text, tuple(map(redact, chunk.heading))), offsets))
    aliases = tuple(map(redact, stored.aliases))
    return stored._replace(title=redact(stored.title), aliases=aliases, chunks=tuple(chunks))


def analysed(file: LocalFile, stored: Stored) -> NewFile:
    """Return the file with the token streams of every column."""
    session, language = stored.session, stored.language
    name = file.path if session is None else ""
    offsets = [offsets for _, offsets in stored.chunks]
    rows = chunk_rows((chunk for chunk, _ in stored.chunks), language)
    return NewFile(
        source=file.source,
        path=file.path,
        hash=file.hash,
        mtime_ns=file.mtime_ns,
        size=stored.size,
        title=stored.title,
        language=language,
        title_tokens=analyse_both(stored.title, language),
        name_tokens=analyse_both(name, language),
        chunks=tuple(
            msgspec.structs.replace(row, message_offsets=row_offsets)
            for row, row_offsets in zip(rows, offsets, strict=True)
        ),
        session=session,
        tags=stored.tags,
        aliases=stored.aliases,
        alias_tokens=analyse_both("\n".join(stored.aliases), language),
        dates=stored.dates,
        evergreen=stored.evergreen,
    )


def vectors_of(snapshot: Snapshot, model: StoredModel, hashes: Sequence[bytes]) -> Iterator[tuple[bytes, bytes]]:
    """Return (hash, little-endian float16 vector) of the given texts that have a vector."""
    for group in in_batches(hashes, _GROUP):
        yield from snapshot.connection.execute(
            f"SELECT hash, vector FROM embedding_cache WHERE model_id = ? AND hash IN ({','.join('?' * len(group))})",
            (model.id, *group),
        )


def _headings(stored: str) -> tuple[str, ...]:
    return tuple(stored.split(HEADING_SEPARATOR)) if stored else ()


# ---------------------------------------------------------------------------------------------------------------------

_LONG_EMBEDDING = 256
"""Number of chunks to embed from which the text is shared first, so that keywords find it meanwhile."""
_FILES_PER_COMMIT = 200
_CHUNKS_PER_COMMIT = 1000
_VECTORS_PER_BATCH = 500
_KEYS_PER_BATCH = 1000
_PASSES = 4
"""Attempts: a second one sees concurrent commits of other machines."""


@dataclass
class UploadPlan:
    """Changes to upload; none concerns rows that only another machine has."""

    put: list[tuple[LocalFile, list[str]]] = field(default_factory=list)
    """Files whose rows are to be added, newest first, each with the keys of the rows that they replace."""
    renew: list[LocalFile] = field(default_factory=list)
    """Files whose rows this machine wrote by older rules, or with another time."""
    join: list[str] = field(default_factory=list)
    """Keys of files added by another machine that this machine has too."""
    leave: list[SharedFile] = field(default_factory=list)
    """Files that were deleted here, and are still on other machines."""
    remove: list[str] = field(default_factory=list)
    """Keys of files that no machine has any more, or that are outdated."""

    @property
    def empty(self) -> bool:
        return not (self.put or self.renew or self.join or self.leave or self.remove)


def make_plan(local: Sequence[LocalFile], shared: Mapping[str, SharedFile], machine: str, rules: str) -> UploadPlan:
    """Plan which files to upload and remove. `machine`: the id of this one. See `table_schema` for identity and
    holders.
    """
    plan = UploadPlan()
    expected = {file.key: file for file in local}
    now = {(file.source, file.path): file.key for file in local}
    outdated: dict[str, list[str]] = {}
    for key, there in shared.items():
        if key in expected or not _is_held_by(there, machine):
            continue
        successor = now.get((there.source, there.path))
        if successor is not None:
            outdated.setdefault(successor, []).append(key)
        elif all(id_ == machine for id_, _ in there.holders):
            plan.remove.append(key)
        else:
            plan.leave.append(there)
    for key, file in expected.items():
        known = shared.get(key)
        if known is None:
            plan.put.append((file, outdated.get(key, [])))
            continue
        plan.remove += outdated.get(key, [])
        if not _is_held_by(known, machine):
            plan.join.append(key)
        if known.writer == machine and (known.rules, known.mtime_ns) != (rules, file.mtime_ns):
            plan.renew.append(file)
    return plan


def _is_held_by(file: SharedFile, machine: str) -> bool:
    return any(id_ == machine for id_, _ in file.holders)


class TablePublisher:
    """Implements `Sharing`: publishes the rows of an index in the shared table. Used by one sync at a time."""

    def __init__(
        self,
        table: SharedTable,
        machine: Callable[[], Machine],
        known_provider: Callable[[], EmbeddingProvider | None],
        shared: Callable[[], None],
    ) -> None:
        """`known_provider`: the provider whose vectors the index has now. `shared` is called after every commit."""
        self._table = table
        self._writer = TableWriter(table)
        self._machine = machine
        self._provider = known_provider
        self._shared = shared

    def text_ready(self, work: StageWork, pending: int) -> None:
        self._table.with_retry(lambda: self._share_text(work, pending))

    def share_all(self, work: StageWork) -> None:
        self._table.with_retry(lambda: self._share_all(work))

    def _share_text(self, work: StageWork, pending: int) -> None:
        if pending:
            pending -= self._copy_vectors(work)
        if pending >= _LONG_EMBEDDING:
            self._publish(work)

    def _share_all(self, work: StageWork) -> None:
        self._publish(work)
        self._add_missing_vectors(work)
        self._writer.clean_up(work.token)

    # --- vectors --------------------------------------------------------------------------------------------------

    def _name(self) -> ModelName | None:
        provider = self._provider()
        return None if provider is None else ModelName(provider.id, provider.model, provider.key)

    def _copy_vectors(self, work: StageWork) -> int:
        """Copy vectors that others have made; returns the number of chunks that needn't be embedded any more."""
        model = work.model
        try:
            view = self._table.view(work.token, fresh=True)
        except TableMissing:
            return 0
        if model is None or view.model != self._name() or view.dims != model.dims or not view.vectors():
            return 0
        with work.context.store.read() as snapshot:
            due = list(snapshot.chunks_to_embed(model.id))
        storage, count = VectorStorage(work, model), 0
        for batch in in_batches(due, _VECTORS_PER_BATCH):
            vectors = view.vectors_of(batch, work.token)
            if vectors:
                storage.save(list(vectors), decode(list(vectors.values()), model.dims), made=False)
                count += len(vectors)
        return count

    def _add_missing_vectors(self, work: StageWork) -> None:
        """Add missing vectors to this machine's rows."""
        model, name = work.model, self._name()
        if model is None or name is None:
            return
        view = self._table.view(work.token, fresh=True)
        with work.context.store.read() as snapshot:
            if not snapshot.has_vectors(model.id):
                return
        if view.model is None:
            self._writer.add_vector_column(model.dims, name, work.token)
            view = self._table.view(work.token, fresh=True)
        if (view.model, view.dims) != (name, model.dims):
            return
        missing = view.without_vector(work.token)
        for group in in_batches(missing, _CHUNKS_PER_COMMIT):
            with work.context.store.read() as snapshot:
                known = dict(vectors_of(snapshot, model, [hash_ for _, hash_ in group]))
            ready = [(id_, known[hash_]) for id_, hash_ in group if hash_ in known]
            if ready:
                self._writer.set_vectors([id_ for id_, _ in ready], [vector for _, vector in ready], work.token)
                self._shared()

    # --- rows -----------------------------------------------------------------------------------------------------

    def _publish(self, work: StageWork) -> None:
        with work.context.store.read() as snapshot:
            local = local_files(snapshot)
        rules = hashlib.sha256(fingerprint(work.context.settings).encode()).hexdigest()[:12]
        for _ in range(_PASSES):
            view = self._opened(work)
            files = view.files(work.token)
            plan = make_plan(local, files, self._machine().id, rules)
            if plan.empty:
                return
            self._execute_plan(plan, view, rules, work)

    def _opened(self, work: StageWork) -> TableView:
        try:
            return self._table.view(work.token, fresh=True)
        except TableMissing:
            dims = None if work.model is None else work.model.dims
            self._writer.create(dims, self._name() if dims else None, work.token)
            return self._table.view(work.token, fresh=True)

    def _execute_plan(self, plan: UploadPlan, view: TableView, rules: str, work: StageWork) -> None:
        me, token = self._machine(), work.token
        entry = spelt_holders([(me.id, me.label)])[1:]
        total, done = len(plan.put) + len(plan.renew), 0
        work.meter.start("publishing", total)
        for group in _groups(plan.put):
            self._store_files(
                [file for file, _ in group], [key for _, keys in group for key in keys], view, rules, work
            )
            done += len(group)
            work.meter.step(done, group[-1][0].path)
        for renewed in _groups([(file, list[str]()) for file in plan.renew]):
            self._store_files([file for file, _ in renewed], [file.key for file, _ in renewed], view, rules, work)
            done += len(renewed)
            work.meter.step(done, renewed[-1][0].path)
        for keys in in_batches(plan.join, _KEYS_PER_BATCH):
            fresh = f"{sql_one_of('file', keys)} AND ordinal = {FILE_ROW} AND holders NOT LIKE '%,{me.id}:%'"
            self._writer.change_holders(fresh, f"concat(holders, {sql_text(entry)})", token)
        for file in plan.leave:
            own_entry = next(entry for entry in file.holders if entry[0] == me.id)
            condition = f"{sql_one_of('file', [file.key])} AND ordinal = {FILE_ROW}"
            gone = sql_text(spelt_holders([own_entry]))
            self._writer.change_holders(condition, f"replace(holders, {gone}, ',')", token)
        for keys in in_batches(plan.remove, _KEYS_PER_BATCH):
            self._writer.delete(sql_one_of("file", keys), token)
        self._shared()

    def _store_files(
        self, files: Sequence[LocalFile], instead_of: Sequence[str], view: TableView, rules: str, work: StageWork
    ) -> None:
        """Store these files in one commit. `instead_of`: keys of the files that they replace."""
        me = self._machine()
        with work.context.store.read() as snapshot:
            stored = [(file, read_stored(snapshot, file)) for file in files]
        rows: list[dict[str, Any]] = []
        hashes: dict[str, bytes] = {}
        remote = self._table.location().remote
        for file, found in stored:
            work.token.checkpoint()
            if found is None:
                continue
            new = analysed(file, masked(file, found) if remote else found)
            known = view.files().get(file.key)
            holders = ((me.id, me.label),) if known is None else known.holders
            rows += rows_of_file(new, file.key, spelt_holders(holders), me.id, rules)
            # Masked text means the same as before; its vector is stored under the new text.
            own = (hashlib.sha256(chunk.text.encode()).digest() for chunk, _ in found.chunks)
            hashes |= {chunk.hash.hex(): hash_ for chunk, hash_ in zip(new.chunks, own, strict=True)}
        known_vectors = self._known_vectors(view, list(hashes.values()), work)
        vectors = {row: known_vectors[hash_] for row, hash_ in hashes.items() if hash_ in known_vectors}
        self._writer.replace_files(rows, instead_of, vectors, work.token)
        self._shared()

    def _known_vectors(self, view: TableView, hashes: Sequence[bytes], work: StageWork) -> dict[bytes, bytes]:
        """Return known vectors by text hash; empty if the table has vectors of another model."""
        model: StoredModel | None = work.model
        if model is None or (view.model, view.dims) != (self._name(), model.dims):
            return {}
        with work.context.store.read() as snapshot:
            return dict(vectors_of(snapshot, model, hashes))


def _groups(files: Sequence[tuple[LocalFile, list[str]]]) -> Iterator[list[tuple[LocalFile, list[str]]]]:
    """Yield groups of files for one commit each."""
    group: list[tuple[LocalFile, list[str]]] = []
    chunks = 0
    for entry in files:
        if group and (len(group) == _FILES_PER_COMMIT or chunks + entry[0].chunks > _CHUNKS_PER_COMMIT):
            yield group
            group, chunks = [], 0
        group.append(entry)
        chunks += entry[0].chunks
    if group:
        yield group
