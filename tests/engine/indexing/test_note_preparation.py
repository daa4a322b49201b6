"""Notes prepared in other processes: the same rows in the same order, whatever happens to the processes."""

import errno
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, DiskFull
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import NoteText
from engine.indexing import worker_processes
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.note_preparation import ChunkRows, IndexedChunk, StoredNote, prepare
from engine.indexing.worker_processes import NotePreparation
from engine.records import FileIssue
from engine.settings.options import ChunkingSettings
from engine.store.writer import ChunkChanges, NewFile
from tests.helpers.background import LONGEST_WAIT

ROOT = Path(__file__).resolve().parents[3]
MANY = 10_000_000
"""Bytes for which other processes are started."""
CHUNKING = ChunkingSettings()


def note(number: int, words: int = 40) -> tuple[FoundFile, NoteText]:
    text = f"# Weir {number}\n\nThe Größe of pump {number} is fine. " + f"gate{number} " * words
    name = f"weir/note-{number}.md"
    file = FoundFile(name=name, path=f"/{name}", source="memory", size=len(text), mtime_ns=number)
    return file, NoteText(text, f"{number:064x}")


@pytest.fixture
def crashes(tmp_path: Path) -> CrashRecord:
    return CrashRecord(tmp_path)


@pytest.fixture
def token() -> CancelToken:
    return CancelToken()


@pytest.fixture
def preparation(crashes: CrashRecord, token: CancelToken) -> Iterator[NotePreparation]:
    before = set(multiprocessing.active_children())
    with NotePreparation(CHUNKING, crashes, token, MANY) as made:
        assert others(before)
        yield made
    assert not others(before)


def others(before: set[multiprocessing.process.BaseProcess]) -> set[multiprocessing.process.BaseProcess]:
    return {child for child in multiprocessing.active_children() if child.name == "mnemoscope-index"} - before


def started(preparation: NotePreparation) -> list[NewFile | FileIssue]:
    """Put notes until other processes prepare them, which is when no row returns immediately."""
    found: list[NewFile | FileIssue] = []
    deadline = time.monotonic() + LONGEST_WAIT
    for number in range(1_000_000):
        before = len(found)
        found += preparation.submit(*note(number, words=20_000))
        if len(found) == before:
            return found
        assert time.monotonic() < deadline
        time.sleep(0.02)
    raise AssertionError


def put_many(preparation: NotePreparation) -> None:
    for number in range(100):
        for _ in preparation.submit(*note(number)):
            pass


def expected(number: int) -> object:
    file, text = note(number)
    return msgspec.to_builtins(prepare(file, text, CHUNKING))


def test_rows_are_the_same_in_the_order_of_the_notes(preparation: NotePreparation) -> None:
    found = started(preparation)
    first = len(found) + 1  # one is on its way
    for number in range(first, first + 100):
        found += preparation.submit(*note(number))
    found += preparation.remaining()
    assert [file.path for file in found] == [f"weir/note-{number}.md" for number in range(first + 100)]
    assert [*map(msgspec.to_builtins, found[first:])] == [expected(number) for number in range(first, first + 100)]


