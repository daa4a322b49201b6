"""Finds what a query names that isn't in the text of passages: sessions by their agent, project or files, as in "with
Codex" or "where we changed app.py", and files and texts that are not indexed.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from engine.base import lazy_pattern
from engine.base.errors import PARSER_FAULTS, PathRefused
from engine.base.formatting import folder_name
from engine.base.language import tr, tr_count
from engine.base.skip_reasons import tr_reason
from engine.search.chunk_filter import SnapshotCache
from engine.search.pipeline_stages import Terms
from engine.search.search_context import SearchContext
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot
from engine.text.folding import fold
from engine.text.spelling import with_word_replaced
from engine.text.time_expressions import read_times

if TYPE_CHECKING:
    from engine.records import FileIssue, SearchOutcome, SearchRemedy
    from engine.settings import Settings

_WORD = lazy_pattern(r"[^\W_]+")
_FILE = lazy_pattern(
    r"(?<![\w./\\:~-])(?:(?:~|[A-Za-z]:)?[/\\])?(?:[\w.@+-]+[/\\])*"
    r"(?:[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,7}|\.[A-Za-z][\w-]*)(?![\w/\\-])"
)
"""Name of a file with an ending, or of a hidden one, perhaps with folders."""
_MAX_LOOKED_AT, _LARGEST_LOOKED_AT, _MAX_BYTES, _MAX_PARSED = 200, 8 * 1024**2, 48 * 1024**2, 3
"""Most transcripts that are searched for text of tools, most bytes of each and of all, and most that are parsed."""
_MAX_FILES = 3
_LONGEST = 1000
"""Maximum number of characters of a query that is searched for names; a longer one is a pasted passage."""
_GENERIC = frozenset("agent ai chat cli code desktop github jan my oh open".split())
"""Words of agents' names that alone don't name an agent."""
_PLAIN = frozenset(
    """amp augment claude continue crush cursor devin droid forge gemini goose grok hermes interpreter llm pear pi
    studio vibe warp zed""".split()
)
"""Agents' names that are also words, or names of other things."""
_BEFORE = frozenset(
    """asked by did for from in of on project repo told using via with aus bei fur hat im in mit projekt von vom
    zum""".split()
)
"""Words after which an agent's plain name, or a project's name in several words, is a name."""
_BEFORE_PROJECT = frozenset("im in of project projekt repo vom von".split())
"""Words after which a project's name in one word, which may be an ordinary one, is a name."""
_VERBS_OF_SPEECH = frozenset(
    """advise advised angefasst answer answered ask asked bearbeitet changed debugged decided discussed edited empfahl
    empfohlen erklart explain explained fixed geandert gefragt gelost gemeint gesagt geschrieben meint meinte modified
    propose proposed recommend recommended sagt sagte said say says session sessions solved suggest suggested suggests
    tell told touched vorgeschlagen write wrote""".split()
)
"""Verbs for acts in a conversation, and its name; its own text rarely has them."""
_AFTER = _VERBS_OF_SPEECH | frozenset("did project projekt repo".split())


class SessionName(msgspec.Struct, frozen=True, order=True):
    """A name by which the sessions of an agent or a project are known."""

    words: tuple[str, ...]
    """Its folded words."""
    column: str
    """`agent` or `project`."""
    value: str
    """Value of that column."""


def session_names(snapshot: Snapshot) -> list[SessionName]:
    """Return the names of the agents and projects of all sessions."""
    rows = list(snapshot.connection.execute(f"SELECT DISTINCT agent, project FROM {snapshot.tables.sessions}"))
    found = {
        SessionName(words, "agent", agent) for agent in {agent for agent, _ in rows} for words in _agent_names(agent)
    }
    for project in {project for _, project in rows}:
        words = _words(folder_name(project))
        if words:
            found.add(SessionName(words, "project", project))
    return sorted(found)


@cache
def _all_agent_names() -> dict[str, list[SessionName]]:
    """Return the names of all agents by their first words."""
    from engine.corpus.transcripts.registry import AGENTS

    names: dict[str, list[SessionName]] = {}
    for name in {SessionName(words, "agent", agent.name) for agent in AGENTS for words in _agent_names(agent.name)}:
        names.setdefault(name.words[0], []).append(name)
    return names


def agents_in(query: str) -> set[str]:
    """Return the names of agents in a query, as typed, whether the index has sessions of them or not."""
    names = [name for word in _words(query[:_LONGEST]) for name in _all_agent_names().get(word, ())]
    return {typed for typed, _ in _typed_names(query, names)} if names else set()


def session_files(snapshot: Snapshot) -> dict[str, list[str]]:
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


