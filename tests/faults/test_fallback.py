"""Test that the built-in index replaces a backend after each kind of program and network failure."""

import os
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

import engine
from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from tests.helpers.fake_qmd import FakeQmd

NOTES = {
    "greenhouse.md": "# Greenhouse\n\nThe drip irrigation skipped Tuesday again.\n",
    "people/ines.md": "# Ines\n\nShe lent us the pressure gauge.\n",
}
WORKS = """
if verb == "search":
    print(json.dumps([{
        "docid": "#abcdef", "score": 0.9, "file": "qmd://memory-dir-notes/greenhouse.md", "line": 3, "title": "x",
        "snippet": "@@ -1,3 @@ (0 before, 0 after)\\n# Greenhouse\\n\\nThe drip irrigation skipped Tuesday again.",
    }]))
"""
FAULTS = {
    "garbage": 'print("\\x1b[31m\\x00<html>[{]") if verb == "search" else None',
    "killed mid-answer": """
        if verb == "search":
            sys.stdout.write('[{"docid": "#abcdef", "score": 0.9, "fi'); sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """,
    "an error": 'sys.exit("Error: no such table: documents") if verb == "search" else None',
    "nothing at all": "pass",
    "floods": """
        if verb == "search":
            while True: sys.stdout.write("x" * 65536)
    """,
}

OpenMemory = Callable[..., MemorySearchManager]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return tmp_path / "notes"


@pytest.fixture
def qmd(tmp_path: Path) -> FakeQmd:
    fake = FakeQmd(tmp_path / "bin")
    fake.does(WORKS)
    return fake


@pytest.fixture
def open_memory(workspace: Path, tmp_path: Path, qmd: FakeQmd) -> Iterator[OpenMemory]:
    opened: list[MemorySearchManager] = []

    def open_(backend: str = "qmd", *, background: bool = False, **options: object) -> MemorySearchManager:
        settings = Settings(backend=backend, provider="none")
        store = msgspec.structs.replace(settings.store, path=str(tmp_path / "data"))
        # On a busy machine the command may take long, which is not the fault under test.
        command = {"command": str(qmd.path), "limits": engine_limits(timeout_ms=60_000)} if backend == "qmd" else {}
        section = msgspec.structs.replace(getattr(settings, backend), **{**command, **options})
        settings = msgspec.structs.replace(settings, **{"store": store, backend: section})
        memory = engine.open_memory(workspace, settings, background=background)
        opened.append(memory)
        return memory

    yield open_
    for memory in opened:
        memory.close()


def answers_instead(memory: MemorySearchManager, name: str) -> str:
    """Check that the built-in index answers and reports it; return the notice."""
    outcome = memory.search("irrigation")
    assert [result.path for result in outcome.results] == ["greenhouse.md"]
    assert f"answers instead of {name}" in outcome.notice
    status = memory.status()
    assert status.backend == "builtin"
    assert status.fallback is not None
    assert status.fallback.from_ == name
    assert outcome.notice.startswith(status.fallback.reason)
    return outcome.notice


def test_missing_command_falls_back_to_builtin(open_memory, tmp_path):
    memory = open_memory(command=str(tmp_path / "nowhere" / "qmd"))
    report = memory.sync()
    assert "was not found: install it" in report.error
    assert "was not found: install it" in (memory.status().index_error or ""), "a background update sets the status"
    assert "was not found: install it" in answers_instead(memory, "qmd")


@pytest.mark.parametrize("fault", FAULTS)
def test_failing_command_falls_back_until_it_works(open_memory, qmd, fault):
    memory = open_memory()
    assert not memory.sync().error
    assert not memory.search("drip").notice
    qmd.does(FAULTS[fault])
    answers_instead(memory, "qmd")
    qmd.does(WORKS)
    memory.sync()  # by hand: ends the pause
    assert not memory.search("gauge irrigation").notice
    assert memory.status().fallback is None


def test_hanging_command_is_ended_with_its_children(open_memory, qmd, tmp_path):
    memory = open_memory(limits=engine_limits(timeout_ms=2500))
    memory.sync()
    pids = tmp_path / "pids"
    qmd.does(f"""
        if verb == "search":
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            open({str(pids)!r}, "w").write(f"{{os.getpid()}} {{child.pid}}")
            time.sleep(600)
    """)
    answers_instead(memory, "qmd")
    for pid in map(int, pids.read_text().split()):
        assert ended(pid)


def test_fallback_respects_session_scope_of_qmd(open_memory, qmd):
    memory = open_memory()
    memory.sync()
    qmd.does(FAULTS["an error"])
    answers_instead(memory, "qmd")
    outcome = memory.search("irrigation", session_key="agent:main:discord:group:42")
    assert not outcome.results
    assert "qmd.scope" in outcome.notice


def test_fallback_searches_paths_configured_for_qmd(open_memory, qmd, tmp_path):
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs" / "pump.md").write_text("# Pump\n\nIt lifts eight metres.\n", "utf-8")
    qmd.does(FAULTS["an error"])
    memory = open_memory(command="/nowhere/qmd", paths={"specs": str(tmp_path / "specs")})
    assert [result.path for result in memory.search("metres").results] == ["specs/pump.md"]


def test_concurrent_searches_survive_backend_failure(open_memory, qmd):
    from concurrent.futures import ThreadPoolExecutor

    memory = open_memory(background=True)
    memory.sync()
    qmd.does(FAULTS["killed mid-answer"])
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: memory.search("irrigation"), range(8)))
    assert all([result.path for result in outcome.results] == ["greenhouse.md"] for outcome in answers)
    answers_instead(memory, "qmd")


def test_unreachable_bucket_falls_back_without_showing_secret(open_memory):
    pytest.importorskip("lancedb", reason="the extra lancedb is not installed")
    with socket.socket() as taken:  # bound, but not listening
        taken.bind(("127.0.0.1", 0))
        options = {
            "endpoint": f"http://127.0.0.1:{taken.getsockname()[1]}",
            "allow_http": "true",
            "client_max_retries": "0",
            "aws_access_key_id": "x",
            "aws_secret_access_key": "not-to-be-shown",
            "aws_region": "us-east-1",
        }
        memory = open_memory("lancedb", uri="s3://nowhere/memory", storage_options=options)
        notice = answers_instead(memory, "LanceDB")
    assert "not-to-be-shown" not in notice
    assert "s3://nowhere" in notice


def test_missing_lancedb_falls_back_with_install_hint(open_memory, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "lancedb", None)
    memory = open_memory("lancedb")
    assert "install" in answers_instead(memory, "LanceDB")


def engine_limits(**changes: int) -> object:
    return msgspec.structs.replace(Settings().qmd.limits, **changes)


def ended(pid: int) -> bool:
    """Return whether a process has ended, waiting a moment after a kill."""
    for _ in range(100):
        try:
            os.kill(pid, 0)
            if "\nState:\tZ" in Path("/proc", str(pid), "status").read_text():
                return True
        except (ProcessLookupError, FileNotFoundError):
            return True
        time.sleep(0.05)
    return False
