"""In the window, the engine works on the pool of `Jobs`: no thread of its own but the watcher's."""

import threading
from pathlib import Path

import msgspec
import pytest

import engine
from engine import Settings
from gui.jobs import Jobs
from tests.helpers.leaks import living_threads

_OF_THE_WATCHER = ("mnemoscope-watcher", "Thread-", "InotifyThread")


@pytest.mark.parametrize("seconds", [0.05, 60])
def test_an_alarm_runs_on_the_pool_or_is_cancelled(qtbot, jobs: Jobs, seconds: float) -> None:
    ran: list[bool] = []
    executor = jobs.executor()
    cancel = executor.later(seconds, lambda: ran.append(isinstance(threading.current_thread(), threading._DummyThread)))
    if seconds < 1:
        qtbot.waitUntil(lambda: ran == [True])
    cancel()
    qtbot.wait(80)
    assert ran == ([True] if seconds < 1 else [])


def test_syncs_that_nobody_asked_for_run_on_the_pool(qtbot, jobs: Jobs, tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "one.md").write_text("A brass lamp.\n")
    settings = Settings(provider="none")
    sync = msgspec.structs.replace(settings.sync, watch_debounce_ms=20, interval_minutes=1 / 600)
    store = msgspec.structs.replace(settings.store, path=str(tmp_path / "store"))
    settings = msgspec.structs.replace(settings, sync=sync, store=store)
    before = living_threads()
    memory = engine.open_memory(notes, settings, executor=jobs.executor(), background=True)
    try:
        plain: set[str] = set()

        def note_thread() -> None:
            thread = threading.current_thread()
            if memory.current_sync() is not None and not isinstance(thread, threading._DummyThread):
                plain.add(thread.name)

        def reasons() -> set[str]:
            return {sync.reason for sync in memory.status().recent_syncs}

        memory.add_status_listener(note_thread)
        memory.warm_session("agent:main:one")
        qtbot.waitUntil(lambda: {"session-start", "interval"} <= reasons(), timeout=60_000)
        (notes / "two.md").write_text("A copper kettle.\n")
        qtbot.waitUntil(lambda: bool(memory.search("kettle").results), timeout=60_000)
        started = {thread.name for thread in living_threads() - before}
        assert [name for name in started if not name.startswith(_OF_THE_WATCHER)] == []
        assert plain <= {name for name in plain if name.startswith("mnemoscope-watcher")}
    finally:
        memory.close()
