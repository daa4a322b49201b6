"""Growth of costs from 10,000 to 100,000 and 1,000,000 chunks. The last takes an hour and 15 GB of disk."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.benchmarks.measuring import Figure, anonymous_memory, measure, megabytes, percentile
from tests.benchmarks.prepared import UNCACHED, Bench, build_index, open_index, questions, warming

_SIZES = (0.4, 4, 40)
"""Multiples of the usual number of notes; 10,000 notes have some 25,000 chunks."""
_QUESTIONS = 100


def run(bench: Bench) -> Iterator[Figure]:
    found: dict[str, list[tuple[float, str]]] = {}
    chunks = []
    for size in _SIZES:
        notes = int(size * bench.notes)
        folder, store = bench.folder(notes), bench.scratch / f"growth-{notes}"
        built = measure(build_index, folder, store, "window", bench.cache)
        chunks.append(built.value["chunks"])
        disk = sum(bytes_ for name, bytes_ in built.value.items() if name not in ("chunks", "embedded"))
        rows = {
            "full index, × 512": (built.cpu, f"{built.cpu:,.0f} CPU s, peak {megabytes(built.peak)}"),
            "bytes on disk": (disk, megabytes(disk)),
        }
        for name, work in _WORK.items():
            cost = measure(work, folder, store, bench.cache)
            rows[name] = cost.value[0], f"{cost.value[1]}, peak {megabytes(cost.peak)}"
        for name, row in rows.items():
            found.setdefault(name, []).append(row)
            print(f"{chunks[-1]:,} chunks: {name}: {row[1]}", flush=True)  # a later size may take an hour
    for name, of_size in found.items():
        yield Figure(
            f"{name}: {', '.join(f'{count:,}' for count in chunks)} chunks",
            "–",
            "; ".join(text for _, text in of_size),
            ", ".join(f"{after / before:.1f}×" for (before, _), (after, _) in pairwise(of_size)),
        )


def _resync(folder: Path, store: Path, cache: Path) -> tuple[float, str]:
    memory = open_index(folder, store, "window", cache)
    memory.sync()
    return _once(memory.sync)


def _search(mode: str, folder: Path, store: Path, cache: Path, *, natural: bool) -> tuple[float, str]:
    memory = open_index(folder, store, "window", cache, query=UNCACHED)
    queries = questions(_QUESTIONS, natural=natural)
    for text in [*warming(natural=natural), *queries] if mode == "auto" else warming(natural=natural):
        memory.search(text, mode=mode, max_results=10)  # caches the vectors of the queries
    spent = []
    for text in queries:
        began = time.process_time()
        memory.search(text, mode=mode, max_results=10)
        spent.append((time.process_time() - began) * 1000)
    middle = percentile(spent, 0.5)
    late = percentile(spent, 0.95)
    return middle, f"p50 {middle:.1f}, p95 {late:.1f} CPU ms; {megabytes(anonymous_memory())} anonymous"


def _insight(name: str, folder: Path, store: Path, cache: Path) -> tuple[float, str]:
    memory = open_index(folder, store, "window", cache)
    assert memory.insight is not None
    return _once(getattr(memory.insight, name))


def _switch(folder: Path, store: Path, cache: Path) -> tuple[float, str]:
    """Embed everything with another model."""
    memory = open_index(folder, store, "random-1536", cache)
    return _once(partial(memory.sync, approve=True))


def _once(call: Callable[[], object]) -> tuple[float, str]:
    began, cpu = time.perf_counter(), time.process_time()
    call()
    cpu = time.process_time() - cpu
    return cpu, f"{cpu:.2f} CPU s, {time.perf_counter() - began:.1f} s"


_WORK: dict[str, Callable[..., Any]] = {
    "unchanged sync": _resync,
    "keyword search, five distinctive words": partial(_search, "keyword", natural=False),
    "keyword search, five frequent words": partial(_search, "keyword", natural=True),
    "hybrid search, five distinctive words": partial(_search, "auto", natural=False),
    "overview": partial(_insight, "overview"),
    "health": partial(_insight, "health"),
    "duplicates": partial(_insight, "duplicates"),
    "map": partial(_insight, "make_map"),
    "switch to a model of 1,536 dimensions": _switch,
}
