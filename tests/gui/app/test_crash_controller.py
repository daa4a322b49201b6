"""Errors in slots, threads and jobs show one dialog that can be read, copied and closed."""

import gc
import inspect
import logging
import sys
import threading

import pytest
from PySide6.QtCore import QAbstractListModel, QObject, QTimer, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QHBoxLayout, QListView, QPushButton, QStyledItemDelegate, QWidget

from gui.app.crash_controller import CrashController, CrashDialog, ExceptionHooks
from gui.app.crash_report import failure_of
from gui.style.typography import Resized


class _Sender(QObject):
    sent = Signal()


@pytest.fixture
def catching(qapp):
    made = ExceptionHooks()
    made.begin()
    yield made
    made.end()
    qapp.processEvents()


@pytest.fixture
def controller(qtbot, appearance, catching, tmp_path):
    window = QWidget()
    window.resize(900, 700)
    qtbot.addWidget(window)
    window.show()
    return CrashController(window, catching, lambda: None, tmp_path / "mnemoscope.log")


def _press(dialog: CrashDialog, words: str) -> None:
    next(button for button in dialog.findChildren(QPushButton) if button.text() == words).click()


def _fail(number: int = 0) -> None:
    """Raise an error whose line is `number`, so that reports differ."""
    source = "\n" * number + "raise ValueError('therapy.md')"
    exec(compile(source, "<string>", "exec"), {})


def _dialogs() -> list[CrashDialog]:
    return [widget for widget in QApplication.topLevelWidgets() if isinstance(widget, CrashDialog)]


def test_error_in_slot_opens_dialog(qtbot, controller):
    sender = _Sender()
    sender.sent.connect(_fail)
    sender.sent.emit()
    qtbot.waitUntil(lambda: controller.dialog is not None)
    assert "ValueError in the window, once" in controller.dialog.report
    assert "therapy" not in controller.dialog.report


@pytest.mark.parametrize(
    ("base", "method"),
    [
        *((QWidget, name) for name in ("event", "eventFilter", "heightForWidth", "moveEvent", "resizeEvent")),
        *((QWidget, name) for name in ("showEvent", "sizeHint")),
        (QAbstractListModel, "data"),
        (QStyledItemDelegate, "paint"),
    ],
)
def test_error_in_override_is_reported_not_raised(qtbot, catching, base, method):
    caught = []
    catching.caught.connect(caught.append)

    def fail(*_: object) -> None:
        int("")  # an error that C raises: PySide crashes when it gets one

    def made(of: type[QObject], **methods: object) -> QObject:
        return type("Made", (of,), {**methods, **({method: fail} if of is base else {})})()

    window, child = QWidget(), made(QWidget)
    model = made(QAbstractListModel, rowCount=lambda *_: 1, data=lambda *_: None)
    listed, delegate = QListView(), made(QStyledItemDelegate)
    listed.setModel(model)
    listed.setItemDelegate(delegate)
    policy = child.sizePolicy()
    policy.setHeightForWidth(True)
    child.setSizePolicy(policy)
    qtbot.addWidget(window)
    window.installEventFilter(child)
    row = QHBoxLayout(window)
    row.addWidget(child)
    row.addWidget(listed)
    window.show()
    window.resize(400, 300)
    window.grab()
    QApplication.processEvents()
    window.removeEventFilter(child)
    assert {failure.kind for failure in caught} == {"ValueError"}


def test_qts_own_method_replaces_failed_override(qtbot, catching):
    failing, plain = type("Made", (QPushButton,), {"sizeHint": lambda *_: _fail()})("Text"), QPushButton("Text")
    assert failing.sizeHint() == plain.sizeHint()


def test_method_of_mixin_is_guarded_once(qapp):
    """It would call one guard for each class with the mixin."""
    for _ in range(3):
        type("Made", (Resized, QWidget), {})
    assert inspect.unwrap(Resized.resizeEvent) is Resized.resizeEvent.__wrapped__


def test_errors_in_thread_and_finalizer_open_dialog(qtbot, controller):
    thread = threading.Thread(target=_fail)
    thread.start()
    thread.join()
    qtbot.waitUntil(lambda: controller.dialog is not None)
    assert "in the background" in controller.dialog.report

    class Bad:
        def __del__(self) -> None:
            raise KeyError("therapy")

    bad = Bad()
    del bad
    gc.collect()
    qtbot.waitUntil(lambda: "in a destructor or callback" in controller.dialog.report)