class NamedSessions:
    """Finds agents, projects and files of sessions in one query, and the sessions that have them."""

    def __init__(
        self, query: str, names: SnapshotCache[list[SessionName]], files: SnapshotCache[dict[str, list[str]]]
    ) -> None:
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
        """Return the positions of verbs for acts in a conversation, such as "suggested" or "fixed"."""
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
        """Return the names in the query that boost each session, as typed, by the session's file id."""
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
        for typed, name in _typed_names(self._query, self._names.get(snapshot)):
            columns.setdefault((typed, name.column), []).append(name.value)
        sessions = snapshot.tables.sessions
        for (typed, column), values in columns.items():
            rows = snapshot.connection.execute(
                f"SELECT file_id FROM {sessions} WHERE {column} IN (SELECT value FROM json_each(?))",
                (msgspec.json.encode(values).decode(),),
            )
            yield typed, [id_ for (id_,) in rows]
        if paths := dict.fromkeys(_FILE.findall(self._query) if "." in self._query else ()):
            yield from islice(self._typed_files(paths, snapshot), _MAX_FILES)

    def _typed_files(self, paths: Iterable[str], snapshot: Snapshot) -> Iterator[tuple[str, Iterable[int]]]:
        """Yield each of these paths that a session used, with the file ids of the sessions.

        Most words with a dot, such as "e.g." and "example.com", aren't files of any session. A path is matched as by
        the operator `file:`.
        """
        from engine.corpus.transcripts.tool_uses import file_matcher  # imports redaction, and few queries need it
        from engine.store.sessions import sessions_with_paths

        files = self._files.get(snapshot)
        for typed in paths:
            if same_name := files.get(_file_name(typed)):
                yield typed, sessions_with_paths(snapshot, same_name, file_matcher(typed)[1])


def _typed_names(query: str, names: Sequence[SessionName]) -> Iterator[tuple[str, SessionName]]:
    """Yield the names of agents and projects in a query, each as typed; of "Claude Code" only the longest.

    A project's name in one word, which may be an ordinary one, is also a name next to nothing but an agent and times.
    """
    spans = [match.span() for match in _WORD.finditer(query)]
    words = [fold(query[start:end]) for start, end in spans]
    times = {word for time in read_times(query) for word in _words(time.text)}
    untimed = [at for at, word in enumerate(words) if word not in times and not times.intersection(words[at : at + 2])]
    longest: dict[tuple[str, int], int] = {}
    for name in sorted(names, key=lambda name: -len(name.words)):
        length = len(name.words)
        for at in range(len(words) - length + 1):
            if tuple(words[at : at + length]) != name.words:
                continue
            start, end = spans[at][0], spans[at + length - 1][1]
            before = _BEFORE_PROJECT if name.column == "project" and length == 1 else _BEFORE
            typed, around = query[start:end], {*words[max(0, at - 1) : at]} & before
            around |= {*words[at + length : at + length + 1]} & _AFTER
            joined = length > 1 and not any(map(str.isspace, typed))
            others = [*filter(at.__gt__, untimed)][-1:] + [*filter((at + length - 1).__lt__, untimed)][:1]
            next_to = [query[slice(*spans[other])] for other in others]
            sure = joined or (
                name.column == "agent" and (not set(name.words) <= _PLAIN or _ends_query(typed, next_to, times))
            )
            if (sure or around or query[end:].startswith(":")) and all(
                longest.setdefault((name.column, place), length) == length for place in range(at, at + length)
            ):
                yield typed, name
    if any(column == "agent" for column, _ in longest):
        rest = [at for at in untimed if ("agent", at) not in longest]
        for name in names if len(rest) == 1 and ("project", rest[0]) not in longest else ():
            if name.column == "project" and name.words == (words[rest[0]],):
                yield query[slice(*spans[rest[0]])], name


def _ends_query(typed: str, next_to: Sequence[str], times: Collection[str]) -> bool:
    """Whether a name with these words next to it begins or ends the query, apart from times; not if it may be part of a
    longer name, such as "Claude Monet".
    """
    if not next_to:
        return bool(times)
    return len(next_to) == 1 and not (typed[0].isupper() and next_to[0][0].isupper())


def session_conditions(snapshot: Snapshot, query: str) -> tuple[str, str]:
    """Return the conditions for the agents and projects that a query names, and the rest of the query.

    A query that consists of such a name has its condition, even if the name is an ordinary word.
    """
    if len(query) > _LONGEST:
        return "", query
    known, conditions, rest = session_names(snapshot), dict[str, None](), query
    whole = _words(query)
    for typed, name in [*_typed_names(query, known)] or [(query, name) for name in known if name.words == whole]:
        value = typed if name.column == "agent" else folder_name(name.value)
        conditions[f'{name.column}:"{value}"' if " " in value else f"{name.column}:{value}"] = None
        rest = with_word_replaced(rest, typed, " ")
    return " ".join(conditions), " ".join(rest.split())


