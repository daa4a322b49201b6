"""Searches the table: LanceDB selects candidates by keywords and by vectors, and our own searcher scores them."""

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from engine.backends.lancedb.error_messages import TableMissing
from engine.backends.lancedb.query_index import (
    Catalog,
    MemoryIndexCounts,
    MemoryIndexes,
    QueryIndex,
    QueryIndexVectors,
    TableCounts,
)
from engine.backends.lancedb.table import SharedTable, TableView, match
from engine.backends.lancedb.table_location import FileNames
from engine.backends.lancedb.table_schema import BEGINNING, NAME, STEM, WORD, beginning_of, sql_all_of, sql_one_of
from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.corpus.path_guard import PathGuard
from engine.records import Passage, SearchOutcome, SearchTimings
from engine.search.chunk_filter import Filter
from engine.search.empty_result_advice import first_update
from engine.search.pipeline_stages import KeywordsOnly
from engine.search.query_conditions import Conditions
from engine.search.search_context import OnKeywords, SearchContext, SearchRequest, SearchSources
from engine.search.searcher import Searcher
from engine.settings.search_settings import ResultCacheSettings
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis, QueryTerm, analyse_word
from engine.text.parsed_query import Query, Word

if TYPE_CHECKING:
    from lancedb.query import FullTextQuery

    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.store.vector_encoding import Vectors

_LISTED = 200
"""Maximum number of files listed for a query without words."""

_SHORT_QUERY = 3
_MAX_KEYS = 5000
"""Maximum number of file keys in a LanceDB condition; with more, files are filtered afterwards."""
_NOWHERE = "false"


class TableSearcher:
    """Searches the table. Thread-safe. Caches the files of the last version, and the last answers."""

    def __init__(
        self,
        cache_settings: ResultCacheSettings,
        table: SharedTable,
        naming: FileNames,
        provider: "Callable[[], EmbeddingProvider | None]",
        report_failure: Callable[[str | None], None],
        guard: PathGuard,
    ) -> None:
        """See `Searcher`."""
        self._table = table
        self._file_names = naming
        self._guard = guard
        self._lock = threading.Lock()
        self._catalog: Catalog | None = None
        self._named_under: object = None
        self._indexes = MemoryIndexes()
        sources = SearchSources(
            self._indexes, QueryIndexVectors(self._indexes), MemoryIndexCounts(self._indexes), load=self
        )
        self._searcher = Searcher(cache_settings, sources, provider, report_failure, guard)

    def search(
        self, request: SearchRequest, cancel: CancelToken | None = None, on_keywords: OnKeywords | None = None
    ) -> SearchOutcome:
        """Search the shared LanceDB table; return an empty outcome if it does not exist.

        Raises `Cancelled`, `PassageMissing`, and as `SharedTable.view` where the table cannot be used.
        """
        try:
            return self._table.read(lambda view: self._answer(view, request, cancel, on_keywords), cancel)
        except TableMissing:
            return _empty()

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        """Return completions for an operator, see `Searcher.query_values`."""

        def values(view: TableView) -> tuple[str, ...]:
            with self._indexes.using(self.catalog(view).query_index()):
                return self._searcher.query_values(operator, start)

        try:
            return self._table.read(values)
        except TableMissing:
            return ()

    def cached_vector(self, query: str) -> "Vectors | None":
        """Return the cached vector of a query, see `Searcher.cached_vector`."""
        return self._searcher.cached_vector(query)

    def set_cache_settings(self, cache_settings: ResultCacheSettings) -> None:
        """Apply changed settings of the answer cache, see `Searcher.set_cache_settings`."""
        self._searcher.set_cache_settings(cache_settings)

    def catalog(self, view: TableView, cancel: CancelToken | None = None) -> Catalog:
        """Return the files of a version of the table, with the names under which they are shown here."""
        with self._lock:
            rules = self._file_names.indexed_under()
            if self._catalog is None or self._catalog.view is not view or self._named_under != rules:
                named = self._file_names.stable_names(view.files(cancel))
                self._named_under = rules
                # Key of cached answers: a recreated table repeats a version, and other rules name other files.
                key = f"{self._table.location().address} {view.number} {rules}"
                self._catalog = Catalog(view, named, key, self._guard.rules)
            return self._catalog

    def _answer(
        self,
        view: TableView,
        request: SearchRequest,
        cancel: CancelToken | None,
        on_keywords: OnKeywords | None,
    ) -> SearchOutcome:
        query_index = self.catalog(view, cancel).query_index()
        with self._indexes.using(query_index):
            level: SearchRequest | None = request
            while level is not None:
                if level.like is not None:
                    _load_passage(query_index, level.like, self._snapshot(query_index, level), cancel)
                level = level.within
            return self._searcher.search(request, cancel, on_keywords)

    # --- candidates -----------------------------------------------------------------------------------------------

    def by_keywords(self, context: SearchContext) -> None:
        """Load the candidates of the keyword search, see `CandidateLoader`."""
        query_index, analysis, allowed = self._query_parts(context)
        view, limit, cancel = query_index.view, context.request.candidates, context.cancel
        with context.timed("keyword"):
            snapshot = self._snapshot(query_index, context.request)
            TableCounts(query_index, snapshot.hidden).read(tokens_to_count(analysis), cancel)
            if not analysis.terms and context.query.required:
                newest = newest_files_condition(
                    query_index, snapshot, context.request.filter, context.query, analysis.languages
                )
                query_index.load(view.where(newest, cancel))
            for query in queries(analysis, context.query):
                query_index.load(view.by_keywords(query, limit, allowed, cancel))

    def by_vector(self, context: SearchContext, provider: "EmbeddingProvider") -> None:
        """Load the candidates of the vector search, see `CandidateLoader`."""
        view = self._indexes.current.view
        if context.vector is not None and view.dims == len(context.vector) and view.model == _name(provider):
            query_index, _, allowed = self._query_parts(context)
            with context.timed("vector"):
                query_index.load(view.by_vector(context.vector, context.request.candidates, allowed, context.cancel))
        _explain_model(context, view, provider)

    def _query_parts(self, context: SearchContext) -> tuple[QueryIndex, QueryAnalysis, str]:
        """The index of this query, its words, and the condition for the table's rows."""
        query_index = self._indexes.current
        with context.timed("analysis"):
            snapshot = self._snapshot(query_index, context.request)
            _, analysis = self._searcher.analysis_of(snapshot, context)
            allowed = condition(query_index, snapshot, context.request.filter, context.query, analysis.languages)
        return query_index, analysis, allowed

    def _snapshot(self, query_index: QueryIndex, request: SearchRequest) -> Snapshot:
        """Return a snapshot of the index without the files that are hidden from the session of the request."""
        return self._searcher.known_files.limited(Snapshot(query_index.connection), request.filter)


