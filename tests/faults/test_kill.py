"""Test that kill -9 during indexing, rebuilding or publishing never loses or corrupts data.

The default is six kills; set `MNEMOSCOPE_KILLS=300` for more.
"""

import os
import random
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import apsw

from engine.corpus.chunking import chunk_text
from tests.helpers.health import inconsistencies
from tests.helpers.sync_worker import open_with_fake

KILLS = int(os.environ.get("MNEMOSCOPE_KILLS", "6"))
FILES = 160
MARKER = "lighthouse"


def text_of(number: int, version: int) -> str:
    paragraphs = [f"Paragraph {p} of note {number} in version {version} tells of pumps." for p in range(40)]
    return f"# Note {number}\n\n" + "\n\n".join(paragraphs) + "\n"


class Notes:
    """A workspace whose files change between versions; stores all texts of each file."""

    def __init__(self, folder: Path, rng: random.Random) -> None:
        self.folder = folder
        self._rng = rng
        self.version = 0
        self.texts: dict[str, list[str]] = {}
        folder.mkdir()
        (folder / "marker.md").write_text(f"# Marker\n\nThe {MARKER} never changes.\n")
        self._write(range(FILES))

    def change(self) -> None:
        self.version += 1
        self._write(self._rng.sample(range(FILES), FILES // 2))

    def _write(self, numbers) -> None:
        for number in numbers:
            name = f"n{number}.md"
            (self.folder / name).write_text(text_of(number, self.version))
            self.texts.setdefault(name, []).append(text_of(number, self.version))


class Reader:
    """Search continuously in this process for a note that never changes."""

    def __init__(self, notes: Path, data: Path) -> None:
        self._memory = open_with_fake(notes, data)
        self._stop = threading.Event()
        self.searches = 0
        self.wrong: list[str] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        self._stop.set()
        self._thread.join()
        self._memory.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            found = [result.path for result in self._memory.search(MARKER, mode="keyword").results]
            if found != ["marker.md"]:
                self.wrong.append(f"found {found}")
            pumps = self._memory.search("pumps", mode="keyword", max_results=5, min_score=0).results
            self.wrong += [f"not in the snippet: {r.path}" for r in pumps if "pumps" not in r.snippet]
            self.searches += 2
            time.sleep(0.03)


def run_and_kill(notes: Path, data: Path, delay: float, *, force: bool, sessions: Sequence[Path] = ()) -> None:
    arguments = [str(notes), str(data), *(["force"] * force), *map(str, sessions)]
    command = [sys.executable, "-m", "tests.helpers.sync_worker", *arguments]
    worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
    assert worker.stdout is not None
    worker.stdout.readline()
    time.sleep(delay)
    worker.kill()
    worker.communicate()


@cache
def passages(text: str) -> list[str]:
    return [chunk.text for chunk in chunk_text(text)]


def assert_sound(data: Path, notes: Notes, scratch: Path) -> None:
    stored: dict[str, list[str]] = {}
    for path, text in stored_chunks(data, scratch, "c.text"):
        stored.setdefault(path, []).append(text)
    for path, chunks in stored.items():
        if path != "marker.md":
            assert chunks in map(passages, notes.texts[path]), f"{path} is neither wholly old nor wholly new"


def stored_chunks(data: Path, scratch: Path, columns: str) -> list[tuple]:
    """Return path and requested columns of each chunk, from a verified copy because this process has the index open."""
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    (folder,) = (path for path in (data / "indexes").iterdir() if path.is_dir())
    for suffix in ("", "-wal"):
        source = folder / f"index.sqlite{suffix}"
        if source.exists():
            subprocess.run([sys.executable, "-IS", "-c", _COPY, str(source), str(scratch / source.name)], check=True)
    connection = apsw.Connection(str(scratch / "index.sqlite"))
    assert connection.pragma("integrity_check") == "ok"
    if connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").get == 0:
        return []  # killed before the tables were made
    generation = connection.execute("SELECT value FROM meta WHERE key = 'generation'").get
    query = f"""SELECT f.path, {columns} FROM files_{generation} f JOIN chunks_{generation} c ON c.file_id = f.id
                ORDER BY f.path, c.id"""
    found = connection.execute(query).fetchall()
    connection.close()
    return found


# Run in another process: closing the file in this one would release its SQLite locks.
_COPY = "import shutil, sys; shutil.copyfile(sys.argv[1], sys.argv[2])"


def test_kills_lose_or_tear_no_notes(tmp_path: Path) -> None:
    rng = random.Random(20261121)
    notes = Notes(tmp_path / "notes", rng)
    data = tmp_path / "data"
    with_index = open_with_fake(notes.folder, data)
    with_index.sync()
    with_index.close()
    reader = Reader(notes.folder, data)
    try:
        for kill in range(KILLS):
            notes.change()
            run_and_kill(notes.folder, data, rng.uniform(0.0, 0.9), force=kill % 2 == 0)
            assert_sound(data, notes, tmp_path / "copy")
    finally:
        reader.close()
    assert reader.wrong == []
    assert reader.searches > 0

    memory = open_with_fake(notes.folder, data)
    report = memory.sync()
    assert (report.error, report.vectors_pending) == ("", 0)
    assert inconsistencies(memory) == []
    for name, texts in notes.texts.items():
        assert memory.read_file(name).text == texts[-1]
    assert memory.status().files == FILES + 1
    assert memory.sync().files_indexed == 0
    memory.close()
