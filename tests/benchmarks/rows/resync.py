"""A sync without changes."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, clock, measure, times
from tests.benchmarks.prepared import Bench, open_index
from tests.benchmarks.reference import Reference, note_paths

_ROUNDS = 5


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    store, _ = bench.index(bench.notes, "random-1536")
    ours = measure(_ours, folder, store, bench.cache)
    theirs = measure(_reference, folder)
    yield Figure(
        f"unchanged sync of {bench.notes:,} notes",
        "≤ 0.3 CPU s",
        f"{ours.cpu / _ROUNDS:.2f} CPU s, {ours.wall / _ROUNDS:.2f} s (first one of a process: {ours.value:.2f} CPU s)",
        times(theirs.cpu, ours.cpu / _ROUNDS, "the reference's hashing of every file (CPU)"),
    )


def _ours(folder: Path, store: Path, cache: Path) -> float:
    """Return the CPU seconds of the first sync, which also opens the index; the clock measures the later ones."""
    memory = open_index(folder, store, "random-1536", cache)
    began = time.process_time()
    memory.sync()
    first = time.process_time() - began
    with clock:
        for _ in range(_ROUNDS):
            assert not memory.sync().files_indexed
    return first


def _reference(folder: Path) -> None:
    reference = Reference(Path(":memory:"), 0)
    for path in note_paths(folder):
        text = path.read_text("utf-8")
        values = path.relative_to(folder).as_posix(), hashlib.sha256(text.encode()).hexdigest()
        reference.connection.execute("INSERT INTO files VALUES (?, 'memory', ?, 0, 0)", values)
    with clock:
        assert reference.sync(folder) == 0
