import sys
import threading
import weakref
from concurrent.futures import wait

import pytest
from PySide6.QtCore import QCoreApplication, QThread, QThreadPool, QTimer
from PySide6.QtWidgets import QApplication

from engine import CancelToken, PathRefused
from gui.core.jobs import Job, Jobs


def test_result_arrives_on_gui_thread(qtbot, jobs):
    threads: list[object] = []

    def work(_: CancelToken) -> int:
        threads.append(QThread.currentThread())
        return 7

    def done(answer: int) -> None:
        threads.append(QThread.currentThread())
        threads.append(answer)

    jobs.read(work, done)
    qtbot.waitUntil(lambda: len(threads) == 3)
    assert threads[0] is not threads[1]
    assert threads[1] is QThread.currentThread()
    assert threads[2] == 7


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (PathRefused(), "This path is not part of the index."),
        (FileNotFoundError(2, "No such file or directory", "a.md"), "No such file or directory: a.md."),
        (PermissionError("Denied"), "Denied."),
        (KeyError("x"), "Unexpected error (KeyError); the log has the details."),
        (SystemExit(3), "Unexpected error (SystemExit); the log has the details."),
    ],
)
def test_error_becomes_one_sentence(qtbot, jobs, error, sentence):
    reported: list[str] = []

    def work(_: CancelToken) -> None:
        raise error

    jobs.write(work, reported.append, reported.append)
    qtbot.waitUntil(lambda: bool(reported))
    assert reported == [sentence]


def test_first_result_pauses_the_job_until_it_is_resumed(qtbot, jobs):
    reported: list[object] = []
    threads: list[QThread] = []

    def on_first(result: object) -> None:
        threads.append(QThread.currentThread())
        reported.append(result)

    def work(_: CancelToken, pass_on) -> str:
        pass_on("first")
        reported.append("resumed")
        return "last"

    job = jobs.read_twice(work, on_first, reported.append)
    qtbot.waitUntil(lambda: reported == ["first"])
    qtbot.wait(20)
    assert (reported, threads) == (["first"], [QThread.currentThread()])
    job.token.resume()
    qtbot.waitUntil(lambda: reported == ["first", "resumed", "last"])


def test_job_cancelled_at_its_first_result_ends(qtbot, jobs):
    reported: list[object] = []
    ended = threading.Event()

    def work(_: CancelToken, pass_on) -> None:
        try:
            pass_on("first")
        finally:
            ended.set()

    job = jobs.read_twice(work, reported.append, reported.append, reported.append)
    qtbot.waitUntil(lambda: reported == ["first"])
    job.cancel()
    assert ended.wait(60)
    assert jobs.shutdown(60_000)
    QCoreApplication.processEvents()
    assert reported == ["first"]


def test_cancelled_job_never_reports(qtbot, jobs):
    reported: list[object] = []
    entered, leave = threading.Event(), threading.Event()

    def work(_: CancelToken) -> None:
        entered.set()
        leave.wait(60)

    job = jobs.read(work, reported.append, reported.append)
    assert entered.wait(60)
    job.cancel()
    leave.set()
    jobs.read(lambda _: "after", reported.append)
    qtbot.waitUntil(lambda: "after" in reported)
    assert reported == ["after"]


def test_job_cancelled_before_start_does_not_run(qtbot, jobs):
    ran: list[str] = []
    gate = threading.Event()
    entered = [threading.Event() for _ in range(3)]

    def hold(which: int) -> None:
        entered[which].set()
        gate.wait(60)

    for number in range(3):  # fills the readers' pool
        jobs.read(lambda _, number=number: hold(number), lambda _: None)
    assert all(event.wait(60) for event in entered)
    late = jobs.read(lambda _: ran.append("late"), ran.append)
    late.cancel()
    gate.set()
    jobs.read(lambda _: "last", ran.append)
    qtbot.waitUntil(lambda: "last" in ran)
    assert ran == ["last"]


def test_readers_do_not_wait_for_writers(qtbot, jobs):
    gate = threading.Event()
    reported: list[str] = []
    for _ in range(4):
        jobs.write(lambda _: gate.wait(60), lambda _: None)
    jobs.read(lambda _: "read", reported.append)
    qtbot.waitUntil(lambda: reported == ["read"])
    gate.set()


def test_shutdown_cancels_jobs_runs_last_and_waits(qapp):
    jobs = Jobs()
    entered, ended = threading.Event(), threading.Event()
    order: list[str] = []

    def work(token: CancelToken) -> None:
        stopped = threading.Event()
        token.on_cancel(stopped.set)
        entered.set()
        stopped.wait(60)
        order.append("stopped")
        ended.set()

    jobs.write(work, order.append)
    assert entered.wait(60)
    assert jobs.shutdown(60_000, last=lambda: order.append("last"))
    assert sorted(order) == ["last", "stopped"]
    assert ended.is_set()


