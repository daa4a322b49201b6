import json
import os
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine.base.errors import IndexBusy
from engine.cli.output import LiveLine, ProgressLine, clock, progress_text
from engine.corpus.discovery import SkipSummary
from engine.records import FileIssue, SyncReport
from engine.settings.saving import save_setting
from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_progress
from tests.helpers.processes import ended_process


def changed_report(memory: FakeMemory, monkeypatch: pytest.MonkeyPatch, **changes: object) -> None:
    real = memory.sync

    def sync(**options) -> SyncReport:
        return msgspec.structs.replace(real(**options), **changes)

    monkeypatch.setattr(memory, "sync", sync)


def test_a_sync_is_reported(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    changed_report(memory, monkeypatch, seconds=1.23, vectors_reused=2, files_removed=1)
    answer = run("index", "--force")
    assert memory.syncs == [("cli", True)]
    assert answer.code == 0
    assert answer.out.splitlines()[:2] == [
        "Indexed 4 files (7 passages) in 1.2 s; 0 unchanged, 1 removed. All files were read again.",
        "Vectors: 7 new, 2 reused, 0 pending.",
    ]
    assert answer.err == ""


def test_index_removes_leftovers_of_a_kill(run: Run, folder: Path) -> None:
    (folder / "memory").mkdir()
    left = [home / f".x.md.mnemoscope-{ended_process()}-0123abcd.tmp" for home in (folder, folder / "memory")]
    for path in left:
        path.write_text("half a no")
    assert run("index").code == 0
    assert not any(path.exists() for path in left)


def test_not_watching_has_reason_line(run: Run, memory: FakeMemory) -> None:
    label = "Waiting: another program is writing this index"
    waiting = make_progress(phase="waiting", label=label, total=0, rate=0, seconds_left=None, current_file="")
    memory.script = (waiting, waiting, make_progress(phase="indexing"))
    assert run("index").err == "Waiting: another program is writing this index.\n"
    assert progress_text(waiting, 61) == "Waiting: another program is writing this index · elapsed 1:01"


def test_index_json_prints_report_as_last_line(run: Run) -> None:
    report = json.loads(run("index", "--json").out.splitlines()[-1])
    assert report["filesIndexed"] == 4
    assert report["reason"] == "cli"


def test_files_left_out_are_listed_with_their_reason(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    skipped = tuple(FileIssue(path=f"{n}.md", rule="symlink", detail="A link.") for n in range(25))
    failed = (FileIssue(path="bad\n.md", rule="not-utf8", detail="Byte 7."),)
    changed_report(memory, monkeypatch, skipped=skipped, failed=failed)
    lines = run("index").out.splitlines()
    assert "Could not be read:" in lines
    assert "  not-utf8  bad\ufffd.md  Byte 7." in lines
    assert "Skipped:" in lines
    assert lines[-1] == "  and 5 more; --json lists all"


def test_skipped_file_types_share_one_line(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    summary = SkipSummary((".md", ".txt"))
    for count, name in enumerate("abcdefghij", 1):
        for _ in range(count * 1_000):
            summary.count_ending(f"x.{name}")
    summary.add("link.md", "symlink", "A link.")
    changed_report(memory, monkeypatch, skipped=tuple(summary.issues()))
    lines = run("index").out.splitlines()
    assert lines[lines.index("Skipped:") :][:3] == [
        "Skipped:",
        "  symlink    link.md  A link.",
        "  extension  *.j (10,000), *.i (9,000), *.h (8,000), *.g (7,000), *.f (6,000), *.e (5,000), *.d (4,000), "
        "*.c (3,000) and 3,000 others: only .md, .txt files are indexed.",
    ]


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_early_end_is_a_failure(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    changed_report(memory, monkeypatch, error="The disk is full.")
    answer = run("index", *options)
    assert (answer.code, answer.err) == (1, "mnemoscope: The disk is full.\n")


def test_indexed_count_shown_despite_provider_error(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    changed_report(memory, monkeypatch, error="OpenAI refused the API key.", provider_failed=True)
    answer = run("index")
    assert (answer.code, answer.err) == (1, "mnemoscope: OpenAI refused the API key.\n")
    assert answer.out.startswith("Indexed ")


def test_busy_index_is_one_line_error(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(**_: object) -> None:
        raise IndexBusy("Another process is writing.")

    monkeypatch.setattr(memory, "sync", busy)
    answer = run("index")
    assert (answer.code, answer.err) == (1, "mnemoscope: Another process is writing.\n")


@pytest.fixture
def _heard() -> Iterator[None]:
    """Use Python's default Ctrl+C handler, even if a background shell ignores the signal."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heard")
def test_ctrl_c_leaves_a_consistent_index(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    real = memory.sync

    def sync(*, cancel, **options) -> SyncReport:
        notified = threading.Event()
        cancel.on_cancel(notified.set)
        signal.raise_signal(signal.SIGINT)
        assert notified.wait(60)
        return msgspec.structs.replace(real(cancel=None, **options), cancelled=True)

    monkeypatch.setattr(memory, "sync", sync)
    before = signal.getsignal(signal.SIGINT)
    answer = run("index")
    assert answer.code == 130
    assert answer.err == "mnemoscope: Stopped. Files indexed so far stay indexed.\n"
    assert memory.closed
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("_heard")
def test_a_second_ctrl_c_does_not_wait(run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*, cancel, **_: object) -> None:
        notified = threading.Event()
        cancel.on_cancel(notified.set)
        signal.raise_signal(signal.SIGINT)
        assert notified.wait(60)
        signal.raise_signal(signal.SIGINT)
        pytest.fail("the command was not interrupted")

    monkeypatch.setattr(memory, "sync", stuck)
    answer = run("index")
    assert (answer.code, answer.out, answer.err) == (130, "", "")
    assert memory.closed


def test_a_dry_run_opens_no_index(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "a.md").write_text("x" * 1500)
    (folder / "b.md").write_text("y")
    (folder / "link.md").symlink_to("b.md")
    monkeypatch.delitem(__import__("sys").modules, "engine.backends.opening")
    out = run("index", "--dry-run").out
    assert f"{folder} is a folder of notes: all of its notes are indexed." in out
    assert "2 files, 1.5 KB, would be indexed; nothing was changed." in out
    assert "Skipped:" in out
    assert run("index", "--dry-run", "--json").json["files"] == 2
    assert "session" not in out


def test_dry_run_counts_listed_sessions(run: Run, folder: Path) -> None:
    (folder / "one.jsonl").write_text("{}\n")
    save_setting("sessions.folders", (str(folder),))
    assert "1 session file, 3 B, would be indexed, too." in run("index", "--dry-run").out


def test_progress_omits_unknown_parts() -> None:
    update = make_progress(
        phase="embedding", completed=1200, total=2000, rate=60.4, seconds_left=13.2, current_file="a\r"
    )
    assert progress_text(update, 61) == "Embedding passages 1,200/2,000 · 60/s · elapsed 1:01 · eta 0:13 · a\ufffd"
    start = make_progress(label="Looking for files", total=0, rate=0.0, seconds_left=None, current_file="")
    assert progress_text(start, 0.2) == "Looking for files · elapsed 0:00"
    assert clock(3725) == "1:02:05"


def test_progress_line_fits_terminal_and_clears(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "41")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with ProgressLine() as line:
        line(
            make_progress(
                label="Indexing files", completed=1, total=2, rate=0.0, seconds_left=None, current_file="日本語" * 9
            )
        )
    err = capsys.readouterr().err
    assert err.startswith("\r\x1b[KIndexing files 1/2 · elapsed 0:00 · 日")
    assert err.endswith("\r\x1b[K")
    [last_line] = [part for part in err.split("\r\x1b[K") if part]
    assert sum(2 if letter > "⺀" else 1 for letter in last_line) <= 40


def test_progress_is_logged_rarely_without_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0
    monkeypatch.setattr("engine.cli.output.time.monotonic", lambda: now)
    with ProgressLine() as line:
        for now in range(120):
            step = {"completed": now, "total": 200, "rate": 0, "seconds_left": None, "current_file": ""}
            line(make_progress(label="Indexing files", **step))
    assert capsys.readouterr().err.splitlines() == [
        "Indexing files 5/200 · elapsed 0:05",
        "Indexing files 65/200 · elapsed 1:05",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")
@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_progress_fits_the_terminal_of_stderr(monkeypatch: pytest.MonkeyPatch, terminal: str) -> None:
    """stdout is a file here, which has no width; a dumb terminal shows escape codes as text."""
    import fcntl
    import termios

    leader, follower = os.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 30, 0, 0))
    expected = "\r\x1b[KIndexing files 1/2 · a long n|\r\x1b[K" if terminal == "xterm" else "|"
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.delenv("COLUMNS", raising=False)
    with os.fdopen(leader, "rb") as shown, os.fdopen(follower, "w") as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        with LiveLine() as line:
            line.show("Indexing files 1/2 · a long name of a file.md")
            stderr.write("|")
            stderr.flush()
        line_shown = shown.read(len(expected.encode())).decode()
    assert line_shown == expected
