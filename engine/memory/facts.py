"""Facts to remember in addition to the notes: saved, searched, changed and forgotten, independent of the backend.

Their vectors are embedded by the approved provider, stored with the facts, and compared with queries.
"""

import contextlib
import re
import threading
import time
import unicodedata
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from engine.base import in_batches
from engine.base.cancellation import CancelToken
from engine.base.errors import FactRefused, ProviderError, StoreError
from engine.base.language import marked, tr
from engine.memory.search_requests import check_length
from engine.records import (
    FORGOTTEN_DAYS,
    LONGEST_FACT,
    USUAL_IMPORTANCE,
    Fact,
    FactCategory,
    FactOrigin,
    FactsFound,
    FoundFact,
    SavedFact,
)
from engine.redaction.secret_masking import redact
from engine.store.facts import StoredFacts
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData
from engine.text.folding import visible

if TYPE_CHECKING:
    from engine.embedding.provider_interface import EmbeddingProvider
    from engine.providers import Calibration
    from engine.search.fact_scoring import FactTable, FactWords
    from engine.store.vector_encoding import Vectors

MIN_SCORE = 0.35
"""Least score of results. Unrelated sentences score below it; see tests/benchmarks/EXPERIMENTS.md."""
MIN_SCORE_BY_KEYWORDS = 0.5
"""Least score of results without vectors: one of two keywords is not enough."""
_DAY = 86_400
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-\u2010\u2011](?=[^\W\d_])")
_ARTICLES = frozenset({"a", "an", "the"})
_AROUND_WORDS = ".,;:!?…\"'`“”„«»()[]*_\u2018\u2019"
_SECRET = marked("A fact with a password, a key or a token can't be saved: remove the secret.")

_BATCH_SIZE = 256
"""Maximum number of facts embedded for one query; the others are matched by keywords until the next query."""
_LONGEST_QUERY = 2000


@dataclass
class _LoadedFacts:
    """The facts as last read, and their analysed words."""

    stamp: tuple[int, int]
    facts: tuple[Fact, ...]
    words: "dict[str, FactWords]" = field(default_factory=dict)
    """Analysed words of each fact, by its text."""
    tables: "dict[bool, FactTable]" = field(default_factory=dict)
    """Search table of the facts that agents see (False) and of all facts (True)."""


