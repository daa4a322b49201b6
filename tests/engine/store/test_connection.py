"""Assignment of readers to connections, and interruption of earlier queries only."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.store.snapshot import Snapshot
from tests.helpers.rows import new_file, open_store


class LateToken(CancelToken):
    """Reports a cancel when the test sets it, like a thread that was suspended at a bad moment."""

    def __init__(self) -> None:
        super().__init__()
        self.callbacks: list[Callable[[], None]] = []

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        return super().on_cancel(lambda: self.callbacks.append(callback))


def test_late_interrupt_spares_next_user(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    token = LateToken()
    with store.read(token):
        token.cancel()

    def interrupt_in_the_statement() -> bool:
        token.callbacks[0]()
        return False

    with store.read() as snapshot:  # the last connection used is the next: the one that was cancelled
        snapshot.connection.set_progress_handler(interrupt_in_the_statement, 100)
        query = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT sum(i)"
        assert snapshot.connection.execute(f"{query} FROM n").get == 500_500
        snapshot.connection.set_progress_handler(None)
    store.close()
    token.callbacks[0]()  # nor does it trip over a connection that is closed by now


def test_cancelled_statement_always_raises_cancelled(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    token = CancelToken()

    def fail() -> None:
        with store.read(token):
            token.cancel()
            raise apsw.SQLError("chunks iter error")  # as sqlite-vec reports an interrupt

    with pytest.raises(Cancelled):
        fail()
    store.close()


def test_connection_with_an_interrupted_rollback_is_replaced(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    token = CancelToken()

    def cancel_between_two_rows() -> None:
        with store.read(token) as snapshot:
            rows = snapshot.connection.execute("VALUES (1), (2), (3)")
            assert next(rows) == (1,)
            token.cancel()  # the unfinished statement keeps the interrupt until the rollback

    with pytest.raises(Cancelled):
        cancel_between_two_rows()
    with store.read() as snapshot:
        assert snapshot.chunk_count() == 0
    store.close()


def test_one_reader_after_the_other_gets_the_same_connection(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with store.read() as first:
        pass
    with store.read() as second, store.read() as beside:
        assert second.connection is first.connection
        assert beside.connection is not first.connection
    store.close()


def test_rest_empties_idle_reader_caches_only(tmp_path: Path) -> None:
    def cached(snapshot: Snapshot) -> int:
        return snapshot.connection.status(apsw.SQLITE_DBSTATUS_CACHE_USED)[0]

    store = open_store(tmp_path)
    with store.write() as writer:
        writer.replace_file(new_file("a.md", *(f"text {part} " * 200 for part in range(100))))
    with store.read() as first, store.read() as second:
        for snapshot in (first, second):
            snapshot.texts(list(range(1, 101)))
        full = cached(first), cached(second)
    with store.read() as busy:  # the first one's connection, which was put back last
        busy.texts([1])  # a read of the same state keeps the pages that it finds
        store.free_memory()
        assert cached(busy) == full[0]
        assert cached(second) < full[1] / 4
    store.close()
