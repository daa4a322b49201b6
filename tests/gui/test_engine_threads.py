"""In the window, the engine runs on the pools of `Jobs`; the watcher is its only other thread."""

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QThread, QThreadPool

import engine
from engine.backends import builtin
from engine.indexing.folder_watch import SessionGrowth
from engine.indexing.sync_run import SyncRun
from engine.search.searcher import Searcher
from engine.store import sqlite_vec_engine
from engine.store.index import IndexStore
from gui.core.jobs import Jobs
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.window.main_window import MainWindow
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.keychain import FakeKeychain, keychain_in_use
from tests.helpers.windows import at_rest

_OF_THE_WATCHER = ("mnemoscope-watcher", "Thread-", "InotifyThread")
_QUIET = "watch = false"
_OTHER_LIBRARY = "[defaults.store.vector]\nengine = 'sqlite-vec'\nextension_path = '/nowhere/vec0'"


class Seen:
    """Records the engine's work, and whether a pool thread did it."""

    def __init__(self, jobs: Jobs) -> None:
        self._pools = jobs.findChildren(QThreadPool)
        self.work: set[tuple[str, str]] = set()

    def note(self, what: str) -> None:
        current = QThread.currentThread()
        pooled = any(pool.contains(current) for pool in self._pools)
        self.work.add((what, "" if pooled else threading.current_thread().name))

    def watch(self, monkeypatch: pytest.MonkeyPatch, owner: object, method: str, what: str) -> None:
        original = getattr(owner, method)

        def noted(*arguments, **options):
            self.note(what)
            return original(*arguments, **options)

        monkeypatch.setattr(owner, method, noted)


@pytest.fixture
def seen(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> Seen:
    seen = Seen(jobs)
    seen.watch(monkeypatch, IndexStore, "read", "read")
    seen.watch(monkeypatch, IndexStore, "write", "write")
    seen.watch(monkeypatch, SyncRun, "run", "sync")
    seen.watch(monkeypatch, Searcher, "search", "search")
    seen.watch(monkeypatch, SessionGrowth, "needs_sync", "judge")
    provider = FakeProvider()
    provider.before = lambda _texts: seen.note("embed")
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(provider))
    return seen