class Facts:
    """Saves, finds, changes and forgets the facts of one workspace. Thread-safe.

    Changes raise `StoreError` if nothing can be saved, and `FactRefused` for an invalid text.
    """

    def __init__(
        self,
        user: UserData,
        provider: "Callable[[], EmbeddingProvider | None]",
        report_failure: Callable[[str | None], None],
    ) -> None:
        """`provider` returns the approved provider; `report_failure` is called with its error, or None on success."""
        self._rows = StoredFacts(user)
        self._vectors = FactVectors(self._rows, provider, report_failure)
        self.provider = provider
        self.report_failure = report_failure
        self._lock = threading.Lock()
        self._loaded: _LoadedFacts | None = None

    # --- queries ----------------------------------------------------------------------------------------------------

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be saved or changed; empty if it can."""
        return self._rows.read_only_reason

    @property
    def problem(self) -> str:
        """Why saved facts can't be read; empty if they can."""
        return self._rows.problem

    def stamp(self) -> tuple[int, int]:
        """Return a value that changes whenever any process changes a fact."""
        return self._rows.stamp()

    def all(self) -> tuple[Fact, ...]:
        """Return all facts, including those awaiting approval and forgotten ones; newest first."""
        return self._read().facts

    def named(self, beginning: str) -> tuple[Fact, ...]:
        """Return the facts whose id starts with `beginning`; none for an empty text."""
        return tuple(fact for fact in self.all() if beginning and fact.id.startswith(beginning))

    def find(
        self,
        query: str,
        *,
        max_results: int | None = 5,
        min_score: float | None = None,
        everything: bool = False,
        cancel: CancelToken | None = None,
    ) -> FactsFound:
        """Find facts for a query, best first; among equals, more important ones first.

        `everything` includes facts awaiting approval and forgotten ones, for display to the user. If the provider
        fails, only keywords are used and `notice` reports it. Raises `QueryTooLong`.
        """
        check_length(query.strip())
        known = self._read()
        facts = [fact for fact in known.facts if everything or fact.remembered]
        if not query.strip() or not facts:
            return FactsFound(results=(), mode="keyword")
        compared = self._vectors.compare(query, facts, cancel)
        by_keywords = compared.calibration is None
        scores = self._table(known, facts, everything).score(query, compared.cosines, compared.calibration)
        least = min_score
        if least is None:
            least = MIN_SCORE_BY_KEYWORDS if by_keywords else MIN_SCORE
        found = [
            FoundFact(
                fact=facts[position],
                score=score.score,
                text_score=score.text,
                vector_score=score.vector,
                equivalent=score.equivalent,
            )
            for position, score in scores.items()
            if score.score > 0 and max(score.score, score.text if everything else 0) >= least
        ]
        found.sort(key=lambda match: (-round(match.score, 2), -match.fact.importance, -match.fact.changed))
        mode: Literal["keyword", "hybrid"] = "keyword" if by_keywords else "hybrid"
        return FactsFound(results=tuple(found[:max_results]), mode=mode, notice=compared.notice)

    # --- changes ----------------------------------------------------------------------------------------------------

    def add(
        self,
        text: str,
        *,
        category: FactCategory = "other",
        importance: float = USUAL_IMPORTANCE,
        origin: FactOrigin = "user",
        session_key: str = "",
        pending: bool = False,
    ) -> SavedFact:
        """Save a new fact, or return the existing fact with the same words.

        A forgotten or unapproved fact is remembered again, but captured facts never restore one that was forgotten.
        """
        text, now = _checked(text), time.time()
        spelt = _spelling(text)

        def decide(known: tuple[Fact, ...]) -> SavedFact:
            same = next((fact for fact in known if _spelling(fact.text) == spelt), None)
            if same is not None and (same.remembered or origin == "capture" or (pending and same.forgotten is None)):
                return SavedFact(fact=same, duplicate=True)
            fact = Fact(
                id=str(uuid.uuid4()) if same is None else same.id,
                text=text,
                category=category,
                importance=min(1.0, max(0.0, importance)),
                created=now,
                changed=now,
                origin=origin,
                session_key=redact(session_key),
                pending=pending,
            )
            return SavedFact(fact=fact)

        return self._rows.add(decide)

    def change(self, fact: Fact) -> Fact:
        """Save the changed text, category and importance of a fact.

        The former version is erased from the database and its log, so that it can't be recovered from the files.
        """
        importance = min(1.0, max(0.0, fact.importance))
        now = msgspec.structs.replace(fact, text=_checked(fact.text), importance=importance, changed=time.time())
        self._rows.save(now)
        self._rows.purge_old_texts()
        return now

    def revert_to(self, *facts: Fact) -> None:
        """Restore facts to the given earlier versions, to undo changes."""
        self._rows.save(*facts)
        self._rows.purge_old_texts()

    def approve(self, ids: Iterable[str]) -> None:
        """Approve captured facts, so that agents may read them."""
        requested = set(ids)
        self._rows.save(*(msgspec.structs.replace(fact, pending=False) for fact in self.all() if fact.id in requested))

    def forget(self, ids: Iterable[str], by: FactOrigin = "user") -> tuple[Fact, ...]:
        """Forget facts; they can be restored for a month. Returns their previous versions."""
        requested = set(ids)
        facts = tuple(fact for fact in self.all() if fact.id in requested and fact.forgotten is None)
        now = time.time()
        self._rows.save(*(msgspec.structs.replace(fact, forgotten=now, forgotten_by=by) for fact in facts))
        return facts

    def restore(self, ids: Iterable[str]) -> None:
        """Restore forgotten facts; those that awaited approval before await it again."""
        requested = set(ids)
        facts = (fact for fact in self.all() if fact.id in requested)
        self._rows.save(*(msgspec.structs.replace(fact, forgotten=None, forgotten_by=None) for fact in facts))

    def erase(self, ids: Sequence[str]) -> None:
        """Delete facts from all files, including backups. This can't be undone."""
        self._rows.erase(ids)

    # --- internals --------------------------------------------------------------------------------------------------

    def _read(self) -> _LoadedFacts:
        stamp = self._rows.stamp()
        with self._lock:
            before = self._loaded
        if before is not None and before.stamp == stamp:
            return before
        if before is None:
            with contextlib.suppress(StoreError):  # reading still works on a full disk
                self._rows.erase_old(time.time() - FORGOTTEN_DAYS * _DAY)
            stamp = self._rows.stamp()
        facts = self._rows.all()
        texts = {fact.text for fact in facts}
        words = {} if before is None else {text: known for text, known in before.words.items() if text in texts}
        known = _LoadedFacts(stamp, facts, words)
        with self._lock:
            self._loaded = known
        return known

    def _table(self, known: _LoadedFacts, facts: Sequence[Fact], everything: bool) -> "FactTable":
        from engine.search.fact_scoring import FactTable, FactWords

        if everything not in known.tables:
            for fact in facts:
                if fact.text not in known.words:
                    known.words[fact.text] = FactWords.of(fact.text)
            known.tables[everything] = FactTable([known.words[fact.text] for fact in facts])
        return known.tables[everything]


def _checked(text: str) -> str:
    """Return a fact's text without invisible characters, since the user can't approve them. Raises `FactRefused`."""
    text = visible(text).strip()
    if not text:
        raise FactRefused(tr("A fact needs some words."))
    if len(text) > LONGEST_FACT:
        raise FactRefused(
            tr(
                "Too long for a fact, which has at most {most:,} characters: save it as a note instead.",
                most=LONGEST_FACT,
            )
        )
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FactRefused(tr("This text contains characters that can't be saved: type it again.")) from None
    if redact(text) != text:
        raise FactRefused(tr(_SECRET))
    return text


