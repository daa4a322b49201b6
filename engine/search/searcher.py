"""Answers a query: keyword and vector search, one absolute score, the threshold, and notices."""

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING

import msgspec

from engine.base.cancellation import CancelToken
from engine.corpus.path_guard import PathGuard
from engine.records import QuerySuggestion, SearchOutcome
from engine.search.candidates import KeywordPart, find_candidates
from engine.search.chunk_filter import CachedFilters, ChunkFilter, KnownFiles
from engine.search.document_frequencies import Frequencies
from engine.search.keyword_leg import KeywordLeg
from engine.search.keyword_scores import ScoreInputs
from engine.search.named_in_query import excluded_files, with_missing_sources
from engine.search.pipeline_stages import EmptyIndex, KeywordsOnly, UnderstoodQuery, UnknownWords
from engine.search.query_conditions import Conditions, files_to_search, restrict
from engine.search.query_embedding import QueryEmbedder, WordModel
from engine.search.ranking import Ranker
from engine.search.result_builder import in_roles, make_outcome
from engine.search.result_cache import ResultCache, SearchState
from engine.search.result_set import EarlierResults, FoundSet, is_lasting, list_newest, narrow, with_wordless
from engine.search.score_cut_off import cut, least_by_keywords, without_unrelated
from engine.search.search_context import OnKeywords, SearchContext, SearchRequest, SearchSources
from engine.search.suggestions import Spelling, with_likely_words
from engine.search.term_lookup import analyse_with_index
from engine.settings.search_settings import ResultCacheSettings
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis, parse_query

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.search.more_like_this import ExamplePassage
    from engine.search.vector_leg import KnownLanguages, VectorLeg
    from engine.store.vector_encoding import Vectors


