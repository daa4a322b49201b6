"""A full index of many sessions' transcripts, with free vectors of 1536 dimensions."""

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, clock, measure, megabytes
from tests.benchmarks.prepared import Bench, open_index
from tests.benchmarks.transcripts import parse_all, planted, transcript

_COUNT = 2_000
_BYTES = 500_000_000
_ASKED = 100
_MODEL = "random-1536"


def run(bench: Bench) -> Iterator[Figure]:
    notes, sessions = bench.scratch / "no-notes", bench.sessions(_COUNT, _BYTES)
    notes.mkdir()
    ours = measure(_ours, notes, bench.scratch / "index-sessions", bench.cache, sessions)
    theirs = measure(parse_all, sessions)
    size = theirs.value
    found, chunks = ours.value
    yield Figure(
        f"full index of {_COUNT:,} sessions ({megabytes(size)}, {chunks:,} chunks), 1536 dimensions",
        "< 300 MB in memory",
        f"{ours.cpu:.1f} CPU s, {ours.wall:.0f} s, {size / 1e6 / ours.cpu:.0f} MB a CPU s, "
        f"peak {megabytes(ours.peak)}; "
        f"{found} of {_ASKED} planted questions answered first by their session, at their message",
        f"{ours.cpu / theirs.cpu:.1f} of `json.loads` of every line ({theirs.cpu:.1f} CPU s)",
    )


def _ours(notes: Path, store: Path, cache: Path, sessions: Path) -> tuple[int, int]:
    """Return the number of planted questions that find their message, and the number of chunks."""
    memory = open_index(notes, store, _MODEL, cache, sessions=sessions)
    with clock:
        report = memory.sync()
    assert not report.error, report.error
    found = 0
    for number in range(0, _COUNT, _COUNT // _ASKED):
        words = planted(number)
        results = memory.search(f"Where is the {words}?", mode="keyword").results
        if results and memory.locate(results[0].path) == transcript(sessions, number):
            found += words in memory.raw_lines(results[0].path, [results[0].snippet_line])[0]
    memory.close()
    return found, report.chunks_indexed
