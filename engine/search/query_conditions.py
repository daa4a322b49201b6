"""Conditions of a query on every result, as conditions on the index that both searches apply."""

import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from itertools import zip_longest

import msgspec

from engine.base import lazy_pattern
from engine.corpus.globs import Globs
from engine.search import document_frequencies
from engine.search.chunk_filter import CachedFilters, ChunkFilter, Match, bounds_of, in_period, periods_of
from engine.search.pipeline_stages import UnderstoodQuery
from engine.search.search_context import SearchContext
from engine.store.connection import id_array, number
from engine.store.index_schema import role_condition
from engine.store.snapshot import Snapshot, machine_of
from engine.text import Query, QueryTerm, analyse_word
from engine.text.folding import fold
from engine.text.highlight import command_matches
from engine.text.operators import DATED, ROLE_NAMES, SOURCE_NAMES
from engine.text.parsed_query import Atom, Clause, Field, Phrase, Word
from engine.text.tokens_and_stems import PhraseTokens, phrase_forms, phrase_tokens

# All columns but these.
_STEM_COLUMNS = "- words"
_WORD_COLUMNS = "- stems"
_PHRASE_COLUMNS = "- {name stems}"
_JOINTS = lazy_pattern(r"[-_ \t]+")


_ASCII_RUN = lazy_pattern(r"[A-Za-z0-9]+")
MAY_CONTAIN = "({0} LIKE ?1 OR octet_length({0}) <> length({0}))"
"""SQL condition that finds all names which may contain a value: a name with other letters may when it is folded."""


class Condition(msgspec.Struct, frozen=True):
    """An SQL condition on a chunk with the alias `c`, and its bound values."""

    sql: str
    values: tuple[object, ...] = ()
    files: str | Sequence[int] = ""
    """The ids of files, or their SQL, if the condition is that the chunk's file has one of these."""


