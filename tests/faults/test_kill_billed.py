"""Test kill -9 during billed embedding of 5,000 passages: stored vectors are never requested again."""

import subprocess
import sys
import threading
from pathlib import Path

from engine.backends.builtin import BuiltinMemory
from tests.helpers.embedding_servers.openai_server import KEY, OpenAIServer
from tests.helpers.remote_worker import DIMS, settings_for

CHUNKS = 5_000
FILES = 50
AT_ONCE = 4
KILLED_AFTER = (5, 6, 1)
"""Number of requests in each run before it is killed."""


def write_notes(folder: Path) -> None:
    """Write paragraphs of one passage each, all with the same number of tokens."""
    folder.mkdir()
    for file in range(FILES):
        paragraphs = [
            " ".join(f"p{file:03}x{paragraph:03}w{word:03}" for word in range(11))
            for paragraph in range(CHUNKS // FILES)
        ]
        (folder / f"note{file:03}.md").write_text("\n\n".join(paragraphs) + "\n")


class Killer:
    """Kill a run when its next request arrives, so that the request is never answered."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._left = 0
        self._worker: subprocess.Popen[str] | None = None

    def run(self, command: list[str], *, requests: int | None) -> str:
        """Return the output of the process; empty if it was killed after that many requests."""
        self._left = requests or 10**6
        self._worker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])
        return self._worker.communicate()[0]

    def __call__(self, request: object) -> None:
        with self._lock:
            self._left -= 1
            if self._left < 0:
                assert self._worker is not None
                self._worker.kill()
                self._worker.wait()


def test_killed_runs_repeat_only_requests_in_flight(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    notes, data = tmp_path / "notes", tmp_path / "data"
    write_notes(notes)
    with OpenAIServer(dims=DIMS) as server:
        killer = Killer()
        server.before = killer
        command = [sys.executable, "-m", "tests.helpers.remote_worker", str(notes), str(data), server.base_url]
        for requests in KILLED_AFTER:
            assert killer.run(command, requests=requests) == ""
        assert killer.run(command, requests=None) == "done \n"

        memory = BuiltinMemory(notes, settings_for(data, server.base_url), executor=None, background=False)
        status = memory.status()
        memory.close()
    assert (status.chunks, status.pending_vectors) == (CHUNKS, 0)
    sizes = [len(request.json["input"]) for request in server.requests]
    least = -(-CHUNKS // max(sizes))
    assert least <= len(sizes) <= least + AT_ONCE * len(KILLED_AFTER)
    assert len(server.answered) == CHUNKS
    again = sum(times - 1 for times in server.answered.values())
    assert again <= AT_ONCE * len(KILLED_AFTER) * max(sizes)