def sessions_with_file(snapshot: Snapshot, word: str) -> int:
    """Return the number of sessions that used a file of this name; 0 for a word that names no file."""
    if _FILE.match(word) is None:
        return 0
    from engine.corpus.transcripts.tool_uses import file_matcher
    from engine.store.sessions import sessions_with

    return len(set(sessions_with(snapshot, *file_matcher(word))) - snapshot.hidden)


def sessions_of_chunks(snapshot: Snapshot, ids: Collection[int]) -> dict[int, int]:
    """Return the file of each chunk that belongs to a session, by chunk id."""
    return {id_: file for id_, file, _ in _in_sessions(snapshot, ids)}


def projects_of_chunks(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    """Return the working folder of the session of each chunk, by chunk id; chunks without one are left out."""
    return {id_: project for id_, _, project in _in_sessions(snapshot, ids) if project}


def _in_sessions(snapshot: Snapshot, ids: Collection[int]) -> Iterable[tuple[int, int, str]]:
    """Return id, file and project of each chunk that belongs to a session."""
    tables = snapshot.tables
    if not ids or not snapshot.connection.execute(f"SELECT 1 FROM {tables.sessions} LIMIT 1").fetchone():
        return ()
    query = f"""SELECT c.id, c.file_id, s.project FROM carray(?) wanted
        CROSS JOIN {tables.chunk_rows} ON c.id = wanted.value
        CROSS JOIN {tables.sessions} s ON s.file_id = c.file_id"""
    rows: Iterable[tuple[int, int, str]] = snapshot.connection.execute(query, (id_array(ids),))
    return rows


# --- Files that are not indexed, although a query names them ---------------------------------------------------------

_ANY_NAME = "*"
"""Start of the path of an issue that represents all files of a type."""
_MAX_EXCLUDED = 2
_SHORTEST_NAME = 3
"""Minimum number of characters of a word that is searched in the names of files that are not indexed."""
_AROUND_WORDS = "\"'“”„()?!,;:."
_UNINDEXED = SnapshotCache(
    lambda snapshot: [(fold(issue.path), issue) for kind in ("failed", "skipped") for issue in snapshot.issues(kind)]
)


def excluded_files(
    snapshot: Snapshot, context: SearchContext, unknown: Sequence[str] | None = None
) -> Iterator["SearchRemedy"]:
    """Yield a remedy for the excluded or failed files whose names have most words of the query.

    If passages have words of the query, a name must have one of the `unknown` ones, or all words.
    """
    limits = context.request.filter
    if limits.hide_memory or limits.sources == ("sessions",):
        return  # others may not know of these files
    names = _QueryNames(snapshot, context, None if unknown is None else [*map(fold, unknown)])
    named = [(count, issue) for name, issue in _UNINDEXED.get(snapshot) if (count := names.count(name, issue.path))]
    most = max((count for count, _ in named), default=0)
    best = [issue for count, issue in named if count == most]
    if not best:
        return
    from engine.records import SearchRemedy  # with records that few searches need

    shown, rest = best[:_MAX_EXCLUDED], len(best) - _MAX_EXCLUDED
    for issue in shown:
        advice = tr("{path} is not indexed: {reason}", path=issue.path, reason=tr_reason(issue.detail))
        if rest > 0 and issue is shown[-1]:
            advice += " " + tr_count(
                "{count:,} more such file is not indexed.", "{count:,} more such files are not indexed.", rest
            )
        path = names.of_type(issue.path) or issue.path
        yield SearchRemedy("excluded", "", advice, path=path, extension=unlisted_extension(issue))


def with_missing_sources(
    outcome: "SearchOutcome", context: SearchContext, snapshot: Snapshot, settings: "Settings | None"
) -> "SearchOutcome":
    """Add remedies for files and texts that are not indexed to an answer without some words of the query.

    Texts of tools are searched only if the answer is to be explained, since that reads transcripts.
    """
    unknown = None if outcome.similar_only else outcome.unknown_words
    remedies = tuple(excluded_files(snapshot, context, unknown))
    if not remedies and outcome.similar_only and context.request.explain in (True, "if weak"):
        remedies = tuple(tool_texts(context, "words", snapshot, settings))
    return msgspec.structs.replace(outcome, remedies=remedies) if remedies else outcome


def tool_texts(
    context: SearchContext, stage: str, snapshot: Snapshot, settings: "Settings | None"
) -> Iterator["SearchRemedy"]:
    """Yield a remedy if the words of the query are in tool calls or results, which are not indexed.

    Reads the newest transcripts with a session that the search is limited to, until they have 48 MB together, and
    parses at most three of them.
    """
    from engine.records.explanations import UNMATCHED

    words, hidden = context.query.free_text.split(), context.request.filter.hide_memory
    if settings is None or settings.sessions.tools or hidden or stage not in UNMATCHED:
        return
    from engine.store.sessions import newest_transcripts

    files = context.scope.all_files(snapshot)
    if not (newest := newest_transcripts(snapshot, files, _MAX_LOOKED_AT, _LARGEST_LOOKED_AT)):
        return
    from engine.corpus.transcripts.session_stores import TranscriptLocator
    from engine.corpus.transcripts.transcript_reader import has_tool_text, may_contain, plain_parts  # every format
    from engine.records import SearchRemedy

    if not (parts := plain_parts(words)):
        return
    context.reads_files = True
    bytes_left, parsed, locator = _MAX_BYTES, 0, TranscriptLocator(settings)
    for name, size, title in newest:
        if (bytes_left := bytes_left - size) < 0 or parsed == _MAX_PARSED:
            return
        with suppress(OSError, PathRefused, *PARSER_FAULTS):
            path = locator.locate(name)[0]
            parsed += (likely := may_contain(path, parts, context.cancel))
            if likely and has_tool_text(path, words, context.cancel):
                advice = tr(
                    "A call or result of a tool in “{session}” contains this. These texts are not indexed.",
                    session=title,
                )
                yield SearchRemedy(name="tools", stage=stage, advice=advice)
                return


def unlisted_extension(issue: "FileIssue") -> str:
    """Return the extension that an issue represents, if files with it are text and only have to be included."""
    from engine.corpus.discovery import READABLE_EXTENSIONS  # imports the readers of files, and few queries need it

    extension = issue.path.removeprefix(_ANY_NAME).lower()
    return extension if issue.path.startswith(_ANY_NAME) and extension in READABLE_EXTENSIONS else ""


class _QueryNames:
    """Counts the words of a query in the names of files that are not indexed."""

    def __init__(self, snapshot: Snapshot, context: SearchContext, unknown: Sequence[str] | None) -> None:
        self._snapshot, self._unknown, query = snapshot, unknown, context.query
        self._paths = [*map(fold, query.values_of_required("path") + query.values_of_required("title"))]
        common = {
            fold(word)
            for stage in context.stages.found
            if isinstance(stage.details, Terms)
            for word in stage.details.dropped
        }
        words = (word.strip(_AROUND_WORDS) for word in fold(query.free_text).split())
        self._words = [word for word in words if word not in common]

    def of_type(self, path: str) -> str:
        """Return the word of the query that names a file of a type, such as "plan.pdf" for `*.pdf`; empty if none."""
        ending = fold(path.removeprefix(_ANY_NAME)) if path.startswith(_ANY_NAME) else ""
        return next((word for word in (*self._paths, *self._words) if ending and word.endswith(ending)), "")

    def count(self, name: str, path: str) -> int:
        """Return how many words of the query are in the folded name of an excluded file; 0 if too few."""
        if name.startswith(_ANY_NAME):
            return int(bool(self.of_type(path)))
        if any(part in name or name.rstrip("/") in part for part in self._paths):
            return 1 + len(self._words)
        found = [
            word
            for word in self._words
            if len(word) >= _SHORTEST_NAME and word in name and self._names_excluded(word, path)
        ]
        unknown = self._unknown
        if unknown is None or len(found) == len(self._words):
            return len(found)
        return len(found) if any(term in word for word in found for term in unknown) else 0

    def _names_excluded(self, word: str, path: str) -> bool:
        """Whether a word is in the last part of a path, or in a folder without any indexed file.

        The word "garden" doesn't name `garden/.git` if other files of that folder are searched.
        """
        whole = folder = path.rstrip("/")
        if "/" in word:
            return True
        while "/" in folder and word not in fold(folder.rpartition("/")[2]):
            folder = folder.rpartition("/")[0]
        return folder == whole or not self._has_indexed(f"{folder}/")

    def _has_indexed(self, folder: str) -> bool:
        # "0" is the character after "/".
        beginning = f"SELECT 1 FROM {self._snapshot.tables.files} WHERE path >= ? AND path < ? LIMIT 1"
        return any(self._snapshot.connection.execute(beginning, (folder, folder[:-1] + "0")))