class Conditions:
    """Finds the chunks of one snapshot that satisfy the conditions of one query."""

    def __init__(self, snapshot: Snapshot, query: Query, languages: Sequence[str]) -> None:
        """`languages`: the languages in which the query was analysed."""
        self.snapshot = snapshot
        self._tables = snapshot.tables
        self.languages = tuple(languages)
        # A quotation without a letter requires nothing.
        self.clauses = tuple(
            clause
            for clause in query.required
            if any(isinstance(atom, Field) or self._expression_of(atom) for atom in clause.alternatives)
        )

    def __bool__(self) -> bool:
        return bool(self.clauses)

    @cached_property
    def _all(self) -> Sequence[Condition]:
        return [*map(self._clause, self.clauses), *self._date_between()]

    def files_alone(self) -> list[int] | None:
        """Return `files` if there are no other conditions, but none if they have no chunks; else None."""
        if not all(_concerns_file(atom) for clause in self.clauses for atom in clause.alternatives):
            return None
        files, chunks = self.files() or [], self._tables.chunks
        query = f"SELECT 1 FROM carray(?) w CROSS JOIN {chunks} c ON c.file_id = w.value LIMIT 1"
        return files if self.snapshot.connection.execute(query, (id_array(files),)).fetchone() else []

    def files(self) -> list[int] | None:
        """Return the ids of files that satisfy all conditions on whole files; None without such conditions."""
        parts = [self._clause(clause) for clause in self.clauses if all(map(_concerns_file, clause.alternatives))]
        if not parts:
            return None
        parts += self._date_between()
        of_files = parts[0].files if len(parts) == 1 else ""  # looking up each id would take as long as finding it
        if not isinstance(of_files, str):
            return sorted(set(of_files))
        query = f"""SELECT c.file_id FROM (SELECT id AS file_id FROM {self._tables.files}) c
            WHERE {" AND ".join(part.sql for part in parts)}"""
        rows = self.snapshot.connection.execute(of_files or query, tuple(v for part in parts for v in part.values))
        return sorted({id_ for (id_,) in rows})

    @cached_property
    def match(self) -> Match | None:
        """All conditions as FTS5 expressions; None if one needs data that the keyword index doesn't have."""
        required, excluded = list[str](), list[str]()
        for clause in self.clauses:
            if any(isinstance(atom, Field) or self._searches_within_names(atom) for atom in clause.alternatives):
                return None
            expressions = (self._expression_of(atom) for atom in clause.alternatives if not isinstance(atom, Field))
            either = " OR ".join(f"({expression})" for expression in expressions if expression)
            (excluded if clause.negated else required).append(f"({either})")
        return Match(" AND ".join(required), " OR ".join(excluded))

    def can_be_listed(self, chunks: int) -> bool:
        """Whether to list the allowed ones of so many chunks for vectors, not a large share of a large index."""
        if self.match is None or chunks <= document_frequencies.LARGE:
            return True
        return bool(self.match.required) and not self._has_many(self.match.required, document_frequencies.FREQUENT)

    def match_any(self, files: Sequence[int] | None) -> bool:
        """Whether any chunk satisfies all conditions of the query."""
        if files is not None or self.match is None or self.match.required:
            return bool(self.chunks(files, most=1))
        # SQLite would list all matches first.
        fts, connection = self._tables.fts, self.snapshot.connection
        excluded = connection.execute(
            f"SELECT rowid FROM {fts} WHERE {fts} MATCH ? ORDER BY rowid", (self.match.excluded,)
        )
        ids = connection.execute(f"SELECT c.id FROM {self._tables.chunk_rows} ORDER BY c.id")
        return any(id_ != other for id_, other in zip_longest(ids, excluded))

    def unmet(self, files: Sequence[int] | None) -> list[Clause]:
        """Return the conditions that no chunk satisfies, even without the other conditions."""
        return [clause for clause in self.clauses if not self._matching([self._clause(clause)], files, most=1)]

    def chunks(self, files: Sequence[int] | None, most: int = -1) -> list[int]:
        """Return the ids of the chunks that satisfy all conditions, in ascending order, limited to `files`."""
        if self.match is None or not self.match.required:
            return self._matching(self._all, files, most)
        # FTS5 lists the matches in a tenth of the time in which SQLite looks them up among the chunks.
        limit = "" if files is None else f"AND +rowid {self.snapshot.in_files(files)}"
        rows = self.snapshot.connection.execute(
            f"SELECT rowid FROM {self._tables.fts} WHERE {self._tables.fts} MATCH ? {limit} LIMIT {most}",
            (Match(excluded=self.match.excluded).within(self.match.required),),
        )
        return sorted(id_ for (id_,) in rows)

    def _matching(self, conditions: Iterable[Condition], files: Sequence[int] | None, most: int = -1) -> list[int]:
        parts = list(conditions)
        if files is not None:
            parts.append(in_files(files))
        rows = self.snapshot.connection.execute(
            f"""SELECT c.id FROM {self._tables.chunks} c
                WHERE {" AND ".join(part.sql for part in parts)} LIMIT {most}""",
            tuple(value for part in parts for value in part.values),
        )
        return sorted(id_ for (id_,) in rows)

    def _clause(self, clause: Clause) -> Condition:
        """Return the SQL for a clause."""
        parts = [part for atom in clause.alternatives if (part := self._atom(atom)) is not None]
        if len(parts) == 1 and not clause.negated:
            return parts[0]
        either = " OR ".join(part.sql for part in parts)
        return Condition(
            f"NOT ({either})" if clause.negated else f"({either})", tuple(v for part in parts for v in part.values)
        )

    def _atom(self, atom: Atom) -> Condition | None:
        if isinstance(atom, Field) and atom.name in DATED:
            bounds = bounds_of(atom)
            return Condition("0") if bounds is None else self._in_period(*bounds)
        if isinstance(atom, Field):
            return self._fields[atom.name](atom.value)
        expression = self._expression_of(atom)
        fts = self._tables.fts
        found = f"SELECT rowid FROM {fts} WHERE {fts} MATCH ?"
        if within := _forms_within(atom):
            others = f"({' OR '.join(map(phrase_expression, within))}) NOT ({expression})"
            # One list, since SQLite would test each chunk of the index against two.
            in_texts = f"""SELECT t.id FROM {fts} CROSS JOIN {self._tables.chunks} t ON t.id = {fts}.rowid
                WHERE {fts} MATCH ? AND lower(t.text) || ' ' GLOB ?"""
            values = expression, others, _glob(atom.text.strip())
            return Condition(f"c.id IN ({found} UNION ALL {in_texts})", values)
        return Condition(f"c.id IN ({found})", (expression,)) if expression else None

    def _searches_within_names(self, atom: Word | Phrase) -> bool:
        """Whether a phrase is also searched where it begins or ends within an identifier, which reads texts.

        If enough of the newest chunks of a large index have it as words, others add nothing to a search for it alone.
        """
        if not _forms_within(atom):
            return False
        oldest, newest = self.snapshot.chunk_id_range()
        [clause, *others] = self.clauses
        if newest - oldest < document_frequencies.LARGE or others or clause.negated:
            return True
        return not self._has_many(self._expression_of(atom), document_frequencies.FREQUENT // 10)

    def _has_many(self, expression: str, many: int) -> bool:
        """Whether so many of the 50,000 newest chunks match an FTS5 expression."""
        fts, (_, newest) = self._tables.fts, self.snapshot.chunk_id_range()
        matches = f"SELECT 1 FROM {fts} WHERE {fts} MATCH ? AND rowid > ? LIMIT {many}"
        values = expression, newest - document_frequencies.LARGE // 4
        return number(self.snapshot.connection, f"SELECT count(*) FROM ({matches})", values) == many

    def _expression_of(self, atom: Word | Phrase) -> str:
        return phrase_expression(phrase_tokens(atom.text)) if isinstance(atom, Phrase) else self._word(atom)

    def _word(self, word: Word) -> str:
        terms = analyse_word(word, self.languages)
        return " AND ".join(f"({_expression(term)})" for term in terms)

    # --- operators ------------------------------------------------------------------------------------------------

    @cached_property
    def _fields(self) -> dict[str, Callable[[str], Condition]]:
        return {
            "path": self._path,
            "title": self._title,
            "tag": self._tag,
            "links": self._links,
            "backlinks": self._backlinks,
            "source": self._source,
            "agent": self._agent,
            "project": self._project,
            "file": self._file,
            "command": self._command,
            "model": self._model,
            "machine": self._machine,
            "role": self._role,
        }

    def _files(self, condition: str, *values: object) -> Condition:
        query = f"SELECT id FROM {self._tables.files} WHERE {condition}"
        return Condition(f"c.file_id IN ({query})", values, query)

    def _path(self, value: str) -> Condition:
        """Return the condition that a file's path contains `value`, or matches it as a glob pattern."""
        globs, part = Globs((value,)), fold(value)
        rows = self.snapshot.connection.execute(
            f"SELECT id, path FROM {self._tables.files} WHERE {MAY_CONTAIN.format('path')}", (like_runs(value),)
        )
        return in_files([id_ for id_, path in rows if part in fold(path) or globs.covers(path)])

    def _title(self, value: str) -> Condition:
        """Return the condition that the title, the name or an alias of a file contains `value`.

        Names of files often have hyphens or underscores instead of spaces. A session's file is named by a program. A
        value with the ending of the file's name is a part of that name, such as `READ.md` of `README.md`.
        """
        part, tables = _spaced(value), self._tables
        # Names for links are folded, but of `a___b` and `a%20b` they have `b` and `a b`.
        rows = self.snapshot.connection.execute(
            f"""SELECT f.id, f.title, iif(f.source = 'memory', f.path, ''), coalesce(n.aliases, '')
            FROM (
                SELECT id FROM {tables.files} WHERE source = 'sessions' AND {MAY_CONTAIN.format("title")}
                UNION SELECT file_id FROM {tables.link_names} WHERE key GLOB ?2 AND kind <> 'block'
                UNION SELECT id FROM {tables.files} WHERE instr(path, '%') OR instr(path, '___')
            ) named CROSS JOIN {tables.files} f ON f.id = named.id
            LEFT JOIN {tables.front_matter} n ON n.file_id = f.id""",
            (like_runs(value), _glob_of_name(part.rpartition(".")[0] if "." in part else part)),
        )
        found = []
        for id_, title, path, aliases in rows:
            name, _, ending = path.rpartition("/")[2].rpartition(".")
            names = _spaced(f"{title}\n{name}\n{aliases}")
            if part in names or ("." in part and part.removesuffix(f".{fold(ending)}") in names):
                found.append(id_)
        return in_files(found)

    def _tag(self, value: str) -> Condition:
        """Return the condition that a note has this tag or one nested in it."""
        query, values = files_with_tag(self.snapshot, value)
        return Condition(f"c.file_id IN ({query})", values, query)

    def _links(self, value: str) -> Condition:
        from engine.store.link_queries import files_linking_to  # few queries name a link

        return in_files(files_linking_to(self.snapshot, value))

    def _backlinks(self, value: str) -> Condition:
        from engine.store.link_queries import files_linked_from

        return in_files(files_linked_from(self.snapshot, value))

    def _source(self, value: str) -> Condition:
        return self._files("source = ?", SOURCE_NAMES[value.casefold()])

    def _agent(self, value: str) -> Condition:
        from engine.corpus.transcripts.registry import agents_named  # imports every agent, and few queries name one

        sessions = self._tables.sessions
        names = [name for (name,) in self.snapshot.connection.execute(f"SELECT DISTINCT agent FROM {sessions}")]
        named = sorted(agents_named(value, names))
        marks = ",".join("?" * len(named))
        query = f"SELECT file_id FROM {sessions} WHERE agent IN ({marks})"
        return Condition(f"c.file_id IN ({query})", tuple(named), query)

    def _project(self, value: str) -> Condition:
        part = fold(value)
        rows = self.snapshot.connection.execute(f"SELECT file_id, project FROM {self._tables.sessions}")
        return in_files([id_ for id_, project in rows if part in fold(project)])

    def _file(self, value: str) -> Condition:
        from engine.corpus.transcripts.tool_uses import file_matcher  # imports redaction, and few queries need it
        from engine.store.sessions import sessions_with

        return in_files(sessions_with(self.snapshot, *file_matcher(value)))

    def _command(self, value: str) -> Condition:
        query = f"""SELECT file_id, value FROM {self._tables.tool_uses}
            WHERE kind = 'command' AND value LIKE ? ESCAPE '\\'"""
        files: set[int] = set()
        for id_, command in self.snapshot.connection.execute(query, (_like(value),)):
            if id_ not in files and next(command_matches(value, command), None) is not None:
                files.add(id_)
        return in_files(sorted(files))

    def _model(self, value: str) -> Condition:
        part, usage = fold(value), self._tables.session_usage
        rows = self.snapshot.connection.execute(f"SELECT DISTINCT file_id, model FROM {usage}")
        return in_files([id_ for id_, model in rows if part in fold(model)])

    def _machine(self, value: str) -> Condition:
        names = self.snapshot.machines()
        rows = self.snapshot.connection.execute(f"SELECT id, path FROM {self._tables.files} WHERE source = 'sessions'")
        return in_files([id_ for id_, path in rows if fold(machine_of(path, names)) == fold(value)])

    def _role(self, value: str) -> Condition:
        role_sql = role_condition(ROLE_NAMES[value.casefold()])
        return Condition(f"c.id IN (SELECT id FROM {self._tables.chunks} WHERE {role_sql})")

    def _in_period(self, since: float | None, until: float | None) -> Condition:
        condition, values = in_period(self.snapshot, since, until)
        if since is None or until is None:
            return self._files(condition, *values)
        # A session belongs to the day on which it began, even if it was continued much later.
        begun = f"mtime_ns >= ? AND id IN (SELECT file_id FROM {self._tables.sessions} WHERE started < ?)"
        return self._files(f"{condition} OR ({begun})", *values, values[0], until)

    def _date_between(self) -> Iterator[Condition]:
        """Yield the condition that one date of a note, its own or its last change, is after and before two days.

        Otherwise, a note with an older date and a later change would satisfy both operators.
        """
        open_ended = [period for period in periods_of(self.clauses) if None in period]
        starts = [since for since, _ in open_ended if since is not None]
        ends = [until for _, until in open_ended if until is not None]
        if starts and ends:
            yield self._in_period(max(starts), min(ends))


def like_runs(part: str) -> str:
    """Return a pattern for LIKE that finds all ASCII texts which may contain `part` or match it as a glob pattern."""
    return f"%{'' if '[' in part else '%'.join(_ASCII_RUN.findall(part))}%"


def _spaced(names: str) -> str:
    """Return names, one a line, in lower case and with spaces between their words."""
    return _JOINTS.sub(" ", fold(names))


def _concerns_file(atom: Atom) -> bool:
    return isinstance(atom, Field) and atom.name != "role"


def folded_tag(value: str) -> str:
    """Return the value of the operator `tag:` as it is stored."""
    return fold(value.removeprefix("#").strip("/"))


def required_tags(query: Query) -> frozenset[str]:
    """Return the tags that a query requires, folded."""
    return frozenset(map(folded_tag, query.values_of_required("tag")))


def files_with_tag(snapshot: Snapshot, tag: str) -> tuple[str, tuple[str, ...]]:
    """Return an SQL query for the ids of the files that have this tag or one nested in it, and its values."""
    # A lone surrogate, as in a broken paste, is in no tag, and SQLite refuses it.
    tag = folded_tag(tag).encode("utf-8", "replace").decode()
    query = f"SELECT file_id FROM {snapshot.tables.tags} WHERE tag = ? OR (tag > ? AND tag < ?)"
    return query, (tag, f"{tag}/", f"{tag}0")


def in_files(ids: Sequence[int]) -> Condition:
    return Condition("c.file_id IN (SELECT value FROM carray(?))", (id_array(ids),), ids)


def _expression(term: QueryTerm) -> str:
    tokens = (term.word,) if isinstance(term.word, str) else term.word
    parts = [f'{_STEM_COLUMNS} : "{_escaped(stem)}"' for stem in dict.fromkeys(term.stems)]
    if term.is_prefix or isinstance(term.word, str) or not term.stems:
        parts.append(f'{_WORD_COLUMNS} : "{_escaped(" ".join(tokens))}"' + (" *" if term.is_prefix else ""))
    return " OR ".join(f"({part})" for part in parts)


def phrase_expression(phrase: PhraseTokens) -> str:
    return f'{_PHRASE_COLUMNS} : "{_escaped(" ".join(phrase.tokens))}"' + " *" * phrase.open if phrase.tokens else ""


def _forms_within(atom: Atom) -> list[PhraseTokens]:
    """Return the tokens of a phrase that begins or ends within an identifier; none for anything else."""
    return phrase_forms(atom.text)[1:] if isinstance(atom, Phrase) else []


def _like(part: str) -> str:
    """Return a pattern for LIKE, with the escape character `\\`, that finds all texts which may contain `part`.

    SQLite knows neither white space of any kind nor capitals outside ASCII: these match any characters, as `*` does.
    """
    escaped = re.sub(r"([\\%_])", r"\\\1", part)
    return "%" + re.sub(r"[\s*]+|[^\x00-\x7f]+", "%", escaped) + "%"


def _glob(part: str) -> str:
    """Return a pattern for GLOB that finds all texts in small letters which may contain `part`; its last word is whole.

    SQLite knows neither white space of any kind nor capitals outside ASCII: these match any characters, as `*` does.
    """
    any_characters = re.sub(r"[\s*]+|[^\x00-\x7f]+", "*", part).lower()
    return "*" + re.sub(r"[?\[]", "?", any_characters) + "[^a-z0-9]" * part[-1].isalnum() + "*"


def _glob_of_name(part: str) -> str:
    """Return a pattern for GLOB that finds all folded names which contain `part` after `_spaced`.

    SQLite refuses long patterns, and one character may be folded to 18.
    """
    return f"*{re.sub(r'[ _-]+', '*', re.sub(r'[*?[]', '?', part[:1000]))}*"


def _escaped(token: str) -> str:
    return token.replace('"', '""')


# --- Decides by name which files a query may find --------------------------------------------------------------------


def files_to_search(snapshot: Snapshot, context: SearchContext, cached: CachedFilters) -> Sequence[int] | None:
    """Return the ids of the files that filters and exclusions allow; None for all files."""
    files = cached.files(snapshot, context.request.filter)
    if files is not None:
        context.stages.add("filters", snapshot.file_count(), len(files), unit="files")
    return files


# --- Limits a search to the chunks that satisfy the conditions -------------------------------------------------------


def restrict(
    conditions: Conditions, files: Sequence[int] | None, context: SearchContext, cached: CachedFilters, *, listed: bool
) -> ChunkFilter:
    """Return the filter for a search: chunks that satisfy the query's conditions, in the files that pass its filters.

    `listed`: their ids are needed, not only an FTS5 expression. Listing most chunks may take longer than the search.
    """
    snapshot, explained = conditions.snapshot, context.request.explain is True

    def find() -> ChunkFilter:
        chunks: Sequence[int] | None = None
        if not explained and files is None and (of_files := conditions.files_alone()) is not None:
            return ChunkFilter(of_files) if of_files else ChunkFilter(None, ())
        if listed or explained or conditions.match is None:
            chunks = array("q", conditions.chunks(files))
        elif not conditions.match_any(files):
            chunks = ()
        return ChunkFilter(files, chunks, conditions.match)

    clauses = tuple(
        (clause.negated, *((type(atom), str(atom)) for atom in clause.alternatives)) for clause in conditions.clauses
    )
    minute = datetime.now().isoformat(" ", "minutes") if context.query.dated else ""  # `after:2h` counts from now
    # A cached filter contains its list of files, so that no other list has the same identity.
    key = clauses, conditions.languages, id(files), listed, explained, minute
    scope = cached.get(snapshot, key, find if conditions else lambda: ChunkFilter(files))
    if not context.query.plain:
        count = cached.get(snapshot, "chunks", snapshot.chunk_count)
        matched = scope.chunks is None or bool(scope.chunks)
        context.understood = UnderstoodQuery(
            context.query,
            satisfied=matched,
            unmet=() if matched else tuple(conditions.unmet(files)),
            filtered=files is not None,
            tags_wait=any(map(context.query.values_of_required, _FROM_NOTES)) and not _has_tags(snapshot),
        )
        context.stages.add("operators", count, count if scope.chunks is None else len(scope.chunks), context.understood)
    return scope


_FROM_NOTES = ("tag", "links", "backlinks")
"""Operators whose data is missing in an index of an earlier version until all notes are read again."""


def _has_tags(snapshot: Snapshot) -> bool:
    """Whether the notes were indexed with their tags."""
    from engine.corpus.note_metadata import indexed_by  # few queries ask for tags

    return indexed_by(snapshot.meta("fingerprint"))
