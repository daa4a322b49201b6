"""Embedding approved by the user, in tokens, stored until it is done so that a restart can resume it."""

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
"""Tolerance: estimates of almost the same texts, based on samples, differ by some percent and need no new approval."""


class Approvals:
    """Approvals of one workspace. Thread-safe. If they can't be saved, they last until the program ends."""

    def __init__(self, user: UserData) -> None:
        self._user = user
        self._lock = threading.Lock()
        self._here: dict[ModelName, int] = {}
        """Approvals that could not be saved."""

    def give(self, name: ModelName, tokens: int) -> None:
        """Approve embedding this many tokens with this model."""
        with self._lock:
            self._put(name, tokens)

    def tokens(self, name: ModelName) -> int:
        """Number of approved tokens; 0 without an approval."""
        with self._lock:
            return self._tokens(name)

    def covers(self, name: ModelName, work: "EmbeddingWork") -> bool:
        """Whether the work may start: it needs no approval, or does not exceed the approved amount by much."""
        return not work.needs_agreement() or not work.needs_agreement(beyond=round(self.tokens(name) * _ABOUT))

    def lower(self, name: ModelName, tokens: int) -> None:
        """Reduce the approval to the remaining tokens; 0 ends it. A larger number than approved has no effect."""
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
    """The approvals for a sync whose caller may have approved embedding in advance; see `MemorySearchManager.sync`."""
    if not beforehand:
        return approvals
    return _Beforehand(approvals, None if beforehand is True else beforehand)


class _Beforehand:
    def __init__(self, approvals: Approvals, estimate: EmbeddingEstimate | None) -> None:
        """`estimate`: the approved estimate; None approves any amount."""
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
            self._given = True  # only once: work added meanwhile was not approved
            self._approvals.give(name, estimate.tokens)
