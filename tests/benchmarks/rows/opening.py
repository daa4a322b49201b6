"""Time to import the engine and to open an index, and the engine's memory at work."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.measuring import Figure, anonymous_memory, measure, megabytes, run_program
from tests.benchmarks.prepared import Bench, open_index, questions

_ROUNDS = 9
_IMPORT = "import time; began = time.perf_counter(); import {0}; print(time.perf_counter() - began)"


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(bench.notes)
    store, built = bench.index(bench.notes, "random-1536")
    engine, numpy = _import_seconds("engine"), _import_seconds("numpy")
    yield Figure("import engine", "< 100 ms", f"{engine * 1000:.0f} ms", f"{engine / numpy:.2f} of `import numpy`")
    opened = measure(_open, folder, store, bench.cache).value
    yield Figure(
        f"open_memory, {bench.notes:,} notes indexed",
        "–",
        f"{opened * 1000:.1f} ms",
        f"{opened / engine:.2f} of `import engine`",
    )
    for what, where in (
        (f"an index of {built.value['chunks']:,} chunks opened", store),
        ("the same, indexed in the same process", bench.scratch / "index-memory"),
    ):
        bare, after, vectors = measure(_work, folder, where, bench.cache).value
        yield Figure(
            f"anonymous memory after 100 hybrid searches, without vectors; {what}",
            "< 50 MB",
            f"{megabytes(after - vectors - bare)}, beside {megabytes(bare)} of Python and numpy",
            f"{(after - vectors - bare) / bare:.1f}× of Python and numpy",
        )


def _import_seconds(module: str) -> float:
    return statistics.median(float(run_program(["-c", _IMPORT.format(module)]).value) for _ in range(_ROUNDS))


def _open(folder: Path, store: Path, cache: Path) -> float:
    took = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        memory = open_index(folder, store, "none", cache)
        took.append(time.perf_counter() - began)
        memory.close()
    return statistics.median(took)


def _work(folder: Path, store: Path, cache: Path) -> tuple[int, int, int]:
    """Return the anonymous bytes before the index is opened and after a sync and searches, and the bytes of vectors."""
    import numpy as np

    np.dot(np.ones((64, 64)), np.ones((64, 64)))  # BLAS takes its memory when it is first used
    bare = anonymous_memory()
    memory = open_index(folder, store, "random-1536", cache)
    memory.sync()
    for text in questions(100):
        memory.search(text, max_results=50, min_score=0)
    matrix = memory.vectors._matrix._matrix
    assert matrix is not None
    # Whole blocks lie in the saved file; of the open one only the rows that are filled take memory.
    elsewhere = sum(
        block.codes[block.count if block.sketch is None else 0 :].nbytes for block in matrix._state.blocks.values()
    )
    return bare, anonymous_memory(), matrix.nbytes - elsewhere
