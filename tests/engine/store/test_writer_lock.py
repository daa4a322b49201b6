"""Only one process writes, and checking the lock never changes that."""

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from engine.store.connection import WriterLock


def test_checking_the_lock_never_releases_it(tmp_path: Path) -> None:
    """Two instances in one process behave like two processes."""
    mine, others = WriterLock(tmp_path / "lock"), WriterLock(tmp_path / "lock")
    assert mine.acquire()
    assert not mine.held_elsewhere()
    assert others.held_elsewhere()
    assert not others.acquire()
    mine.release()
    assert not mine.held_elsewhere()
    assert others.acquire()
    assert mine.held_elsewhere()
    others.close()


def test_lock_is_used_by_one_thread_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, using, most = WriterLock(tmp_path / "lock"), list[None](), set[int]()
    lock.acquire()
    lock.release()
    acquire = FileLock.acquire

    def acquire_slowly(*arguments: Any, **options: Any) -> Any:
        using.append(None)
        time.sleep(0.002)
        most.add(len(using))
        using.pop()
        return acquire(*arguments, **options)

    monkeypatch.setattr(FileLock, "acquire", acquire_slowly)
    threads = [threading.Thread(target=lock.held_elsewhere) for _ in range(3)]
    threads.append(threading.Thread(target=lock.acquire))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == {1}
    lock.close()
