"""Parts of the server: reading lines from a pipe, opening the memory late, loading the package."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.base.errors import Closed, StoreError
from engine.mcp.server_process import LazyMemory
from engine.settings import Settings
from engine.settings.search_settings import QuerySettings
from tests.helpers.fake_memory import FakeMemory

ROOT = Path(__file__).resolve().parents[4]


def lines_of(pieces: list[bytes]) -> list[bytes | None]:
    """Return the lines read from a pipe to which these pieces are written one by one."""
    from engine.mcp import stdio_transport

    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as end:
        left = iter(pieces)

        def read(wire: int, most: int) -> bytes:
            for piece in left:
                if piece:
                    end.write(piece)
                    return os.read(wire, most)
            return b""

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stdio_transport, "os", type("os", (), {"read": staticmethod(read)}))
            found = [line.text if line.complete else None for line in stdio_transport._lines(reading)]
    os.close(reading)
    return found


@given(pieces=st.lists(st.text("ab\n ", max_size=30).map(str.encode), max_size=12))
@example(pieces=[b"a", b"\n", b"", b"b"])
def test_split_lines_read_like_whole_ones(pieces: list[bytes]) -> None:
    from engine.mcp import stdio_transport

    whole = b"".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stdio_transport, "LONGEST_MESSAGE", 10)
        found = lines_of(pieces)
    expected = [line if len(line) <= 10 else None for line in whole.split(b"\n") if line.strip() or len(line) > 10]
    assert found == expected


class Failing:
    def __init__(self) -> None:
        self.memory = FakeMemory()
        self.tries = 0

    def open(self, settings: Settings) -> Any:
        self.tries += 1
        if self.tries == 1:
            raise StoreError("Not now.")
        return self.memory


def test_failed_open_is_retried_on_next_call() -> None:
    failing = Failing()
    late = LazyMemory(failing.open, Settings, None)
    with pytest.raises(StoreError):
        late.opened()
    assert late.opened() is late.opened() is failing.memory
    assert failing.memory.syncs == [("session-start", False)]
    late.close()
    assert failing.memory.closed
    with pytest.raises(Closed):
        late.opened()


def test_changed_settings_reopen_memory_unless_live() -> None:
    in_force, made = [Settings()], [FakeMemory(), FakeMemory()]
    waiting = iter(made)
    late = LazyMemory(lambda _: next(waiting), lambda: in_force[-1], None)
    assert late.opened() is made[0]
    in_force.append(Settings(query=QuerySettings(min_score=0.7)))
    assert late.opened() is made[0]
    assert [settings.query.min_score for settings in made[0].answers_as] == [0.7]
    assert late.opened() is made[0]
    assert len(made[0].answers_as) == 1
    in_force.append(Settings(provider="none"))
    assert late.opened() is made[1]
    assert made[0].closed
    late.close()


def test_warming_runs_keyword_search_and_never_raises() -> None:
    failing = Failing()
    late = LazyMemory(failing.open, Settings, "agent:main:main")
    for expected in (0, 1):
        late.warm()
        for thread in threading.enumerate():
            if thread.name == "mnemoscope-warm":
                thread.join()
        assert len(failing.memory.searches) == expected
    assert failing.memory.searches[0][1] == "keyword"
    late.close()
    late.warm()  # a closed memory is not opened again
    for thread in threading.enumerate():
        if thread.name == "mnemoscope-warm":
            thread.join()
    assert failing.tries == 2


def test_package_importable_after_lean_import() -> None:
    code = (
        "import gc, sys\n"
        "from engine.mcp.server_process import load_sdk\n"
        "load_sdk()\n"
        "assert gc.isenabled()\n"
        "assert not {'mcp', 'mcp.server', 'mcp.client', 'mcp.server.mcpserver'} & set(sys.modules)\n"
        "import pydantic; assert 'defer_build' not in pydantic.BaseModel.model_config\n"
        "import mcp; from mcp.client.client import Client; from mcp.server import MCPServer, Server\n"
        "from mcp.server.lowlevel.server import Server as Same; assert Server is Same\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@given(modified=st.floats(allow_nan=False, allow_infinity=False), name=st.text(st.characters(codec=None), min_size=1))
def test_cursor_continues_after_its_page(modified: float, name: str) -> None:
    from engine.mcp.server import ListedResource, _cursor, _order, _position

    one = ListedResource(modified, name, "", False, 0)
    assert _position(_cursor(one)) == _order(one)


@given(text=st.text())
def test_any_cursor_is_refused_or_valid(text: str) -> None:
    from engine.mcp.server import _position

    try:
        time, name = _position(text)
    except ValueError:
        return
    assert (type(time), type(name)) == (float, str)


@given(modified=st.floats())
def test_resource_with_any_time_can_be_listed(modified: float) -> None:
    from engine.mcp.server import ListedResource

    assert ListedResource(modified, "a.md", "", False, 0).changed is None or modified
