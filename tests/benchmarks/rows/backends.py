"""Index, update and keyword search of the same notes on each installed backend."""

import importlib.util
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from engine import open_memory
from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench, questions
from tests.helpers.peers import qmd_command

_NOTES = 1000
_QUESTIONS = 30
_ROUNDS = 3

Figures = dict[str, float]


def _builtin(settings: Settings) -> Settings:
    return settings


def _qmd(settings: Settings) -> Settings:
    qmd = msgspec.structs.replace(settings.qmd, command=str(qmd_command()), update_timeout_seconds=600)
    return msgspec.structs.replace(settings, backend="qmd", qmd=qmd)


def _lancedb(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, backend="lancedb")


_BACKENDS: Mapping[str, Callable[[Settings], Settings]] = {"builtin": _builtin, "qmd": _qmd, "lancedb": _lancedb}
"""Backends with their settings; all search by keywords, since some have no model here."""
_INSTALLED: Mapping[str, Callable[[], bool]] = {
    "qmd": lambda: qmd_command() is not None,
    "lancedb": lambda: importlib.util.find_spec("lancedb") is not None,
}


def run(bench: Bench) -> Iterator[Figure]:
    notes = bench.folder(_NOTES)
    names = [name for name in _BACKENDS if _INSTALLED.get(name, lambda: True)()]
    found = {name: measure(_all_of_it, name, notes, bench.scratch / f"backend-{name}").value for name in names}
    base = found["builtin"]
    for name, ours in found.items():
        for what, label in _LABELS.items():
            ratio = "–" if name == "builtin" else f"{ours[what] / base[what]:.1f}× of builtin"
            yield Figure(f"{name}: {label}, {_NOTES:,} notes", "–", _written(what, ours), ratio)


_LABELS = {
    "index": "full index by words",
    "again": "unchanged sync",
    "changed": "one file changed, searchable",
    "search": f"search by words, {_QUESTIONS} questions of five words",
}


def _written(what: str, figures: Figures) -> str:
    wall, cpu = figures[what], figures[f"{what} cpu"]
    if what == "search":
        return f"p50 {wall * 1000:,.1f} ms, p95 {figures['p95'] * 1000:,.1f} ms, {cpu * 1000:,.0f} CPU ms each"
    return f"{wall:.2f} s, {cpu:.2f} CPU s"


def _all_of_it(name: str, notes: Path, scratch: Path) -> Figures:
    """Return all seconds that are measured for one backend, on a copy of the notes; runs in a child process."""
    copy = scratch / "notes"
    shutil.copytree(notes, copy)
    settings = Settings(provider="none")
    store = msgspec.structs.replace(settings.store, path=str(scratch / "data"))
    cache = msgspec.structs.replace(settings.query.cache, enabled=False)
    query = msgspec.structs.replace(settings.query, cache=cache)
    memory = open_memory(copy, _BACKENDS[name](msgspec.structs.replace(settings, store=store, query=query)))
    try:
        figures: Figures = {}
        _note(figures, "index", 1, lambda: _synced(memory))
        _note(figures, "again", _ROUNDS, lambda: _synced(memory))
        _note(figures, "changed", 1, lambda: _changed(memory, copy))
        walls = []
        began = _cpu()
        for question in questions(_QUESTIONS):
            start = time.perf_counter()
            memory.search(question, min_score=0, mode="keyword")
            walls.append(time.perf_counter() - start)
        figures["search"], figures["search cpu"] = statistics.median(walls), (_cpu() - began) / _QUESTIONS
        figures["p95"] = statistics.quantiles(walls, n=20)[-1]
        return figures
    finally:
        memory.close()


def _note(figures: Figures, what: str, rounds: int, work: Callable[[], None]) -> None:
    wall, cpu = time.perf_counter(), _cpu()
    for _ in range(rounds):
        work()
    figures[what] = (time.perf_counter() - wall) / rounds
    figures[f"{what} cpu"] = (_cpu() - cpu) / rounds


def _synced(memory: MemorySearchManager) -> None:
    report = memory.sync()
    assert not report.error, report.error


def _changed(memory: MemorySearchManager, notes: Path) -> None:
    path = next(notes.rglob("*.md"))
    path.write_text(path.read_text("utf-8") + "\nA zyzzyva crawls.\n", "utf-8")
    _synced(memory)
    assert memory.search("zyzzyva", mode="keyword", min_score=0).results


def _cpu() -> float:
    """Return the CPU seconds of this process and of its ended child processes."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
