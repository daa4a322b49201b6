"""One sync at a time: who joins, who waits, who is told."""

import threading

import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, IndexBusy
from engine.indexing.progress import ProgressMeter
from engine.indexing.sync_gate import Listener, SyncGate
from engine.records import MemorySyncProgressUpdate, SyncReport


def report(reason: str = "manual") -> SyncReport:
    fields: dict[str, object] = dict.fromkeys(SyncReport.__struct_fields__, 0)
    fields |= {"reason": reason, "cancelled": False, "error": "", "full": False, "failed": (), "skipped": ()}
    return SyncReport(**fields)  # type: ignore[arg-type]


class Held:
    """A sync that runs until it is let go or cancelled."""

    def __init__(self) -> None:
        self.started = threading.Event()
        self.go = threading.Event()
        self.runs = 0

    def __call__(self, listener: Listener, token: CancelToken) -> SyncReport:
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


def test_later_callers_join_and_share_the_report() -> None:
    gate, held = SyncGate(), Held()
    first, one = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    second, two = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    while gate.update() is None:
        pass
    held.go.set()
    first.join()
    second.join()
    assert held.runs == 1
    assert one == two
    assert gate.current() is None


def test_a_forced_caller_does_not_settle_for_less() -> None:
    gate, held = SyncGate(), Held()
    first, _ = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    second, _ = in_thread(lambda: gate.run(held, force=True, progress=None, cancel=None))
    held.go.set()
    first.join()
    second.join()
    assert held.runs == 2


def test_a_joining_caller_hears_the_progress() -> None:
    gate, held = SyncGate(), Held()
    heard: list[MemorySyncProgressUpdate] = []
    second_started = threading.Event()

    def start(listener: Listener, token: CancelToken) -> SyncReport:
        held.started.set()
        assert second_started.wait(60)
        return held(listener, token)

    first, _ = in_thread(lambda: gate.run(start, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    second, _ = in_thread(lambda: gate.run(start, force=False, progress=heard.append, cancel=None))
    while len(gate._running.listeners) == 0:
        pass
    second_started.set()
    held.go.set()
    first.join()
    second.join()
    assert [update.phase for update in heard] == ["indexing"]


def test_a_joining_caller_can_leave_without_stopping_the_sync() -> None:
    gate, held = SyncGate(), Held()
    first, one = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    token = CancelToken()
    second, two = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=token))
    token.cancel()
    second.join()
    assert isinstance(two[0], Cancelled)
    assert first.is_alive()
    held.go.set()
    first.join()
    assert isinstance(one[0], SyncReport)


def test_close_cancels_what_runs_and_refuses_what_comes() -> None:
    gate, held = SyncGate(), Held()
    first, _ = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    gate.close(5)
    first.join()
    with pytest.raises(Closed):
        gate.run(held, force=False, progress=None, cancel=None)


def test_who_joined_a_sync_that_broke_down_runs_its_own() -> None:
    gate, started, go = SyncGate(), threading.Event(), threading.Event()

    def break_down(listener: Listener, token: CancelToken) -> SyncReport:
        started.set()
        assert go.wait(60)
        raise RuntimeError("a defect")

    first, one = in_thread(lambda: gate.run(break_down, force=False, progress=None, cancel=None))
    assert started.wait(60)
    held = Held()
    held.go.set()
    heard: list[MemorySyncProgressUpdate] = []
    second, two = in_thread(lambda: gate.run(held, force=False, progress=heard.append, cancel=None))
    while not gate._running.listeners:
        pass
    go.set()
    first.join()
    second.join()
    assert isinstance(one[0], RuntimeError)
    assert isinstance(two[0], SyncReport)
    assert len(heard) == 1


def test_who_left_a_sync_hears_no_more_of_it() -> None:
    gate, held = SyncGate(), Held()
    first, _ = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    token = CancelToken()
    second, _ = in_thread(lambda: gate.run(held, force=False, progress=lambda update: None, cancel=token))
    token.cancel()
    second.join()
    assert gate._running.listeners == []
    held.go.set()
    first.join()


def test_work_that_wants_to_be_alone_is_refused_during_a_sync_and_holds_up_the_next() -> None:
    gate, held = SyncGate(), Held()
    first, _ = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
    assert held.started.wait(60)
    with pytest.raises(IndexBusy), gate.alone():
        pytest.fail("A sync is running")
    held.go.set()
    first.join()
    with gate.alone():
        second, outcome = in_thread(lambda: gate.run(held, force=False, progress=None, cancel=None))
        second.join(0.05)
        assert held.runs == 1
    second.join()
    assert held.runs == 2
    assert outcome
