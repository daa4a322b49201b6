"""The models that the index has vectors of: complete and missing vectors, speed, and pending approval."""

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from engine.base.bounded_json import decode_json
from engine.records import EmbeddingEstimate, StoredModelInfo
from engine.store.snapshot import Snapshot
from engine.store.writer import Writer

_BYTES_A_NUMBER = 2
_MOST_PURGED = 1000


class ModelName(NamedTuple):
    """The key that tells the vectors of models apart."""

    provider: str
    model: str
    key: str


class Awaiting(msgspec.Struct, frozen=True):
    """Embedding that the last sync did not start because it needs approval."""

    name: ModelName
    estimate: EmbeddingEstimate


@dataclass(frozen=True)
class MissingVectors:
    """What has no vector of a model yet."""

    chunks: int = 0
    texts: int = 0
    """Distinct ones: chunks with the same text share their vector."""
    letters: int = 0
    """Of these texts."""
    letters_elsewhere: int = 0
    """Of those among them that another model has a vector of."""


def stored_models(snapshot: Snapshot, active: ModelName | None) -> tuple[StoredModelInfo, ...]:
    """Every model with vectors, most vectors first."""
    counts = dict(snapshot.connection.execute("SELECT model_id, count(*) FROM embedding_cache GROUP BY model_id"))
    rows: Iterable[tuple[int, str, str, str, int]] = snapshot.connection.execute(
        "SELECT id, provider, model, provider_key, dims FROM models"
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


def lack(snapshot: Snapshot, name: ModelName) -> MissingVectors:
    """Count what is missing for all vectors of this model. Reads every text without one."""
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


def lacking_ids(snapshot: Snapshot, name: ModelName) -> list[int]:
    """One chunk id for every distinct text without a vector of this model."""
    model = snapshot.stored_model(*name)
    return snapshot.unembedded(-1 if model is None else model.id)


def speed(snapshot: Snapshot, name: ModelName) -> float | None:
    """Characters per second that this model embedded here; None if not measured."""
    model = snapshot.stored_model(*name)
    found = None if model is None else snapshot.meta(f"speed {model.id}")
    return float(found) if isinstance(found, (int, float)) else None


def note_speed(writer: Writer, model_id: int, letters_a_second: float) -> None:
    """Remember how fast a model was."""
    writer.set_meta(f"speed {model_id}", round(letters_a_second))


def awaiting(snapshot: Snapshot) -> Awaiting | None:
    """The embedding that awaits approval, as found by the last sync."""
    found = snapshot.meta("awaiting")
    if isinstance(found, str):
        with contextlib.suppress(ValueError):  # another version's
            return decode_json(found, Awaiting)
    return None


def note_awaiting(writer: Writer, what: Awaiting | None) -> None:
    """Remember it, or with None that nothing waits."""
    writer.set_meta("awaiting", None if what is None else msgspec.json.encode(what).decode())


def purge(writer: Writer, name: ModelName) -> int:
    """Delete some vectors of a model, in the caller's transaction. Returns their number, 0 when none is left.

    The model keeps its number: caches in memory and in files use it.
    """
    model = writer.stored_model(*name)
    if model is None:
        return 0
    writer.connection.execute(
        "DELETE FROM embedding_cache WHERE id IN (SELECT id FROM embedding_cache WHERE model_id = ? LIMIT ?)",
        (model.id, _MOST_PURGED),
    )
    return writer.connection.changes()
