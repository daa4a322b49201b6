"""Duplicate search among all notes with planted copies: duration, memory and recall."""

import pickle
import random
from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

from tests.benchmarks.copies import KINDS, Planted, plant, templated
from tests.benchmarks.measuring import Figure, clock, measure
from tests.benchmarks.notes import Words
from tests.benchmarks.prepared import Bench, Model, build_index, copy_of, open_index

_EACH = 50


def run(bench: Bench) -> Iterator[Figure]:
    notes = copy_of(bench.folder(bench.notes), bench.scratch / "duplicates")
    names = sorted(path.relative_to(notes).as_posix() for path in notes.rglob("*.md"))
    planted = plant(notes, names, _words(), each=_EACH)
    for model in ("none", "random-1536"):
        store = bench.scratch / f"index-duplicates-{model}"
        built = measure(build_index, notes, store, model, bench.cache)
        cost = measure(_find, notes, store, model, bench.cache)
        groups: list[tuple[str, list[str]]] = pickle.loads(cost.value)
        vectors = " and vectors of 1536 dimensions, by chance" if model != "none" else ""
        yield Figure(
            f"duplicates among {len(names) + 5 * _EACH:,} notes ({built.value['chunks']:,} chunks), by words{vectors}",
            "seconds",
            f"{cost.wall:.1f} s, {cost.cpu:.1f} CPU s, peak {cost.peak / 1e6:.0f} MB",
            f"{cost.cpu / built.cpu:.2f} of indexing them (CPU)",
        )
        if model == "none":
            yield _found(groups, planted, names)


def _found(groups: list[tuple[str, list[str]]], planted: Planted, names: list[str]) -> Figure:
    pairs = {frozenset(pair) for kind, paths in groups if kind != "recurring" for pair in combinations(paths, 2)}
    found = Counter(kind for pair, kind in planted.items() if pair in pairs)
    template = [paths for kind, paths in groups if kind == "recurring"]
    exact = template == [templated(names)]
    return Figure(
        f"– {len(planted)} planted pairs and a template in {len(templated(names))} notes",
        "all, and nothing else",
        ", ".join(f"{kind} {found[kind]} of {_EACH}" for kind in KINDS)
        + f"; {len(pairs - planted.keys())} other pairs; the template {'exactly' if exact else 'not exactly'} once",
    )


def _find(notes: Path, store: Path, model: Model, cache: Path) -> bytes:
    """Return the kind and the paths of each group; runs in a child process."""
    memory = open_index(notes, store, model, cache)
    assert memory.insight is not None
    with clock:
        report = memory.insight.duplicates()
    memory.close()
    return pickle.dumps([(group.kind, sorted(member.path for member in group.members)) for group in report.groups])


def _words() -> list[str]:
    """Return the words that edits insert: those of the notes."""
    return Words(random.Random(1)).all
