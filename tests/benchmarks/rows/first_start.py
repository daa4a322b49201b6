"""Time from a start with a hundred new notes to an answer: by keywords, and with the real model's vectors.

An earlier start, which doesn't count, writes the bytecode and unpacks the model.
"""

import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from engine import Settings, open_memory
from tests.benchmarks.measuring import Figure, clock, measure, megabytes, times
from tests.benchmarks.prepared import Bench
from tests.benchmarks.reference import chunks_of, note_paths

_NOTES = 100
_ROUNDS = 3


def run(bench: Bench) -> Iterator[Figure]:
    folder = bench.folder(_NOTES)
    runs = [measure(_ours, time.time(), folder, bench.scratch / f"first-start-{n}") for n in range(_ROUNDS + 1)][1:]
    words, vectors, cpu = (statistics.median(cost.value[part] for cost in runs) for part in range(3))
    model = measure(_model_alone, folder)
    yield Figure(
        f"{_NOTES} notes, from the start of Python to the first hit by words",
        "< 1 s",
        f"{words:.2f} s",
        f"{words / vectors:.2f} of the time to all vectors",
    )
    yield Figure(
        f"{_NOTES} notes, from the start of Python to searchable with vectors (the real model)",
        "< 4 s",
        f"{vectors:.2f} s, {cpu:.1f} CPU s, peak {megabytes(max(cost.peak for cost in runs))}",
        times(model.wall, vectors, "loading the model and embedding on one thread, and nothing else (wall)"),
    )


def _ours(began: float, folder: Path, store: Path) -> tuple[float, float, float]:
    """Return the seconds from `began` to the first hit during the sync and to the sync's end, and CPU seconds."""
    settings = Settings()
    settings = msgspec.structs.replace(settings, store=msgspec.structs.replace(settings.store, path=str(store)))
    memory = open_memory(folder, settings)
    thread = threading.Thread(target=memory.sync)
    thread.start()
    while not memory.search("the of and", mode="keyword", min_score=0).results:
        time.sleep(0.002)
    words = time.time() - began
    thread.join()
    status = memory.status()
    assert status.chunks == status.vector.rows > 0
    memory.close()
    return words, time.time() - began, time.process_time()


def _model_alone(folder: Path) -> None:
    texts = [chunk.text for path in note_paths(folder) for chunk in chunks_of(path.read_text("utf-8"))]
    with clock:
        from engine.embedding.embedded_model import EmbeddedProvider

        EmbeddedProvider().embed_documents(texts)
