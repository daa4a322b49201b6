"""Only one process writes, and checking the lock never changes that."""

import threading
from pathlib import Path

from engine.store.connection import WriterLock


def test_checking_the_lock_never_releases_it(tmp_path: Path) -> None:
    """Two instances in one process behave like two processes."""
    mine, others = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    ended = threading.Event()
    doubles: list[str] = []

    def look() -> None:
        while not ended.is_set():
            mine.held_elsewhere()

    looking = [threading.Thread(target=look) for _ in range(2)]
    for thread in looking:
        thread.start()
    for _ in range(15):
        if mine.acquire():
            if others.acquire():
                doubles.append("both")
                others.release()
            mine.release()
    ended.set()
    for thread in looking:
        thread.join()
    assert doubles == []
    assert others.acquire()
    assert mine.held_elsewhere()
    others.close()
    mine.close()


def test_lock_is_free_after_as_many_releases_as_acquires(tmp_path: Path) -> None:
    mine, others = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    assert mine.acquire()
    assert mine.acquire()
    mine.release()
    assert not others.acquire()
    mine.release()
    assert others.acquire()
    others.close()