def as_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have `poll` raise an error for a pipe whose other end is closed, instead of returning True."""
    poll = Connection.poll

    def raising(pipe: Connection, timeout: float | None = 0.0) -> bool:
        has_message = poll(pipe, timeout)
        with socket.socket(fileno=os.dup(pipe.fileno())) as end:
            if has_message and not end.recv(1, socket.MSG_PEEK):
                raise BrokenPipeError
        return has_message

    monkeypatch.setattr(Connection, "poll", raising)


@pytest.mark.parametrize("system", ["posix", "windows"])
def test_notes_of_a_process_that_dies_are_prepared_here(
    preparation: NotePreparation, monkeypatch: pytest.MonkeyPatch, system: str
) -> None:
    if system == "windows" and sys.platform != "win32":
        as_on_windows(monkeypatch)
    found = started(preparation)
    first = len(found) + 1
    for number in range(first, first + 30):
        found += preparation.submit(*note(number))
    for process in multiprocessing.active_children():
        if process.name == "mnemoscope-index":
            process.kill()
    for number in range(first + 30, first + 60):
        found += preparation.submit(*note(number))
    found += preparation.remaining()
    assert [*map(msgspec.to_builtins, found[first:])] == [expected(number) for number in range(first, first + 60)]


def prepare_or_fail(file: FoundFile, *parts: Any) -> NewFile:
    if file.name == "weir/note-0.md":
        raise KeyError(file.name)
    return prepare(file, *parts)


def serve_or_fail(pipe: Connection, answer: Callable[[bytes], bytes]) -> None:
    """Main function of a process with a faulty parser."""
    worker_processes.prepare = prepare_or_fail
    worker_processes.serve(pipe, answer)


def test_fault_in_another_process_fails_one_note_only(
    crashes: CrashRecord, token: CancelToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_processes, "serve", serve_or_fail)
    monkeypatch.setattr(worker_processes, "prepare", prepare_or_fail)
    with NotePreparation(CHUNKING, crashes, token, MANY) as preparation:
        found = started(preparation)
        for number in (1, 2, 3, 0, 4, 5, 6):
            found += preparation.submit(*note(number))
        found += preparation.remaining()
        assert all(process.is_alive() for process in others(set()))
    assert [made.path for made in found if isinstance(made, FileIssue)] == ["weir/note-0.md"] * 2
    assert [made.path for made in found[-7:]] == [f"weir/note-{number}.md" for number in (1, 2, 3, 0, 4, 5, 6)]


def test_file_name_with_invalid_utf8_is_prepared_in_process(preparation: NotePreparation) -> None:
    found = started(preparation)
    file, text = note(0)
    file = msgspec.structs.replace(file, path="/\udcff")
    found += preparation.submit(file, text)
    found += preparation.remaining()
    assert found[-1] == prepare(file, text, CHUNKING)


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGSTOP")
def test_waiting_ends_when_the_sync_is_cancelled(preparation: NotePreparation, token: CancelToken) -> None:
    started(preparation)
    for process in others(set()):
        os.kill(process.pid or 0, signal.SIGSTOP)
    token.cancel()
    with pytest.raises(Cancelled):
        put_many(preparation)


def test_kill_does_not_count_against_a_waiting_note(preparation: NotePreparation, crashes: CrashRecord) -> None:
    number = len(started(preparation)) + 1
    file, text = note(number)
    with crashes.during_sync(forget=False):
        with crashes.reading(file, partly=True):
            pass
        list(preparation.submit(file, text))
        later = CrashRecord(crashes.folder)
        with later.during_sync(forget=False):  # as if the program had been killed now
            assert later.crashes(file) == 0


def test_rows_of_a_long_note_are_the_same(tmp_path: Path, token: CancelToken) -> None:
    file, text = note(1, words=20_000)
    without_stems = f"---\nkey: {'Їжак їсть і спить. ' * 200}\n---\nThe gates were opened by lifting. {text.text}"
    for long_text in (text, NoteText(without_stems, text.hash)):
        made = prepare(file, long_text, CHUNKING)
        rows = ChunkRows(tmp_path, token)
        long = prepare(file, long_text, CHUNKING, None, rows)
        assert (len(rows), tuple(rows)) == (len(made.chunks), made.chunks)
        assert msgspec.structs.replace(long, chunks=()) == msgspec.structs.replace(made, chunks=())


def test_full_disk_ends_a_long_note(tmp_path: Path, token: CancelToken, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    rows = ChunkRows(tmp_path, token)
    rows._buffered = 2**30  # as if many rows had been added
    with pytest.raises(DiskFull):
        prepare(*note(1), CHUNKING, None, rows)


def test_notes_are_prepared_here_if_no_process_can_start(
    crashes: CrashRecord, token: CancelToken, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")

    monkeypatch.setattr("multiprocessing.util.spawnv_passfds", refuse)
    with NotePreparation(CHUNKING, crashes, token, MANY) as preparation:
        assert msgspec.to_builtins(list(preparation.submit(*note(1)))) == [expected(1)]


def test_few_notes_start_no_process(crashes: CrashRecord, token: CancelToken) -> None:
    before = set(multiprocessing.active_children())
    with NotePreparation(CHUNKING, crashes, token, size=10_000) as preparation:
        assert not others(before)
        assert [file.path for file in preparation.submit(*note(1))] == ["weir/note-1.md"]
        assert list(preparation.remaining()) == []


PROGRAM = """
import multiprocessing, os, signal, sys
from pathlib import Path
from engine.base.cancellation import CancelToken
from engine.indexing.crashing_files import CrashRecord
from engine.indexing.worker_processes import NotePreparation
from engine.settings.options import ChunkingSettings
with NotePreparation(ChunkingSettings(), CrashRecord(Path(sys.argv[1])), CancelToken(), 10_000_000):
    print(*(process.pid for process in multiprocessing.active_children()), flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
def test_the_processes_end_with_a_program_that_is_killed(tmp_path: Path) -> None:
    program = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    found = subprocess.run(program, capture_output=True, text=True, cwd=ROOT, check=False)
    numbers = [int(number) for number in found.stdout.split()]
    assert numbers, found.stderr
    deadline = time.monotonic() + LONGEST_WAIT
    while any(map(runs, numbers)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{number}/stat")
    return not (state.exists() and " Z " in state.read_text())  # nobody asked yet how it ended


def test_stored_beginning_reaches_the_other_process(preparation: NotePreparation) -> None:
    file, text = note(0, words=2_000)
    names = ("Weir 0", prepare(file, text, CHUNKING).language, ())
    rows = [
        IndexedChunk(id_, c.hash, "\x1f".join(c.heading), c.start_line, c.end_line)
        for id_, c in enumerate(prepare(file, text, CHUNKING).chunks, 1)
    ]
    found = started(preparation)
    found += preparation.submit(file, text, StoredNote(names, tuple(rows[:2])))
    found += preparation.remaining()
    last = found[-1]
    assert isinstance(last, NewFile)
    assert (last.changes, len(last.chunks)) == (ChunkChanges((), ()), len(rows) - 2)


@pytest.mark.parametrize(
    ("text", "language"), [("", "english"), ("1 2 3\n", "english"), ("Der Mond und die Sonne", "german")]
)
def test_note_without_letters_has_language_of_title(text: str, language: str) -> None:
    file = FoundFile(name="a/How to relax.md", path="/a", source="memory", size=0, mtime_ns=1)
    assert prepare(file, NoteText(text, "0" * 64), CHUNKING).language == language
