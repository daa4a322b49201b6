"""Test files that crash the process reading them: they are skipped with a reason, and everything else is indexed."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from engine.corpus.folder_walk import FoundFile
from engine.indexing.crashing_files import CrashRecord

_WORKER = """
import os, signal, sys
from pathlib import Path
import msgspec
from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import SessionSettings
from engine.indexing import note_preparation, worker_processes, transcript_stage

notes, data, sessions, how, *rest = sys.argv[1:]

def deadly(function, place, name="deadly"):
    def read(*arguments):
        path = arguments[place].path
        if name in path and "harmless" not in Path(path).read_text():
            os.kill(os.getpid(), getattr(signal, how))
        return function(*arguments)
    return read

note_preparation.read = deadly(note_preparation.read, 0)
worker_processes.prepare = deadly(worker_processes.prepare, 0, "lethal")
transcript_stage.TranscriptIndexer.index = deadly(transcript_stage.TranscriptIndexer.index, 1)
settings = Settings(provider="none", sessions=SessionSettings(folders=(sessions,)))
settings = msgspec.structs.replace(settings, store=msgspec.structs.replace(settings.store, path=data))
memory = BuiltinMemory(Path(notes), settings, executor=None, background=False)
report = memory.sync(force="force" in rest)
status = memory.status()
failed = {issue.path: issue.detail for issue in status.failed_files}
found = sorted(result.path for result in memory.search("lamp", max_results=50).results)
memory.close()
print(msgspec.json.encode([failed, found]).decode())
"""


class Folders:
    def __init__(self, folder: Path) -> None:
        self.notes, self.data, self.sessions = (folder / name for name in ("notes", "data", "sessions"))
        for path in (self.notes, self.sessions):
            path.mkdir()
        (self.notes / "a.md").write_text("A brass lamp.\n")
        (self.notes / "z.md").write_text("A tin lamp.\n")
        self.write_session("other.jsonl", "Where is the lamp?")

    def write_session(self, name: str, text: str) -> Path:
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        line = {"type": "message", "id": "1", "timestamp": "2026-11-01T10:00:00Z", "message": message}
        head = {"type": "session", "id": name, "timestamp": "2026-11-01T10:00:00Z", "cwd": str(self.notes)}
        path = self.sessions / name
        path.write_text(json.dumps(head) + "\n" + json.dumps(line) + "\n")
        return path

    def sync(self, *options: str, how: str = "SIGSEGV") -> tuple[dict[str, str], list[str]] | None:
        """Return failed files and found paths, or None if the process died."""
        arguments = [str(self.notes), str(self.data), str(self.sessions), how, *options]
        command, root = [sys.executable, "-c", _WORKER, *arguments], Path(__file__).parents[2]
        done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=root)
        if done.returncode < 0:
            return None
        assert done.returncode == 0, done.stderr
        failed, found = json.loads(done.stdout)
        return failed, found


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    return Folders(tmp_path)


@pytest.mark.parametrize("how", ["SIGSEGV", "SIGKILL"])
@pytest.mark.parametrize("kind", ["note", "session"])
def test_file_that_kills_its_reader_is_skipped(folders: Folders, kind: str, how: str) -> None:
    if kind == "note":
        file = folders.notes / "deadly.md"
        file.write_text("A deadly lamp.\n")
    else:
        file = folders.write_session("deadly.jsonl", "A deadly lamp?")
    assert folders.sync(how=how) is None
    assert folders.sync(how=how) is None
    failed, found = folders.sync(how=how) or ({}, [])
    assert [path for path in failed if path.endswith(file.name)] == list(failed)
    assert "skipped until it changes" in failed[next(iter(failed))]
    assert {"a.md", "z.md"} <= set(found)
    assert any("other" in path for path in found)
    assert not any("deadly" in path for path in found)

    time.sleep(0.01)
    if kind == "note":
        file.write_text("A harmless lamp.\n")
    else:
        folders.write_session("deadly.jsonl", "A harmless lamp.")
    failed, found = folders.sync(how=how) or ({}, [])
    assert failed == {}
    assert any("deadly" in path for path in found)


def test_note_that_kills_the_analysis_is_skipped(folders: Folders) -> None:
    (folders.notes / "lethal.md").write_text("A lethal lamp.\n")
    assert folders.sync() is None
    assert folders.sync() is None
    failed, found = folders.sync() or ({}, [])
    assert list(failed) == ["lethal.md"]
    assert {"a.md", "z.md"} <= set(found)


def test_other_files_are_indexed_after_first_crash(folders: Folders) -> None:
    folders.write_session("deadly.jsonl", "A deadly lamp?")
    (folders.notes / "b-deadly.md").write_text("A deadly lamp.\n")
    assert folders.sync() is None  # killed while reading the note
    assert folders.sync() is None  # killed by the note again, which is read last
    assert folders.sync() is None  # killed by the session
    assert folders.sync() is None
    failed, found = folders.sync() or ({}, [])
    assert len(failed) == 2
    assert {"a.md", "z.md"} <= set(found)


def test_kill_before_reading_counts_no_crash_again(tmp_path: Path) -> None:
    file = FoundFile(name="a.md", path="/a.md", source="memory", size=1, mtime_ns=1)
    first, second, third = (CrashRecord(tmp_path) for _ in range(3))
    killed = [first.during_sync(forget=False), first.reading(file), second.during_sync(forget=False)]
    for block in killed:
        block.__enter__()
    with third.during_sync(forget=False):
        assert third.crashes(file) == 1


def test_changed_file_counts_as_new_and_crashing_one_is_last(tmp_path: Path) -> None:
    before, changed, other = (
        FoundFile(name=name, path=f"/{name}", source="memory", size=1, mtime_ns=time)
        for name, time in (("a.md", 1), ("a.md", 2), ("b.md", 1))
    )
    killed = []
    for record, file in ((CrashRecord(tmp_path), before), (CrashRecord(tmp_path), changed)):
        killed += [record.during_sync(forget=False), record.reading(file)]
        for block in killed[-2:]:
            block.__enter__()
    last = CrashRecord(tmp_path)
    with last.during_sync(forget=False):
        assert (last.crashes(before), last.crashes(changed)) == (0, 1)
        assert last.readable([changed, other]) == ([other, changed], [])
        with suppress(FileNotFoundError), last.reading(changed):
            raise FileNotFoundError  # deleted meanwhile: the reader has ended
        assert last.crashes(changed) == 0


def test_single_kill_does_not_exclude_a_file(folders: Folders) -> None:
    file = folders.notes / "deadly.md"
    file.write_text("A deadly lamp.\n")
    state = file.stat()
    assert folders.sync(how="SIGKILL") is None
    file.write_text("harmless lamp!\n")
    assert file.stat().st_size == state.st_size
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))  # as if the kill had come from outside
    failed, found = folders.sync() or ({"": "died"}, [])
    assert failed == {}
    assert "deadly.md" in found


def test_forced_sync_retries_excluded_file(folders: Folders) -> None:
    file = folders.notes / "deadly.md"
    file.write_text("A deadly lamp.\n")
    state = file.stat()
    assert folders.sync() is None
    assert folders.sync() is None
    assert (folders.sync() or ({}, []))[0]
    file.write_text("harmless lamp!\n")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (folders.sync() or ({}, []))[0]
    failed, found = folders.sync("force") or ({"": "died"}, [])
    assert failed == {}
    assert "deadly.md" in found


def test_finished_sync_leaves_no_reading_marker(folders: Folders) -> None:
    assert folders.sync() is not None
    left = {path.name for path in folders.data.rglob("reading*")}
    assert left == set()
