"""Common base of a fake memory's parts: delays, and errors once it is closed."""

import threading
import time

from engine import Cancelled, CancelToken, Closed


class Closable:
    """Open until `closed` is set."""

    closed = False

    def _check_open(self) -> None:
        if self.closed:
            raise Closed


def wait(seconds: float, cancel: CancelToken | None) -> None:
    """Sleep until the time is over or the token is cancelled, which raises `Cancelled`."""
    if cancel is None:
        time.sleep(seconds)
        return
    woken = threading.Event()
    forget = cancel.on_cancel(woken.set)
    woken.wait(seconds)
    forget()
    if cancel.cancelled:
        raise Cancelled
