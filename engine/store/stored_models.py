"""Reads and writes data on embedding models: stored vectors, missing vectors, speed, and embedding that awaits
approval.
"""

import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.base.bounded_json import decode_json
from engine.records import EmbeddingEstimate, StoredModelInfo
from engine.store.snapshot import Snapshot, typed

if TYPE_CHECKING:
    from engine.store.writer import Writer

_BYTES_A_NUMBER = 2
_MOST_PURGED = 1000


class ModelName(NamedTuple):
    """Provider, model and key, which together identify a model's vectors."""

    provider: str
    model: str
    key: str


class Awaiting(msgspec.Struct, frozen=True):
    """An embedding run that the last sync did not start, because the user has not approved its cost."""

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
    """Number of characters in those of the texts that have a vector of another model."""


def stored_models(snapshot: Snapshot, active: ModelName | None) -> tuple[StoredModelInfo, ...]:
    """Return all models with vectors, those with most vectors first."""
    counts = dict(snapshot.connection.execute("SELECT model_id, count(*) FROM embedding_cache GROUP BY model_id"))
    rows = typed(
        snapshot.connection.execute("SELECT id, provider, model, provider_key, dims FROM models"),
        tuple[int, str, str, str, int],
    )
    found = [
        StoredModelInfo(
            provider=provider,
            model=model,
            key=key,
            dims=dims,
            vectors=counts[id_],
            bytes=counts[id_] * dims * _BYTES_A_NUMBER,
            active=(provider, model, key) == active,
        )
        for id_, provider, model, key, dims in rows
        if id_ in counts
    ]
    return tuple(sorted(found, key=lambda info: (-info.vectors, info.provider, info.model, info.key)))


def missing_vectors(snapshot: Snapshot, name: ModelName) -> MissingVectors:
    """Count the missing vectors of this model. Reads every text without a vector."""
    model = snapshot.stored_model(*name)
    id_ = -1 if model is None else model.id
    rows: Iterable[tuple[int, int, int, int]] = snapshot.connection.execute(
        f"""SELECT coalesce(sum(chunks), 0), count(*), coalesce(sum(letters), 0),
                coalesce(sum(iif(elsewhere, letters, 0)), 0)
            FROM (SELECT count(*) AS chunks, max(length(c.text)) AS letters,
                    EXISTS (SELECT 1 FROM embedding_cache o WHERE o.hash = c.hash) AS elsewhere
                FROM {snapshot.tables.chunks} c
                WHERE NOT EXISTS (SELECT 1 FROM embedding_cache e WHERE e.model_id = ? AND e.hash = c.hash)
                GROUP BY c.hash)""",
        (id_,),
    )
    return next(MissingVectors(*row) for row in rows)


def ids_without_vector(snapshot: Snapshot, name: ModelName) -> list[int]:
    """Return one chunk id for every distinct text without a vector of this model."""
    model = snapshot.stored_model(*name)
    return snapshot.unembedded(-1 if model is None else model.id)


def speed(snapshot: Snapshot, name: ModelName) -> float | None:
    """Return the measured embedding speed in characters per second; None if it was not measured."""
    model = snapshot.stored_model(*name)
    found = None if model is None else snapshot.meta(f"speed {model.id}")
    return float(found) if isinstance(found, (int, float)) else None


def note_speed(writer: "Writer", model_id: int, characters_per_second: float) -> None:
    """Store the measured speed of a model."""
    writer.set_meta(f"speed {model_id}", round(characters_per_second))


def awaiting(snapshot: Snapshot) -> Awaiting | None:
    """Return the estimate of an embedding whose cost awaits approval since the last sync; None if there is none."""
    found = snapshot.meta("awaiting")
    if isinstance(found, str):
        with contextlib.suppress(ValueError):  # written by another version
            return decode_json(found, Awaiting)
    return None


def note_awaiting(writer: "Writer", what: Awaiting | None) -> None:
    """Store the estimate of an embedding whose cost awaits approval; None to remove it."""
    writer.set_meta("awaiting", None if what is None else msgspec.json.encode(what).decode())


def purge(writer: "Writer", name: ModelName) -> int:
    """Delete some vectors of a model in the caller's transaction; returns how many were deleted, 0 when all are gone.

    The model keeps its id, which memory and other files refer to.
    """
    model = writer.stored_model(*name)
    if model is None:
        return 0
    writer.connection.execute(
        "DELETE FROM embedding_cache WHERE id IN (SELECT id FROM embedding_cache WHERE model_id = ? LIMIT ?)",
        (model.id, _MOST_PURGED),
    )
    return writer.connection.changes()
