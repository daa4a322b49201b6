"""Test kill -9 while growing sessions are listed and indexed: each is wholly old or wholly new, and none is lost.

The default is three kills; set `MNEMOSCOPE_KILLS=100` for more.
"""

import json
import os
import random
from pathlib import Path

import msgspec

from engine.corpus.transcripts.chunk_packing import ChunkPacker, IndexedMessage
from engine.corpus.transcripts.message_offsets import MessageOffset
from tests.faults.test_kill import run_and_kill, stored_chunks
from tests.helpers.health import inconsistencies
from tests.helpers.sync_worker import open_with_fake
from tests.helpers.transcripts import read_session

KILLS = int(os.environ.get("MNEMOSCOPE_KILLS", "3"))
FILES = 150

Chunks = list[tuple[int, int, str, list[tuple]]]


class Transcripts:
    """A folder of transcripts that grow and restart; stores every state of each."""

    def __init__(self, folder: Path, scratch: Path, rng: random.Random) -> None:
        self.folder = folder
        self._scratch = scratch
        self._rng = rng
        self._said = 0
        self.states: dict[str, list[bytes]] = {}
        self.chunks: dict[bytes, Chunks] = {}
        folder.mkdir()
        for _ in range(FILES):
            self._begin()

    def change(self) -> None:
        """Extend half of the transcripts, some ending mid-line and some restarted, and add new ones."""
        for name in self._rng.sample(sorted(self.states), FILES // 2):
            last = self.states[name][-1]
            whole = last[: last.rfind(b"\n") + 1]
            if self._rng.random() < 0.1:
                whole = self._head(name)
            self._write(name, whole + self._talk(self._rng.randint(1, 6)) + self._talk(1)[: self._rng.choice((0, 30))])
        for _ in range(FILES // 20):
            self._begin()

    def possible(self, name: str) -> list[Chunks]:
        return [self.chunks[state] for state in dict.fromkeys(self.states[name])]

    def _begin(self) -> None:
        name = f"s{len(self.states)}.jsonl"
        self._write(name, self._head(name) + self._talk(self._rng.randint(8, 30)))

    def _write(self, name: str, content: bytes) -> None:
        (self.folder / name).write_bytes(content)
        self.states.setdefault(name, []).append(content)
        self.chunks[content] = self._chunks(content)

    def _head(self, name: str) -> bytes:
        return json.dumps({"type": "session", "id": name, "cwd": "/home/ada/boat"}).encode() + b"\n"

    def _talk(self, count: int) -> bytes:
        lines = []
        for _ in range(count):
            self._said += 1
            role = "user" if self._said % 2 else "assistant"
            text = f"Message {self._said} tells of pumps. " * self._rng.randint(1, 30)
            lines.append({"type": "message", "id": f"m{self._said}", "message": {"role": role, "content": text}})
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)

    def _chunks(self, content: bytes) -> Chunks:
        path = self._scratch / "state.jsonl"
        path.write_bytes(content)
        session = read_session(path, "")
        assert session is not None
        packer = ChunkPacker(400, 80)
        for one in session.messages:
            packer.add(IndexedMessage(one.role, one.text, one.line, one.ordinal, one.id))
        return [(c.start_line, c.end_line, c.text, list(map(_plain, c.message_offsets))) for c in packer.finish()]


def _plain(offset: MessageOffset) -> tuple:
    return msgspec.structs.astuple(offset)


def assert_sound(data: Path, transcripts: Transcripts, scratch: Path) -> None:
    stored: dict[str, Chunks] = {}
    for path, first, last, text, offsets in stored_chunks(data, scratch, "c.start_line, c.end_line, c.text, c.places"):
        found = list(map(tuple, json.loads(offsets)))
        stored.setdefault(path.rpartition("/")[2], []).append((first, last, text, found))
    for name, chunks in stored.items():
        assert chunks in transcripts.possible(name), f"{name} is neither wholly old nor wholly new"


def test_kills_lose_or_tear_no_session(tmp_path: Path) -> None:
    rng = random.Random(20261122)
    for folder in ("notes", "scratch"):
        (tmp_path / folder).mkdir()
    transcripts = Transcripts(tmp_path / "transcripts", tmp_path / "scratch", rng)
    notes, data, sessions = tmp_path / "notes", tmp_path / "data", tmp_path / "transcripts"
    for kill in range(KILLS):
        run_and_kill(notes, data, rng.uniform(0.0, 0.8), force=kill % 3 == 2, sessions=[sessions])
        assert_sound(data, transcripts, tmp_path / "copy")
        transcripts.change()

    memory = open_with_fake(notes, data, sessions)
    report = memory.sync()
    assert (report.error, report.failed, report.vectors_pending) == ("", (), 0)
    assert inconsistencies(memory) == []
    assert len(memory.sessions()) == len(transcripts.states)
    memory.close()
    stored = stored_chunks(data, tmp_path / "copy", "c.text")
    assert {path.rpartition("/")[2] for path, _ in stored} == transcripts.states.keys()
    for name in transcripts.states:
        mine = [text for path, text in stored if path.endswith(f"/{name}")]
        assert mine == [text for _, _, text, _ in transcripts.possible(name)[-1]]