def _name(provider: "EmbeddingProvider") -> tuple[str, str, str]:
    return provider.id, provider.model, provider.key


def _explain_model(context: SearchContext, view: TableView, provider: "EmbeddingProvider") -> None:
    """Add a notice if no vectors are compared because those in the table are another model's."""
    if view.model is None or view.model == _name(provider) or context.vector is not None:
        return
    if context.keywords_only is not None:
        context.record_keywords_only(KeywordsOnly("failure", other_model(view)))


def other_model(view: TableView) -> str:
    """Return why this machine's model doesn't match the table's vectors; empty if it does."""
    assert view.model is not None
    return tr(
        "the table contains vectors of {model} ({dims:,} dimensions): choose that model in the settings, or set "
        "lancedb.table to another name.",
        model=f"{view.model.provider}/{view.model.model}",
        dims=view.dims,
    )


def _load_passage(query_index: QueryIndex, passage: Passage, known: Snapshot, cancel: CancelToken | None) -> None:
    """Copy the rows of the passage to find similar ones for, and the frequencies of its words."""
    key = query_index.key_of(passage.path)
    if key is None:
        return
    lines = f"start_line <= {passage.end_line:d} AND end_line >= {passage.start_line:d}"
    rows = query_index.view.where(f"{sql_one_of('file', [key])} AND {lines}", cancel)
    query_index.load(rows)
    stems = sorted({STEM + stem for row in rows for stem in row.chunk.stems.split()})
    TableCounts(query_index, known.hidden).read(stems, cancel)


def _empty() -> SearchOutcome:
    timings = SearchTimings(analysis=0, keyword=0, embed=0, vector=0, merge=0, total=0)
    return SearchOutcome(
        results=(), total=0, provider="none", model="", mode="keyword", timings=timings,
        notice=tr("Nothing is indexed yet."), explanation=None, remedies=(first_update(),),
    )  # fmt: skip


