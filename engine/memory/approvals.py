"""Embedding that the user has approved, stored until it is done: after a restart the program continues it."""

import logging
import threading
from typing import TYPE_CHECKING

from engine.base.errors import MnemoscopeError
from engine.records import EmbeddingEstimate
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData

if TYPE_CHECKING:
    from engine.indexing.cost_estimate import EmbeddingWork
    from engine.indexing.sync_parts import Agreement

log = logging.getLogger(__name__)

_ABOUT = 1.05
"""Tolerance between two sampled estimates of nearly the same texts: no second approval is needed within it."""


class Approvals:
    """Thread-safe. What cannot be written holds for as long as the program runs."""

    def __init__(self, user: UserData) -> None:
        self._user = user
        self._lock = threading.Lock()
        self._here: dict[ModelName, int] = {}
        """What could not be written."""

    def give(self, name: ModelName, tokens: int) -> None:
        """Agree to embed so much with this model."""
        with self._lock:
            self._put(name, tokens)

    def tokens(self, name: ModelName) -> int:
        """How much was agreed to; 0 without an approval."""
        with self._lock:
            return self._tokens(name)

    def covers(self, name: ModelName, work: "EmbeddingWork") -> bool:
        """Whether the work may be done: it needs no approval, or hardly exceeds the approved amount."""
        return not work.needs_agreement() or not work.needs_agreement(beyond=round(self.tokens(name) * _ABOUT))

    def lower(self, name: ModelName, tokens: int) -> None:
        """So much is left to do; 0 ends the approval. More than was agreed to changes nothing."""
        with self._lock:
            if tokens < self._tokens(name):
                self._put(name, tokens)

    def _tokens(self, name: ModelName) -> int:
        try:
            return self._here.get(name) or self._user.approved_tokens(name)
        except MnemoscopeError as error:
            log.warning("The approvals could not be read: %s", type(error).__name__)
            return 0

    def _put(self, name: ModelName, tokens: int) -> None:
        self._here.pop(name, None)
        try:
            if tokens:
                self._user.approve(name, tokens)
            else:
                self._user.end_approval(name)
            if self._user.keeps:
                return
        except MnemoscopeError as error:
            log.warning("An approval could not be kept: %s", type(error).__name__)
        if tokens:
            self._here[name] = tokens


def agreeing(approvals: Approvals, beforehand: bool | EmbeddingEstimate) -> "Agreement":
    """Return the approvals for a sync whose caller approved something in advance; see `MemorySearchManager.sync`."""
    if not beforehand:
        return approvals
    return _Beforehand(approvals, None if beforehand is True else beforehand)


class _Beforehand:
    def __init__(self, approvals: Approvals, estimate: EmbeddingEstimate | None) -> None:
        """`estimate`: the approved amount; None approves any amount."""
        self._approvals = approvals
        self._estimate = estimate
        self._given = False

    def covers(self, name: ModelName, work: "EmbeddingWork") -> bool:
        if not self._approvals.covers(name, work):
            self._give(name, work)
        return self._approvals.covers(name, work)

    def tokens(self, name: ModelName) -> int:
        return self._approvals.tokens(name)

    def lower(self, name: ModelName, tokens: int) -> None:
        self._approvals.lower(name, tokens)

    def _give(self, name: ModelName, work: "EmbeddingWork") -> None:
        estimate = self._estimate
        if estimate is None:
            self._approvals.give(name, work.estimate.tokens)
        elif not self._given and (estimate.provider, estimate.model) == (name.provider, name.model):
            self._given = True  # once only: later changes were not approved
            self._approvals.give(name, estimate.tokens)
