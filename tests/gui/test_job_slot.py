import threading

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject

from gui.core.jobs import JobSlot


def test_newer_job_replaces_older_and_owner_cancels_last(qtbot, jobs):
    received: list[str] = []
    released = threading.Event()
    owner = QObject()
    slot = JobSlot(owner, jobs)

    def start(name: str) -> None:
        slot.read(lambda _: released.wait(60), lambda _: received.append(name))

    start("first")
    start("second")
    assert slot.busy
    released.set()
    qtbot.waitUntil(lambda: received == ["second"])
    assert not slot.busy
    released.clear()
    start("third")
    shiboken6.delete(owner)
    released.set()
    assert jobs.shutdown(60_000)
    QCoreApplication.processEvents()
    assert received == ["second"]


def test_slot_is_free_in_callback_and_after_failure(qtbot, jobs):
    slot = JobSlot(owner := QObject(), jobs)
    busy: list[bool] = []
    slot.read(lambda _: None, lambda _: busy.append(slot.busy))
    qtbot.waitUntil(lambda: busy == [False])

    def fail(_: object) -> None:
        raise OSError("no such file")

    for start in (slot.read, slot.write, slot.save):
        start(fail, lambda _: busy.append(True))
        assert slot.busy
        qtbot.waitUntil(lambda: not slot.busy)
    assert busy == [False]
    shiboken6.delete(owner)
