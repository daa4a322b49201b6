"""A cancelled token ends the work, whatever else happens to it."""

import threading

import pytest

from engine.base.cancellation import CancelToken, on_cancel
from engine.base.errors import Cancelled


def test_cancel_during_pause_does_not_block(monkeypatch) -> None:
    token = CancelToken()
    clear = token._running.clear
    cancelling = threading.Thread(target=token.cancel)

    def clear_late() -> None:
        cancelling.start()
        cancelling.join(0.05)  # with luck it gets through before the pause is complete
        clear()

    monkeypatch.setattr(token._running, "clear", clear_late)
    token.pause()
    cancelling.join()
    assert not token.paused
    with pytest.raises(Cancelled):
        token.checkpoint()


def test_callback_called_once_until_removed() -> None:
    token = CancelToken()
    received: list[str] = []
    token.on_cancel(lambda: received.append("kept"))
    token.on_cancel(lambda: received.append("removed"))()
    token.cancel()
    token.cancel()
    token.on_cancel(lambda: received.append("late"))
    assert received == ["kept", "late"]


def test_callback_is_called_only_within_its_block() -> None:
    token, received = CancelToken(), list[str]()
    with on_cancel(lambda: received.append("before"), token), pytest.raises(Cancelled):
        raise Cancelled
    with on_cancel(lambda: received.append("within"), token):
        token.cancel()
    with on_cancel(lambda: received.append("never"), None):
        pass
    assert received == ["within"]
