import gc
import logging
import os
import sys
import threading

import pytest

from tests.helpers import leaks


@pytest.fixture(autouse=True)
def short_grace(monkeypatch):
    monkeypatch.setattr(leaks, "GRACE_SECONDS", 0.02)


def test_leaked_thread_is_reported():
    before = leaks.living_threads()
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait, name="forgotten")
    thread.start()
    try:
        assert leaks.leaked_threads(before) == ["thread 'forgotten' runs on"]
    finally:
        gate.set()
        thread.join()
    assert leaks.leaked_threads(before) == []


@pytest.fixture
def watch(qapp, monkeypatch):
    from PySide6.QtCore import QThread, QThreadPool, QTimer

    for kind in (QTimer, QThread, QThreadPool):
        monkeypatch.setattr(kind, "__init__", kind.__init__)  # so that the end of the test undoes `install`
    watch = leaks.QtWatch()
    watch.install()
    return watch


def test_running_timer_is_reported_once_with_its_origin(watch):
    from PySide6.QtCore import QTimer

    timer = QTimer(objectName="pulse", interval=60_000)
    assert watch.leaks() == []
    timer.start()
    (leak,) = watch.leaks()
    timer.stop()
    assert leak.startswith("QTimer 'pulse' of 60000 ms runs on, made at tests/helpers/test_leaks.py:")
    assert watch.leaks() == []


def test_timer_of_closed_widget_is_not_a_leak(watch, qtbot):
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QWidget

    widget = QWidget()
    QTimer(widget).start(60_000)
    widget.deleteLater()
    assert watch.leaks() == []


def test_running_job_is_reported(watch):
    from PySide6.QtCore import QThreadPool

    gate = threading.Event()
    pool = QThreadPool()
    pool.start(gate.wait)
    try:
        (leak,) = watch.leaks()
    finally:
        gate.set()
        pool.waitForDone()
    assert leak.startswith("QThreadPool has 1 jobs running, made at tests/helpers/test_leaks.py:")


def test_changed_settings_are_reported_with_both_values(monkeypatch, tmp_path):
    before = leaks.process_settings()
    assert leaks.changed_settings(before) == []
    umask, thresholds = os.umask(0o027), gc.get_threshold()
    try:
        gc.set_threshold(thresholds[0] + 1, *thresholds[1:])
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "excepthook", print)
        monkeypatch.setattr(logging.root, "level", 5)
        changed = leaks.changed_settings(before)
    finally:
        gc.set_threshold(*thresholds)
        os.umask(umask)
        monkeypatch.undo()
    names = [text.partition(":")[0] for text in changed]
    assert names == ["garbage collection", "current folder", "exception hooks", "umask", "log"]
    assert f"became {tmp_path}" in changed[1]
    assert leaks.changed_settings(before) == []
