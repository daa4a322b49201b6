"""Raises the scores of results with a time, agent, project or file that the query names.

Times are, for example, "in May", "last spring" or "three weeks ago". A chunk has the dates of its file (name, title,
front matter, or begin and end of a session) and of its heading or, without these, the ISO dates in its text.

Queries such as "with Codex", "in harbour-map" or "where we changed app.py" name sessions, whose texts rarely do.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, lru_cache
from itertools import chain

import msgspec

from engine.base import lazy_pattern
from engine.search.chunk_filter import ChunkFilter, SnapshotCache, note_days
from engine.search.named_in_query import NamedSessions, agents_in, session_files, session_names
from engine.search.scoring import SESSION_BOOST, SIGNED, SIGNED_OTHERWISE, TIME_BOOST
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot
from engine.text import Query
from engine.text.folding import fold
from engine.text.number_forms import numbers_with_signs
from engine.text.time_expressions import PREPOSITIONS, TimeExpression, read_dates, read_times

_ADJACENT_DAYS = 3
"""Number of days next to a time that count half: a session may end after midnight, or be about the day before."""
_LONGEST = 200
"""Maximum number of characters of a query whose numbers are compared with their signs."""
CANDIDATES = 50
"""Number of candidates that keywords, and vectors, each contribute from files of a named time, or named sessions."""
_MAX_NAMED = 2000
"""Maximum number of named sessions that are searched for candidates; of more, the best are found in the whole index."""
_MAX_SIGNED = 6
"""Maximum number of words of a query whose words are compared with their signs: those of a longer one are rarer."""
_AROUND_WORDS = "\"'`“”„«».,;:!?…"
_SIGNS = r"[=\[\]{}<>|$@\\+*^~]"
_WITH_SIGNS = lazy_pattern(rf"\A(?:--?|[/&%])[^\W\d]|[^\W\d]\w*\(|\w.*{_SIGNS}|{_SIGNS}.*\w|::")
"""Matches signs that are part of a name or an expression, rather than punctuation of a sentence."""
_ISO_DAY = lazy_pattern(r"(?<![0-9])((?:19|20)[0-9]{2})[-_.]([01][0-9])[-_.]([0-3][0-9])(?![0-9])")
_YEAR = lazy_pattern(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")

Span = tuple[date, date]
"""The first and the last day."""
Dates = tuple[dict[int, list[Span]], dict[Span, list[int]]]
"""The dates of each file, and the files of each date: many files have the same."""


class Boost(msgspec.Struct, frozen=True):
    """Factors by which names in the query raise the score of a chunk."""

    time_factor: float = 1.0
    time: TimeExpression | None = None
    adjacent: bool = False
    """Whether the chunk is dated next to that time, not within it."""
    names: tuple[str, ...] = ()
    """The agent, the project and the files of the chunk's session that the query names, as typed."""

    session_factor: float = 1.0

    @property
    def factor(self) -> float:
        """Factor for the score, for the times and sessions that the query names."""
        return self.time_factor * self.session_factor


class QueryBoosts:
    """Makes the boosts of single queries; caches the data that they need from the index. Thread-safe."""

    def __init__(self) -> None:
        self._dates = SnapshotCache(_dates_of_files)
        self._names = SnapshotCache(session_names)
        self._files = SnapshotCache(session_files)

    def named_in(self, query: str, snapshot: Snapshot, ranges: Sequence[tuple[int, int]]) -> "NamedInQuery":
        """Return what a query names; `ranges`: offsets of its words."""
        sessions = NamedSessions(query, self._names, self._files)
        return NamedInQuery(snapshot, ranges, NamedTimes(query, self._dates), sessions, query)


