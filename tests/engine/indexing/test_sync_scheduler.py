"""One sync at a time: later callers join or wait. Scheduled syncs queue, and end when the service is closed."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, DiskFull, IndexBusy
from engine.indexing.folder_watch import FolderWatch
from engine.indexing.sync_progress import ProgressMeter
from engine.indexing.sync_scheduler import BackgroundSync, IndexingService, ProgressListener
from engine.memory.executor import BackgroundExecutor
from engine.records import MemorySyncProgressUpdate, SyncReason, SyncReport
from engine.settings import Settings
from engine.store.user_data import UserData


def report(reason: str = "manual") -> SyncReport:
    fields: dict[str, object] = dict.fromkeys(SyncReport.__struct_fields__, 0)
    fields |= {"reason": reason, "cancelled": False, "error": "", "full": False, "failed": (), "skipped": ()}
    return SyncReport(**fields)  # type: ignore[arg-type]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[IndexingService]:
    user = UserData(tmp_path / "user.sqlite")
    service = IndexingService(user, lambda: None)
    yield service
    service.close()
    user.close()


class Held:
    """A sync that runs until it is released or cancelled."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.runs = 0

    def __call__(self, listener: ProgressListener, token: CancelToken) -> SyncReport:
        self.runs += 1
        self.started.set()
        ProgressMeter("manual", listener).start("indexing", 5)
        while not self.go.wait(0.005):
            if token.cancelled:
                break
        return report()


def in_thread(call) -> tuple[threading.Thread, list[object]]:
    outcome: list[object] = []

    def run() -> None:
        try:
            outcome.append(call())
        except Exception as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, outcome


def wait_for_listener(service: IndexingService) -> None:
    """Wait until another caller has joined the running sync, with a listener."""
    while not service._running.listeners:
        time.sleep(0.005)


def test_later_callers_join_and_share_the_report(service: IndexingService) -> None:
    held = Held()
    first, one = in_thread(lambda: service.run(held))
    assert held.started.wait(60)
    second, two = in_thread(lambda: service.run(held, progress=lambda _: None))
    wait_for_listener(service)
    held.go.set()
    first.join()
    second.join()
    assert held.runs == 1
    assert one == two
    assert service.current() is None


def test_forced_caller_gets_its_own_sync(service: IndexingService) -> None:
    held = Held()
    first, _ = in_thread(lambda: service.run(held))
    assert held.started.wait(60)
    second, _ = in_thread(lambda: service.run(held, force=True))
    held.go.set()
    first.join()
    second.join()
    assert held.runs == 2


class _Watch:
    """Emits the events that the test passes, like the watch of folders."""

    def __init__(self) -> None:
        self.pending: list[frozenset[str]] = []

    def start(self, changed, request) -> None:
        self.changed = changed

    def skip_debounce(self) -> bool:
        found = bool(self.pending)
        while self.pending:
            self.changed(self.pending.pop())
        return found

    def close(self) -> None:
        pass


@pytest.fixture
def synced() -> "Runs":
    """The syncs that were requested."""
    return Runs()


@pytest.fixture
def watched(service: IndexingService, synced: "Runs") -> Iterator[_Watch]:
    threads, watch = BackgroundExecutor(None), _Watch()
    options = msgspec.structs.replace(Settings().sync, watch=False, interval_minutes=0)
    service.start_background(BackgroundSync(synced, options, threads, lambda: None, watch))  # type: ignore[arg-type]
    yield watch
    service.close()
    threads.close()


