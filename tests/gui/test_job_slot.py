import threading

import shiboken6
from PySide6.QtCore import QCoreApplication, QObject

from gui.core.jobs import JobSlot


def test_newer_job_replaces_older_and_owner_cancels_last(qtbot, jobs):
    received: list[str] = []
    released = threading.Event()
    owner = QObject()
    slot = JobSlot(owner)

    def start(name: str) -> None:
        slot.replace(jobs.read(lambda _: released.wait(60), lambda _: received.append(name)))

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
