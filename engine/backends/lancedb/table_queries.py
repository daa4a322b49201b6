"""LanceDB's queries for one search: full-text queries, and conditions that apply before candidates are chosen.

Nothing written by a user or an agent reaches SQL but the names of sources, quoted: conditions on paths, titles, tags or
dates are looked up among the files in memory, and LanceDB gets their keys.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.backends.lancedb import sql
from engine.backends.lancedb.columns import BEGINNING, NAME, STEM, WORD, beginning_of
from engine.backends.lancedb.memory_index import MemoryIndex
from engine.backends.lancedb.view import match
from engine.search.chunk_filter import Filter
from engine.search.query_conditions import Conditions
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis, QueryTerm, analyse_word
from engine.text.parsed_query import Query, Word

if TYPE_CHECKING:
    from lancedb.query import FullTextQuery

_SHORT_QUESTION = 3
_MOST_KEYS = 5000
"""More files are not named to LanceDB: what they leave out is then left out afterwards."""
_NOWHERE = "false"


def condition(bench: MemoryIndex, filter_: Filter, query: Query, languages: Sequence[str]) -> str:
    """SQL that every passage satisfies which may be found; empty for none."""
    snapshot = Snapshot(bench.connection)
    parts = []
    if filter_.sources is not None:
        parts.append(sql.one_of("source", filter_.sources))
    files = _files(snapshot, filter_, query, languages)
    if files is not None and len(files) < snapshot.file_count():
        keys = bench.keys(files)
        if not keys:
            return _NOWHERE
        if len(keys) <= _MOST_KEYS:
            parts.append(sql.one_of("file", keys))
    return sql.all_of(parts)


def _files(snapshot: Snapshot, filter_: Filter, query: Query, languages: Sequence[str]) -> list[int] | None:
    """Ids of the files that pass; None if there is no condition on files."""
    demanded = Conditions(snapshot, query, languages).files()
    if not filter_.active:
        return demanded
    passing = [id_ for id_, _ in filter_.files(snapshot)]
    return passing if demanded is None else sorted(set(passing).intersection(demanded))


def newest(bench: MemoryIndex, filter_: Filter, query: Query, languages: Sequence[str], most: int) -> str:
    """SQL for the first passages of the files that pass and changed last: for a query without words."""
    snapshot = Snapshot(bench.connection)
    files = _files(snapshot, filter_, query, languages)
    rows = snapshot.connection.execute(f"SELECT id FROM {snapshot.tables.files} ORDER BY mtime_ns DESC, path")
    allowed = None if files is None else frozenset(files)
    ordered = [id_ for (id_,) in rows if allowed is None or id_ in allowed]
    return sql.all_of([sql.one_of("file", bench.keys(ordered[:most])), "ordinal < 8"])


def tokens_to_count(question: QueryAnalysis) -> list[str]:
    """Tokens that the scores need, to be counted in one request."""
    found: dict[str, None] = {}
    for term in question.terms:
        if term.stop:
            continue
        for stem in term.stems:
            found.update(dict.fromkeys(STEM + part for part in stem.split(" ")))
        tokens = (term.word,) if isinstance(term.word, str) else term.word
        if term.prefix_ok and (kept := beginning_of(tokens[-1])) is not None:
            found.update({BEGINNING + kept: None, WORD + tokens[-1]: None})
        elif not term.stems:
            found.update(dict.fromkeys(WORD + token for token in tokens))
    return list(found)


def queries(question: QueryAnalysis, query: Query) -> "Iterator[FullTextQuery]":
    """Full-text queries, whose best matches together are the keyword candidates."""
    terms = [" ".join(dict.fromkeys(_atoms(term))) for term in question.terms if not term.stop]
    terms = [atoms for atoms in terms if atoms]
    if not terms:
        return
    unwanted = " ".join(_unwanted(query, question.languages))
    if len(terms) > 1 and (len(terms) <= _SHORT_QUESTION or not query.plain):
        yield _query(terms, unwanted, every=True)
    yield _query([" ".join(terms)], unwanted, every=True)


def _query(terms: Sequence[str], unwanted: str, *, every: bool) -> "FullTextQuery":
    from lancedb.query import BooleanQuery, Occur

    must: list[tuple[Occur, FullTextQuery]] = [(Occur.MUST, match(atoms)) for atoms in terms]
    if len(must) == 1 and not unwanted:
        return must[0][1]
    return BooleanQuery(must + ([(Occur.MUST_NOT, match(unwanted))] if unwanted else []))


def _atoms(term: QueryTerm) -> Iterator[str]:
    for stem in term.stems:
        for part in stem.split(" "):
            yield STEM + part
            yield NAME + part
    tokens = (term.word,) if isinstance(term.word, str) else term.word
    if term.prefix_ok and (kept := beginning_of(tokens[-1])) is not None:
        yield BEGINNING + kept
    if not term.stems or term.prefix_ok:
        for token in tokens:
            yield WORD + token
            yield NAME + token


def _unwanted(query: Query, languages: Sequence[str]) -> Iterator[str]:
    """Tokens of single words that are excluded; what else is excluded is left out afterwards."""
    for clause in query.required:
        if not clause.negated:
            continue
        for atom in clause.alternatives:
            if not isinstance(atom, Word):
                continue
            terms = list(analyse_word(atom, languages))
            if len(terms) == 1 and not terms[0].prefix_ok and all(" " not in stem for stem in terms[0].stems):
                yield from _atoms(terms[0])