class NamedInQuery:
    """Finds the times and sessions that one query names, and boosts their chunks."""

    def __init__(
        self,
        snapshot: Snapshot,
        ranges: Sequence[tuple[int, int]],
        times: "NamedTimes",
        sessions: NamedSessions,
        query: str,
    ) -> None:
        self._snapshot, self._ranges, self._query = snapshot, ranges, query
        self._times, self._sessions = times, sessions

    @property
    def times(self) -> Sequence[TimeExpression]:
        return self._times.times

    def files(self, file_ids: Sequence[int] | None) -> list[int]:
        """Return the ids of files that have the time and the names, or else either of them, limited to `file_ids`."""
        dated = set(self._times.files(self._snapshot, file_ids)) if self.times else set()
        named = self._sessions.files(self._snapshot)
        if file_ids is not None:
            named &= {*file_ids}
        return sorted(dated & named or dated | (named if len(named) <= _MAX_NAMED else set()))

    def boosts(self, ids: Sequence[int]) -> dict[int, Boost]:
        """Return, by chunk id, the boost of chunks that have the time or a name; other chunks are left out."""
        boosts = self._times.boosts(self._snapshot, ids)
        for id_, names in self._sessions.names_of(self._snapshot, ids).items():
            factor = 1 + SESSION_BOOST * len(names)
            boosts[id_] = msgspec.structs.replace(boosts.get(id_, Boost()), names=names, session_factor=factor)
        return boosts

    def dating(self, boosts: Mapping[int, Boost]) -> dict[int, frozenset[int]]:
        """Return the positions of the words that name a chunk's time, by chunk id."""
        words = self._dates
        within = (id_ for id_, boost in boosts.items() if boost.time is not None and not boost.adjacent)
        return dict.fromkeys(within, words) if words else {}

    def naming(self, boosts: Mapping[int, Boost]) -> dict[int, frozenset[int]]:
        """Return the positions of the words that name the agent, project or files of a chunk's session, by chunk id,
        and of words such as "say" in "what did Codex say about …".
        """
        words = {names: self._words(names) for names in {boost.names for boost in boosts.values()}}
        return {id_: words[boost.names] | self._verbs for id_, boost in boosts.items() if words[boost.names]}

    def openings(self, scope: ChunkFilter) -> list[int]:
        """Return the first chunks of the newest sessions with the names and times, if the query has no other words."""
        named = self._names | self._dates
        if not named or len(named | self._verbs) < len(self._ranges):
            return []
        tables = self._snapshot.tables
        rows = self._snapshot.connection.execute(
            f"""SELECT min(c.id) FROM {tables.chunks} c JOIN {tables.sessions} s ON s.file_id = c.file_id
                WHERE c.file_id IN (SELECT value FROM json_each(?)) GROUP BY c.file_id
                ORDER BY max(s.ended) DESC LIMIT {CANDIDATES}""",
            (msgspec.json.encode([*{*self.files(scope.files)}.difference(scope.except_files)]).decode(),),
        )
        return [id_ for (id_,) in rows]

    def others(self, known: Collection[int]) -> list[int]:
        """Return the positions of the words that name no session, and no time or agent unless the words are `known` to
        the index.
        """
        named = self._names | (self._dates | self._agents(known)).difference(known)
        return [index for index in range(len(self._ranges)) if index not in named]

    def words(self, known: Collection[int]) -> frozenset[int]:
        """Return the positions of the words that name a time or a session, or an agent that the index doesn't have.

        `known`: positions of the words that the index has.
        """
        return self._dates | self._names | self._agents(known).difference(known)

    def undated(self, results: Iterable[tuple[Boost | None, Sequence[float]]]) -> tuple[str, ...]:
        """Return the times of the query, as typed, if no result is dated within or next to one, or has all its words.

        Empty without results. `results`: the boost of each result, and the contributions of the words.
        """
        of_times = [self._words((time.text,)) for time in self.times]
        if not of_times or not (found := list(results)):
            return ()
        for boost, parts in found:
            if boost is not None and boost.time is not None:
                return ()
            if parts and any(of_time and all(parts[index] for index in of_time) for of_time in of_times):
                return ()
        return tuple(time.text for time in self.times)

    def answered(self, boosts: Iterable[Boost | None]) -> frozenset[int]:
        """Return the positions of the words that name a time, or the session of a result with one of these boosts."""
        names = {name for boost in boosts if boost is not None for name in boost.names}
        words = self._dates | self._words(names)
        return words | self._verbs if names else words

    def _words(self, parts: Iterable[str]) -> frozenset[int]:
        """Return the positions of the words that belong to these parts of the query."""
        spans = [match.span() for part in parts for match in re.finditer(re.escape(part), self._query)]
        return frozenset(
            index
            for index, (start, end) in enumerate(self._ranges)
            if any(first <= start and end <= last for first, last in spans)
        )

    @cached_property
    def _verbs(self) -> frozenset[int]:
        return self._sessions.verbs_of_speech(self._ranges)

    @cached_property
    def _names(self) -> frozenset[int]:
        return self._words(self._sessions.names(self._snapshot))

    def _agents(self, known: Collection[int]) -> frozenset[int]:
        """Return the positions of the words that name any agent; none if all words of the query are `known`."""
        return frozenset() if len(known) == len(self._ranges) else self._words(agents_in(self._query))

    @cached_property
    def _dates(self) -> frozenset[int]:
        """Return the positions of the words that name a time, with a preposition before them."""
        words = self._words(time.text for time in self.times)
        before = {index - 1 for index in words if index}
        return words.union(index for index in before if fold(self._query[slice(*self._ranges[index])]) in PREPOSITIONS)


