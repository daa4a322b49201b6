"""Background work of a memory, which runs on the executor of its caller."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from engine.indexing import sync_scheduler
from engine.indexing.folder_watch import SessionGrowth
from engine.memory import executor as threads_
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.background import reasons, wait_until

SYNC = msgspec.structs.replace(Settings().sync, watch_debounce_ms=20, interval_minutes=1 / 1200)


class Timed(Executor):
    """An executor with one thread, and timers that are fired by the test."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="given")
        self.alarms: list[tuple[float, Callable[[], object]]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._pool.submit(fn, *args, **kwargs)

    def later(self, seconds: float, job: Callable[[], object]) -> Callable[[], None]:
        alarm = seconds, job
        self.alarms.append(alarm)
        return lambda: self.alarms.remove(alarm) if alarm in self.alarms else None

    def let_pass(self, seconds: float) -> None:
        """Run the jobs that are due within this time."""
        due = [alarm for alarm in self.alarms if alarm[0] <= seconds]
        for alarm in due:
            self.alarms.remove(alarm)
            self.submit(alarm[1])

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._pool.shutdown(wait, cancel_futures=cancel_futures)


@pytest.fixture
def timed() -> Iterator[Timed]:
    executor = Timed()
    yield executor
    executor.shutdown()


def started_since(before: set[str]) -> set[str]:
    return {thread.name for thread in threading.enumerate()} - before


def test_all_background_work_runs_on_the_given_executor(open_memory, workspace: Path, provider, timed: Timed) -> None:
    embedding: set[str] = set()
    provider.before = lambda *_: embedding.add(threading.current_thread().name)
    before = {thread.name for thread in threading.enumerate()}
    memory = open_memory(background=True, executor=timed, sync=SYNC)
    syncing: set[str] = set()
    memory.add_status_listener(
        lambda: memory.current_sync() is not None and syncing.add(threading.current_thread().name)
    )
    memory.warm_session("agent:main:one")
    wait_until(lambda: "session-start" in reasons(memory))
    (workspace / "new.md").write_text("A brass lamp.\n")
    wait_until(lambda: "watch" in reasons(memory))
    # A sync sets the next alarm at its end, and one more may follow the first event of a change.
    wait_until(lambda: timed.let_pass(1) or "interval" in reasons(memory))
    started = {name for name in started_since(before) if not name.startswith(("given", "mnemoscope-watcher", "Thread"))}
    assert started == set()
    for names in (syncing - {"mnemoscope-watcher"}, embedding):  # a change may be reported during a sync
        assert {name.rpartition("_")[0] for name in names} == {"given"}
    memory.close()
    assert timed.alarms == []


def test_a_sync_on_the_only_thread_still_embeds(open_memory, provider, timed: Timed) -> None:
    memory = open_memory(background=True, executor=timed, sync=SYNC)
    memory.warm_session("agent:main:one")
    wait_until(lambda: reasons(memory) == ["session-start"] and memory.current_sync() is None)
    status = memory.status()
    assert (status.pending_vectors, status.chunks > 0) == (0, True)


def test_without_an_executor_all_threads_end_with_the_memory(open_memory, workspace: Path) -> None:
    before = {thread.name for thread in threading.enumerate()}
    memory = open_memory(background=True, sync=SYNC)
    memory.warm_session("agent:main:one")
    wait_until(lambda: {"session-start", "interval"} <= set(reasons(memory)))
    memory.close()
    assert started_since(before) == set()


def test_a_memory_closes_after_its_executor(open_memory, workspace: Path) -> None:
    executor = ThreadPoolExecutor(1)
    memory = open_memory(background=True, executor=executor, sync=SYNC)
    executor.shutdown()
    memory.warm_session("agent:main:one")
    memory.close()


@pytest.mark.usefixtures("quick_sessions")
def test_session_growth_is_checked_on_the_executor(open_memory, tmp_path: Path, timed: Timed, monkeypatch) -> None:
    judging: set[str] = set()
    judge = SessionGrowth.needs_sync

    def noted(deltas: SessionGrowth, paths) -> bool:
        judging.add(threading.current_thread().name.rpartition("_")[0])
        return judge(deltas, paths)

    monkeypatch.setattr(SessionGrowth, "needs_sync", noted)
    folder = tmp_path / "agents/main/sessions"
    folder.mkdir(parents=True)
    open_memory(background=True, executor=timed, sync=SYNC, sessions=SessionSettings(folders=(str(folder),)))
    (folder / "boat.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    wait_until(lambda: judging == {"given"})


def test_a_listener_may_close_the_memory_during_a_sync(open_memory) -> None:
    before = {thread.name for thread in threading.enumerate()}
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch=False))
    outcome: list[BaseException | None] = []

    def close() -> None:
        if memory.current_sync() is not None and not outcome:
            outcome.append(None)
            try:
                memory.close()
            except BaseException as error:
                outcome.append(error)

    memory.add_status_listener(close)
    memory.warm_session("agent:main:one")
    wait_until(lambda: bool(outcome) and started_since(before) == set())
    assert outcome == [None]


def test_closing_gives_up_on_a_sync_that_hangs(open_memory, provider, monkeypatch) -> None:
    for module in (threads_, sync_scheduler):
        monkeypatch.setattr(module, "_CLOSE_SECONDS", 0.05)
    before = {thread.name for thread in threading.enumerate()}
    begun, go = threading.Event(), threading.Event()

    def hang(_texts: object) -> None:
        begun.set()
        assert go.wait(60)

    provider.before, provider.cancellable = hang, False
    memory = open_memory(background=True, sync=SYNC)
    memory.warm_session("agent:main:one")
    assert begun.wait(60)
    memory.close()
    assert not go.is_set()
    go.set()
    wait_until(lambda: started_since(before) == set())


def test_page_caches_are_freed_without_searches(open_memory, workspace: Path, timed: Timed) -> None:
    memory = open_memory(background=True, executor=timed)
    (workspace / "many.md").write_text("# Lamp\n\nA brass lamp.\n\n" * 2000)
    memory.sync()

    def pass_half_a_minute() -> int:
        """Return SQLite's memory after half a minute."""
        timed.let_pass(30)
        timed.submit(lambda: None).result()
        return apsw.memory_used()

    freed = pass_half_a_minute()
    memory.search("lamp")
    assert pass_half_a_minute() > freed + 100_000
    memory.search("brass")
    assert pass_half_a_minute() > freed + 100_000
    assert pass_half_a_minute() < freed + 100_000


def test_cancelled_or_finished_job_ends_once() -> None:
    threads = threads_.BackgroundExecutor(None)
    ran: list[str] = []
    cancel = threads.later(3600, lambda: ran.append("cancelled"))
    cancel()
    cancel()
    job = threads.start(lambda: ran.append("started"))
    assert job is not None
    assert job.wait(60)
    assert not job.cancel()
    threads.later(3600, lambda: ran.append("closed"))
    threads.close()
    assert threads.start(lambda: ran.append("late")) is None
    threads.later(0, lambda: ran.append("late"))
    threads.close()
    assert ran == ["started"]
    assert not threads._jobs
