"""If `qmd` fails, the built-in index answers, and the status has the reason."""

import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from engine.backends.opening import open_memory
from engine.memory.memory_interface import MemorySearchManager
from engine.settings import Settings
from tests.helpers.fake_qmd import FakeQmd

UPDATED = 'print("[1/1] memory-dir-notes (x)"); print("Indexed: 4 new, 0 updated, 0 unchanged, 0 removed")'


@pytest.fixture
def memory(workspace: Path, fake: FakeQmd, tmp_path: Path) -> Iterator[MemorySearchManager]:
    settings = Settings(backend="qmd", provider="none")
    limits = msgspec.structs.replace(settings.qmd.limits, timeout_ms=5000)
    settings = msgspec.structs.replace(
        settings,
        qmd=msgspec.structs.replace(settings.qmd, command=str(fake.path), limits=limits),
        store=msgspec.structs.replace(settings.store, path=str(tmp_path / "data")),
    )
    memory = open_memory(workspace, settings)
    yield memory
    memory.close()


@pytest.mark.skipif(sys.platform == "win32", reason="the fake is a POSIX script")
@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("time.sleep(600)", "took longer than"),
        ("print('Hello, I am qmd!')", "can't be read"),
        ("print('[{', flush=True); os.kill(os.getpid(), signal.SIGKILL)", "signal 9"),
        ("while True: print('[' * 5000)", "printed too much output"),
        ("sys.exit('Error: SqliteError: disk I/O error')", "disk I/O error"),
    ],
)
def test_misbehaving_qmd_falls_back(memory, fake, body, why):
    fake.does(UPDATED)
    assert memory.sync().error == ""
    assert memory.status().backend == "qmd"
    fake.does(body)
    outcome = memory.search("drip irrigation", min_score=0)
    assert "greenhouse.md" in {result.path for result in outcome.results}
    status = memory.status()
    assert status.backend == "builtin"
    assert status.fallback is not None
    assert status.fallback.from_ == "qmd"
    assert why in status.fallback.reason


def test_missing_qmd_falls_back(memory, fake):
    outcome = memory.search("drip irrigation", min_score=0)
    assert "greenhouse.md" in {result.path for result in outcome.results}
    fallback = memory.status().fallback
    assert fallback is not None
    assert f"The command {fake.path} was not found" in fallback.reason
