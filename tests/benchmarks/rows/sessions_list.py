"""The list of sessions: complete how long after the first sync began, and read again from the index."""

import threading
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, clock, measure, megabytes, timed
from tests.benchmarks.prepared import Bench, open_index
from tests.benchmarks.transcripts import parse_all

_COUNT = 10_000
_BYTES = 1_000_000_000
_PATIENCE = 60.0
_ROUNDS = 5


def run(bench: Bench) -> Iterator[Figure]:
    notes, sessions = bench.scratch / "notes-beside-list", bench.sessions(_COUNT, _BYTES)
    notes.mkdir()
    store = bench.scratch / "index-list"
    cold = measure(_cold, notes, store, bench.kept, sessions)
    theirs = measure(parse_all, sessions)
    what = f"title, time, message count and project of {_COUNT:,} sessions ({megabytes(_BYTES)})"
    yield Figure(
        f"{what}: from an empty index to the whole list",
        "< 2 s",
        f"{cold.wall:.2f} s, {cold.cpu:.2f} CPU s; message counts off by {cold.value:.0%} in the middle",
        f"{cold.wall / theirs.wall:.2f} of `json.loads` of every line (wall)",
    )
    warm = measure(_warm, notes, store, bench.kept, sessions)
    yield Figure(f"{what}: from the index", "–", f"{warm.value:.0f} ms")


def _cold(notes: Path, store: Path, kept: Path, sessions: Path) -> float:
    """The median error of the message counts, as a share."""
    memory = open_index(notes, store, "none", kept, sessions=sessions)
    complete = threading.Event()
    forget = memory.add_status_listener(lambda: complete.set() if memory.status().files == _COUNT else None)
    worker = threading.Thread(target=memory.sync)
    with clock:
        worker.start()
        assert complete.wait(_PATIENCE)
    forget()
    listed = memory.sessions()[:: _COUNT // 100]
    errors = []
    for summary in listed:
        real = sum(
            one.kind == "text" and one.role in {"user", "assistant"}
            for one in memory.read_session(summary.path).messages
        )
        errors.append(abs(summary.messages - real) / real)
    memory.close()
    worker.join()
    return sorted(errors)[len(errors) // 2]


def _warm(notes: Path, store: Path, kept: Path, sessions: Path) -> float:
    """Milliseconds, the best of a few."""
    memory = open_index(notes, store, "none", kept, sessions=sessions)
    took = min(timed([memory.sessions] * _ROUNDS))
    memory.close()
    return took