def test_shutdown_completes_saves_that_wait_for_a_thread(qapp):
    jobs = Jobs()
    done: list[str] = []
    stopped = threading.Event()

    def work(token: CancelToken) -> None:
        token.on_cancel(stopped.set)
        stopped.wait(60)

    for _ in range(4):
        jobs.write(work, lambda _: done.append("reported"))
    jobs.write(lambda _: done.append("written"), done.append)
    jobs.save(lambda token: done.append(f"saved, cancelled: {token.cancelled}"), done.append)
    assert jobs.shutdown(60_000)
    QApplication.processEvents()
    assert done == ["saved, cancelled: False"]


def test_shutdown_reports_job_that_does_not_stop(qapp):
    jobs = Jobs()
    entered, gate = threading.Event(), threading.Event()

    def work(_: CancelToken) -> None:
        entered.set()
        gate.wait(60)

    jobs.read(work, lambda _: None)
    assert entered.wait(60)
    assert not jobs.shutdown(20)
    gate.set()
    assert jobs.shutdown(60_000)


def test_timed_function_that_exits_frees_its_thread(qtbot, jobs, monkeypatch):
    errors: list[str] = []
    monkeypatch.setattr("sys.excepthook", lambda _kind, error, _trace: errors.append(repr(error)))
    jobs.executor().later(0, lambda: sys.exit(3))
    qtbot.waitUntil(lambda: bool(errors))
    assert errors == ["RuntimeError('SystemExit')"]
    assert jobs.shutdown(60_000)


def test_executor_runs_on_pool(jobs):
    executor = jobs.executor()
    good = executor.submit(pow, 2, 5)
    bad = executor.submit(int, "x")
    wait([good, bad], timeout=60)
    assert good.result() == 32
    assert isinstance(bad.exception(), ValueError)
    assert list(executor.map(abs, [-1, -2])) == [1, 2]


def test_finished_job_holds_no_references(qtbot, jobs):
    class Held:
        pass

    held = [Held(), Held(), Held()]
    alive = [weakref.ref(one) for one in held]
    done: list[object] = []

    def start() -> Job:
        work, reported, failed = held
        return jobs.read(
            lambda _, kept=work: kept is None, lambda _, kept=reported: done.append(1), lambda _, kept=failed: None
        )

    job = start()
    held.clear()
    qtbot.waitUntil(lambda: bool(done))
    assert [reference() for reference in alive] == [None, None, None]
    assert not job.token.cancelled


def test_finished_jobs_are_freed(qtbot, jobs):
    reported: list[int] = []
    alive = []
    for number in range(100):
        alive.append(weakref.ref(jobs.read(lambda _, number=number: number, reported.append)))
        qtbot.waitUntil(lambda: len(reported) == len(alive))
    jobs.shutdown(60_000)
    assert not any(reference() for reference in alive)


def _read_to_the_queue(jobs: Jobs, on_done) -> Job:
    """Run a job whose report reaches the queue when the event loop turns."""
    job = jobs.read(lambda _: None, on_done)
    assert all(pool.waitForDone(60_000) for pool in jobs.findChildren(QThreadPool))
    return job


def test_each_report_has_its_own_event_loop_turn(qtbot, jobs):
    reported: list[str] = []
    turns = QTimer(jobs, interval=0)
    turns.timeout.connect(lambda: reported.append("turn"))
    for _ in range(2):
        _read_to_the_queue(jobs, lambda _: reported.append("report"))
    turns.start()
    qtbot.waitUntil(lambda: reported.count("report") == 2)
    turns.stop()
    first, second = (index for index, what in enumerate(reported) if what == "report")
    assert "turn" in reported[first:second]


def test_jobs_cancelled_in_the_queue_take_no_turns(qtbot, jobs):
    reported: list[str] = []
    turns = QTimer(jobs, interval=0)
    turns.timeout.connect(lambda: reported.append("turn"))
    cancelled: list[Job] = []

    def cancel_the_others(_: object) -> None:
        for job in cancelled:
            job.cancel()
        turns.start()

    _read_to_the_queue(jobs, cancel_the_others)
    cancelled += [_read_to_the_queue(jobs, lambda _: reported.append("cancelled")) for _ in range(20)]
    _read_to_the_queue(jobs, lambda _: reported.append("report"))
    qtbot.waitUntil(lambda: "report" in reported)
    turns.stop()
    assert "cancelled" not in reported
    assert reported.index("report") <= 4


def test_shutdown_frees_objects_of_queued_reports(qtbot, qapp):
    class Held:
        pass

    jobs, held, reported = Jobs(), Held(), []
    alive = weakref.ref(held)
    _read_to_the_queue(jobs, lambda _: reported.append(jobs.shutdown(60_000)))
    _read_to_the_queue(jobs, lambda _, kept=held: reported.append(kept))
    del held
    qtbot.waitUntil(lambda: bool(reported))
    assert reported == [True]
    assert alive() is None