def test_changed_transcripts_are_known_unless_more_changed(service: IndexingService, watched: _Watch) -> None:
    taken: list[frozenset[str] | None] = []

    def work(_listener: ProgressListener, _token: CancelToken) -> SyncReport:
        taken.append(service.take_transcripts())
        return report()

    def fail(_listener: ProgressListener, _token: CancelToken) -> SyncReport:
        raise DiskFull

    service.run(work)  # after the start any file may have changed
    service.run(work)
    watched.changed(frozenset({"/a"}))
    watched.changed(frozenset({"/b"}))
    service.run(work)
    watched.changed(frozenset({"/a"}))
    watched.changed(None)
    service.run(work)
    watched.changed(frozenset({"/a"}))
    with pytest.raises(DiskFull):
        service.run(fail)
    watched.changed(frozenset({"/a"}))
    service.run(work)
    assert taken == [None, None, {"/a", "/b"}, None, None]


def test_little_changes_are_synced_later(
    service: IndexingService, watched: _Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays: list[float] = []
    monkeypatch.setattr(service, "request_later", delays.append)
    watched.changed(frozenset({"/a"}))
    assert delays == [30]


def test_later_sync_reads_only_reported_sessions(service: IndexingService, watched: _Watch, synced: "Runs") -> None:
    service.run(lambda _listener, _token: report())
    watched.changed(frozenset({"/a"}))
    service.request_later(0)
    assert synced.wait_for(1) == ["session-delta"]


def test_new_query_syncs_changes_that_are_not_reported_yet(
    service: IndexingService, watched: _Watch, synced: "Runs"
) -> None:
    service.run(lambda _listener, _token: report())  # after the start any file may have changed
    service.searched("pump")
    watched.pending.append(frozenset({"/a"}))
    service.searched("pump")  # the window repeats its query
    assert (watched.pending, service.dirty) == ([frozenset({"/a"})], False)
    service.searched("valve")
    assert (watched.pending, service.dirty) == ([], True)
    assert synced.wait_for(1) == ["search"]


def test_sync_of_some_transcripts_is_not_joined(service: IndexingService, watched: _Watch) -> None:
    held = Held()

    def partial(listener: ProgressListener, token: CancelToken) -> SyncReport:
        service.take_transcripts()
        return held(listener, token)

    service.run(lambda *_: report())
    watched.changed(frozenset({"/a"}))
    first, _ = in_thread(lambda: service.run(partial))
    assert held.started.wait(60)
    second, _ = in_thread(lambda: service.run(held))
    held.go.set()
    first.join()
    second.join()
    assert held.runs == 2


def test_time_left_is_predicted_after_some_seconds(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr("engine.indexing.sync_progress.time.monotonic", lambda: now[0])
    received: list[MemorySyncProgressUpdate] = []
    meter = ProgressMeter("manual", received.append)
    meter.start("indexing", 50_000)
    for seconds, files in ((60.0, 10), (61.0, 1_010), (63.0, 3_010)):  # the first one waited for a model
        now[0] = seconds
        meter.step(files, "a.md")
    assert [update.rate for update in received] == [0, 0, 1000, 1000]
    assert [update.seconds_left for update in received] == [None, None, None, 46.99]


def test_time_left_is_steady_over_large_files(monkeypatch) -> None:
    now = [0.0]
    monkeypatch.setattr("engine.indexing.sync_progress.time.monotonic", lambda: now[0])
    received: list[MemorySyncProgressUpdate] = []
    meter = ProgressMeter("manual", received.append)
    meter.start("indexing", 3_000)
    for second in range(60):
        now[0] = float(second)
        meter.step(min(20 * second, 1_000) + second // 5, "a.md")  # after 50 seconds, one file in 5 seconds
    before, after = (update.seconds_left or 0 for update in (received[50], received[-1]))
    assert 0 < after < 1.5 * before
    assert received[-1].rate < 1


def test_joining_caller_receives_progress(service: IndexingService) -> None:
    held = Held()
    received: list[MemorySyncProgressUpdate] = []
    second_started = threading.Event()

    def start(listener: ProgressListener, token: CancelToken) -> SyncReport:
        held.started.set()
        assert second_started.wait(60)
        return held(listener, token)

    first, _ = in_thread(lambda: service.run(start))
    assert held.started.wait(60)
    second, _ = in_thread(lambda: service.run(start, progress=received.append))
    wait_for_listener(service)
    second_started.set()
    held.go.set()
    first.join()
    second.join()
    assert [update.phase for update in received] == ["indexing"]


def test_a_joining_caller_can_leave_without_stopping_the_sync(service: IndexingService) -> None:
    held = Held()
    first, one = in_thread(lambda: service.run(held))
    assert held.started.wait(60)
    token = CancelToken()
    second, two = in_thread(lambda: service.run(held, cancel=token))
    token.cancel()
    second.join()
    assert isinstance(two[0], Cancelled)
    assert first.is_alive()
    held.go.set()
    first.join()
    assert isinstance(one[0], SyncReport)


def test_close_cancels_running_refuses_new(service: IndexingService) -> None:
    held = Held()
    first, _ = in_thread(lambda: service.run(held))
    assert held.started.wait(60)
    service.close()
    first.join()
    with pytest.raises(Closed):
        service.run(held)


def test_caller_runs_own_sync_after_the_joined_one_fails(service: IndexingService) -> None:
    started, go = threading.Event(), threading.Event()

    def break_down(listener: ProgressListener, token: CancelToken) -> SyncReport:
        started.set()
        assert go.wait(60)
        raise RuntimeError("a defect")

    first, one = in_thread(lambda: service.run(break_down))
    assert started.wait(60)
    held = Held()
    held.go.set()
    received: list[MemorySyncProgressUpdate] = []
    second, two = in_thread(lambda: service.run(held, progress=received.append))
    wait_for_listener(service)
    go.set()
    first.join()
    second.join()
    assert isinstance(one[0], RuntimeError)
    assert isinstance(two[0], SyncReport)
    assert len(received) == 1


def test_left_sync_sends_no_progress(service: IndexingService) -> None:
    held, started, go = Held(), threading.Event(), threading.Event()
    held.go.set()

    def tell_late(listener: ProgressListener, token: CancelToken) -> SyncReport:
        started.set()
        assert go.wait(60)
        return held(listener, token)

    first, _ = in_thread(lambda: service.run(tell_late))
    assert started.wait(60)
    token, updates = CancelToken(), list[MemorySyncProgressUpdate]()
    second, _ = in_thread(lambda: service.run(held, progress=updates.append, cancel=token))
    token.cancel()
    second.join()
    go.set()
    first.join()
    assert held.runs == 1
    assert updates == []


def test_exclusive_refused_during_sync_and_blocks_next(service: IndexingService) -> None:
    held = Held()
    first, _ = in_thread(lambda: service.run(held))
    assert held.started.wait(60)
    with pytest.raises(IndexBusy), service.exclusive():
        pytest.fail("A sync is running")
    held.go.set()
    first.join()
    with service.exclusive():
        second, outcome = in_thread(lambda: service.run(held))
        second.join(0.05)
        assert held.runs == 1
    second.join()
    assert held.runs == 2
    assert outcome


def test_close_from_a_progress_listener_does_not_wait(service: IndexingService) -> None:
    held = Held()
    held.go.set()
    before = time.monotonic()
    done = service.run(held, progress=lambda update: service.close())
    assert isinstance(done, SyncReport)
    assert time.monotonic() - before < 4


class Runs:
    def __init__(self) -> None:
        self.reasons: list[SyncReason] = []
        self.changed = threading.Condition()
        self.go = threading.Event()
        self.go.set()

    def __call__(self, reason: SyncReason) -> SyncReport:
        with self.changed:
            self.reasons.append(reason)
            self.changed.notify_all()
        assert self.go.wait(60)
        return report(reason)

    def wait_for(self, count: int) -> list[SyncReason]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.reasons) >= count, 60)
            return list(self.reasons)


Background = Callable[..., None]


@pytest.fixture
def background(service: IndexingService, tmp_path: Path) -> Iterator[Background]:
    """Starts background syncs without a watcher."""
    threads = BackgroundExecutor(None)

    def start(sync: Callable[[SyncReason], SyncReport], *, interval_seconds: float = 0) -> None:
        options = msgspec.structs.replace(Settings().sync, watch=False, interval_minutes=interval_seconds / 60)
        watch = FolderWatch(tmp_path, msgspec.structs.replace(Settings(), sync=options), dict, threads.start)
        service.start_background(BackgroundSync(sync, options, threads, lambda: None, watch))

    yield start
    service.close()
    threads.close()


def test_repeated_request_runs_once(service: IndexingService, background: Background) -> None:
    runs = Runs()
    runs.go.clear()
    background(runs)
    service.request("watch")
    runs.wait_for(1)
    for _ in range(3):
        service.request("search")
        service.request("watch")
    runs.go.set()
    assert runs.wait_for(3) == ["watch", "search", "watch"]
    service.close()
    assert len(runs.reasons) == 3


def test_search_does_not_continue_a_cancelled_sync(service: IndexingService, background: Background) -> None:
    runs = Runs()
    background(runs)
    service.run(lambda _listener, _token: msgspec.structs.replace(report(), cancelled=True))
    service.searched("pump")
    service.request("search")  # queued before the sync was cancelled
    service.request("watch")
    assert service.dirty
    assert runs.wait_for(1) == ["watch"]
    service.record_change(frozenset({"/a"}))
    service.searched("pump")
    assert runs.wait_for(2) == ["watch", "search"]


def test_interval_sync_looks_at_all_files(service: IndexingService, background: Background) -> None:
    """A watcher may have missed a change of another file than the session that it has reported."""
    runs = Runs()
    background(runs, interval_seconds=0.01)
    service.run(lambda _listener, _token: report())
    service.record_change(frozenset({"/a"}))
    assert runs.wait_for(3)[-1] == "interval"


def test_interval_syncs_repeat(service: IndexingService, background: Background) -> None:
    runs = Runs()
    background(runs, interval_seconds=0.01)
    assert set(runs.wait_for(3)) == {"interval"}
    service.close()


def test_a_failing_sync_does_not_end_the_thread(service: IndexingService, background: Background) -> None:
    runs = Runs()

    def fail_first(reason: SyncReason) -> SyncReport:
        runs(reason)
        if len(runs.reasons) == 1:
            raise DiskFull("The disk is full.")
        if len(runs.reasons) == 2:
            raise ValueError
        return report(reason)

    background(fail_first)
    for count in (1, 2, 3):
        service.request("watch")
        runs.wait_for(count)
    service.close()


def test_nothing_runs_after_close(service: IndexingService, background: Background) -> None:
    runs = Runs()
    background(runs)
    service.close()
    service.request("watch")
    assert runs.reasons == []


def test_sync_requested_later_runs_once(service: IndexingService, background: Background) -> None:
    runs = Runs()
    background(runs)
    service.request_later(0.01)
    service.request_later(600)
    assert runs.wait_for(1) == ["interval"]
    service.close()
    assert runs.reasons == ["interval"]


def test_requested_sync_replaces_scheduled_one(service: IndexingService, background: Background) -> None:
    runs = Runs()
    background(runs)
    service.request_later(600)
    service.request("watch")
    assert runs.wait_for(1) == ["watch"]
    service.request_later(0.01)  # the earlier request for 600 s doesn't delay it
    assert runs.wait_for(2) == ["watch", "interval"]
    service.close()


def test_catching_up_ends_if_the_running_sync_fails(service: IndexingService, background: Background) -> None:
    begun, let_fail = threading.Event(), threading.Event()

    def fail(_listener: ProgressListener, _token: CancelToken) -> SyncReport:
        begun.set()
        let_fail.wait(60)
        raise DiskFull

    background(lambda _: service.run(fail))
    thread, _ = in_thread(lambda: service.catch_up(3600))
    assert begun.wait(60)
    time.sleep(0.1)  # the thread waits for the sync by now
    let_fail.set()
    thread.join(60)
    assert not thread.is_alive()
