"""A full index of all notes, with free vectors of 1536 dimensions."""

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, clock, measure, megabytes, times
from tests.benchmarks.prepared import Bench
from tests.benchmarks.reference import Reference

_SHARE = 20


def run(bench: Bench) -> Iterator[Figure]:
    ours = bench.built_now(bench.notes, "random-1536")
    part = max(bench.notes // _SHARE, 1)
    theirs = measure(_reference, bench.folder(part), bench.scratch / "reference-full.sqlite")
    scale = bench.notes / part
    yield Figure(
        f"full index of {bench.notes:,} notes ({ours.value['chunks']:,} chunks), 1536 dimensions",
        "≤ 20 CPU s, ≤ 300 MB",
        f"{ours.cpu:.1f} CPU s, {ours.wall:.0f} s, peak {megabytes(ours.peak)}",
        times(theirs.cpu * scale, ours.cpu, f"the reference's rows one by one (CPU; {part:,} notes, scaled)"),
    )


def _reference(folder: Path, database: Path) -> int:
    reference = Reference(database, 1536)
    with clock:
        return reference.sync(folder)
