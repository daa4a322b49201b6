"""The list of sessions: time until complete after the first sync starts, and time to read it from the index."""

import statistics
import threading
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, clock, measure, megabytes, percentile, timed
from tests.benchmarks.prepared import Bench, open_index
from tests.benchmarks.transcripts import parse_all

_COUNT = 10_000
_BYTES = 1_000_000_000
_TIMEOUT = 60.0
_ROUNDS = 5
_STEP = 23
"""One of this many sessions is counted. Not a divisor of the numbers of days, agents or projects."""
_LONG = 144 * 1024
"""Bytes of a transcript from which only a sample of the messages is counted."""


def run(bench: Bench) -> Iterator[Figure]:
    notes, sessions = bench.scratch / "notes-beside-list", bench.sessions(_COUNT, _BYTES)
    notes.mkdir()
    index = [bench.scratch / f"index-list-{number}" for number in range(_ROUNDS)]
    cold = [measure(_cold, notes, store, bench.cache, sessions) for store in index]
    wall, cpu = sorted(cost.wall for cost in cold), sorted(cost.cpu for cost in cold)
    middle = _ROUNDS // 2
    theirs = measure(parse_all, sessions)
    runs = f"{_ROUNDS} runs: {wall[0]:.2f} to {wall[-1]:.2f} s"
    what = f"title, time, message count and project of {_COUNT:,} sessions ({megabytes(_BYTES)})"
    yield Figure(
        f"{what}: from an empty index to the whole list",
        "< 2 s",
        f"{wall[middle]:.2f} s, {cpu[middle]:.2f} CPU s (in the middle of {runs}); {cold[0].value}",
        f"{wall[middle] / theirs.wall:.2f} of `json.loads` of every line (wall)",
    )
    warm = measure(_warm, notes, index[0], bench.cache, sessions)
    yield Figure(f"{what}: from the index", "–", f"{warm.value:.0f} ms")


def _cold(notes: Path, store: Path, cache: Path, sessions: Path) -> str:
    """Return a sentence on the accuracy of message counts; the clock measures the time until the list is complete."""
    memory = open_index(notes, store, "none", cache, sessions=sessions)
    complete = threading.Event()
    forget = memory.add_status_listener(lambda: complete.set() if memory.status().files == _COUNT else None)
    worker = threading.Thread(target=memory.sync)
    with clock:
        worker.start()
        assert complete.wait(_TIMEOUT)
    forget()
    errors: dict[bool, list[float]] = {True: [], False: []}
    for summary in memory.sessions()[::_STEP]:
        real = sum(
            one.kind == "text" and one.role in {"user", "assistant"}
            for one in memory.read_session(summary.path).messages
        )
        errors[summary.bytes > _LONG].append(abs(summary.messages - real) / real)
    memory.close()
    worker.join()
    long, short = errors[True], errors[False]
    exact = sum(not error for error in short)
    of_long = f"{statistics.median(long):.0%} in the middle, {percentile(long, 0.9):.0%} in the worst tenth"
    return f"message counts exact in {exact} of {len(short)} up to 144 KB, off by {of_long} in longer ones"


def _warm(notes: Path, store: Path, cache: Path, sessions: Path) -> float:
    """Return the milliseconds of the fastest of a few calls."""
    memory = open_index(notes, store, "none", cache, sessions=sessions)
    took = min(timed([memory.sessions] * _ROUNDS))
    memory.close()
    return took