def condition(
    query_index: QueryIndex, snapshot: Snapshot, filter_: Filter, query: Query, languages: Sequence[str]
) -> str:
    """Return the text of the WHERE clause that limits a search to the filtered passages; "" without a filter."""
    parts = []
    if filter_.sources is not None:
        parts.append(sql_one_of("source", filter_.sources))
    if snapshot.hidden:
        parts.append(TableCounts(query_index, snapshot.hidden).condition)
    files = _files(snapshot, filter_, query, languages)
    if files is not None and len(files) < snapshot.file_count():
        keys = query_index.keys(files)
        if not keys:
            return _NOWHERE
        if len(keys) <= _MAX_KEYS:
            parts.append(sql_one_of("file", keys))
    return sql_all_of(parts)


def _files(snapshot: Snapshot, filter_: Filter, query: Query, languages: Sequence[str]) -> list[int] | None:
    """Ids of the files that pass; None if there is no condition on files."""
    demanded = Conditions(snapshot, query, languages).files()
    if not filter_.active:
        return demanded
    matching = [id_ for id_, _ in filter_.files(snapshot)]
    return matching if demanded is None else sorted(set(matching).intersection(demanded))


def newest_files_condition(
    query_index: QueryIndex, snapshot: Snapshot, filter_: Filter, query: Query, languages: Sequence[str]
) -> str:
    """SQL for the first passages of the files that pass and changed last: for a query without words."""
    files = _files(snapshot, filter_, query, languages)
    rows = snapshot.connection.execute(f"SELECT id FROM {snapshot.tables.files} ORDER BY mtime_ns DESC, path")
    allowed = None if files is None else frozenset(files)
    ordered = [id_ for (id_,) in rows if allowed is None or id_ in allowed]
    return sql_all_of([sql_one_of("file", query_index.keys(ordered[:_LISTED])), "ordinal < 8"])


def tokens_to_count(analysis: QueryAnalysis) -> list[str]:
    """Tokens that the scores need, to be counted in one request."""
    counted: dict[str, None] = {}
    for term in analysis.terms:
        if term.stop:
            continue
        for stem in term.stems:
            counted.update(dict.fromkeys(STEM + part for part in stem.split(" ")))
        tokens = (term.word,) if isinstance(term.word, str) else term.word
        if term.is_prefix and (prefix := beginning_of(tokens[-1])) is not None:
            counted.update({BEGINNING + prefix: None, WORD + tokens[-1]: None})
        elif not term.stems:
            counted.update(dict.fromkeys(WORD + token for token in tokens))
    return list(counted)


def queries(analysis: QueryAnalysis, query: Query) -> "Iterator[FullTextQuery]":
    """Full-text queries, whose best matches together are the keyword candidates."""
    terms = [" ".join(dict.fromkeys(_atoms(term))) for term in analysis.terms if not term.stop]
    terms = [atoms for atoms in terms if atoms]
    if not terms:
        return
    excluded_words = " ".join(_excluded_words(query, analysis.languages))
    if len(terms) > 1 and (len(terms) <= _SHORT_QUERY or not query.plain):
        yield _query(terms, excluded_words)
    yield _query([" ".join(terms)], excluded_words)


def _query(terms: Sequence[str], excluded_words: str) -> "FullTextQuery":
    from lancedb.query import BooleanQuery, Occur

    must: list[tuple[Occur, FullTextQuery]] = [(Occur.MUST, match(atoms)) for atoms in terms]
    if len(must) == 1 and not excluded_words:
        return must[0][1]
    return BooleanQuery(must + ([(Occur.MUST_NOT, match(excluded_words))] if excluded_words else []))


def _atoms(term: QueryTerm) -> Iterator[str]:
    for stem in term.stems:
        for part in stem.split(" "):
            yield STEM + part
            yield NAME + part
    tokens = (term.word,) if isinstance(term.word, str) else term.word
    if term.is_prefix and (prefix := beginning_of(tokens[-1])) is not None:
        yield BEGINNING + prefix
    if not term.stems or term.is_prefix:
        for token in tokens:
            yield WORD + token
            yield NAME + token


def _excluded_words(query: Query, languages: Sequence[str]) -> Iterator[str]:
    """Return tokens of excluded single words; other exclusions are filtered afterwards."""
    for clause in query.required:
        if not clause.negated:
            continue
        for atom in clause.alternatives:
            if not isinstance(atom, Word):
                continue
            terms = list(analyse_word(atom, languages))
            if len(terms) == 1 and not terms[0].is_prefix and all(" " not in stem for stem in terms[0].stems):
                yield from _atoms(terms[0])
