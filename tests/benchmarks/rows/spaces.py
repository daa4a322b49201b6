"""One query to five workspaces, compared with the same notes in one."""

import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from engine.settings import Settings
from engine.store.workspace_record import record_workspace
from engine.workspaces.known_workspaces import current_and_others, known_workspaces
from engine.workspaces.memory_pool import MemoryPool
from engine.workspaces.multi_search import AllWorkspaces
from tests.benchmarks.measuring import Figure, anonymous_memory, measure, percentile, spread, timed, times
from tests.benchmarks.prepared import Bench, Model, build_index, open_index, questions

_PARTS = 5
_QUESTIONS = 200
_MODEL: Model = "random-1536"


def run(bench: Bench) -> Iterator[Figure]:
    whole = bench.folder(bench.notes)
    store, _ = bench.index(bench.notes, _MODEL)
    one, one_memory = measure(_in_one, whole, store, bench.cache).value
    parts = _parted(whole, bench.scratch / "spaces")
    shared = bench.scratch / "index-spaces"
    for part in parts:
        measure(build_index, part, shared, _MODEL, bench.cache)
    several, several_memory = measure(_in_several, parts, shared, bench.cache).value
    yield Figure(
        f"hybrid search in {_PARTS} workspaces of {bench.notes // _PARTS:,} notes, 6 results",
        "–",
        f"{spread(several)}; {several_memory / 1e6:.0f} MB anonymous",
        f"{times(percentile(several, 0.5), percentile(one, 0.5), f'one of {bench.notes:,}')} ({spread(one)}; "
        f"{one_memory / 1e6:.0f} MB)",
    )


def _parted(whole: Path, target: Path) -> list[Path]:
    """Distribute the notes over several folders."""
    for number, note in enumerate(sorted(whole.rglob("*.md"))):
        copy = target / f"part-{number % _PARTS}" / note.relative_to(whole)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(note, copy)
    return [target / f"part-{number}" for number in range(_PARTS)]


def _in_one(folder: Path, store: Path, cache: Path) -> tuple[list[float], int]:
    memory = open_index(folder, store, _MODEL, cache)
    calls = [partial(memory.search, text, max_results=6, min_score=0) for text in questions(_QUESTIONS)]
    timed(calls[:20])
    found = timed(calls[20:])
    return found, anonymous_memory()


def _in_several(folders: list[Path], store: Path, cache: Path) -> tuple[list[float], int]:
    from engine.store.index_paths import index_files

    for folder in folders:
        record_workspace(index_files(folder, str(store)), folder)
    here = open_index(folders[0], store, _MODEL, cache)
    pool = MemoryPool(lambda folder, _: open_index(Path(folder), store, _MODEL, cache), lambda _: Settings())
    every = AllWorkspaces(here, pool, deadline_seconds=60)
    mine, others = current_and_others(known_workspaces(store_path=str(store)), folders[0])
    assert len(others) == _PARTS - 1
    calls = [partial(every.search, mine, others, text, {"min_score": 0}, 6) for text in questions(_QUESTIONS)]
    timed(calls[:20])
    found = timed(calls[20:])
    return found, anonymous_memory()
