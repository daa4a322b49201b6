"""Tries a request again where that may help: the same few times, at the same distances, for every provider.

tenacity does the counting. stamina, which wraps it, sleeps in a way that no cancel can end.
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
MOST_ASKED_SECONDS = 60.0
"""Longest wait that is granted to a server that requests one."""
_FIRST_SECONDS = 0.5
_MOST_SECONDS = 8.0
_JITTER = 0.2

Result = TypeVar("Result")


class Transient(ProviderError):
    """A request failed in a way that may pass: a limit of rate, a server's fault, a connection, a broken answer."""

    def __init__(self, message: str, after: float | None = None) -> None:
        """`after`: seconds that the server requests to wait; None if it doesn't say."""
        super().__init__(message)
        self.after = after


def retrying(
    attempt: Callable[[], Result], *, cancel: CancelToken | None = None, seconds: float | None = None
) -> Result:
    """What `attempt` returns, after up to three further tries where it raises `Transient`.

    `seconds` bounds all tries together: none begins later. Waits end on cancel. Raises what the last try raised,
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
    """Wait, at most until the cancel. Raises `Cancelled`."""
    over = threading.Event()
    forget = cancel.on_cancel(over.set) if cancel is not None else lambda: None
    try:
        over.wait(seconds)
    finally:
        forget()
    if cancel is not None:
        cancel.checkpoint()


def backoff(tries: int) -> float:
    """Seconds to wait after that many failed tries, from 1, where the server does not say."""
    return min(_FIRST_SECONDS * 2.0 ** (tries - 1) * (1 + random.uniform(0, _JITTER)), _MOST_SECONDS)


def _wait(state: "tenacity.RetryCallState") -> float:
    error = state.outcome.exception() if state.outcome is not None else None
    after = error.after if isinstance(error, Transient) else None
    return backoff(state.attempt_number) if after is None else min(max(after, 0.0), MOST_ASKED_SECONDS)
