"""Retries requests if that may help, with the same attempts and delays for every provider.

tenacity does the counting. stamina, a wrapper of it, sleeps without a way to cancel.
"""

import random
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from engine.base.cancellation import CancelToken
from engine.base.errors import ProviderError

if TYPE_CHECKING:
    import tenacity

ATTEMPTS = 4
MOST_DELAY_SECONDS = 60.0
"""Maximum delay that a server may request."""
_FIRST_SECONDS = 0.5
_MOST_SECONDS = 8.0
_JITTER = 0.2

Result = TypeVar("Result")


class Transient(ProviderError):
    """A temporary failure: a rate limit, a server error, a broken connection or response."""

    def __init__(self, message: str, after: float | None = None) -> None:
        """`after`: delay requested by the server in seconds; None if there is none."""
        super().__init__(message)
        self.after = after


def retrying(
    attempt: Callable[[], Result], *, cancel: CancelToken | None = None, seconds: float | None = None
) -> Result:
    """Return the result of `attempt`, with up to three retries if it raises `Transient`.

    `seconds` limits all attempts together: none starts later. Waits end on cancel. Raises the last attempt's error,
    `Cancelled`.
    """
    import tenacity

    end = None if seconds is None else time.monotonic() + seconds

    def checked() -> Result:
        if cancel is not None:
            cancel.checkpoint()
        return attempt()

    def enough(state: "tenacity.RetryCallState") -> bool:
        late = end is not None and time.monotonic() + state.upcoming_sleep >= end
        return late or state.attempt_number >= ATTEMPTS

    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Transient),
        wait=_wait,
        stop=enough,
        sleep=lambda duration: pause(duration, cancel),
        reraise=True,
    )
    return tries(checked)


def pause(seconds: float, cancel: CancelToken | None) -> None:
    """Wait, but no longer than until a cancel. Raises `Cancelled`."""
    over = threading.Event()
    forget = cancel.on_cancel(over.set) if cancel is not None else lambda: None
    try:
        over.wait(seconds)
    finally:
        forget()
    if cancel is not None:
        cancel.checkpoint()


def backoff(tries: int) -> float:
    """Default delay in seconds after this number of failed attempts, from 1."""
    return min(_FIRST_SECONDS * 2.0 ** (tries - 1) * (1 + random.uniform(0, _JITTER)), _MOST_SECONDS)


def _wait(state: "tenacity.RetryCallState") -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    after = error.after if isinstance(error, Transient) else None
    return backoff(state.attempt_number) if after is None else min(max(after, 0.0), MOST_DELAY_SECONDS)
