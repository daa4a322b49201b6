"""A process that really crashes, and the report of the next one."""

import subprocess
import sys
from pathlib import Path

from gui.app.crash_dump import CrashDump

ROOT = Path(__file__).resolve().parents[3]
DIE = """
import faulthandler, sys, threading
from pathlib import Path
from gui.app.crash_dump import CrashDump

remains = CrashDump(Path(sys.argv[1]))
print(repr(remains.begin()), flush=True)

def {function}():
    {how}

threading.Thread(target={function}, name="therapy.md").start()
threading.Event().wait(60)
"""
QT_ABORTS = (
    "from PySide6.QtCore import qFatal; from gui.app.qt_setup import install_message_handler; "
    "install_message_handler(); qFatal('therapy.md')"
)


def _run(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=60
    )


def _die(folder: Path, how: str, function: str = "fail") -> subprocess.CompletedProcess[str]:
    return _run(DIE.format(how=how, function=function), folder)


def _next(folder: Path) -> str:
    expected_visible = CrashDump(folder)
    try:
        return expected_visible.begin()
    finally:
        expected_visible.end()


def test_crash_is_reported_once_by_next_run(tmp_path):
    folder = tmp_path / "log"
    done = _die(folder, "faulthandler._sigsegv()")
    assert done.returncode != 0
    assert done.stdout == "''\n"
    text = _next(folder)
    assert text.startswith("Mnemoscope ")
    assert "Fatal Python error: Segmentation fault" in text
    assert "in fail" in text
    assert "python/threading.py:" in text
    assert str(ROOT) not in text
    assert "therapy" not in text
    assert _next(folder) == ""
    assert not list(folder.glob("*.txt"))


def test_qt_fatal_message_leaves_trace_without_content(tmp_path):
    _die(tmp_path, QT_ABORTS)
    text = _next(tmp_path)
    assert "Fatal Python error: Aborted" in text
    assert "therapy" not in text


def test_killed_or_clean_run_leaves_no_report(tmp_path):
    _die(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert _next(tmp_path) == ""
    _die(tmp_path, "remains.end(); import os; os._exit(0)")
    assert list(tmp_path.glob("*.txt")) == []


def test_concurrent_run_writes_its_own_dump_file(tmp_path):
    first = CrashDump(tmp_path)
    first.begin()
    try:
        _die(tmp_path, "faulthandler._sigsegv()")
        assert (tmp_path / "crash-2.txt").exists()
        assert _die(tmp_path, "remains.end(); import os; os._exit(0)").stdout.count("Segmentation fault") == 1
    finally:
        first.end()
    assert _next(tmp_path) == ""


def test_crash_of_concurrent_run_is_reported_after_both_end(tmp_path):
    first = CrashDump(tmp_path)
    first.begin()
    _die(tmp_path, "faulthandler._sigsegv()")
    first.end()
    assert "Segmentation fault" in _next(tmp_path)
    assert _next(tmp_path) == ""


def test_dump_lines_outside_traces_are_redacted(tmp_path):
    (tmp_path / "crash-1.txt").write_text(
        "Mnemoscope 0.1.0\nFatal Python error: Aborted\n\nGrandmother's diagnosis\n"
        'Current thread 0x00007f (most recent call first):\n  File "/home/klaus/therapy.py", line 3 in look at me\n'
    )
    text = _next(tmp_path)
    assert "Aborted" in text
    assert "(elsewhere):3 in …" in text
    assert "diagnosis" not in text
    assert "klaus" not in text


def test_unwritable_log_folder_yields_empty_crash_report(tmp_path):
    (tmp_path / "file").write_text("x")
    assert _next(tmp_path / "file" / "log") == ""