class NamedTimes:
    """Finds the times in one query, and the chunks whose dates are within them."""

    def __init__(self, query: str, dates: SnapshotCache[Dates]) -> None:
        self.times = read_times(query)
        self._dates = dates
        self._known: dict[int, Boost | None] = {}
        self._nearest: dict[Span, tuple[int, int]] = {}
        """Cache by period: the fewest days to a time of the query, and the position of that time."""

    def files(self, snapshot: Snapshot, file_ids: Sequence[int] | None) -> list[int]:
        """Return the ids of files dated within a time of the query, limited to the ids in `file_ids`."""
        files_of_spans = self._dates.get(snapshot)[1].items()
        found = set(chain.from_iterable(files for span, files in files_of_spans if not self._nearest_time(span)[0]))
        return sorted(found if file_ids is None else found.intersection(file_ids))

    def boosts(self, snapshot: Snapshot, ids: Iterable[int]) -> dict[int, Boost]:
        """Return, by chunk id, the factor for chunks dated within or next to a time of the query; other chunks are left
        out.
        """
        if not self.times:
            return {}
        ids = list(ids)
        new = [id_ for id_ in ids if id_ not in self._known]
        if new:
            dates = self._dates.get(snapshot)[0]
            spans = {
                id_: [*dates.get(file, ()), *_dates_in_name(heading)] for id_, file, heading in _chunks(snapshot, new)
            }
            undated = [id_ for id_, known in spans.items() if not known]
            spans.update(_dates_in_texts(snapshot, undated, self.times))
            self._known.update((id_, self._boost(known)) for id_, known in spans.items())
        return {id_: boost for id_ in ids if (boost := self._known.get(id_)) is not None}

    def _boost(self, spans: Sequence[Span]) -> Boost | None:
        days, which = min(map(self._nearest_time, spans), default=(_ADJACENT_DAYS + 1, 0))
        if days > _ADJACENT_DAYS:
            return None
        return Boost(1 + TIME_BOOST * (0.5 if days else 1.0), self.times[which], days > 0)

    def _nearest_time(self, span: Span) -> tuple[int, int]:
        nearest = self._nearest.get(span)
        if nearest is None:
            nearest = self._nearest[span] = min((time.days_from(*span), at) for at, time in enumerate(self.times))
        return nearest