def _spelling(text: str) -> list[str]:
    """Return the words of a text for comparison: equal for texts that differ only in case, punctuation or articles.

    Vectors don't help: a contradiction is as near as a duplicate.
    """
    same_signs = _HYPHEN.sub(" ", unicodedata.normalize("NFC", text).replace("\u2019", "'"))
    words = (word.strip(_AROUND_WORDS) for word in same_signs.casefold().split())
    return [word for word in words if word and word not in _ARTICLES] or [text]


class FactCosines(NamedTuple):
    """Similarity of facts to a query by vectors."""

    cosines: list[float | None]
    """Cosine for each fact; None without a vector."""
    calibration: "Calibration | None"
    """Calibration of the model in use; None for keywords only."""
    notice: str
    """Why only keywords are used, if the user should know."""


class _VectorTable(NamedTuple):
    """The facts' vectors of one model as last read."""

    stamp: tuple[int, int]
    model: ModelName
    rows: dict[str, int]
    """Row in `matrix` by fact id."""
    matrix: "Vectors"
    """(facts, dims)."""

    @classmethod
    def of(cls, stamp: tuple[int, int], model: ModelName, vectors: dict[str, bytes]) -> "_VectorTable":

        from engine.store.vector_encoding import decode

        # A server may return another length under the same model name later; the most frequent one is used.
        width = Counter(map(len, vectors.values())).most_common(1)[0][0] if vectors else 2
        fitting = {id_: vector for id_, vector in vectors.items() if len(vector) == width}
        matrix = decode(list(fitting.values()), width // 2)
        return cls(stamp, model, {id_: row for row, id_ in enumerate(fitting)}, matrix)


class FactVectors:
    """Compares facts with a query by vectors. Thread-safe. If the provider fails, only keywords are used."""

    def __init__(
        self,
        rows: StoredFacts,
        provider: "Callable[[], EmbeddingProvider | None]",
        report_failure: Callable[[str | None], None],
    ) -> None:
        self._rows = rows
        self._provider = provider
        self._report_failure = report_failure
        self._embedding = threading.Lock()
        self._loaded: _VectorTable | None = None

    def compare(self, query: str, facts: Sequence[Fact], cancel: CancelToken | None) -> FactCosines:
        """Return the similarity of facts to a query. Secrets in the query are masked before it is sent."""
        nothing: list[float | None] = [None] * len(facts)
        provider = self._provider()
        if provider is None:
            return FactCosines(nothing, None, "")
        notice = self._complete(provider, facts, cancel)
        table = self._vectors(provider)
        if not any(fact.id in table.rows for fact in facts):
            return FactCosines(nothing, None, notice)
        try:
            query_vector = provider.embed_query(redact(query[:_LONGEST_QUERY]), cancel=cancel)
        except ProviderError as error:
            self._report_failure(str(error))
            return FactCosines(nothing, None, str(error))
        self._report_failure(None)
        if len(query_vector) != table.matrix.shape[1]:
            return FactCosines(nothing, None, notice)
        products = (table.matrix @ query_vector).tolist()
        rows = map(table.rows.get, (fact.id for fact in facts))
        return FactCosines([None if row is None else products[row] for row in rows], provider.calibration, notice)

    def _vectors(self, provider: "EmbeddingProvider") -> _VectorTable:
        model = ModelName(provider.id, provider.model, provider.key)
        stamp = self._rows.stamp()
        known = self._loaded
        if known is None or (known.stamp, known.model) != (stamp, model):
            known = self._loaded = _VectorTable.of(stamp, model, self._rows.vectors(model))
        return known

    def _complete(self, provider: "EmbeddingProvider", facts: Sequence[Fact], cancel: CancelToken | None) -> str:
        """Embed facts without a vector in batches; returns the error message, or "".

        Facts that await approval or were forgotten are not sent.
        """
        with self._embedding:  # concurrent queries must not be billed twice
            rows = self._vectors(provider).rows
            missing = [fact for fact in facts if fact.remembered and fact.id not in rows][:_BATCH_SIZE]
            if not missing or self._rows.read_only_reason:
                return ""
            from engine.store.vector_encoding import encode

            model = ModelName(provider.id, provider.model, provider.key)
            try:
                for batch in in_batches(missing, provider.limits.inputs):
                    made = encode(provider.embed_documents([fact.text for fact in batch], cancel=cancel))
                    pairs = zip(batch, made, strict=True)
                    self._rows.save_vectors(model, [(fact.id, fact.text, vector) for fact, vector in pairs])
            except ProviderError as error:
                self._report_failure(str(error))
                return str(error)
            return ""
