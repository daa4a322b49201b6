"""Reads and writes data on embedding models: stored vectors, missing vectors, speed, and embedding that awaits
approval.
"""

import contextlib
from array import array
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import apsw
import msgspec

from engine.base.bounded_json import decode_json
from engine.records import EmbeddingEstimate
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot, validated
from engine.store.vector_encoding import StoredModel

if TYPE_CHECKING:
    from engine.records import StoredModelInfo
    from engine.store.writer import Writer

_BYTES_PER_NUMBER = 2
_MAX_PURGED = 1000
_MIN_SPREAD = 0.75
"""Minimum share of the ranges of chunk ids that have a vector; with fewer, one of each range is no sample of all."""


class ModelName(NamedTuple):
    """Provider, model and key, which together identify a model's vectors."""

    provider: str
    model: str
    key: str


class UnapprovedEmbedding(msgspec.Struct, frozen=True):
    """Embedding that the last sync did not start, because the user has not approved its cost."""

    name: ModelName
    estimate: EmbeddingEstimate


class MissingVectors(msgspec.Struct, frozen=True):
    """Numbers of chunks, texts and characters that have no vector of a model yet."""

    chunks: int = 0
    texts: int = 0
    """Number of distinct texts; chunks with the same text share their vector."""
    characters: int = 0
    """Number of characters in the texts without a vector."""
    characters_elsewhere: int = 0
    """Number of characters in the texts that have a vector of another model."""


def stored_models(snapshot: Snapshot, active: ModelName | None) -> "tuple[StoredModelInfo, ...]":
    """Return all models with vectors, those with most vectors first."""
    from engine.records import StoredModelInfo  # a search doesn't need it

    counts = dict(snapshot.connection.execute("SELECT model_id, count(*) FROM embedding_cache GROUP BY model_id"))
    rows = validated(
        snapshot.connection.execute("SELECT id, provider, model, provider_key, dims FROM models"),
        tuple[int, str, str, str, int],
    )
    models = [
        StoredModelInfo(
            provider=provider,
            model=model,
            key=key,
            dims=dims,
            vectors=counts[id_],
            bytes=counts[id_] * dims * _BYTES_PER_NUMBER,
            active=(provider, model, key) == active,
        )
        for id_, provider, model, key, dims in rows
        if id_ in counts
    ]
    return tuple(sorted(models, key=lambda info: (-info.vectors, info.provider, info.model, info.key)))


def missing_vectors(snapshot: Snapshot, name: ModelName) -> MissingVectors:
    """Count the missing vectors of this model. Reads every text without a vector."""
    model = snapshot.stored_model(*name)
    id_ = -1 if model is None else model.id
    counted: Iterable[tuple[int, int, int]] = snapshot.connection.execute(
        f"""SELECT min(c.id), count(*), EXISTS (SELECT 1 FROM embedding_cache o WHERE o.hash = c.hash)
            FROM {snapshot.tables.hashes_without_vector} m CROSS JOIN {snapshot.tables.chunks} c ON c.hash = m.hash
            GROUP BY m.hash""",
        (id_,),
    )
    chunks, of_text = 0, (list[int](), list[int]())
    for text, count, elsewhere in counted:
        chunks += count
        of_text[elsewhere].append(text)
    new, known = (_characters(snapshot, sorted(ids)) for ids in of_text)
    return MissingVectors(chunks, sum(map(len, of_text)), new + known, known)


def _characters(snapshot: Snapshot, ids: Sequence[int]) -> int:
    """Return the length of the texts of these chunks, read in the order of `ids`."""
    query = f"""SELECT coalesce(sum(length(c.text)), 0) FROM carray(?) wanted
        CROSS JOIN {snapshot.tables.chunks} c ON c.id = wanted.value"""
    ((characters,),) = snapshot.connection.execute(query, (id_array(ids),))
    return int(characters)


def ids_without_vector(snapshot: Snapshot, name: ModelName) -> list[int]:
    """Return one chunk id for every distinct text without a vector of this model."""
    model = snapshot.stored_model(*name)
    return list(snapshot.chunks_to_embed(-1 if model is None else model.id).values())


def speed(snapshot: Snapshot, name: ModelName) -> float | None:
    """Return the measured embedding speed in characters per second; None if it was not measured."""
    model = snapshot.stored_model(*name)
    stored = None if model is None else snapshot.meta(f"speed {model.id}")
    return float(stored) if isinstance(stored, (int, float)) else None


def record_speed(writer: "Writer", model_id: int, characters_per_second: float) -> None:
    """Store the measured speed of a model."""
    writer.set_meta(f"speed {model_id}", round(characters_per_second))


def unapproved_embedding(snapshot: Snapshot) -> UnapprovedEmbedding | None:
    """Return the embedding that the last sync did not start for lack of approval; None if there is none."""
    stored = snapshot.meta("awaiting")
    if isinstance(stored, str):
        with contextlib.suppress(ValueError):  # written by another version
            return decode_json(stored, UnapprovedEmbedding)
    return None


def record_unapproved_embedding(writer: "Writer", estimate: UnapprovedEmbedding | None) -> None:
    """Store the embedding that needs approval; None removes it."""
    writer.set_meta("awaiting", None if estimate is None else msgspec.json.encode(estimate).decode())


def embedding_failure(snapshot: Snapshot, name: ModelName) -> str:
    """Return why the last sync could not embed with this model; empty if it could, or if another model was in use."""
    stored = snapshot.meta("embedding failure")
    if isinstance(stored, str):
        with contextlib.suppress(ValueError):  # written by another version
            model, reason = decode_json(stored, tuple[ModelName, str])
            return reason if model == name else ""
    return ""


def record_embedding_failure(writer: "Writer", name: ModelName, reason: str) -> None:
    """Store why a sync could not embed with a model; an empty reason removes it."""
    writer.set_meta("embedding failure", msgspec.json.encode((name, reason)).decode() if reason else None)


def purge(writer: "Writer", name: ModelName) -> int:
    """Delete some vectors of a model in the caller's transaction; returns how many were deleted, 0 when all are gone.

    The model keeps its id, which memory and other files refer to.
    """
    model = writer.stored_model(*name)
    if model is None:
        return 0
    writer.connection.execute(
        "DELETE FROM embedding_cache WHERE id IN (SELECT id FROM embedding_cache WHERE model_id = ? LIMIT ?)",
        (model.id, _MAX_PURGED),
    )
    return writer.connection.changes()


def spread_chunks(snapshot: Snapshot, model: StoredModel, most: int) -> list[int]:
    """Return the ids of at most `most` chunks that have a vector, spread evenly over the index.

    Reads about that many rows, but all if many chunk ids are unused or many chunks have no vector.
    """
    first, last = snapshot.chunk_id_range()
    width = -(-(last + 1 - first) // most)
    starts = array("q", range(first, last + 1, width))
    if width > 1 and not snapshot.hidden:
        rows = snapshot.connection.execute(
            f"""SELECT (SELECT c.id FROM {snapshot.tables.chunks} c
                    WHERE c.id >= part.value AND c.id < part.value + ?1 AND EXISTS (
                        SELECT 1 FROM embedding_cache e WHERE e.model_id = ?2 AND e.hash = c.hash)
                    ORDER BY c.id LIMIT 1)
                FROM carray(?3) part""",
            (width, model.id, apsw.carray(starts)),
        )
        ids = [id_ for (id_,) in rows if id_ is not None]
        if len(ids) >= _MIN_SPREAD * len(starts):
            return ids
    all_ids = snapshot.vector_chunk_ids(model.id)
    return all_ids[:: max(1, -(-len(all_ids) // most))]
