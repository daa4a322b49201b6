"""Test kill -9 during a repair: the index still answers, loses no data, and is sound after the next repair."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from tests.helpers.health import inconsistencies
from tests.helpers.sync_worker import open_with_fake

KILLS = int(os.environ.get("MNEMOSCOPE_KILLS", "6"))
FILES = 120
ROOT = Path(__file__).parents[2]


def _repair_and_kill(notes: Path, data: Path, delay: float) -> bool:
    """Return whether the process was killed before it finished."""
    command = [sys.executable, "-m", "tests.helpers.repair_worker", str(notes), str(data)]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert worker.stdout is not None
    assert worker.stdout.readline() == "started\n"
    time.sleep(delay)
    worker.kill()
    return "done" not in worker.communicate()[0]


def test_killed_repair_leaves_working_index(tmp_path: Path) -> None:
    rng = random.Random(5)
    notes, data = tmp_path / "notes", tmp_path / "data"
    notes.mkdir()
    (notes / "marker.md").write_text("# Marker\n\nThe lighthouse never changes.\n")
    for number in range(FILES):
        (notes / f"n{number}.md").write_text(f"# Note {number}\n\nPump{number} leaks at the left valve.\n")
    memory = open_with_fake(notes, data)
    assert memory.sync().error == ""
    before = {count.source: (count.files, count.chunks) for count in memory.status().source_counts}
    memory.close()

    killed, latest = 0, 0.3
    for _ in range(KILLS):
        if _repair_and_kill(notes, data, rng.random() * latest):
            killed += 1
        else:
            latest /= 4  # the kill came too late: how long a repair takes depends on the machine
        memory = open_with_fake(notes, data)
        found = memory.search("lighthouse", mode="keyword").results
        counts = {count.source: (count.files, count.chunks) for count in memory.status().source_counts}
        memory.close()
        assert [result.path for result in found] == ["marker.md"]
        assert counts == before
    assert killed

    memory = open_with_fake(notes, data)
    memory.insight.repair()
    assert inconsistencies(memory) == []
    for number in range(0, FILES, 7):
        [first, *_] = memory.search(f"Pump{number}", mode="keyword").results
        assert first.path == f"n{number}.md"
    memory.close()
