import threading

import pytest
from msgspec.structs import replace
from PySide6.QtCore import QThread, QTimer

from gui.core.status_feed import StatusFeed
from tests.helpers.fake_memory import FakeMemory


def test_status_change_on_any_thread_arrives_on_gui_thread(qtbot, jobs, memory):
    feed = StatusFeed(jobs)
    received: list[tuple[int, bool]] = []
    home = QThread.currentThread()
    feed.status_changed.connect(lambda status: received.append((status.files, QThread.currentThread() is home)))
    feed.set_manager(memory)
    qtbot.waitUntil(lambda: len(received) == 1)
    thread = threading.Thread(target=lambda: memory.set_status(files=77))
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: received[-1] == (77, True))
    feed.set_manager(memory)
    feed.deleteLater()


def test_burst_of_changes_is_read_few_times_up_to_last(qtbot, jobs, memory, monkeypatch):
    reads: list[int] = []
    plain = memory.status
    monkeypatch.setattr(memory, "status", lambda: (reads.append(1), plain())[1])
    feed = StatusFeed(jobs)
    feed.set_manager(memory)
    for number in range(2000):
        memory.set_status(files=number)
    qtbot.waitUntil(lambda: feed.latest is not None and feed.latest.files == 1999)
    assert len(reads) <= 5
    feed.deleteLater()


def test_end_of_another_writer_is_noticed_without_a_change(qtbot, jobs, memory, monkeypatch):
    feed = StatusFeed(jobs)
    for timer in feed.findChildren(QTimer):
        timer.setInterval(10)
    feed.set_manager(memory)
    memory.set_status(writer_elsewhere=True)
    qtbot.waitUntil(lambda: feed.latest is not None and feed.latest.writer_elsewhere)
    plain = memory.status
    monkeypatch.setattr(memory, "status", lambda: replace(plain(), writer_elsewhere=False))
    qtbot.waitUntil(lambda: not feed.latest.writer_elsewhere)
    monkeypatch.setattr(memory, "status", pytest.fail)
    qtbot.wait(50)
    feed.set_manager(None)
    feed.deleteLater()


def test_previous_manager_no_longer_notifies(qtbot, jobs, memory):
    other = FakeMemory()
    feed = StatusFeed(jobs)
    received: list[object] = []
    feed.status_changed.connect(received.append)
    feed.set_manager(memory)
    feed.set_manager(other)
    other.set_status(files=5)
    memory.set_status(files=99)
    qtbot.waitUntil(lambda: feed.latest is not None and feed.latest.files == 5)
    feed.set_manager(None)
    assert received[-1] is None
    assert all(status is None or status.files != 99 for status in received)
    other.set_status(files=6)
    assert feed.latest is None
    other.close()
    feed.deleteLater()


def test_closed_memory_is_not_an_error(qtbot, jobs, memory, monkeypatch):
    from engine import Closed

    def closed() -> None:
        raise Closed

    monkeypatch.setattr(memory, "status", closed)
    feed = StatusFeed(jobs)
    feed.set_manager(memory)
    jobs.read(lambda _: None, lambda _: None)
    feed.refresh()
    assert feed.latest is None
    feed.deleteLater()
