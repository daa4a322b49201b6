"""Background syncs: queued, not piled up, and over when closed."""

import threading
from collections.abc import Iterator

import pytest

from engine.base.errors import DiskFull
from engine.indexing.scheduler import SyncScheduler
from engine.memory.executor import BackgroundExecutor
from engine.records import SyncReason


class Runs:
    def __init__(self) -> None:
        self.reasons: list[SyncReason] = []
        self.changed = threading.Condition()
        self.go = threading.Event()
        self.go.set()

    def __call__(self, reason: SyncReason) -> None:
        with self.changed:
            self.reasons.append(reason)
            self.changed.notify_all()
        assert self.go.wait(60)

    def wait_for(self, count: int) -> list[SyncReason]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.reasons) >= count, 5)
            return list(self.reasons)


@pytest.fixture
def threads() -> Iterator[BackgroundExecutor]:
    threads = BackgroundExecutor(None)
    yield threads
    threads.close()


def test_what_is_asked_twice_before_it_began_runs_once(threads: BackgroundExecutor) -> None:
    runs = Runs()
    runs.go.clear()
    scheduler = SyncScheduler(runs, threads)
    scheduler.request("watch")
    runs.wait_for(1)
    for _ in range(3):
        scheduler.request("search")
        scheduler.request("watch")
    runs.go.set()
    assert runs.wait_for(3) == ["watch", "search", "watch"]
    scheduler.close()
    assert len(runs.reasons) == 3


def test_an_interval_comes_back_by_itself(threads: BackgroundExecutor) -> None:
    runs = Runs()
    scheduler = SyncScheduler(runs, threads, interval_seconds=0.01)
    assert runs.wait_for(3) == ["interval"] * 3
    scheduler.close()


def test_a_failing_sync_does_not_end_the_thread(threads: BackgroundExecutor) -> None:
    runs = Runs()

    def fail_first(reason: SyncReason) -> None:
        runs(reason)
        if len(runs.reasons) == 1:
            raise DiskFull("The disk is full.")
        if len(runs.reasons) == 2:
            raise ValueError

    scheduler = SyncScheduler(fail_first, threads)
    for count in (1, 2, 3):
        scheduler.request("watch")
        runs.wait_for(count)
    scheduler.close()


def test_nothing_runs_after_close(threads: BackgroundExecutor) -> None:
    runs = Runs()
    scheduler = SyncScheduler(runs, threads)
    scheduler.close()
    scheduler.request("watch")
    assert runs.reasons == []


def test_a_look_that_was_asked_for_later_comes_once(threads: BackgroundExecutor) -> None:
    runs = Runs()
    scheduler = SyncScheduler(runs, threads)
    scheduler.request_later(0.01)
    scheduler.request_later(600)
    assert runs.wait_for(1) == ["interval"]
    scheduler.close()
    assert runs.reasons == ["interval"]


def test_an_earlier_sync_makes_up_for_a_later_look(threads: BackgroundExecutor) -> None:
    runs = Runs()
    scheduler = SyncScheduler(runs, threads)
    scheduler.request_later(600)
    scheduler.request("watch")
    assert runs.wait_for(1) == ["watch"]
    scheduler.request_later(0.01)  # the one before is no reason to wait longer
    assert runs.wait_for(2) == ["watch", "interval"]
    scheduler.close()
