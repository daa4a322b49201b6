"""From a question to its answer: both legs, one absolute score, the cut, and what there is to say about it."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engine.control import CancelToken
from engine.corpus.guard import PathGuard
from engine.embedding.base import EmbeddingProvider
from engine.errors import ProviderError
from engine.records import SearchMode, SearchOutcome, SearchTimings
from engine.search.decay import Age, Decay
from engine.search.diversity import MOST, likeness_of
from engine.search.explanation import Scored, Stages, explain
from engine.search.filters import Filter
from engine.search.frequencies import Frequencies
from engine.search.keywords import KeywordLeg, KeywordScores
from engine.search.question_vectors import QuestionVectors
from engine.search.results import make_result
from engine.search.scoring import Blend
from engine.search.sifting import cut, diverse
from engine.settings import Settings
from engine.store import models
from engine.store.coding import Vectors
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.vectors import VectorIndex
from engine.text import QueryAnalysis, analyse_query

if TYPE_CHECKING:
    from engine.search.meaning import MeaningLeg

_CANDIDATES = 200
_EXACT = 50
"""At least so many of the best get exact cosines."""


@dataclass(frozen=True)
class SearchRequest:
    """One question, its defaults filled in."""

    query: str
    max_results: int
    min_score: float
    filter: Filter = field(default_factory=Filter)
    keyword_only: bool = False
    explain: bool = False


@dataclass
class _Work:
    """What the stages of one search hand on."""

    request: SearchRequest
    cancel: CancelToken | None
    notice: str = ""
    weakest: list[int] = field(default_factory=list)
    """The last candidate of each leg that brought as many as it may: if it is kept, others behind it would be too."""
    stages: Stages = field(default_factory=Stages)
    spent: dict[str, float] = field(default_factory=dict)
    begun: float = field(default_factory=time.perf_counter)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        if self.cancel is not None:
            self.cancel.checkpoint()
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + (time.perf_counter() - start) * 1000

    def timings(self) -> SearchTimings:
        legs = {leg: round(self.spent.get(leg, 0.0), 3) for leg in ("analysis", "keyword", "embed", "vector", "merge")}
        return SearchTimings(**legs, total=round((time.perf_counter() - self.begun) * 1000, 3))


class Searcher:
    """Answers questions about one index. Thread-safe; keeps nothing between questions but how frequent words are."""

    def __init__(
        self,
        settings: Settings,
        store: IndexStore,
        vectors: VectorIndex,
        provider: Callable[[], EmbeddingProvider | None],
        note_failure: Callable[[str | None], None],
        guard: PathGuard,
    ) -> None:
        """`note_failure` hears why a question could not be embedded, or None when it could."""
        self._settings = settings
        self._store = store
        self._vectors = vectors
        self._provider = provider
        self._note_failure = note_failure
        self._frequencies = Frequencies()
        self._questions = QuestionVectors()
        self._guard = guard
        self._decay = Decay(settings.query.hybrid.temporal_decay, guard.in_extra_paths)

    def search(self, request: SearchRequest, cancel: CancelToken | None = None) -> SearchOutcome:
        """Raises `Cancelled`, and the store's errors; a failing provider only costs the vector half."""
        work = _Work(request, cancel)
        provider = None if request.keyword_only else self._provider()
        query_vector = self._embed(provider, work)
        with self._store.read(cancel) as snapshot:
            meaning = self._meaning(provider, query_vector, snapshot, work)
            with work.timed("analysis"):
                question = analyse_query(request.query, snapshot.languages())
                files = self._filtered(snapshot, work)
            with work.timed("keyword"):
                leg = KeywordLeg(snapshot, question, self._frequencies)
            if not leg.chunks:
                work.notice = self._store.recovered or "Nothing is indexed yet."
            work.stages.add_terms(leg.terms, [term.surface for term in question.terms if term.stop])
            ids = self._candidates(leg, meaning, files, work)
            ages = self._ages(ids, snapshot, work)
            words, ranked, blend = self._rank(ids, leg, meaning, ages, work)
            kept = cut(ranked, work.request.min_score, work.stages)
            if self._settings.query.hybrid.mmr.enabled:
                with work.timed("merge"):
                    kept = self._diverse(kept, snapshot, meaning, work)
            return self._outcome(snapshot, question, meaning, kept, words, blend, provider, work)

    def _filtered(self, snapshot: Snapshot, work: _Work) -> list[int] | None:
        """Ids of the files to search in; None for all."""
        # Until the next sync the index holds names that the settings have come to exclude: nobody may open them.
        all_allowed = snapshot.meta("names") == self._guard.rules
        if all_allowed and not work.request.filter.active:
            return None
        found = work.request.filter.files(snapshot)
        names = {name for _, name in found}
        allowed = names if all_allowed else self._guard.accepted(names)
        files = [id_ for id_, name in found if name in allowed]
        work.stages.add("filters", snapshot.file_count(), len(files), f"{len(files):,} files pass the filters.")
        return files

    def _embed(self, provider: EmbeddingProvider | None, work: _Work) -> Vectors | None:
        if provider is None or not work.request.query.strip() or not self._has_vectors(provider, work):
            return None
        with work.timed("embed"):
            try:
                vector = self._questions.of(provider, work.request.query, work.cancel)
            except ProviderError as error:
                work.notice = f"Searched by words only: {error}"
                self._note_failure(str(error))
                return None
        self._note_failure(None)
        # A vector of zeros has no direction: everything would be equally near.
        return vector if vector.any() else None

    def _has_vectors(self, provider: EmbeddingProvider, work: _Work) -> bool:
        """Whether the question can be compared with anything; else it is not sent anywhere, and no model is loaded."""
        with self._store.read(work.cancel) as snapshot:
            model = snapshot.stored_model(provider.id, provider.model, provider.key)
            if model is not None and snapshot.has_vectors(model.id):
                return True
            waits = models.awaiting(snapshot)
        asked = waits is not None and waits.name == (provider.id, provider.model, provider.key)
        reason = "nobody has agreed to the embedding yet" if asked else "nothing has been embedded yet"
        work.notice = f"Searched by words only: {reason}."
        return False

    def _meaning(
        self, provider: EmbeddingProvider | None, query: Vectors | None, snapshot: Snapshot, work: _Work
    ) -> "MeaningLeg | None":
        if provider is None or query is None:
            return None
        from engine.search.meaning import MeaningLeg

        model = snapshot.stored_model(provider.id, provider.model, provider.key)
        if model is None:  # the index was replaced since
            return None
        if len(query) != model.dims:
            now, then = f"{len(query):,}", f"{model.dims:,}"
            work.notice = f"Searched by words only: {provider.model} answers with {now} numbers, no more with {then}."
            return None
        return MeaningLeg(snapshot, self._vectors, model, provider.calibration, query)

    def _candidates(
        self, leg: KeywordLeg, meaning: "MeaningLeg | None", files: Sequence[int] | None, work: _Work
    ) -> list[int]:
        """Ids that either leg brings, at least 200 each."""
        hybrid = self._settings.query.hybrid
        limit = max(_CANDIDATES, min(leg.chunks, work.request.max_results * hybrid.candidate_multiplier))
        by_words: list[int] = []
        if meaning is None or hybrid.enabled:
            with work.timed("keyword"):
                by_words = leg.candidates(limit, files)
            work.stages.add("keywords", leg.chunks, len(by_words), f"{len(by_words):,} chunks were chosen by words.")
        by_meaning: list[int] = []
        if meaning is not None:
            with work.timed("vector"):
                by_meaning = meaning.candidates(limit, files, work.cancel)
            work.stages.add("vectors", leg.chunks, len(by_meaning), f"The {len(by_meaning):,} nearest by meaning.")
        work.weakest = [ids[-1] for ids in (by_words, by_meaning) if limit <= len(ids) < leg.chunks]
        return list(dict.fromkeys(by_words + by_meaning))

    def _ages(self, ids: list[int], snapshot: Snapshot, work: _Work) -> dict[int, Age]:
        """How old each candidate counts; nothing where temporal decay is off."""
        if not self._settings.query.hybrid.temporal_decay.enabled:
            return {}
        with work.timed("merge"):
            return self._decay.ages(snapshot, ids)

    def _rank(
        self, ids: list[int], leg: KeywordLeg, meaning: "MeaningLeg | None", ages: dict[int, Age], work: _Work
    ) -> tuple[KeywordScores, list[Scored], Blend]:
        """Every candidate with its score, best first."""
        with work.timed("keyword"):
            words = leg.score(ids)
        with work.timed("vector"):
            cosines = {} if meaning is None else meaning.near_cosines(ids)
        blend = self._blend(meaning, words)

        def scored(id_: int) -> Scored:
            cosine = cosines.get(id_)
            vector = None if cosine is None or meaning is None else meaning.score(cosine)
            text = words.scores.get(id_, 0.0)
            fresh, age = blend.score(text, vector), ages.get(id_)
            return Scored(id_, fresh if age is None else fresh * age.factor, text, vector, cosine, fresh, age)

        def order(of: Scored) -> tuple[float, float, int]:
            # Scores end at 1: among full matches the plain BM25 sum decides.
            return -of.score, -sum(words.contributions.get(of.id, ())), of.id

        with work.timed("merge"):
            ranked = sorted((scored(id_) for id_ in ids if id_ in words.scores or id_ in cosines), key=order)
        if meaning is not None:
            hybrid = self._settings.query.hybrid
            most = max(_EXACT, work.request.max_results * hybrid.candidate_multiplier)
            best = [of.id for of in ranked[:most]]
            with work.timed("vector"):
                exact = meaning.cosines(best)
            with work.timed("merge"):
                cosines = exact
                # The vectors may be ahead of the snapshot: chunks that it does not hold are not exact either.
                again = (scored(id_) for id_ in best if id_ in words.scores or id_ in exact)
                ranked = sorted([*again, *ranked[most:]], key=order)
        return words, ranked, blend

    def _blend(self, meaning: "MeaningLeg | None", words: KeywordScores) -> Blend:
        hybrid = self._settings.query.hybrid
        if meaning is None:
            return Blend(0.0)
        if not hybrid.enabled:
            return Blend(1.0)
        base = meaning.calibration.weight if hybrid.vector_weight is None else hybrid.vector_weight
        return Blend.of(base, words.best())

    def _diverse(
        self, kept: list[Scored], snapshot: Snapshot, meaning: "MeaningLeg | None", work: _Work
    ) -> list[Scored]:
        model = None if meaning is None else meaning.model
        likeness = likeness_of(snapshot, [scored.id for scored in kept[:MOST]], model)
        return diverse(kept, likeness, self._settings.query.hybrid.mmr.lambda_, work.request.max_results, work.stages)

    def _outcome(
        self,
        snapshot: Snapshot,
        question: QueryAnalysis,
        meaning: "MeaningLeg | None",
        kept: list[Scored],
        words: KeywordScores,
        blend: Blend,
        provider: EmbeddingProvider | None,
        work: _Work,
    ) -> SearchOutcome:
        shown = kept[: work.request.max_results]
        with work.timed("merge"):
            chunks = snapshot.chunks([scored.id for scored in shown])
            shown = [scored for scored in shown if scored.id in chunks]
            results = []
            for scored in shown:
                if work.cancel is not None:
                    work.cancel.checkpoint()
                results.append(make_result(chunks[scored.id], scored, question, blend))
        explanation = None
        if work.request.explain:
            cited = [(result.citation, scored) for result, scored in zip(results, shown, strict=True)]
            explanation = explain(work.stages, cited, words, blend.vector_weight)
        return SearchOutcome(
            results=tuple(results),
            total=len(kept),
            total_is_least=any(scored.id in work.weakest for scored in kept),
            provider="none" if provider is None else provider.id,
            model="" if provider is None else provider.model,
            mode=self._mode(meaning),
            timings=work.timings(),
            notice=work.notice,
            explanation=explanation,
        )

    def _mode(self, meaning: "MeaningLeg | None") -> SearchMode:
        if meaning is None:
            return "keyword"
        return "hybrid" if self._settings.query.hybrid.enabled else "vector"
