"""One memory is shared by all users that open a workspace with the same settings in one process."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

import engine
from engine.backends import builtin
from engine.backends.opening import ManagerCache
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, IndexReadOnly
from engine.settings import Settings
from engine.settings.search_settings import QuerySettings
from engine.store import user_data
from tests.helpers.background import reasons, wait_until
from tests.helpers.fake_provider import FakeProvider, selection_of


@pytest.fixture
def settings(tmp_path, monkeypatch) -> Settings:
    use = FakeProvider()
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(use))
    return msgspec.structs.replace(
        Settings(), store=msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"))
    )


@pytest.fixture
def made(monkeypatch) -> list[builtin.BuiltinMemory]:
    """Every memory that is created."""
    found: list[builtin.BuiltinMemory] = []

    class Noted(builtin.BuiltinMemory):
        def __init__(self, *args, **options) -> None:
            super().__init__(*args, **options)
            found.append(self)

    monkeypatch.setattr(builtin, "BuiltinMemory", Noted)
    return found


def test_shared_memory_closed_by_each_user(workspace, settings, made):
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    assert len(made) == 1
    first.sync()
    first.close()
    with pytest.raises(Closed):
        first.search("irrigation")
    assert second.search("irrigation").results
    second.close()
    with pytest.raises(Closed):
        made[0].search("irrigation")


def test_closed_memory_opens_no_user_data(workspace, settings, made):
    engine.open_memory(workspace, settings).close()
    with pytest.raises(Closed):
        _ = made[0].saved_searches
    assert not made[0].store.files.user.exists()


def test_user_data_opened_during_close_is_closed(workspace, settings, monkeypatch):
    opening, closing, opened = threading.Event(), threading.Event(), []

    class Slow(user_data.UserData):
        def __init__(self, path: Path) -> None:
            opening.set()
            assert closing.wait(60)
            time.sleep(0.05)  # so that `close` reaches the point where it waits
            super().__init__(path)
            opened.append(self)

        def close(self) -> None:
            opened.remove(self)
            super().close()

    monkeypatch.setattr(user_data, "UserData", Slow)
    memory = engine.open_memory(workspace, settings)
    with ThreadPoolExecutor(1) as pool:
        first_use = pool.submit(lambda: memory.saved_searches)
        assert opening.wait(60)
        closing.set()
        memory.close()
        first_use.result()
    assert not opened
    with pytest.raises(Closed):
        memory.status()


def test_another_spelling_of_the_folder_is_the_same_workspace(workspace, settings, made):
    link = workspace.parent / "link"
    link.symlink_to(workspace)
    with_dots = workspace / "people" / ".."
    memories = [engine.open_memory(path, settings) for path in (workspace, link, with_dots, str(workspace))]
    assert len(made) == 1
    for memory in memories:
        memory.close()


def test_other_settings_are_another_memory(workspace, settings, made):
    one = engine.open_memory(workspace, settings)
    other = engine.open_memory(workspace, msgspec.structs.replace(settings, provider="none"))
    assert len(made) == 2
    one.close()
    other.close()


def test_same_answering_settings_share_memory(workspace, settings, made):
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    changed = msgspec.structs.replace(settings, query=QuerySettings(max_results=1))
    first.apply_query_settings(msgspec.structs.replace(changed, provider="none"))  # it applies only query settings
    third = engine.open_memory(workspace, changed)
    assert len(made) == 1
    third.sync()
    assert [len(memory.search("irrigation").results) for memory in (first, second, third)] == [1, 1, 1]
    fourth = engine.open_memory(workspace, settings)
    assert len(made) == 2
    assert len(fourth.search("irrigation").results) == 2
    for memory in (first, second, third, fourth):
        memory.close()
    with pytest.raises(Closed):
        first.apply_query_settings(changed)
    with pytest.raises(Closed):
        made[0].search("irrigation")


def test_closing_one_of_several_users_leaves_memory_open(workspace, settings, made):
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    first.close()
    third = engine.open_memory(workspace, settings)
    assert len(made) == 2
    assert second.status().backend == third.status().backend == "builtin"
    second.close()
    assert third.status().backend == "builtin"
    third.close()


def test_background_memory_serves_all_not_reverse(workspace, settings, made):
    plain = engine.open_memory(workspace, settings)
    staying = engine.open_memory(workspace, settings, background=True)
    late = engine.open_memory(workspace, settings)
    assert len(made) == 2
    assert not plain.status().watcher.enabled
    assert staying.status().watcher.enabled
    assert late.status().watcher.enabled
    for memory in (plain, staying, late):
        memory.close()


def test_parallel_opens_share_one(workspace, settings, made):
    start = threading.Barrier(8)

    def open_(_: int) -> object:
        start.wait()
        return engine.open_memory(workspace, settings)

    with ThreadPoolExecutor(8) as pool:
        memories = list(pool.map(open_, range(8)))
    assert len(made) == 1
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda memory: memory.close(), memories))
    with pytest.raises(Closed):
        made[0].status()
    engine.open_memory(workspace, settings).close()
    assert len(made) == 2, "the first memory was not reused"


def test_failed_open_raised_for_all_and_retried(workspace, settings):
    tries: list[int] = []
    begun, go_on = threading.Event(), threading.Event()

    def open_(*_: object) -> object:
        tries.append(1)
        begun.set()
        go_on.wait(60)
        raise IndexReadOnly("No.")

    cache = ManagerCache(open_)  # type: ignore[arg-type]
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(cache.lease, workspace, settings, None, False)
        assert begun.wait(60)
        second = pool.submit(cache.lease, workspace, settings, None, False)
        go_on.set()
        for future in (first, second):
            with pytest.raises(IndexReadOnly):
                future.result()
    assert len(tries) == 2
    with pytest.raises(IndexReadOnly):
        cache.lease(workspace, settings, None, False)
    assert len(tries) == 3


def test_double_close_leaves_other_users_open(workspace, settings):
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    first.close()
    first.close()
    assert second.status().backend == "builtin"
    second.close()


def test_listener_removed_with_lease(workspace, settings):
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    received: list[str] = []
    first.add_status_listener(lambda: received.append("first"))
    second.add_status_listener(lambda: received.append("second"))
    first.close()
    second.sync()
    assert set(received) == {"second"}
    second.close()


def test_closing_stops_the_update_that_it_started(workspace, settings, monkeypatch):
    use = FakeProvider()
    under_way, token_seen = threading.Event(), []

    def wait(_texts: object) -> None:
        under_way.set()
        token = second.current_sync()
        assert token is not None
        token_seen.append(token)
        while not token.cancelled:
            threading.Event().wait(0.01)

    use.before = wait
    monkeypatch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(use))
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    with ThreadPoolExecutor(1) as pool:
        syncing = pool.submit(first.sync)
        assert under_way.wait(60)
        first.close()
        assert syncing.result().cancelled
    assert first.current_sync() is None
    use.before = lambda _texts: None
    assert not second.sync().cancelled
    second.close()


def test_executor_is_returned_with_its_lease(workspace, settings):
    own = ThreadPoolExecutor(1)
    used: list[str] = []

    class Counting(Executor):
        def submit(self, fn, /, *args, **options):
            used.append("owner's")
            return own.submit(fn, *args, **options)

    executor = Counting()
    owner = engine.open_memory(workspace, settings, executor=executor)
    other = engine.open_memory(workspace, settings)
    owner.sync()
    assert used
    owner.close()
    own.shutdown()
    used.clear()
    (workspace / "new.md").write_text("# New\n\nA second barrel for the rain.\n", "utf-8")
    report = other.sync()
    assert report.vectors_embedded
    assert not report.error
    assert not used
    other.close()


@pytest.mark.usefixtures("short_minutes")
def test_background_work_outlives_the_executor_it_began_on(workspace, settings):
    sync = msgspec.structs.replace(settings.sync, watch=False, interval_minutes=1)
    settings = msgspec.structs.replace(settings, sync=sync)

    class Timed(ThreadPoolExecutor):
        """An executor whose timers end with it."""

        def later(self, seconds: float, job: object) -> Callable[[], None]:
            return lambda: None

    executor = Timed(1)
    hold = threading.Event()
    executor.submit(hold.wait, 60)
    owner = engine.open_memory(workspace, settings, executor=executor, background=True)
    other = engine.open_memory(workspace, settings, background=True)
    other.warm_session("agent:main:one")  # waits for the only thread
    owner.close()
    executor.shutdown(wait=False, cancel_futures=True)
    hold.set()
    wait_until(lambda: {"session-start", "interval"} <= set(reasons(other)))
    other.close()


def test_cancelled_wait_leaves_other_waiting(workspace, settings):
    first, second = engine.open_memory(workspace, settings), engine.open_memory(workspace, settings)
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        first.search("irrigation", cancel=token)
    assert second.search("irrigation").notice
    first.close()
    second.close()


def test_verb_in_the_window_process_shares_its_memory(workspace: Path, settings):
    window = engine.open_memory(workspace, settings, background=True)
    verb = engine.open_memory(workspace, settings)
    assert verb.sync(reason="cli").files_indexed == 4
    verb.close()
    assert window.search("irrigation").results
    window.close()
