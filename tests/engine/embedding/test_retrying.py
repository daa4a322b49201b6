import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken, pause
from engine.base.errors import Cancelled, ProviderError
from engine.embedding import service_errors
from engine.embedding.service_errors import ATTEMPTS, Transient, backoff

FOREVER = 10**6


class Failing:
    """Raises these errors one by one, then returns "done"."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.tries = 0

    def __call__(self) -> str:
        self.tries += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def test_temporary_error_retried_three_times(waits) -> None:
    attempt = Failing(*(Transient("busy") for _ in range(ATTEMPTS - 1)))
    assert service_errors.retrying(attempt) == "done"
    assert attempt.tries == ATTEMPTS == 4
    lasting = Failing(*(Transient(f"busy {number}") for number in range(ATTEMPTS + 1)))
    with pytest.raises(Transient, match="busy 3"):
        service_errors.retrying(lasting)
    assert lasting.tries == ATTEMPTS


@pytest.mark.parametrize("error", [ProviderError("no"), Cancelled(), ValueError("a bug")])
def test_other_errors_are_not_retried(waits, error) -> None:
    attempt = Failing(error)
    with pytest.raises(type(error)):
        service_errors.retrying(attempt)
    assert (attempt.tries, waits) == (1, [])


def test_no_retry_begins_after_the_total_timeout(waits) -> None:
    attempt = Failing(Transient("busy", after=30), Transient("busy", after=30))
    with pytest.raises(Transient):
        service_errors.retrying(attempt, seconds=20)
    assert (attempt.tries, waits) == (1, [])
    assert service_errors.retrying(Failing(Transient("busy", after=10)), seconds=20) == "done"


@given(st.integers(1, 60))
def test_backoff_doubles_with_jitter_up_to_eight_seconds(tries: int) -> None:
    least = min(0.5 * 2.0 ** (tries - 1), 8)
    assert least <= backoff(tries) <= min(1.2 * least, 8)


def test_cancel_ends_the_pause() -> None:
    cancel = CancelToken()
    canceller = threading.Thread(target=cancel.cancel)
    canceller.start()
    with pytest.raises(Cancelled):
        pause(FOREVER, cancel)
    canceller.join()
    with pytest.raises(Cancelled):
        pause(FOREVER, cancel)


def test_cancel_between_attempts_stops_retrying(monkeypatch) -> None:
    cancel = CancelToken()
    monkeypatch.setattr(service_errors, "pause", lambda seconds, token: token.cancel())
    attempt = Failing(Transient("busy"))
    with pytest.raises(Cancelled):
        service_errors.retrying(attempt, cancel=cancel)
    assert attempt.tries == 1


def test_pause_delays_next_attempt(monkeypatch) -> None:
    cancel = CancelToken()

    def pausing(seconds: float, token: CancelToken | None) -> None:
        cancel.pause()
        threading.Thread(target=cancel.resume).start()

    monkeypatch.setattr(service_errors, "pause", pausing)
    assert service_errors.retrying(Failing(Transient("busy")), cancel=cancel) == "done"
