"""Test kill -9 at each step of a batch job: the next start resumes the running job and requests no text twice.

The fake server holds its response at the step until the process is dead, so each kill hits exactly there.
"""

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.embedding.batch_jobs import runner
from tests.helpers.batch_worker import open_memory
from tests.helpers.embedding_servers.batch_servers import OpenAIBatchServer
from tests.helpers.embedding_servers.batch_work import Plan
from tests.helpers.embedding_servers.server import Reply, Request

NOTES = 100

# The request, and whether the kill comes before or after it takes effect.
STEPS: dict[str, tuple[Callable[[Request], bool], str]] = {
    "before the upload": (lambda r: r.path == "/v1/files", "before"),
    "after the upload": (lambda r: r.path == "/v1/files", "after"),
    "before the creation": (lambda r: (r.method, r.path) == ("POST", "/v1/batches"), "before"),
    "after the creation": (lambda r: (r.method, r.path) == ("POST", "/v1/batches"), "after"),
    "at the first look": (lambda r: r.path.startswith("/v1/batches/batch_"), "after"),
    "before the results": (lambda r: r.path.endswith("/content"), "after"),
    "before its files go": (lambda r: r.method == "DELETE", "before"),
    "after its files went": (lambda r: r.method == "DELETE", "after"),
}


@pytest.fixture
def server() -> Iterator[OpenAIBatchServer]:
    with OpenAIBatchServer() as running:
        yield running


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder, NOTES)
    return folder


def write(folder: Path, count: int) -> None:
    for number in range(count):
        (folder / f"n{number}.md").write_text(f"# Note {number}\n\nPump {number} is tuned to {number * 7} bar.\n")


def run(notes: Path, data: Path, server: OpenAIBatchServer) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.helpers.batch_worker", str(notes), str(data), server.base_url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("step", STEPS)
def test_killed_batch_creates_no_second_job_or_charge(tmp_path, notes, server, step):
    matches, moment = STEPS[step]
    reached, dead = threading.Event(), threading.Event()

    def hold(request: Request) -> None:
        if matches(request) and not reached.is_set():
            reached.set()
            dead.wait(60)

    setattr(server, moment, hold)
    server.plans.append(Plan(looks=2))
    worker = run(notes, tmp_path / "data", server)
    assert reached.wait(60)
    worker.kill()
    worker.wait()
    dead.set()
    finish(tmp_path, notes, server)
    # Only an upload that was not recorded may be repeated.
    uploads = sum(request.path == "/v1/files" for request in server.requests)
    assert uploads == (2 if "the upload" in step else 1)


def test_lost_batch_creation_is_retried(tmp_path, notes, server, monkeypatch):
    monkeypatch.setattr(runner, "_SETTLING_SECONDS", 0.2)
    reached, dead = threading.Event(), threading.Event()

    def lose(request: Request) -> None:
        if (request.method, request.path) == ("POST", "/v1/batches") and not reached.is_set():
            reached.set()
            dead.wait(60)
            raise ConnectionResetError

    server.before = lose
    worker = run(notes, tmp_path / "data", server)
    assert reached.wait(60)
    worker.kill()
    worker.wait()
    dead.set()
    finish(tmp_path, notes, server)
    assert server.files == {}


def test_kill_while_reading_results_is_not_charged_again(tmp_path, notes, server):
    """The response stops half way, with some vectors stored and others missing: they are stored in groups."""
    many = 4 * NOTES
    write(notes, many)
    dead = threading.Event()
    whole = server.content

    def halting(request: Request) -> Reply:
        reply = whole(request)
        if not dead.is_set():
            reply.halfway = lambda: dead.wait(60)
        return reply

    server.content = halting
    watcher = open_memory(notes, tmp_path / "data", server.base_url)
    worker = run(notes, tmp_path / "data", server)
    while not (rows := watcher.status().vector.rows):
        assert worker.poll() is None
        time.sleep(0.03)
    worker.kill()
    worker.wait()
    dead.set()
    watcher.close()
    assert 0 < rows < many
    finish(tmp_path, notes, server, many)


def finish(tmp_path: Path, notes: Path, server: OpenAIBatchServer, count: int = NOTES) -> None:
    """Start again and check that everything gets its vector by one job, with each text sent once."""
    memory = open_memory(notes, tmp_path / "data", server.base_url)
    report = memory.sync(approve=True)
    status = memory.status()
    memory.close()
    assert (report.error, status.pending_vectors, status.batch.jobs) == ("", 0, ())
    assert (len(server.jobs), server.doubled) == (1, [])
    assert len(server.answered) == count
    assert set(server.answered.values()) == {1}
