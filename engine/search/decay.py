"""Temporal decay: a dated result loses half of its score in each half-life; an undated one doesn't.

A note's date comes from its name, folders or front matter; a session's is its end. All dates are in
the index, so enabling decay needs no reindexing. Undated notes of the workspace don't age, nor does MEMORY.md; undated
files of extra paths age by modification time.
"""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.corpus.globs import Globs
from engine.corpus.note_dates import date_in_name
from engine.records import DateOrigin
from engine.settings.search_settings import TemporalDecaySettings
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot

_ALWAYS_EVERGREEN = ("MEMORY.md", "memory.md")
_DAY = 86_400.0


class Age(NamedTuple):
    """How much the scores of a file's chunks decrease by age, and the date from which the age counts."""

    factor: float
    """Factor for the file's scores, 0 to 1."""
    date: float | None
    """Unix seconds; None if the file doesn't age."""
    origin: DateOrigin
    half_life_days: float | None


class _File(NamedTuple):
    id: int
    path: str
    source: str
    modified: float
    started: float | None
    ended: float | None
    dated: float | None
    """Date in the front matter, Unix seconds."""
    evergreen: bool | None


@dataclass(frozen=True)
class Decay:
    """Computes how much the scores of results decrease by age, according to the settings of one workspace."""

    settings: TemporalDecaySettings
    outside: Callable[[Sequence[str]], set[str]]
    """Function that returns which of the given stable names are in extra paths."""

    def ages(self, snapshot: Snapshot, ids: Sequence[int], half_life_days: float) -> dict[int, Age]:
        """Return the age of each chunk, by chunk id.

        `half_life_days` applies to paths that have no half-life of their own in the settings.
        """
        now = time.time()
        file_of = dict(_files_of(snapshot, ids))
        files = list({file.id: file for file in file_of.values()}.values())
        evergreen = Globs(self.settings.evergreen)
        listed = [(Globs((pattern,)), days) for pattern, days in self.settings.half_life_by_path.items()]
        outside = self.outside([file.path for file in files if file.source == "memory"])

        def age(file: _File) -> Age:
            own = next((days for globs, days in listed if globs.covers(file.path)), None)
            if own == 0 or file.path in _ALWAYS_EVERGREEN or evergreen.covers(file.path):
                return Age(1.0, None, "evergreen", None)
            dated = _dated(file, by_file_time=own is not None or file.path in outside)
            if dated is None:
                return Age(1.0, None, "evergreen", None)
            date, origin = dated
            half_life = half_life_days if own is None else own
            return Age(_factor((now - date) / _DAY, half_life), date, origin, half_life)

        by_file = {file.id: age(file) for file in files}
        return {id_: by_file[file.id] for id_, file in file_of.items()}


def _factor(age_days: float, half_life_days: float) -> float:
    """Return the factor by which an age lowers a score; 1 for a negative age."""
    return math.exp2(-max(0.0, age_days) / half_life_days)


def _dated(file: _File, *, by_file_time: bool) -> tuple[float, DateOrigin] | None:
    if file.source == "sessions":
        session_time = file.ended if file.ended is not None else file.started
        return (file.modified, "modified") if session_time is None else (session_time, "session")
    if file.evergreen:
        return None
    if dated := date_in_name(file.path):
        return dated
    if file.dated is not None:
        return file.dated, "front-matter"
    return (file.modified, "modified") if by_file_time else None


def _files_of(snapshot: Snapshot, ids: Sequence[int]) -> Iterator[tuple[int, _File]]:
    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT c.id, f.id, f.path, f.source, f.mtime_ns / 1e9, s.started, s.ended, n.dated, n.evergreen
            FROM carray(?) wanted CROSS JOIN {tables.chunk_rows} ON c.id = wanted.value
            CROSS JOIN {tables.files} f ON f.id = c.file_id LEFT JOIN {tables.front_matter} n ON n.file_id = f.id
            LEFT JOIN {tables.sessions} s ON s.file_id = f.id""",
        (id_array(ids),),
    )
    for chunk, *file in rows:
        yield chunk, _File(*file)
