"""Who is interrupted, and who must not be."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from engine.control import CancelToken
from engine.errors import Cancelled
from engine.store.connection import READERS
from tests.helpers.rows import open_store


class LateToken(CancelToken):
    """Tells of being cancelled when the test says so, as a thread does that was put to sleep at a bad moment."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Callable[[], None]] = []

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        return super().on_cancel(lambda: self.told.append(callback))


def test_a_late_interrupt_does_not_hit_the_next_user_of_the_connection(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    token = LateToken()
    with store.read(token):
        token.cancel()

    def interrupt_in_the_statement() -> bool:
        token.told[0]()
        return False

    for _ in range(READERS):  # the connections take turns: one of them is the one that was cancelled
        with store.read() as snapshot:
            snapshot.connection.set_progress_handler(interrupt_in_the_statement, 100)
            query = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT sum(i)"
            assert snapshot.connection.execute(f"{query} FROM n").get == 500_500
            snapshot.connection.set_progress_handler(None)
    store.close()
    token.told[0]()  # nor does it trip over a connection that is closed by now


def test_whatever_a_statement_says_when_it_was_cancelled_it_was_cancelled(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    token = CancelToken()

    def fail() -> None:
        with store.read(token):
            token.cancel()
            raise apsw.SQLError("chunks iter error")  # as sqlite-vec reports an interrupt

    with pytest.raises(Cancelled):
        fail()
    store.close()
