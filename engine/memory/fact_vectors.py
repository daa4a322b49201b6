"""Vectors of facts: embedded by the approved provider, stored with the facts, and compared with queries."""

import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError
from engine.records import Fact
from engine.redaction.masks import redact
from engine.store.facts import FactRows
from engine.store.stored_models import ModelName

if TYPE_CHECKING:
    from engine.embedding.base import EmbeddingProvider
    from engine.providers import Calibration
    from engine.store.vector_encoding import Vectors

_AT_ONCE = 256
"""Maximum number of facts to embed per query; the others are matched by keywords until the next query."""
_LONGEST_QUESTION = 2000


class Likeness(NamedTuple):
    """Similarity of facts to a query."""

    cosines: list[float | None]
    """Cosine for each fact; None without a vector."""
    calibration: "Calibration | None"
    """Calibration of the model in use; None for keywords only."""
    notice: str
    """Why only keywords are used, if the user should know."""


class _Kept(NamedTuple):
    """The vectors of one model as last read."""

    stamp: tuple[int, int]
    model: ModelName
    rows: dict[str, int]
    """Row by fact id."""
    matrix: "Vectors"
    """(facts, dims)."""

    @classmethod
    def of(cls, stamp: tuple[int, int], model: ModelName, vectors: dict[str, bytes]) -> "_Kept":
        import numpy as np

        from engine.store.vector_encoding import decode

        # A server may return another length under the same model name later; the most frequent one is used.
        width = Counter(map(len, vectors.values())).most_common(1)[0][0] if vectors else 2
        fitting = {id_: vector for id_, vector in vectors.items() if len(vector) == width}
        matrix = decode(list(fitting.values()), width // 2).astype(np.float32)
        return cls(stamp, model, {id_: row for row, id_ in enumerate(fitting)}, matrix)


class FactVectors:
    """Compares facts by vectors. Thread-safe. If the provider fails, only keywords are used."""

    def __init__(
        self,
        rows: FactRows,
        provider: "Callable[[], EmbeddingProvider | None]",
        note_failure: Callable[[str | None], None],
    ) -> None:
        self._rows = rows
        self._provider = provider
        self._note_failure = note_failure
        self._embedding = threading.Lock()
        self._known: _Kept | None = None

    def compare(self, query: str, facts: Sequence[Fact], cancel: CancelToken | None) -> Likeness:
        """Compare facts with a query. Secrets in the query are masked before it is sent."""
        nothing: list[float | None] = [None] * len(facts)
        provider = self._provider()
        if provider is None:
            return Likeness(nothing, None, "")
        notice = self._complete(provider, facts, cancel)
        kept = self._vectors(provider)
        if not any(fact.id in kept.rows for fact in facts):
            return Likeness(nothing, None, notice)
        try:
            asked = provider.embed_query(redact(query[:_LONGEST_QUESTION]), cancel=cancel)
        except ProviderError as error:
            self._note_failure(str(error))
            return Likeness(nothing, None, str(error))
        self._note_failure(None)
        if len(asked) != kept.matrix.shape[1]:
            return Likeness(nothing, None, notice)
        products = (kept.matrix @ asked).tolist()
        rows = map(kept.rows.get, (fact.id for fact in facts))
        return Likeness([None if row is None else products[row] for row in rows], provider.calibration, notice)

    def _vectors(self, provider: "EmbeddingProvider") -> _Kept:
        model = ModelName(provider.id, provider.model, provider.key)
        stamp = self._rows.stamp()
        known = self._known
        if known is None or (known.stamp, known.model) != (stamp, model):
            known = self._known = _Kept.of(stamp, model, self._rows.vectors(model))
        return known

    def _complete(self, provider: "EmbeddingProvider", facts: Sequence[Fact], cancel: CancelToken | None) -> str:
        """Embed facts without a vector in batches; returns the error message, or "".

        Facts that await approval or were forgotten are not sent.
        """
        with self._embedding:  # concurrent queries must not be billed twice
            rows = self._vectors(provider).rows
            lacking = [fact for fact in facts if fact.remembered and fact.id not in rows][:_AT_ONCE]
            if not lacking or self._rows.problem:
                return ""
            from engine.store.vector_encoding import encode

            model = ModelName(provider.id, provider.model, provider.key)
            step = provider.limits.inputs
            try:
                for start in range(0, len(lacking), step):
                    some = lacking[start : start + step]
                    made = encode(provider.embed_documents([fact.text for fact in some], cancel=cancel))
                    told = zip(some, made, strict=True)
                    self._rows.keep_vectors(model, [(fact.id, fact.text, vector) for fact, vector in told])
            except ProviderError as error:
                self._note_failure(str(error))
                return str(error)
            return ""