@pytest.fixture
def plain_threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the threads that Python code started, without those of the watcher."""
    started: list[str] = []
    start = threading.Thread.start

    def noted(thread: threading.Thread) -> None:
        if not thread.name.startswith(_OF_THE_WATCHER):
            started.append(thread.name)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noted)
    return started


@pytest.fixture
def real_window(qtbot, jobs: Jobs, appearance, tmp_path: Path, request) -> Iterator[MainWindow]:
    """A window on real notes; a parameter gives the settings of `sync`."""
    for name, text in (("notes", "A brass lamp.\n"), ("boat", "A copper lamp.\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "one.md").write_text(text)
    sessions = tmp_path / "agents" / "main" / "sessions"
    sessions.mkdir(parents=True)
    config = tmp_path / "settings.toml"
    config.write_text(
        f"[defaults.sessions]\nfolders = ['{sessions}']\n[defaults.sync]\n{getattr(request, 'param', _QUIET)}\n"
    )
    workspace = Workspace(jobs, config=config, store_path=str(tmp_path / "store"))
    with appearance.bare():
        window = MainWindow(workspace, jobs, appearance, WindowState(), paths=AppPaths())
    qtbot.addWidget(window)
    window.show()
    yield window
    assert window.shut_down(60_000)


def opened(qtbot, window: MainWindow, folder: Path) -> engine.MemorySearchManager:
    window.folders.open(folder)
    qtbot.waitUntil(lambda: at_rest(window))
    return window.workspace.current.manager


def wait_for(qtbot, window: MainWindow, reason: str) -> None:
    manager = window.workspace.current.manager

    def done() -> bool:
        status = window.workspace.status
        return any(sync.reason == reason for sync in status.recent_syncs) and manager.current_sync() is None

    qtbot.waitUntil(done)


def all_pooled(seen: Seen, *expected: str) -> None:
    assert {what for what, _ in seen.work} >= {"read", *expected}
    assert {thread for _, thread in seen.work} == {""}


def test_open_search_and_sync_use_pools(
    qtbot, real_window: MainWindow, seen: Seen, plain_threads: list[str], tmp_path: Path, jobs: Jobs
) -> None:
    manager = opened(qtbot, real_window, tmp_path / "notes")
    all_pooled(seen, "write", "sync", "embed")
    real_window.workspace.sync()
    wait_for(qtbot, real_window, "manual")
    seen.work.clear()
    manager.warm_session("agent:main:one")
    qtbot.waitUntil(lambda: any(what == "sync" for what, _ in seen.work) and manager.current_sync() is None)
    all_pooled(seen, "sync")
    found: list[int] = []
    jobs.read(lambda token: manager.search("lamp", cancel=token), lambda outcome: found.append(len(outcome.results)))
    qtbot.waitUntil(lambda: found == [1])
    all_pooled(seen, "search")
    assert plain_threads == []


def test_search_of_outdated_index_syncs_on_pool(
    qtbot, real_window: MainWindow, seen: Seen, plain_threads: list[str], tmp_path: Path, jobs: Jobs
) -> None:
    manager = opened(qtbot, real_window, tmp_path / "notes")
    failed: list[bool] = []

    def fail(_: object) -> None:
        raise engine.MnemoscopeError("The drive is gone.")

    def sync(token: engine.CancelToken) -> None:
        with contextlib.suppress(engine.MnemoscopeError):
            manager.sync(progress=fail, cancel=token)

    jobs.write(sync, lambda _: failed.append(True))
    qtbot.waitUntil(lambda: bool(failed) and manager.current_sync() is None)
    seen.work.clear()
    jobs.read(lambda token: manager.search("lamp", cancel=token), lambda _: None)
    wait_for(qtbot, real_window, "search")
    all_pooled(seen, "search", "sync")
    assert plain_threads == []


@pytest.mark.parametrize("real_window", ["watch_debounce_ms = 20"], indirect=True)
def test_file_changes_are_processed_on_pool(
    qtbot, real_window: MainWindow, seen: Seen, plain_threads: list[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("engine.indexing.folder_watch._SESSION_DEBOUNCE_MS", 20)
    opened(qtbot, real_window, tmp_path / "notes")
    seen.work.clear()
    (tmp_path / "notes" / "two.md").write_text("A tin kettle.\n")
    wait_for(qtbot, real_window, "watch")
    all_pooled(seen, "write", "sync", "embed")
    (tmp_path / "agents" / "main" / "sessions" / "linked.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    wait_for(qtbot, real_window, "session-delta")
    all_pooled(seen, "judge")
    assert plain_threads == []


@pytest.mark.parametrize("real_window", [f"{_QUIET}\ninterval_minutes = 1"], indirect=True)
def test_interval_syncs_run_on_pool(
    qtbot, real_window: MainWindow, seen: Seen, plain_threads: list[str], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr("engine.indexing.sync_scheduler._SECONDS_PER_MINUTE", 0.3)
    real_window.folders.open(tmp_path / "notes")
    qtbot.waitUntil(lambda: real_window.workspace.current is not None and real_window.workspace.status is not None)
    wait_for(qtbot, real_window, "interval")
    all_pooled(seen, "sync")
    assert plain_threads == []


def test_other_workspaces_are_searched_on_pool(
    qtbot, real_window: MainWindow, seen: Seen, plain_threads: list[str], tmp_path: Path, jobs: Jobs
) -> None:
    opened(qtbot, real_window, tmp_path / "boat")
    opened(qtbot, real_window, tmp_path / "notes")
    all_workspaces = real_window.workspace.current.all_workspaces
    seen.work.clear()
    found: list[str] = []
    jobs.read(
        lambda token: all_workspaces.search_everywhere("lamp", cancel=token),
        lambda outcome: found.extend(result.snippet for result in outcome.results),
    )
    qtbot.waitUntil(lambda: len(found) == 2)
    all_pooled(seen, "search")
    assert plain_threads == []


def test_keychain_is_called_on_pool(
    qtbot, seen: Seen, plain_threads: list[str], jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen.watch(monkeypatch, FakeKeychain, "get_password", "key")
    present: list[bool] = []
    with keychain_in_use() as keychain:
        keychain.secrets["mnemoscope", "openai"] = "sk-of-the-test"
        settings = engine.Settings(provider="openai")
        jobs.read(lambda _: engine.key_state("openai", settings).present, present.append)
        qtbot.waitUntil(lambda: present == [True])
    assert seen.work == {("key", "")}
    assert plain_threads == []


@pytest.mark.parametrize("real_window", [f"{_QUIET}\n{_OTHER_LIBRARY}"], indirect=True)
def test_library_is_tried_on_pool(
    qtbot, real_window: MainWindow, seen: Seen, plain_threads: list[str], tmp_path: Path, monkeypatch
) -> None:
    seen.watch(monkeypatch, sqlite_vec_engine, "_load_alone", "trial")
    opened(qtbot, real_window, tmp_path / "notes")
    all_pooled(seen, "trial", "sync", "embed")
    assert plain_threads == []


@pytest.mark.parametrize("seconds", [0.05, 60])
def test_timer_runs_on_pool_or_is_cancelled(qtbot, jobs: Jobs, seconds: float) -> None:
    ran: list[bool] = []
    executor = jobs.executor()
    cancel = executor.later(seconds, lambda: ran.append(threading.current_thread().name.startswith("Dummy-")))
    if seconds < 1:
        qtbot.waitUntil(lambda: ran == [True])
    cancel()
    qtbot.wait(80)
    assert ran == ([True] if seconds < 1 else [])
