"""What facts mean: made by the provider that the person agreed to, kept beside the facts, compared with a question."""

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from engine.control import CancelToken
from engine.errors import ProviderError
from engine.records import Fact
from engine.redaction.masks import redact
from engine.store.facts import FactRows
from engine.store.models import ModelName

if TYPE_CHECKING:
    from engine.embedding.base import Calibration, EmbeddingProvider

_AT_ONCE = 256
"""Facts that one question waits for where a model has not seen them yet; the others have their words till the next."""
_LONGEST_QUESTION = 2000


class Likeness(NamedTuple):
    """How near facts are to a question."""

    cosines: list[float | None]
    """Of each fact; None without a vector."""
    calibration: "Calibration | None"
    """Of the model that they are of; None where words alone must do."""
    notice: str
    """Why they must, where somebody should know."""


class FactVectors:
    """Thread-safe. A failing provider costs meaning, never an answer."""

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
        self._known: tuple[tuple[int, int], ModelName, dict[str, bytes]] | None = None

    def compare(self, query: str, facts: Sequence[Fact], cancel: CancelToken | None) -> Likeness:
        """Secrets in the question are masked before it is sent anywhere."""
        cosines: list[float | None] = [None] * len(facts)
        provider = self._provider()
        if provider is None:
            return Likeness(cosines, None, "")
        notice = self._complete(provider, facts, cancel)
        vectors = self._vectors(provider)
        held = [(place, vectors[fact.id]) for place, fact in enumerate(facts) if fact.id in vectors]
        if not held:
            return Likeness(cosines, None, notice)
        try:
            asked = provider.embed_query(redact(query[:_LONGEST_QUESTION]), cancel=cancel)
        except ProviderError as error:
            self._note_failure(str(error))
            return Likeness(cosines, None, str(error))
        self._note_failure(None)
        from engine.store.coding import decode

        width = len(asked)
        fitting = [(place, vector) for place, vector in held if len(vector) == 2 * width]
        products: Any = decode([vector for _, vector in fitting], width).astype("float32") @ asked
        for (place, _), cosine in zip(fitting, products.tolist(), strict=True):
            cosines[place] = cosine
        return Likeness(cosines, provider.calibration, notice)

    def _vectors(self, provider: "EmbeddingProvider") -> dict[str, bytes]:
        model = ModelName(provider.id, provider.model, provider.key)
        stamp = self._rows.stamp()
        known = self._known
        if known is None or known[:2] != (stamp, model):
            known = self._known = stamp, model, self._rows.vectors(model)
        return known[2]

    def _complete(self, provider: "EmbeddingProvider", facts: Sequence[Fact], cancel: CancelToken | None) -> str:
        """Give those their vectors that lack one, some hundred at a time; returns why that failed, or nothing.

        What waits to be approved or was forgotten is sent nowhere.
        """
        with self._embedding:  # two questions at once shall not pay twice
            vectors = self._vectors(provider)
            lacking = [fact for fact in facts if fact.remembered and fact.id not in vectors][:_AT_ONCE]
            if not lacking or self._rows.problem:
                return ""
            from engine.store.coding import encode

            model = ModelName(provider.id, provider.model, provider.key)
            step = provider.limits.inputs
            try:
                for start in range(0, len(lacking), step):
                    some = lacking[start : start + step]
                    made = encode(provider.embed_documents([fact.text for fact in some], cancel=cancel))
                    rows = zip(some, made, strict=True)
                    self._rows.keep_vectors(model, [(fact.id, fact.text, vector) for fact, vector in rows])
            except ProviderError as error:
                self._note_failure(str(error))
                return str(error)
            return ""
