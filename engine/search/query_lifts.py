"""Lifts results by a time that a query names, or by the agent, the project or a file of a session.

Times are such as "in May", "last spring" or "three weeks ago". The dates of a chunk are those of its file (name, title,
front matter, or begin and end of a session) and of its heading; if it has none, those in its text in ISO form.

People also say "with Codex", "in harbour-map" or "where we changed app.py", which a session's text seldom repeats.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import islice
from typing import Generic, NamedTuple, TypeVar

import msgspec

from engine.base import lazy_pattern
from engine.search.chunk_filter import many
from engine.store.index_schema import stored_dates
from engine.store.snapshot import Snapshot
from engine.text.folding import fold
from engine.text.time_expressions import TimeExpression, read_dates, read_times

_LIFT = 0.6
"""Share of its score that a chunk gains if its date is within a named time."""
_ADJACENT = 0.5
"""Share of that lift for days next to the time: a session may end after midnight, or be about the day before."""
_ADJACENT_DAYS = 3
_SESSION_LIFT = 0.6
"""Share of its score that a chunk gains for each name in the query that is its session's agent, project or file."""
CANDIDATES = 50
"""Number of candidates that keywords, and vectors, each contribute from files of a named time, or named sessions."""
_ISO_DAY = lazy_pattern(r"(?<![0-9])((?:19|20)[0-9]{2})[-_.]([01][0-9])[-_.]([0-3][0-9])(?![0-9])")
_YEAR = lazy_pattern(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")

Span = tuple[date, date]
"""The first and the last day."""


class Lift(msgspec.Struct, frozen=True):
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
        return self.time_factor * self.session_factor


_T = TypeVar("_T")


class _Cached(Generic[_T]):
    """Caches what a function reads from the index while that is unchanged. Thread-safe."""

    def __init__(self, read: Callable[[Snapshot], _T]) -> None:
        self._read = read
        self._latest: tuple[tuple[str, int, int], _T] | None = None

    def get(self, snapshot: Snapshot) -> _T:
        state = snapshot.identity, snapshot.tables.generation, snapshot.stamp
        latest = self._latest
        if latest is None or latest[0] != state:
            latest = self._latest = state, self._read(snapshot)
        return latest[1]


class QueryLifts:
    """Makes the lifts of single queries; caches what they need of the index. Thread-safe."""

    def __init__(self) -> None:
        self._dates = _Cached(_dates_of_files)
        self._names = _Cached(_session_names)
        self._files = _Cached(_session_files)

    def named_in(self, query: str) -> "NamedInQuery":
        return NamedInQuery(NamedTimes(query, self._dates), _NamedSessions(query, self._names, self._files))


class NamedInQuery:
    """Finds the times and sessions that one query names, and lifts their chunks."""

    def __init__(self, times: "NamedTimes", sessions: "_NamedSessions") -> None:
        self._times = times
        self._sessions = sessions

    @property
    def times(self) -> Sequence[TimeExpression]:
        return self._times.times

    def files(self, snapshot: Snapshot, file_ids: Sequence[int] | None) -> list[int]:
        """Return the ids of files that have the time and the names, or else one of both, limited to `file_ids`."""
        dated = set(self._times.files(snapshot, file_ids)) if self.times else set()
        named = self._sessions.files(snapshot)
        if file_ids is not None:
            named &= {*file_ids}
        return sorted(dated & named or dated | (named if len(named) <= _MOST_NAMED else set()))

    def lifts(self, snapshot: Snapshot, ids: Iterable[int]) -> dict[int, Lift]:
        """Return, by chunk id, the lift of chunks that have the time or a name; other chunks are left out."""
        ids = list(ids)
        lifts = self._times.lifts(snapshot, ids)
        for id_, names in self._sessions.names_of(snapshot, ids).items():
            factor = 1 + _SESSION_LIFT * len(names)
            lifts[id_] = msgspec.structs.replace(lifts.get(id_, Lift()), names=names, session_factor=factor)
        return lifts

    def dating(self, lifts: Mapping[int, Lift], ranges: Sequence[tuple[int, int]]) -> dict[int, frozenset[int]]:
        """Return the positions of the words that name a chunk's time, by chunk id.

        `ranges`: offsets of the words in the query.
        """
        words = frozenset(index for time in self.times for index in self._times.words(time.text, ranges))
        within = (id_ for id_, lift in lifts.items() if lift.time is not None and not lift.adjacent)
        return dict.fromkeys(within, words) if words else {}

    def naming(self, lifts: Mapping[int, Lift], ranges: Sequence[tuple[int, int]]) -> dict[int, frozenset[int]]:
        """Return the positions of the words that name the agent, project or files of a chunk's session, by chunk id;
        with them, those of words such as "say" in "what did Codex say about …".
        """
        verbs = self._sessions.verbs_of_speech(ranges)
        words = {
            names: frozenset(index for name in names for index in self._times.words(name, ranges))
            for names in {lift.names for lift in lifts.values()}
        }
        return {id_: words[lift.names] | verbs for id_, lift in lifts.items() if words[lift.names]}

    def others(self, snapshot: Snapshot, ranges: Sequence[tuple[int, int]]) -> list[int]:
        """Return the positions of the words that name no session, and so may be misspelt."""
        named = {index for name in self._sessions.names(snapshot) for index in self._times.words(name, ranges)}
        return [index for index in range(len(ranges)) if index not in named]


class NamedTimes:
    """Finds the times in one query, and the chunks whose dates are within them."""

    def __init__(self, query: str, dates: "_Cached[dict[int, list[Span]]]") -> None:
        self.times = read_times(query)
        self._query = query
        self._dates = dates
        self._known: dict[int, Lift | None] = {}
        self._nearest: dict[Span, tuple[int, int]] = {}
        """Cache by period: the fewest days to a time of the query, and the position of that time."""

    def files(self, snapshot: Snapshot, file_ids: Sequence[int] | None) -> list[int]:
        """Return the ids of files dated within a time of the query, limited to the ids in `file_ids`."""
        dates = self._dates.get(snapshot)
        limited = dates if file_ids is None else dates.keys() & file_ids
        return sorted(file for file in limited if (lift := self._lift(dates[file])) is not None and not lift.adjacent)

    def words(self, text: str, ranges: Sequence[tuple[int, int]]) -> set[int]:
        """Return the positions of those words, given by their offsets in the query, that belong to a part of it."""
        names = [match.span() for match in re.finditer(re.escape(text), self._query)]
        return {
            index
            for index, (start, end) in enumerate(ranges)
            if any(first <= start and end <= last for first, last in names)
        }

    def lifts(self, snapshot: Snapshot, ids: Iterable[int]) -> dict[int, Lift]:
        """Return, by chunk id, the factor for chunks dated within or next to a time of the query; other chunks are left
        out.
        """
        if not self.times:
            return {}
        ids = list(ids)
        new = [id_ for id_ in ids if id_ not in self._known]
        if new:
            dates = self._dates.get(snapshot)
            spans = {
                id_: [*dates.get(file, ()), *_dates_in_name(heading)] for id_, file, heading in _chunks(snapshot, new)
            }
            undated = [id_ for id_, known in spans.items() if not known]
            spans.update(_dates_in_texts(snapshot, undated, self.times))
            self._known.update((id_, self._lift(known)) for id_, known in spans.items())
        return {id_: lift for id_ in ids if (lift := self._known.get(id_)) is not None}

    def _lift(self, spans: Sequence[Span]) -> Lift | None:
        days, which = min(map(self._nearest_time, spans), default=(_ADJACENT_DAYS + 1, 0))
        if days > _ADJACENT_DAYS:
            return None
        return Lift(1 + _LIFT * (_ADJACENT if days else 1.0), self.times[which], days > 0)

    def _nearest_time(self, span: Span) -> tuple[int, int]:
        nearest = self._nearest.get(span)
        if nearest is None:
            nearest = self._nearest[span] = min((time.days_from(*span), at) for at, time in enumerate(self.times))
        return nearest


# --- Sessions by agent, project and file ------------------------------------------------------------------------------

_WORD = lazy_pattern(r"[^\W_]+")
_FILE = lazy_pattern(
    r"(?<![\w./\\:~-])(?:(?:~|[A-Za-z]:)?[/\\])?(?:[\w.@+-]+[/\\])*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/\\-])"
)
"""Name of a file with an ending, perhaps with folders."""
_MOST_FILES = 3
_MOST_NAMED = 2000
"""Most sessions with a name that are searched for candidates; the best of more are among those of the index."""
_LONGEST = 1000
"""Most characters of a query that is searched for names; a longer one is a pasted passage."""
_GENERIC = frozenset("agent ai chat cli code desktop github jan my oh open".split())
"""Words of agents' names by which no agent is known."""
_PLAIN = frozenset(
    """amp augment claude continue crush cursor devin droid forge gemini goose grok hermes interpreter llm pear pi
    studio vibe warp zed""".split()
)
"""Agents' names that are words or names of other things too."""
_BEFORE = frozenset(
    """asked by did for from in of on project repo told using via with aus bei fur hat im in mit projekt von vom
    zum""".split()
)
"""Words after which an agent's plain name, or a project's name in several words, is a name."""
_BEFORE_PROJECT = frozenset("im in of project projekt repo vom von".split())
"""Words after which a project's name in one word, which may be an ordinary one, is a name."""
_VERBS_OF_SPEECH = frozenset(
    """advise advised answer answered ask asked debugged decided discussed empfahl empfohlen erklart explain explained
    fixed gefragt gelost gemeint gesagt geschrieben meint meinte propose proposed recommend recommended sagt sagte said
    say says solved suggest suggested suggests tell told vorgeschlagen write wrote""".split()
)
"""Verbs for what is done in a conversation; its own text seldom has them."""
_AFTER = _VERBS_OF_SPEECH | frozenset("did project projekt repo session sessions".split())


class SessionName(NamedTuple):
    """A name by which the sessions of an agent or a project are known."""

    words: tuple[str, ...]
    """Its folded words."""
    column: str
    """`agent` or `project`."""
    value: str
    """Value of that column."""


def _session_names(snapshot: Snapshot) -> list[SessionName]:
    rows = list(snapshot.connection.execute(f"SELECT DISTINCT agent, project FROM {snapshot.tables.sessions}"))
    session_names = {
        SessionName(words, "agent", agent) for agent in {agent for agent, _ in rows} for words in _agent_names(agent)
    }
    for project in {project for _, project in rows}:
        words = _words(re.split(r"[/\\]", project.rstrip("/\\"))[-1])
        if words:
            session_names.add(SessionName(words, "project", project))
    return sorted(session_names)


def _session_files(snapshot: Snapshot) -> dict[str, list[str]]:
    """Return the paths of the files that tool calls used, by folded name without folders."""
    from engine.store.sessions import used_paths  # few queries name a file

    paths: dict[str, list[str]] = {}
    for path in used_paths(snapshot):
        paths.setdefault(_file_name(path), []).append(path)
    return paths


def _file_name(path: str) -> str:
    return fold(re.split(r"[/\\]", path)[-1])


def _agent_names(agent: str) -> Iterator[tuple[str, ...]]:
    from engine.corpus.transcripts.registry import agent_label  # imports every agent; without sessions, none is needed

    words = _words(agent_label(agent))
    yield words
    yield _words(agent)
    yield from ((word,) for word in words if word not in _GENERIC)


def _words(text: str) -> tuple[str, ...]:
    return tuple(fold(word) for word in _WORD.findall(text))


class _NamedSessions:
    """Finds agents, projects and files of sessions in one query, and the sessions that have them."""

    def __init__(self, query: str, names: "_Cached[list[SessionName]]", files: "_Cached[dict[str, list[str]]]") -> None:
        self._query = query if len(query) <= _LONGEST else ""
        self._names = names
        self._files = files
        self._found: dict[int, tuple[str, ...]] | None = None

    def files(self, snapshot: Snapshot) -> set[int]:
        """Return the file ids of the sessions that have most of the names."""
        sessions = self._sessions(snapshot)
        most = max(map(len, sessions.values()), default=0)
        return {id_ for id_, names in sessions.items() if len(names) == most}

    def names(self, snapshot: Snapshot) -> set[str]:
        """Return all names in the query, as typed."""
        return {name for names in self._sessions(snapshot).values() for name in names}

    def verbs_of_speech(self, ranges: Sequence[tuple[int, int]]) -> frozenset[int]:
        """Return the positions of verbs for what is done in a conversation, such as "suggested" or "fixed"."""
        words = enumerate(fold(self._query[start:end]) for start, end in ranges)
        return frozenset(at for at, word in words if word in _VERBS_OF_SPEECH)

    def names_of(self, snapshot: Snapshot, ids: Sequence[int]) -> dict[int, tuple[str, ...]]:
        """Return the names that the sessions of these chunks have, as typed, by chunk id."""
        sessions = self._sessions(snapshot)
        if not sessions:
            return {}
        rows = snapshot.files_of_chunks(ids)
        return {id_: sessions[file] for id_, file in rows if file in sessions}

    def _sessions(self, snapshot: Snapshot) -> dict[int, tuple[str, ...]]:
        """Return the names in the query that lift each session, as typed, by the session's file id."""
        if self._found is None:
            found: dict[int, dict[str, None]] = {}
            for typed, files in self._named(snapshot):
                for id_ in set(files) - snapshot.hidden:
                    found.setdefault(id_, {})[typed] = None
            self._found = {id_: tuple(names) for id_, names in found.items()}
        return self._found

    def _named(self, snapshot: Snapshot) -> Iterator[tuple[str, Iterable[int]]]:
        """Yield each name in the query as typed, with the file ids of the sessions that have it."""
        if not self._query:
            return
        columns = dict[tuple[str, str], list[str]]()
        for typed, name in self._typed_names(self._names.get(snapshot)):
            columns.setdefault((typed, name.column), []).append(name.value)
        sessions = snapshot.tables.sessions
        for (typed, column), values in columns.items():
            rows = snapshot.connection.execute(
                f"SELECT file_id FROM {sessions} WHERE {column} IN (SELECT value FROM json_each(?))",
                (msgspec.json.encode(values).decode(),),
            )
            yield typed, [id_ for (id_,) in rows]
        if paths := dict.fromkeys(_FILE.findall(self._query)):
            yield from islice(self._typed_files(paths, snapshot), _MOST_FILES)

    def _typed_files(self, paths: Iterable[str], snapshot: Snapshot) -> Iterator[tuple[str, Iterable[int]]]:
        """Yield each of these paths that a session used, with the file ids of the sessions.

        Most words with a dot, such as "e.g." and "example.com", aren't files of any session. A path is matched as by
        the operator `file:`.
        """
        from engine.corpus.transcripts.tool_uses import file_matcher  # brings redaction, and few queries need it
        from engine.store.sessions import sessions_with_paths

        files = self._files.get(snapshot)
        for typed in paths:
            if same_name := files.get(_file_name(typed)):
                yield typed, sessions_with_paths(snapshot, same_name, file_matcher(typed)[1])

    def _typed_names(self, names: Sequence[SessionName]) -> Iterator[tuple[str, SessionName]]:
        """Yield the names of agents and projects in the query, each as typed; of "Claude Code" only the longest."""
        spans = [match.span() for match in _WORD.finditer(self._query)]
        words = [fold(self._query[start:end]) for start, end in spans]
        longest: dict[tuple[str, int], int] = {}
        for name in sorted(names, key=lambda name: -len(name.words)):
            length = len(name.words)
            for at in range(len(words) - length + 1):
                if tuple(words[at : at + length]) != name.words:
                    continue
                start, end = spans[at][0], spans[at + length - 1][1]
                before = _BEFORE_PROJECT if name.column == "project" and length == 1 else _BEFORE
                typed, around = self._query[start:end], {*words[max(0, at - 1) : at]} & before
                around |= {*words[at + length : at + length + 1]} & _AFTER
                joined = length > 1 and not any(map(str.isspace, typed))
                sure = joined or (name.column == "agent" and not set(name.words) <= _PLAIN)
                if (sure or around or self._query[end:].startswith(":")) and all(
                    longest.setdefault((name.column, place), length) == length for place in range(at, at + length)
                ):
                    yield typed, name


def sessions_with_file(snapshot: Snapshot, word: str) -> int:
    """Return the number of sessions that used a file of this name; 0 for a word that names no file."""
    if _FILE.match(word) is None:
        return 0
    from engine.corpus.transcripts.tool_uses import file_matcher
    from engine.store.sessions import sessions_with

    return len(set(sessions_with(snapshot, *file_matcher(word))) - snapshot.hidden)


# --- Dates ------------------------------------------------------------------------------------------------------------


def _dates_of_files(snapshot: Snapshot) -> dict[int, list[Span]]:
    from engine.corpus.note_dates import date_in_name  # few queries name a time

    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT f.id, f.path, f.title, f.source, n.dated, n.earlier, s.started, s.ended FROM {tables.files} f
            LEFT JOIN {tables.front_matter} n ON n.file_id = f.id
            LEFT JOIN {tables.sessions} s ON s.file_id = f.id"""
    )
    spans_of_files: dict[int, list[Span]] = {}
    for file, path, title, source, dated, earlier, started, ended in rows:
        spans = list(_dates_in_name(title))
        if source == "sessions":
            begin, end = (ended if started is None else started), (started if ended is None else ended)
            if begin is not None:
                spans.append((_local(begin), _local(max(begin, end))))
        else:
            named = date_in_name(path)
            moments = (*stored_dates(dated, earlier), *(() if named is None else (named.moment,)))
            spans += [(day, day) for day in map(_utc, moments)]
        if spans:
            spans_of_files[file] = spans
    return spans_of_files


def _chunks(snapshot: Snapshot, ids: Sequence[int]) -> Iterator[tuple[int, int, str]]:
    """Yield id, file id and heading of each chunk."""
    return snapshot.connection.execute(
        f"SELECT id, file_id, heading FROM {snapshot.tables.chunks} WHERE id IN (SELECT value FROM carray(?))",
        (many(ids),),
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
        (many(ids), *needles),
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


def _utc(moment: float) -> date:
    """Convert a stored date, Unix seconds at midnight UTC, to a date."""
    return date(1970, 1, 1) + timedelta(days=moment // 86_400)


def _local(moment: float) -> date:
    try:
        return datetime.fromtimestamp(moment).date()
    except (ValueError, OverflowError, OSError):
        return datetime.fromtimestamp(0, UTC).date()
