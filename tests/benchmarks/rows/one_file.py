"""Time from a change of one file until its new words are found."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from tests.benchmarks.measuring import Figure, measure, times
from tests.benchmarks.prepared import Bench, copy_of, open_index
from tests.benchmarks.reference import Reference, note_paths

_ROUNDS = 7
_TIMEOUT = 10.0


def run(bench: Bench) -> Iterator[Figure]:
    store, _ = bench.index(bench.notes, "random-1536")
    folder = copy_of(bench.folder(bench.notes), bench.scratch / "changing")
    store = copy_of(store, bench.scratch / "index-changing")
    called, watched, debounce = measure(_ours, folder, store, bench.cache).value
    theirs = measure(_reference, folder, bench.scratch / "reference-changing.sqlite").value
    what = f"one of {bench.notes:,} files changed, searchable by words"
    yield Figure(
        what + ": one sync",
        "≤ 0.2 s",
        f"{called:.3f} s",
        times(theirs, called, "the reference's sync (wall; without vectors)"),
    )
    yield Figure(
        what + ": watched, write to hit",
        "≤ 0.2 s after the debounce",
        f"{watched - debounce:.3f} s + {debounce:g} s of debounce",
        times(theirs, watched - debounce, "the same"),
    )


def _ours(folder: Path, store: Path, cache: Path) -> tuple[float, float, float]:
    """Return the medians of the seconds of a sync, and from a write to the hit with the watcher; and the debounce."""
    notes = note_paths(folder)
    memory = open_index(folder, store, "random-1536", cache)
    memory.sync()
    called = []
    for number in range(_ROUNDS):
        _change(notes[number], f"aardvark{number}")
        began = time.perf_counter()
        memory.sync()
        assert _finds(memory, f"aardvark{number}")
        called.append(time.perf_counter() - began)
    memory.close()
    memory = open_index(folder, store, "random-1536", cache, background=True)
    memory.sync()
    watched = []
    for number in range(_ROUNDS):
        began = time.perf_counter()
        _change(notes[number], f"bandicoot{number}")
        while not _finds(memory, f"bandicoot{number}"):
            assert time.perf_counter() - began < _TIMEOUT, "the change was not indexed in time"
            time.sleep(0.005)
        watched.append(time.perf_counter() - began)
        time.sleep(0.5)  # what the change still causes must not be taken for the next one
    memory.close()
    return statistics.median(called), statistics.median(watched), Settings().sync.watch_debounce_ms / 1000


def _finds(memory: BuiltinMemory, word: str) -> bool:
    return bool(memory.search(word, mode="keyword").results)


def _change(path: Path, word: str) -> None:
    path.write_text(f"{path.read_text('utf-8')}\nA {word} came by.\n", "utf-8")


def _reference(folder: Path, database: Path) -> float:
    """Return the seconds of a sync after a change of one file: it hashes all, and scans the table for old rows."""
    notes = note_paths(folder)
    reference = Reference(database, 0)
    with reference.connection:  # one transaction suffices here: the measurement comes later
        reference.fill(folder)
    took = []
    for number in range(3):
        _change(notes[number], f"capybara{number}")
        began = time.perf_counter()
        assert reference.sync(folder) == 1
        took.append(time.perf_counter() - began)
    return statistics.median(took)
