"""Reads the indexed content of one file: the rows of its chunks, and all details of a chunk."""

import os
from collections.abc import Iterable

from engine.base.errors import PathRefused
from engine.corpus.chunk_boundaries import CHARACTERS_PER_TOKEN, weigh
from engine.corpus.folder_walk import LATEST_NS
from engine.corpus.ignore_rules import is_unusable
from engine.corpus.path_guard import PathGuard
from engine.records import ChunkDetail, ChunkRow, ChunkVector, FileChunks, Source, VectorState
from engine.store.connection import number
from engine.store.index_schema import IN_TEXT_ORDER
from engine.store.snapshot import HEADING_SEPARATOR, Snapshot, issue_of
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel
from engine.text import analyse
from engine.text.stems import counted_as


def file_chunks(snapshot: Snapshot, path: str, model: ModelName | None, guard: PathGuard) -> FileChunks | None:
    """Return the chunks of the file with this stable name; None if it is not indexed, or the settings exclude it by
    now.

    `model` is the model in use. Reads the text of all chunks, but does not return it.
    """
    if is_unusable(path):
        return None
    row = snapshot.connection.execute(
        f"SELECT id, source, title, language, hash, size, mtime_ns FROM {snapshot.tables.files} WHERE path = ?", (path,)
    ).fetchone()
    if row is None or guard.refused((path,), snapshot.meta("names")):
        return None
    file_id, source, title, language, hash_, size, mtime_ns = row
    refused = issue_of(snapshot, "not embedded", path)
    rows: Iterable[tuple[int, int, int, str, str, int]] = snapshot.connection.execute(
        f"""SELECT c.id, c.start_line, c.end_line, c.heading, c.text, e.id IS NOT NULL FROM {snapshot.tables.chunks} c
            LEFT JOIN embedding_cache e ON e.model_id = ? AND e.hash = c.hash
            WHERE c.file_id = ? ORDER BY c.start_line, c.id""",
        (_id_of(snapshot, model), file_id),
    )
    without = _missing_vector_status(model, refused=refused is not None)
    tags = snapshot.connection.execute(f"SELECT tag FROM {snapshot.tables.tags} WHERE file_id = ?", (file_id,))
    return FileChunks(
        path=path,
        source=source,
        title=title,
        language=counted_as(language),
        hash=hash_,
        size=size,
        modified=mtime_ns / 1e9,
        changed=_has_changed(path, source, (mtime_ns, size), guard),
        tags=tuple(sorted(tag for (tag,) in tags)),
        refusal="" if refused is None else refused.detail,
        chunks=tuple(
            _row(id_, start, end, heading, text, "ready" if embedded else without)
            for id_, start, end, heading, text, embedded in rows
        ),
    )


def chunk_detail(
    snapshot: Snapshot, path: str, id_: int, model: ModelName | None, guard: PathGuard
) -> ChunkDetail | None:
    """Return all details of one chunk of a file; None if the chunk no longer exists, as after re-indexing the file."""
    tables = snapshot.tables
    stored = snapshot.connection.execute(
        f"""SELECT c.start_line, c.end_line, c.heading, c.text, c.hash, c.file_id, f.language
            FROM {tables.chunks} c CROSS JOIN {tables.files} f ON f.id = c.file_id WHERE c.id = ? AND f.path = ?""",
        (id_, path),
    ).fetchone()
    if stored is None:
        return None
    start, end, heading, text, hash_, file_id, language = stored
    if guard.refused((path,), snapshot.meta("names")):
        return None
    vectors = _vectors(snapshot, hash_, model)
    refused = issue_of(snapshot, "not embedded", path) is not None
    state = "ready" if any(vector.active for vector in vectors) else _missing_vector_status(model, refused=refused)
    row = _row(id_, start, end, heading, text, state)
    preceding = f"SELECT count(*) FROM {tables.chunks} WHERE file_id = ? AND ({IN_TEXT_ORDER}) <= (?, ?)"
    identical = f"SELECT count(*) - 1 FROM {tables.chunks} WHERE hash = ?"
    # The keyword index stores no text, but the same analysis yields the same tokens.
    analysed = analyse(text, language)
    return ChunkDetail(
        id=id_,
        number=number(snapshot.connection, preceding, (file_id, start, id_)),
        path=path,
        row=row,
        hash=hash_.hex(),
        text=text,
        vectors=vectors,
        words=analysed.words,
        stems=analysed.stems,
        heading_words=analyse("\n".join(row.heading), language).words,
        identical=number(snapshot.connection, identical, (hash_,)),
    )


def _id_of(snapshot: Snapshot, model: ModelName | None) -> int | None:
    stored: StoredModel | None = None if model is None else snapshot.stored_model(*model)
    return None if stored is None else stored.id


def _missing_vector_status(model: ModelName | None, *, refused: bool) -> VectorState:
    """Return the vector status of a chunk that has no vector."""
    if model is None:
        return "none"
    # Refusals are recorded per file, so all of its chunks without a vector count as refused.
    return "refused" if refused else "pending"


def _row(id_: int, start: int, end: int, heading: str, text: str, vector: VectorState) -> ChunkRow:
    return ChunkRow(
        id=id_,
        start_line=start,
        end_line=end,
        heading=tuple(heading.split(HEADING_SEPARATOR)) if heading else (),
        characters=len(text),
        tokens=-(-weigh(text) // CHARACTERS_PER_TOKEN),
        vector=vector,
    )


def _vectors(snapshot: Snapshot, hash_: bytes, model: ModelName | None) -> tuple[ChunkVector, ...]:
    rows: Iterable[tuple[str, str, str, int]] = snapshot.connection.execute(
        """SELECT m.provider, m.model, m.provider_key, m.dims FROM embedding_cache e
           JOIN models m ON m.id = e.model_id WHERE e.hash = ? ORDER BY m.provider, m.model, m.provider_key""",
        (hash_,),
    )
    return tuple(
        ChunkVector(provider=provider, model=name, dims=dims, active=(provider, name, key) == model)
        for provider, name, key, dims in rows
    )


def _has_changed(path: str, source: Source, indexed: tuple[int, int], guard: PathGuard) -> bool:
    """Whether a note's time or size differs from the indexed one; always false for transcripts, which only grow."""
    if source == "sessions":
        return False
    try:
        state = os.stat(guard.locate(path))
    except (PathRefused, OSError):
        return True
    return (min(state.st_mtime_ns, LATEST_NS), state.st_size) != indexed
