"""Test several processes on one workspace: one writes, the others follow, and searches stay correct throughout."""

import subprocess
import sys
import threading
import time
from pathlib import Path

from tests.helpers.background import LONGEST_WAIT
from tests.helpers.health import inconsistencies
from tests.helpers.sync_worker import open_with_fake

ROOT = Path(__file__).parents[2]


def write_notes(folder: Path, count: int) -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        text = "\n\n".join(f"Paragraph {p} of note {number} tells of pumps." for p in range(30))
        (folder / f"n{number}.md").write_text(text)


def worker(notes: Path, data: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.helpers.sync_worker", str(notes), str(data), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def test_concurrent_indexing_processes_do_work_once(tmp_path: Path) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    write_notes(notes, 150)
    workers = [worker(notes, data) for _ in range(3)]
    outputs = [process.communicate(timeout=LONGEST_WAIT)[0].split("\n")[1] for process in workers]
    assert outputs == ["done "] * 3
    memory = open_with_fake(notes, data)
    status = memory.status()
    assert (status.files, status.pending_vectors) == (150, 0)
    # Each of the three records its sync, but only one had files to read.
    assert sum(sync.files_indexed for sync in status.recent_syncs) == 150
    assert inconsistencies(memory) == []
    memory.close()


def test_following_process_takes_over_when_writer_dies(tmp_path: Path) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    write_notes(notes, 400)
    other = worker(notes, data)
    assert other.stdout is not None
    other.stdout.readline()
    memory = open_with_fake(notes, data)
    while not memory.status().writer_elsewhere and other.poll() is None:
        pass
    reports: list[object] = []
    thread = threading.Thread(target=lambda: reports.append(memory.sync()))
    thread.start()
    other.kill()
    other.communicate()
    thread.join(60)
    assert reports[0].error == ""
    assert memory.status().files == 400
    memory.close()


def test_searches_during_rebuild_return_full_results(tmp_path: Path) -> None:
    notes, data = tmp_path / "notes", tmp_path / "data"
    write_notes(notes, 120)
    memory = open_with_fake(notes, data)
    memory.sync()
    generation = memory.status().generation
    other = worker(notes, data, "force")
    searches = 0
    while other.poll() is None or searches == 0:
        outcome = memory.search("pumps", max_results=50, min_score=0)
        assert len(outcome.results) == 50
        assert outcome.mode == "hybrid"
        searches += 1
        time.sleep(0.01)  # leaves the processor to the worker
    other.communicate()
    assert memory.status().generation == generation + 1
    assert len(memory.search("pumps", max_results=50, min_score=0).results) == 50
    memory.close()
