"""Recovery from a damaged index: sets the file aside and copies all vectors that can still be read."""

import time
from contextlib import closing
from pathlib import Path

import apsw

from engine.store.connection import number
from engine.store.writer import Writer


def set_aside(database: Path) -> Path:
    """Rename the damaged database and its companion files; returns the new path of the database."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    target = database.with_name(f"{database.name}.damaged-{stamp}")
    number = 1
    while target.exists():
        number += 1
        target = database.with_name(f"{database.name}.damaged-{stamp}-{number}")
    for suffix in ("-wal", "-shm", ""):
        source = database.with_name(database.name + suffix)
        if source.exists():
            source.rename(target.with_name(target.name + suffix))
    return target


def drop_older(aside: Path, database: Path) -> None:
    """Remove all files set aside earlier except the newest; their readable vectors have been copied already."""
    for old in database.parent.glob(f"{database.name}.damaged-*"):
        if not old.name.startswith(aside.name):
            old.unlink(missing_ok=True)


def carry_vectors(damaged: Path, writer: Writer) -> int:
    """Copy every readable vector into the new index; returns the number copied.

    Ids are read in rising order and in steps, so that an unreadable page loses only its own rows.
    """
    try:
        source = apsw.Connection(str(damaged), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return 0
    with closing(source):
        try:
            models = source.execute("SELECT id, provider, model, provider_key, dims FROM models").fetchall()
            highest = number(source, "SELECT max(id) FROM embedding_cache")
        except apsw.Error:
            return 0
        ids: dict[object, tuple[int, int]] = {}
        for old, provider, model, key, dims in models:
            ids[old] = writer.ensure_model(str(provider), str(model), str(key), int(str(dims))).id, int(str(dims))
        carried = 0
        step = 256
        for start in range(1, highest + 1, step):
            rows = _readable_rows(source, start, start + step)
            # A vector of the wrong length comes from a damaged page.
            good = [(ids[model][0], h, v) for model, h, v in rows if model in ids and len(v) == 2 * ids[model][1]]
            for model in {row[0] for row in good}:
                writer.store_vectors(model, [(h, v) for m, h, v in good if m == model])
            carried += len(good)
        return carried


def _readable_rows(source: apsw.Connection, start: int, end: int) -> list[tuple[int, bytes, bytes]]:
    query = "SELECT model_id, hash, vector FROM embedding_cache WHERE id >= ? AND id < ?"
    try:
        return [(int(str(m)), bytes(h), bytes(v)) for m, h, v in source.execute(query, (start, end))]
    except (apsw.Error, TypeError, ValueError):
        if end - start == 1:
            return []
        middle = (start + end) // 2
        return _readable_rows(source, start, middle) + _readable_rows(source, middle, end)
