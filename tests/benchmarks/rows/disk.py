"""Bytes on disk per chunk with a vector of 1536 dimensions."""

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, measure, times
from tests.benchmarks.prepared import Bench
from tests.benchmarks.reference import Reference

_SHARE = 20


def run(bench: Bench) -> Iterator[Figure]:
    _, built = bench.index(bench.notes, "random-1536")
    sizes = built.value
    database, matrix = (sizes[name] / sizes["chunks"] for name in ("index.sqlite", "vectors.matrix"))
    theirs = measure(_reference, bench.folder(bench.notes // _SHARE), bench.scratch / "reference-disk.sqlite").value
    yield Figure(
        "bytes on disk a chunk, 1536 dimensions",
        "≤ 8 KB",
        f"{(database + matrix) / 1024:.1f} KB: database {database:,.0f} bytes, matrix {matrix:,.0f}",
        times(theirs, database + matrix, "the reference's tables"),
    )


def _reference(folder: Path, database: Path) -> float:
    reference = Reference(database, 1536)
    with reference.connection:
        reference.sync(folder)
    chunks = reference.connection.execute("SELECT count(*) FROM chunks").get
    reference.connection.close()
    return database.stat().st_size / chunks