def test_error_in_job_opens_dialog_and_reports_failure(qtbot, controller, catching, jobs):
    jobs.failed.connect(catching.report_job_error)
    received = []
    jobs.read(lambda _: _fail(), lambda _: None, received.append)
    qtbot.waitUntil(lambda: controller.dialog is not None)
    assert "ValueError in the background, once" in controller.dialog.report
    assert received == ["Unexpected error (ValueError); the log has the details."]


def test_expected_job_failure_opens_no_dialog(qtbot, controller, catching, jobs):
    jobs.failed.connect(catching.report_job_error)
    received = []
    jobs.read(lambda _: open("/nowhere/at/all"), lambda _: None, received.append)  # noqa: PTH123, SIM115
    qtbot.waitUntil(lambda: bool(received))
    assert controller.dialog is None


def test_open_dialog_counts_repeats_and_adds_new_errors(qtbot, controller):
    for _ in range(3):
        QTimer.singleShot(0, _fail)
    qtbot.waitUntil(lambda: controller.dialog is not None and "3 times" in controller.dialog.report)
    QTimer.singleShot(0, lambda: _fail(1))
    qtbot.waitUntil(lambda: controller.dialog.report.count("Traceback") == 2)
    assert len(_dialogs()) == 1


def test_dismissed_error_does_not_reopen_dialog(qtbot, controller):
    QTimer.singleShot(0, _fail)
    qtbot.waitUntil(lambda: controller.dialog is not None)
    _press(controller.dialog, "Continue")
    qtbot.waitUntil(lambda: controller.dialog is None)
    for _ in range(5):
        QTimer.singleShot(0, _fail)
    QTimer.singleShot(0, lambda: _fail(2))
    qtbot.waitUntil(lambda: controller.dialog is not None)
    assert "6 times" in controller.dialog.report
    assert "once" in controller.dialog.report


def test_dialogs_per_run_are_limited(qtbot, controller):
    opened = 0
    for number in range(30):
        controller.show_failure(failure_of(*_error(number), "in the window"))
        if controller.dialog is not None:
            opened += 1
            controller.dialog.reject()
            qtbot.waitUntil(lambda: controller.dialog is None)
    assert opened == 5


def _error(number: int):
    try:
        _fail(number)
    except ValueError as error:
        return error, error.__traceback__
    raise AssertionError


def test_repeated_error_logs_traceback_once(qtbot, controller, caplog):
    with caplog.at_level(logging.ERROR):
        for _ in range(25):
            QTimer.singleShot(0, _fail)
        qtbot.waitUntil(lambda: controller.dialog is not None and "25 times" in controller.dialog.report)
    assert [record.exc_info is not None for record in caplog.records] == [True, False]
    assert "10 times by now" in caplog.text


def test_keyboard_interrupt_and_system_exit_propagate(qtbot, controller, catching):
    sys.excepthook(KeyboardInterrupt, KeyboardInterrupt(), None)
    sys.excepthook(SystemExit, SystemExit(), None)
    QTimer.singleShot(0, _fail)
    qtbot.waitUntil(lambda: controller.dialog is not None)
    assert "Keyboard" not in controller.dialog.report
    assert "SystemExit" not in controller.dialog.report


def test_dialog_buttons_copy_open_log_folder_and_restart(qtbot, controller, monkeypatch, tmp_path):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    QTimer.singleShot(0, _fail)
    qtbot.waitUntil(lambda: controller.dialog is not None)
    _press(controller.dialog, "Copy report")
    assert QGuiApplication.clipboard().text() == controller.dialog.report
    _press(controller.dialog, "Open log folder")
    assert opened == [str(tmp_path)]
    with qtbot.waitSignal(controller.restart_requested):
        _press(controller.dialog, "Restart Mnemoscope")
    qtbot.waitUntil(lambda: controller.dialog is None)


def test_earlier_crash_dialog_has_no_restart_button(qtbot, controller):
    controller.report_earlier_crash("Mnemoscope 0.1.0\n\nFatal Python error: Aborted")
    buttons = {button.text(): button.isVisible() for button in controller.dialog.findChildren(QPushButton)}
    assert buttons["Close"]
    assert not buttons["Restart Mnemoscope"]
    assert "Aborted" in controller.dialog.report


def test_end_restores_previous_hooks(qapp):
    before = (sys.excepthook, threading.excepthook, sys.unraisablehook)
    catching = ExceptionHooks()
    catching.begin()
    assert sys.excepthook != before[0]
    catching.end()
    assert (sys.excepthook, threading.excepthook, sys.unraisablehook) == before
