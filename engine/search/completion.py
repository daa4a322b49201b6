"""Completes queries: operators, and their values in the index."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import date, timedelta

from engine.base.formatting import folder_name
from engine.search.query_conditions import MAY_CONTAIN, like_runs
from engine.store.sessions import frequent_paths, frequent_programs
from engine.store.snapshot import Snapshot
from engine.text import spelling
from engine.text.folding import fold
from engine.text.operators import OPERATORS

_MAX_VALUES = 12
_MAX_FILES = 5000
_PROGRAM = re.compile(r"[A-Za-z][\w.+/-]*")
_DATES = ("today", "yesterday", "last week", "this month", "last month", "this year", "last year", "7d", "30d", "1y")
_DAYS = 10 * 366
"""Days before today that are completed as dates, with their months and years."""
_MAX_SIMILAR = 3
"""Maximum number of suggestions for a value that occurs nowhere."""
_SHORTEST_WITH_TWO_TYPOS = 5
"""Minimum number of characters of a value that may have two typos."""
_MAX_UNITS = 31
"""Largest number in a completed time ago, such as 31d."""


def values_of(snapshot: Snapshot, operator: str, start: str) -> tuple[str, ...]:
    """Return at most a dozen indexed values of a query operator that contain `start`, most frequent first.

    Values that start with `start` come before those that only contain it.
    """
    start = fold(start.lstrip("#") if operator == "tag" else start)
    values = [value for value in _VALUES.get(operator, _no_values)(snapshot, start) if value]
    folded = [(fold(value), value) for value in values]
    first = [value for key, value in folded if key.startswith(start)]
    within = [value for key, value in folded if operator in _WITHIN and start in key and not key.startswith(start)]
    return tuple((first + within)[:_MAX_VALUES])


def similar_values(snapshot: Snapshot, operator: str, value: str) -> list[str]:
    """Return at most three indexed values of a query operator, or parts of them, that differ from `value` by typos,
    fewest first. Parts of paths and tags are between slashes, others between spaces.
    """
    separator = "/" if operator in ("path", "file", "tag") else " "
    typed = fold(value.removeprefix("#").strip(separator))
    most, parts = 1 if len(typed) < _SHORTEST_WITH_TWO_TYPOS else 2, typed.count(separator) + 1
    found: dict[str, int] = {}
    for whole in _VALUES.get(operator, _no_values)(snapshot, ""):
        names = whole.strip(separator).split(separator)
        for end in range(parts, len(names) + 1):
            part = separator.join(names[end - parts : end])
            typos = spelling.typos(typed, fold(part), most)
            if typos:  # a nested tag is only found by its whole name
                found.setdefault(separator.join(names[:end]) if operator == "tag" else part, typos)
    ending = "/" if value.endswith("/") else ""
    return [similar + ending for similar in sorted(found, key=found.__getitem__)[:_MAX_SIMILAR]]


def _no_values(snapshot: Snapshot, start: str) -> Iterable[str]:
    return ()


def _fixed(*values: str) -> Callable[[Snapshot, str], Iterable[str]]:
    return lambda snapshot, start: values


def _dates(snapshot: Snapshot, start: str) -> Iterable[str]:
    """Return named times, then years, each followed by its months, times ago and days, newest first."""
    today = date.today()
    days = [(today - timedelta(days=ago)).isoformat() for ago in range(_DAYS)]
    months = dict.fromkeys(part for day in days for part in (day[:4], day[:7]))
    ago = [f"{number}{unit}" for number in range(1, _MAX_UNITS + 1) for unit in "dwmy"]
    return dict.fromkeys((*_DATES, *months, *ago, *days))


def _paths(snapshot: Snapshot, start: str) -> list[str]:
    """Return all folders, subfolders included, by number of files, then all files by path.

    Those that contain `start` suffice.
    """
    folders: Counter[str] = Counter()
    query = f"SELECT path FROM {snapshot.tables.files} WHERE {MAY_CONTAIN.format('path')} ORDER BY path"
    files = [path for (path,) in snapshot.connection.execute(query, (like_runs(start),))]
    for path in files:
        parts = path.split("/")[:-1]
        folders.update("/".join(parts[: depth + 1]) + "/" for depth in range(len(parts)))
    return [folder for folder, _ in folders.most_common()] + files


def _titles(snapshot: Snapshot, start: str) -> list[str]:
    query = f"SELECT title FROM {snapshot.tables.files} WHERE {MAY_CONTAIN.format('title')}"
    return _counted(snapshot, query, like_runs(start))


def _agents(snapshot: Snapshot, start: str) -> list[str]:
    return _counted(snapshot, f"SELECT agent FROM {snapshot.tables.sessions}")


def _projects(snapshot: Snapshot, start: str) -> list[str]:
    """Return the last folder of each project's path, by which users know it."""
    rows = snapshot.connection.execute(f"SELECT project FROM {snapshot.tables.sessions}")
    names: Counter[str] = Counter(folder_name(path) for (path,) in rows)
    return [name for name, _ in names.most_common()]


def _files(snapshot: Snapshot, start: str) -> list[str]:
    return frequent_paths(snapshot, _MAX_FILES)


def _commands(snapshot: Snapshot, start: str) -> list[str]:
    return [program for program in frequent_programs(snapshot, _MAX_FILES) if _PROGRAM.fullmatch(program)]


def _machines(snapshot: Snapshot, start: str) -> list[str]:
    return sorted(set(snapshot.machines().values()))


def _models(snapshot: Snapshot, start: str) -> list[str]:
    return _counted(snapshot, f"SELECT model FROM {snapshot.tables.session_usage} WHERE model != ''")


def _tags(snapshot: Snapshot, start: str) -> list[str]:
    return _counted(snapshot, f"SELECT tag FROM {snapshot.tables.tags}")


def _counted(snapshot: Snapshot, query: str, *values: str) -> list[str]:
    rows = snapshot.connection.execute(query, values)
    return [value for value, _ in Counter(value for (value,) in rows).most_common()]


_WITHIN = ("backlinks", "file", "links", "model", "path", "project", "title")
_VALUES: dict[str, Callable[[Snapshot, str], Iterable[str]]] = {
    "": _fixed(*(f"{name}:" for name in OPERATORS)),
    "source": _fixed("notes", "sessions"),
    "role": _fixed("user", "assistant", "tool"),
    "after": _dates,
    "before": _dates,
    "on": _dates,
    "path": _paths,
    "title": _titles,
    "links": _titles,
    "backlinks": _titles,
    "agent": _agents,
    "project": _projects,
    "tag": _tags,
    "model": _models,
    "machine": _machines,
    "file": _files,
    "command": _commands,
}