class Searcher:
    """Searches one index. Thread-safe; caches the last answers and word frequencies."""

    def __init__(
        self,
        cache_settings: ResultCacheSettings,
        sources: SearchSources,
        provider: "Callable[[], EmbeddingProvider | None]",
        report_failure: Callable[[str | None], None],
        guard: PathGuard,
    ) -> None:
        """`cache_settings`: settings of the result cache.

        `report_failure` receives the reason why a query could not be embedded, or None after success.
        """
        self._store = sources.store
        self._vectors = sources.vectors
        self._provider = provider
        self._frequencies = Frequencies() if sources.frequencies is None else sources.frequencies
        self._loader = sources.load
        self._unavailable = sources.unavailable
        self._settings = sources.settings
        self._spelling = Spelling()
        self._embedder = QueryEmbedder(guard, report_failure)
        self._answers = ResultCache[SearchOutcome](cache_settings)
        self._earlier = ResultCache[EarlierResults](cache_settings)
        self._guard = guard
        self.known_files = KnownFiles()
        self._filters = CachedFilters(guard, lasting=sources.load is None)
        self._ranker = Ranker(guard.in_extra_paths)

    @cached_property
    def _note_languages(self) -> "KnownLanguages":
        from engine.search.vector_leg import KnownLanguages

        return KnownLanguages()

    def set_cache_settings(self, cache_settings: ResultCacheSettings) -> None:
        """Apply new settings of the result cache, and drop cached answers."""
        self._answers.begin(cache_settings)
        self._earlier.begin(cache_settings)

    def search(
        self, request: SearchRequest, cancel: CancelToken | None = None, on_keywords: OnKeywords | None = None
    ) -> SearchOutcome:
        """Answer a search request with results and notices.

        Raises `Cancelled`, `PassageMissing` and the store's errors; if a provider fails, only keywords are searched.
        For a word that occurs nowhere, the likeliest correction is searched, and the outcome names it; a short query
        without results is searched without one of its words. `on_keywords` receives the answer by keywords before
        vectors are compared; it is not called if the answer is cached or no vectors are compared.
        """
        provider = None if request.keyword_only else self._provider()
        failure = "" if request.keyword_only or provider is not None else self._unavailable()
        if provider is not None and not provider.in_process:
            on_keywords, failure = self._send(provider, request, cancel, on_keywords)
        with self.known_files.read(self._store.read(cancel), request.filter) as snapshot:
            return self._answer(snapshot, provider, SearchContext.for_request(request, cancel, failure), on_keywords)

    def _send(
        self,
        provider: "EmbeddingProvider",
        request: SearchRequest,
        cancel: CancelToken | None,
        on_keywords: OnKeywords | None,
    ) -> tuple[OnKeywords | None, str]:
        """Have another process or machine embed the query, after the answer by keywords.

        No snapshot is held meanwhile: it may take seconds, and an index has few readers.

        Returns `on_keywords` if it has not been called, and why the query could not be embedded, or "".
        """
        with self.known_files.read(self._store.read(cancel), request.filter) as snapshot:
            context = SearchContext.for_request(request, cancel)
            known = self._answers.get(self._state(snapshot, provider, context), request) is not None
            self._read_query(snapshot, context)
            if known or not self._embedder.unknown(snapshot, provider, context):
                return on_keywords, ""
            by_keywords = msgspec.structs.replace(request, keyword_only=True, explain=False)
            first = self._answer(snapshot, None, SearchContext.for_request(by_keywords, cancel))
        if on_keywords is not None:
            on_keywords(first)
        with self.known_files.read(self._store.read(cancel), request.filter) as snapshot:
            texts = list[str]()
            if first.corrected is None or first.corrected.is_shorter:  # the whole query may match by vectors
                texts += self._embedder.unknown(snapshot, provider, context)
            if first.corrected is not None:
                corrected = msgspec.structs.replace(request, query=first.corrected.query)
                context = SearchContext.for_request(corrected, cancel)
                self._read_query(snapshot, context)
                texts += self._embedder.unknown(snapshot, provider, context)
        return None, self._embedder.embed(provider, texts, cancel)

    def _answer(
        self,
        snapshot: Snapshot,
        provider: "EmbeddingProvider | None",
        context: SearchContext,
        on_keywords: OnKeywords | None = None,
        tried: KeywordPart | None = None,
    ) -> SearchOutcome:
        """Compute the answer for one snapshot, or take it from the cache.

        `tried`: the query's keyword half, if it was already searched in order to choose this query.
        """
        request, given = context.request, provider
        state = self._state(snapshot, provider, context)
        if (cached := self._answers.get(state, request)) is not None:
            return msgspec.structs.replace(cached[0], timings=context.timings(), age=round(cached[1], 3))
        if provider is None and context.failure:
            context.record_keywords_only(KeywordsOnly("failure", context.failure))
        part = self._keyword_part(snapshot, provider, context, tried)
        unknown = [term.surface for term in part.leg.terms if not term.searched]
        words = self._words(snapshot, provider, part.analysis, context)
        if part.wordless:
            provider = None  # the vector of punctuation is similar to the vector of any passage
        elif len(unknown) == len(part.leg.terms) and words.is_nonsense(unknown):
            provider = None
            context.stages.add_query_vector(embedded=False, details=UnknownWords(unknown))
        others = dict[str, KeywordPart]()
        if (correction := self._correction(snapshot, provider, part, context, others)) is not None:
            return self._answer_instead(snapshot, provider, context, correction, others, on_keywords)
        if provider is not None:
            if on_keywords is not None and self._embedder.has_vectors(snapshot, provider):
                first = context.by_keywords()
                on_keywords(make_outcome(snapshot, self._find(snapshot, None, part, first), None, first))
            self._set_query_vector(snapshot, provider, context)
        found = self._find(snapshot, provider, part, context)
        if not found.results and (shorter := self._shorter(snapshot, part, context, others)) is not None:
            return self._answer_instead(snapshot, provider, context, shorter, others)
        if not found.results and not isinstance(request.explain, bool) and part.unlisted:
            explained = msgspec.structs.replace(request, explain=True)
            context = SearchContext.for_request(explained, context.cancel, context.failure)
            return self._answer(snapshot, given, context)
        outcome = self._advised(snapshot, provider, make_outcome(snapshot, found, provider, context), context)
        if found.lasting and not context.reads_files:
            self._answers.put(state, request, outcome)
        return outcome

    def _answer_instead(
        self,
        snapshot: Snapshot,
        provider: "EmbeddingProvider | None",
        context: SearchContext,
        correction: QuerySuggestion,
        tried: dict[str, KeywordPart],
        on_keywords: OnKeywords | None = None,
    ) -> SearchOutcome:
        """Return the answer to a corrected query; a notice says which word it leaves out.

        `tried`: the keyword halves of the queries that were searched in order to choose the correction, by query.
        """
        from engine.search.corrections import has_all_words, notice_on_shorter

        replaced = [word for word, _ in correction.words]
        others = tuple(other for other in context.suggestions if other != correction)
        if correction.is_shorter:  # no passage may contain the words of a suggestion together either
            find = partial(self._find_by_keywords, snapshot, context, tried)
            others = tuple(other for other in others if has_all_words(find(other.query)))

        def corrected(outcome: SearchOutcome) -> SearchOutcome:
            notice = " ".join(filter(None, (notice_on_shorter(correction), outcome.notice)))
            remedies = outcome.remedies or tuple(excluded_files(snapshot, context, replaced))
            return msgspec.structs.replace(
                outcome, corrected=correction, suggestions=others, notice=notice, remedies=remedies
            )

        first = None if on_keywords is None else lambda outcome: on_keywords(corrected(outcome))
        instead = msgspec.structs.replace(context.request, query=correction.query, correct=False)
        corrected_context = SearchContext.for_request(instead, context.cancel, context.failure)
        return corrected(self._answer(snapshot, provider, corrected_context, first, tried.get(correction.query)))

    def _advised(
        self, snapshot: Snapshot, provider: "EmbeddingProvider | None", outcome: SearchOutcome, context: SearchContext
    ) -> SearchOutcome:
        """Return the outcome; one without results for all words gets remedies, and one without any results keeps only
        suggestions that find something."""
        if outcome.results:
            if outcome.all_words or not context.query.free_text or context.request.like is not None:
                return outcome
            return with_missing_sources(outcome, context, snapshot, self._settings)

        def run_query(other: SearchRequest) -> SearchOutcome:
            trial = SearchContext.for_request(other, context.cancel)
            return self._answer(snapshot, None if other.keyword_only else provider, trial)

        if outcome.suggestions:  # an indexed word need not occur in the query's phrase
            trial = msgspec.structs.replace(
                context.request, min_score=0.0, max_results=1, keyword_only=True, correct=False, explain=False
            )
            found = tuple(
                suggestion
                for suggestion in outcome.suggestions
                if run_query(msgspec.structs.replace(trial, query=suggestion.query)).results
            )
            outcome = msgspec.structs.replace(outcome, suggestions=found)
        if outcome.explanation is None:
            return outcome
        from engine.search.empty_result_advice import with_remedies

        return with_remedies(outcome, context, snapshot, run_query, self._settings)

    def _correction(
        self,
        snapshot: Snapshot,
        provider: "EmbeddingProvider | None",
        part: KeywordPart,
        context: SearchContext,
        tried: dict[str, KeywordPart],
    ) -> QuerySuggestion | None:
        """Return the correction to search instead of words that occur nowhere; None without a likely one.

        `tried` receives the keyword halves of the queries that are searched, as in `_shorter`.
        """
        if not (context.request.correct and (context.suggestions or any(map(str.isdigit, context.query.text)))):
            return None
        from engine.search.corrections import best_correction, has_all_words, names_note, without_year

        find = partial(self._find_by_keywords, snapshot, context, tried)
        if (day := without_year(context.query, part.leg)) is not None and has_all_words(find(day.query)):
            return day
        if not context.suggestions:
            return None
        if names_note(context.request.query, context.suggestions[0]):
            found = self._find(snapshot, None, part, context.by_keywords())
            if found.score_inputs.words.complete:
                context.suggestions = ()
                return None
        model = self._words(snapshot, provider, part.analysis, context)
        return best_correction(context.request.query, context.suggestions, find, model)

    def _shorter(
        self, snapshot: Snapshot, part: KeywordPart, context: SearchContext, tried: dict[str, KeywordPart]
    ) -> QuerySuggestion | None:
        """Return a query with one word less, or with quotations read as words, that has results; None without any."""
        if not context.request.correct or part.example is not None:
            return None
        from engine.search.corrections import is_answered, shorter_queries

        unmet = () if context.understood is None else context.understood.unmet
        find = partial(self._find_by_keywords, snapshot, context, tried)
        shorter = shorter_queries(context.query, unmet, part.analysis, part.leg)
        return next((query for query in shorter if is_answered(query, find(query.query))), None)

    def _find_by_keywords(
        self, snapshot: Snapshot, context: SearchContext, tried: dict[str, KeywordPart], query: str
    ) -> FoundSet:
        """Return the results of another query by keywords, under the same limits."""
        request = msgspec.structs.replace(context.request, query=query, correct=False, keyword_only=True, explain=False)
        trying = SearchContext.for_request(request, context.cancel)
        part = tried[query] = self._keyword_part(snapshot, None, trying)
        return self._find(snapshot, None, part, trying)

    def _set_query_vector(self, snapshot: Snapshot, provider: "EmbeddingProvider", context: SearchContext) -> None:
        self._embedder.set_query_vector(snapshot, provider, context)
        if self._loader is not None:
            self._loader.by_vector(context, provider)

    @staticmethod
    def _state(snapshot: Snapshot, provider: "EmbeddingProvider | None", context: SearchContext) -> SearchState:
        return SearchState.of(snapshot, provider, by_the_minute=any(level.query.dated for level in context.levels))

    def _read_query(self, snapshot: Snapshot, context: SearchContext) -> Sequence[int] | None:
        """Set the query as the index determines its meaning, and return the files to search; None for all."""
        files = files_to_search(snapshot, context, self._filters)
        if not {"#", "-"}.isdisjoint(context.query.text):  # perhaps tags, or options of commands
            from engine.search.tags_and_options import read_with_index

            context.query = read_with_index(snapshot, context.query, files)
        return files

    def _keyword_part(
        self,
        snapshot: Snapshot,
        provider: "EmbeddingProvider | None",
        context: SearchContext,
        tried: KeywordPart | None = None,
    ) -> KeywordPart:
        """Analyse the query, select the chunks it is limited to, and look up its words.

        Returns `tried`, whose candidates have been found and scored, if it is for the same chunks.
        """
        if self._loader is not None:
            self._loader.by_keywords(context)
        earlier = context.earlier
        within = None if earlier is None else self._earlier_results(snapshot, provider, earlier)
        with context.timed("analysis"):
            files = self._read_query(snapshot, context)
            example, analysis = self.analysis_of(snapshot, context)
            conditions = Conditions(snapshot, context.query, analysis.languages)
            listed = within is not None or not analysis.terms
            listed |= provider is not None and conditions.can_be_listed(self._frequencies.counts(snapshot).total)
            scope = context.scope = restrict(conditions, files, context, self._filters, listed=listed)
            if within is not None:
                scope = context.scope = narrow(snapshot, scope, within, context)
        with context.timed("keyword"):
            leg = KeywordLeg(snapshot, analysis, self._frequencies)
            named = self._ranker.named_in(snapshot, leg.ranges, context)
        if example is None and analysis.terms:
            with context.timed("analysis"):
                known = {at for at, term in enumerate(leg.terms) if term.in_texts}
                others = named.others(known)
                query, terms = context.request.query, [leg.terms[at] for at in others]
                model = self._words(snapshot, provider, analysis, context)
                context.suggestions, widened = self._spelling.suggest(snapshot, query, analysis, terms, scope, model)
                if context.suggestions and context.request.correct and widened is not analysis:
                    analysis, leg = widened, KeywordLeg(snapshot, widened, self._frequencies)
                    context.embedded = with_likely_words(context.query.free_text, widened, context.suggestions[0])
                leg.weigh_missing({word for suggestion in context.suggestions for word, _ in suggestion.words})
        if tried is not None and within is None and (tried.analysis, tried.scope) == (analysis, scope):
            return tried
        return KeywordPart(example, analysis, conditions, scope, within, leg, named)

    def _find(
        self, snapshot: Snapshot, provider: "EmbeddingProvider | None", part: KeywordPart, context: SearchContext
    ) -> FoundSet:
        """Return all results of one query, best first.

        If no passage within the limits of the search matches well enough, all passages are searched: whether a few
        common words or a similar meaning suffice depends on the other passages, and limits must not empty an answer.
        """
        found = self._find_in_scope(snapshot, provider, part, context)
        if found.results or found.vector_leg is None or part.example is not None or not part.scope.narrows:
            return found
        anywhere = context.without_limits()
        scope = ChunkFilter(files_to_search(snapshot, anywhere, self._filters))
        if scope == part.scope:
            return found
        whole = KeywordPart(None, part.analysis, part.conditions, scope, None, part.leg, part.named)
        all_results = self._find_in_scope(snapshot, provider, whole, anywhere)
        return found.with_results_in_scope(all_results, part.scope, snapshot, context)

    def _find_in_scope(
        self, snapshot: Snapshot, provider: "EmbeddingProvider | None", part: KeywordPart, context: SearchContext
    ) -> FoundSet:
        """Return the results among the passages that the search is limited to, best first."""
        analysis, within = part.analysis, part.within
        vector_leg = self._vector_leg(provider, snapshot, analysis, context)
        if not part.leg.chunks:
            context.empty_index = EmptyIndex(self._store.recovered)
            context.stages.add("index", 0, 0, context.empty_index)
        elif part.wordless:
            context.understood = UnderstoodQuery(context.query, wordless=True)
        lasting = is_lasting(provider, vector_leg, within, context)
        if part.conditions and not analysis.terms:
            return list_newest(snapshot, part.scope, within, context, lasting=lasting)
        if analysis.terms or context.request.like is None:  # a short passage may have no distinctive words
            dropped = [term.surface for term in analysis.terms if term.stop]
            context.stages.add_terms(part.leg.terms, dropped, analysis.unfinished)
        ids = find_candidates(part, vector_leg, snapshot, context)
        words, ranked, below, blend = self._ranker.rank(ids, part, vector_leg, snapshot, context)
        least = context.request.min_score
        by_keywords = least_by_keywords(analysis, context) if blend.agreement else least  # if not, weights are fixed
        results = in_roles(snapshot, analysis, cut(ranked, below, least, by_keywords, context.stages), context)
        found, foreign, clear = results, set[int](), True
        if blend.doubt and vector_leg is not None:
            from engine.search.word_similarity import best_in_other_languages, order_by_words

            with context.timed("vector"):
                foreign = best_in_other_languages(found, words, analysis, snapshot, context)
                found = order_by_words(found, foreign, vector_leg, blend, provider, context)
            found, clear = without_unrelated(snapshot, found, foreign, words, analysis, context)
        if context.request.diverse:  # variety orders the results itself
            remaining = {scored.id for scored in found}
            results = [scored for scored in results if scored.id in remaining]
        else:
            results = found
        if blend.agreement and not blend.doubt and vector_leg is not None:
            from engine.search.word_similarity import order_by_best

            with context.timed("vector"):
                results = order_by_best(results, vector_leg, analysis, self._frequencies.counts(snapshot), context)
        if context.request.diverse:
            with context.timed("merge"):
                results = self._ranker.diversify(results, snapshot, vector_leg, context)
        results, total = with_wordless(results, snapshot, part.scope, context)
        score_inputs = ScoreInputs(words, blend, vector_leg, context.request.min_score)
        own_language = foreign.isdisjoint(scored.id for scored in results)
        weight = blend.vector_weight if vector_leg is not None and blend.agreement and own_language else None
        notes = *part.unmatched(words, results), bool(found) and not clear
        return FoundSet(analysis, vector_leg, results, total, score_inputs, within, lasting, weight, *notes)

    def analysis_of(self, snapshot: Snapshot, context: SearchContext) -> "tuple[ExamplePassage | None, QueryAnalysis]":
        """Return the analysed words of the query; for a passage its most distinctive words, and the passage."""
        if context.request.like is None:
            counts = self._frequencies.counts(snapshot)
            return None, analyse_with_index(snapshot, context.query, counts)
        from engine.search.more_like_this import distinctive_words, find_passage

        example = find_passage(snapshot, context.request.like, self._guard)
        return example, distinctive_words(snapshot, example, self._frequencies)

    def _earlier_results(
        self, snapshot: Snapshot, provider: "EmbeddingProvider | None", context: SearchContext
    ) -> EarlierResults:
        """Return the results of an earlier query that this search is limited to, from the cache if possible."""
        state = self._state(snapshot, provider, context)
        remembered = self._earlier.get(state, context.request)
        if remembered is not None:
            return remembered[0]
        part = self._keyword_part(snapshot, provider, context)
        if provider is not None:
            self._set_query_vector(snapshot, provider, context)
        earlier = EarlierResults.of(self._find(snapshot, provider, part, context), context)
        if earlier.lasting:
            self._earlier.put(state, context.request, earlier)
        return earlier

    def cached_vector(self, query: str) -> "Vectors | None":
        """Return the cached vector (dims,) of a query; None if there is none. Nothing is sent."""
        provider = self._provider()
        return None if provider is None else self._embedder.cached(provider, parse_query(query).free_text)

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        """Return completions of an operator's value; without an operator, the names of operators."""
        from engine.search.completion import values_of

        with self._store.read() as snapshot:
            return values_of(snapshot, operator, start)

    def _words(
        self, snapshot: Snapshot, provider: "EmbeddingProvider | None", analysis: QueryAnalysis, context: SearchContext
    ) -> WordModel:
        """Return what the provider's model knows about words in the query's language, if the notes have it, too."""

        def knows_language() -> bool:
            language = analysis.languages[0]
            if provider is None or (language and language not in snapshot.languages()):
                return False
            known = self._note_languages.of_notes(snapshot, provider, language)
            return provider.calibration.for_query(context.query.free_text, known).known

        return WordModel(provider, partial(self._embedder.has_vectors, snapshot, provider), knows_language)

    def _vector_leg(
        self, provider: "EmbeddingProvider | None", snapshot: Snapshot, analysis: QueryAnalysis, context: SearchContext
    ) -> "VectorLeg | None":
        query = context.vector
        if provider is None or query is None:
            return None
        from engine.search.vector_leg import VectorLeg, count_words

        model = snapshot.stored_model(provider.id, provider.model, provider.key)
        if model is None:  # the index has been replaced
            return None
        if len(query) != model.dims:
            context.record_keywords_only(
                KeywordsOnly("other dimensions", model=provider.model, dims=len(query), stored_dims=model.dims)
            )
            return None
        scale = provider.calibration
        chunks = self._frequencies.counts(snapshot).total
        if context.stored:
            calibration = scale.between_passages
        else:
            known = self._note_languages.of_notes(snapshot, provider, analysis.languages[0])
            calibration = scale.for_size(chunks).for_query(context.query.free_text, known)
            context.language_known = calibration.known
        return VectorLeg(snapshot, self._vectors, model, calibration, query, count_words(context.query.free_text))
