"""How much room each part of an index takes on disk."""

import re
from collections import Counter

from engine.records import DiskPart, DiskPartName, IndexSizes
from engine.store.connection import number
from engine.store.snapshot import Snapshot

_WHAT: tuple[tuple[DiskPartName, re.Pattern[str]], ...] = (
    ("words", re.compile(r"chunks_fts_")),
    ("vectors", re.compile(r"embedding_cache|sqlite_autoindex_embedding_cache|models|chunks_vec")),
    ("free", re.compile(r"discarded_")),
    ("text", re.compile(r"(sqlite_autoindex_)?(chunks|files|sessions|tags|transcripts)_\d")),
)
_ORDER: tuple[DiskPartName, ...] = ("text", "words", "vectors", "matrix", "log", "user", "other", "free")


def in_database(snapshot: Snapshot) -> Counter[DiskPartName]:
    """Bytes of the parts of the index file; reads the head of each of its pages."""
    page = number(snapshot.connection, "PRAGMA page_size")
    found: Counter[DiskPartName] = Counter()
    rows = snapshot.connection.execute("SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE")
    for name, size in rows:
        found[_part_of(name)] += size
    found["free"] += page * number(snapshot.connection, "PRAGMA freelist_count")
    # Pages that belong to no table, such as those that say where others belong.
    found["other"] += page * number(snapshot.connection, "PRAGMA page_count") - found.total()
    return found


def disk_parts(database: Counter[DiskPartName], sizes: IndexSizes) -> tuple[DiskPart, ...]:
    """All parts, those of the index file and the files beside it."""
    found = Counter(database)
    found.update(matrix=sizes.matrix, log=sizes.wal, user=sizes.user)
    return tuple(DiskPart(name=name, bytes=found[name]) for name in _ORDER if found[name] > 0)


def _part_of(table: str) -> DiskPartName:
    return next((part for part, names in _WHAT if names.match(table)), "other")
