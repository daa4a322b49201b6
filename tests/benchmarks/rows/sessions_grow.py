"""Time until a new message of a session is found."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from engine.backends.builtin import BuiltinMemory
from tests.benchmarks.measuring import Figure, measure, megabytes, times
from tests.benchmarks.prepared import Bench, copy_of, open_index
from tests.benchmarks.transcripts import message, parse_all, transcript

_MANY = 2_000, 500_000_000
_LONG = 1, 150_000_000
_ROUNDS = 7


def run(bench: Bench) -> Iterator[Figure]:
    for count, size in (_MANY, _LONG):
        notes = bench.scratch / f"notes-beside-{count}"
        notes.mkdir()
        sessions = copy_of(bench.sessions(count, size), bench.scratch / f"growing-{count}")
        ours = measure(_ours, notes, bench.scratch / f"index-growing-{count}", bench.cache, sessions, count)
        first, grown, unchanged = ours.value
        path = transcript(sessions, 0)
        theirs = measure(parse_all, path)
        what = f"{count:,} sessions ({megabytes(size)})" if count > 1 else f"a transcript of {megabytes(size)}"
        if count == 1:
            yield Figure(
                f"{what} indexed whole, by words",
                "< 300 MB in memory",
                f"{first:.1f} s, peak {megabytes(ours.peak)}",
                f"{first / theirs.wall:.1f} of `json.loads` of its lines (wall)",
            )
        else:
            yield Figure(f"unchanged sync of {what}", "–", f"{unchanged * 1000:.0f} ms")
        yield Figure(
            f"{what} and one more message, searchable by words: one sync",
            "–",
            f"{grown * 1000:.0f} ms",
            times(theirs.wall, grown, "`json.loads` of the lines of that transcript (wall)"),
        )


def _ours(notes: Path, store: Path, cache: Path, sessions: Path, count: int) -> tuple[float, float, float]:
    """Return the seconds of the first sync, and the medians of those after a new message and after none."""
    memory = open_index(notes, store, "none", cache, sessions=sessions)
    first = _sync(memory)
    grown, unchanged = [], []
    for number in range(_ROUNDS):
        session = number % count
        with transcript(sessions, session).open("ab") as file:
            file.write(message(session, f"An aardvark{number} came by."))
        grown.append(_sync(memory))
        assert memory.search(f"aardvark{number}", mode="keyword").results
        unchanged.append(_sync(memory))
    memory.close()
    return first, statistics.median(grown), statistics.median(unchanged)


def _sync(memory: BuiltinMemory) -> float:
    began = time.perf_counter()
    report = memory.sync()
    assert not report.error, report.error
    return time.perf_counter() - began