def _dates_of_files(snapshot: Snapshot) -> Dates:
    run, tables, found = snapshot.connection.execute, snapshot.tables, defaultdict[int, list[Span]](list)
    for file, title in run(
        f"SELECT id, title FROM {tables.files} WHERE title GLOB '*19[0-9][0-9]*' OR title GLOB '*20[0-9][0-9]*'"
    ):
        if spans := _dates_in_name(title):
            found[file] += spans
    for file, started, ended in run(f"SELECT file_id, started, ended FROM {tables.sessions}"):
        begin, end = (ended if started is None else started), (started if ended is None else ended)
        if begin is not None:
            found[file].append((_local(begin), _local(max(begin, end))))
    for file, day in note_days.get(snapshot):
        date_of_note = date(1970, 1, 1) + timedelta(days=day)
        found[file].append((date_of_note, date_of_note))
    files_of_spans = defaultdict[Span, list[int]](list)
    for file, dates in found.items():
        for span in dates:
            files_of_spans[span].append(file)
    return dict(found), dict(files_of_spans)


def _chunks(snapshot: Snapshot, ids: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Yield id, file id and heading of each chunk."""
    return snapshot.connection.execute(
        f"SELECT id, file_id, heading FROM {snapshot.tables.chunks} WHERE id IN (SELECT value FROM carray(?))",
        (id_array(ids),),
    )


def _dates_in_texts(
    snapshot: Snapshot, ids: Sequence[int], times: Sequence[TimeExpression]
) -> Iterator[tuple[int, list[Span]]]:
    """Yield the ISO dates in each chunk's text; only chunks that may contain a date of `times` are read."""
    needles = [needle for time in times if (needle := _iso_beginning(time))]
    if not ids or not needles:
        return
    matches = " OR ".join("instr(text, ?)" for _ in needles)
    rows = snapshot.connection.execute(
        f"SELECT id, text FROM {snapshot.tables.chunks} WHERE id IN (SELECT value FROM carray(?)) AND ({matches})",
        (id_array(ids), *needles),
    )
    for id_, text in rows:
        yield id_, list(_iso_days(text))


def _iso_beginning(time: TimeExpression) -> str:
    """Return the common prefix of the ISO dates in a time; empty if it is too short."""
    first, last = time.first, time.last
    if (first.year, first.month) == (last.year, last.month):
        return f"-{first:%m}-" if time.yearly else f"{first.year:04}-{first:%m}-"
    return "" if time.yearly or first.year != last.year else f"{first.year:04}-"


@lru_cache(4096)
def _dates_in_name(name: str) -> tuple[Span, ...]:
    """Return the dates in a title or heading as (first day, last day)."""
    if _YEAR.search(name) is None:
        return ()
    days = tuple(_iso_days(name))
    return days or tuple((found.first, found.last) for found in read_dates(name))


def _iso_days(text: str) -> Iterator[Span]:
    for year, month, day in _ISO_DAY.findall(text):
        try:
            found = date(int(year), int(month), int(day))
        except ValueError:
            continue
        yield found, found


def _local(moment: float) -> date:
    try:
        return datetime.fromtimestamp(moment).date()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).date()


def signed_use(query: Query) -> Callable[[str], float] | None:
    """Return a function that rates whether a text has the words of a query with the signs that are no tokens, such as
    20%, $HOME and --force; None for a query without any. Numbers may also be next to the name of their sign.
    """
    text = query.free_text
    if not query.plain or len(text) > _LONGEST:
        return None
    if not (spellings := numbers_with_signs(text) if any(map(str.isdigit, text)) else []):
        words = [word.strip(_AROUND_WORDS) for word in text.lower().split()]
        typed = [word[:-1] if word.endswith("()") else word for word in words if _WITH_SIGNS.search(word)]
        if not typed or len(words) > _MAX_SIGNED:
            return None
        return lambda text: SIGNED * all(map(text.lower().__contains__, typed))

    def rate(text: str) -> float:
        if all(typed.search(text) for typed, _ in spellings):
            return SIGNED
        return SIGNED_OTHERWISE if all(either.search(text) for _, either in spellings) else 0.0

    return rate
