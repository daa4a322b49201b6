"""`memory_get`: pages, citations, files hidden from groups, and an answer to every call."""

import contextlib
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_get
from engine.backends.opening import open_memory
from engine.records import to_builtins
from engine.settings import Settings
from tests.engine.agent.mcp_server.conftest import SESSION
from tests.engine.agent.test_memory_search import ANYTHING, GROUP, Unruly
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture
def real(notes: Path, tmp_path: Path):
    """Create access to a real memory of `notes`; keyword search only."""
    store = msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"))
    chosen = Settings(provider="none", store=store)
    memory = open_memory(notes, chosen)

    def make(session_key: str | None = None) -> AgentAccess:
        return AgentAccess(lambda: memory, chosen, session_key=session_key)

    yield make
    memory.close()


def numbered(count: int, width: int = 0) -> str:
    return "".join(f"line {number}{'.' * width}\n" for number in range(1, count + 1))


def test_short_file_is_returned_whole(real, notes: Path) -> None:
    (notes / "a.md").write_text("one\ntwo\n")
    payload = to_builtins(memory_get(real(), "a.md"))
    assert payload == {"path": "a.md", "text": "one\ntwo", "from": 1, "lines": 2}


def test_pages_have_120_lines_and_name_the_next(real, notes: Path) -> None:
    (notes / "a.md").write_text(numbered(250))
    first = memory_get(real(), "a.md")
    assert (first.lines, first.truncated, first.next_from) == (120, True, 121)
    assert first.text.endswith("line 120\n\n[More follows: continue with from=121.]")
    seen, start = [], 1
    while True:
        page = memory_get(real(), "a.md", start)
        seen += page.text.split("\n\n[More")[0].split("\n")
        if page.next_from is msgspec.UNSET:
            break
        start = page.next_from
    assert seen == numbered(250).split("\n")[:-1]


def test_pages_have_12_000_characters_of_whole_lines(real, notes: Path) -> None:
    (notes / "a.md").write_text(numbered(100, 500))
    page = memory_get(real(), "a.md", lines=100)
    page_text = page.text.split("\n\n[More")[0]
    assert len(page_text) <= 12_000
    assert page_text == "\n".join(numbered(100, 500).split("\n")[: page.lines])
    assert page.next_from == page.lines + 1


def test_overlong_line_is_cut(real, notes: Path) -> None:
    (notes / "a.md").write_text("x" * 30_000 + "\nnext\n")
    page = memory_get(real(), "a.md")
    assert page.text.startswith("x" * 12_000 + "\n\n[Line 1 is longer")
    assert (page.lines, page.truncated, page.next_from) == (1, True, 2)
    assert memory_get(real(), "a.md", 2).text == "next"


def test_long_line_after_empty_line_is_returned(real, notes: Path) -> None:
    (notes / "a.md").write_text("\n" + "x" * 30_000)
    first = memory_get(real(), "a.md")
    assert (first.lines, first.next_from) == (1, 2)
    second = memory_get(real(), "a.md", 2)
    assert second.text.startswith("x" * 12_000)
    assert second.next_from is msgspec.UNSET


def test_citation_returns_its_lines(real, notes: Path) -> None:
    (notes / "a.md").write_text(numbered(50))
    assert memory_get(real(), "a.md#L5-L7").text.startswith("line 5\nline 6\nline 7\n\n[More")
    assert memory_get(real(), "a.md#L5").lines == 1


def test_deleted_file_is_empty_and_outside_path_refused(real, notes: Path) -> None:
    gone = {"path": "gone.md", "text": "", "from": 1, "lines": 0, "missing": True}
    assert to_builtins(memory_get(real(), "gone.md")) == gone
    for path in ("../secret.md", "/etc/passwd", ".env", "a\0.md"):
        payload = to_builtins(memory_get(real(), path))
        assert payload == {
            "path": path,
            "text": "",
            "disabled": True,
            "error": "This path is not part of the index.",
        }


@pytest.mark.parametrize(("text", "lines"), [("one\ntwo\n", 2), ("one\ntwo", 2), ("", 0), ("\n", 1)])
def test_page_past_the_end_gives_total_lines(real, notes: Path, text: str, lines: int) -> None:
    (notes / "a.md").write_text(text)
    payload = to_builtins(memory_get(real(), "a.md", lines + 1, 5))
    assert payload == {"path": "a.md", "text": "", "from": lines + 1, "lines": 0, "totalLines": lines}
    assert memory_get(real(), f"a.md#L{lines + 5}-L{lines + 9}").total_lines == lines


def test_missing_session_is_reported(notes: Path, tmp_path: Path) -> None:
    transcript, name = tmp_path / "claude" / "src" / "s1.jsonl", "sessions/claude/src/s1.jsonl"
    transcript.parent.mkdir(parents=True)
    transcript.write_text(SESSION, "utf-8")
    usual = Settings()
    store = msgspec.structs.replace(usual.store, path=str(tmp_path / "data"))
    sessions = msgspec.structs.replace(usual.sessions, folders=(str(tmp_path / "claude"),))
    chosen = Settings(provider="none", store=store, sessions=sessions)
    with contextlib.closing(open_memory(notes, chosen)) as memory:
        memory.sync()
        access = AgentAccess(lambda: memory, chosen)
        assert memory_get(access, name).lines == 2
        past = to_builtins(memory_get(access, name, 500))
        assert past == {"path": name, "text": "", "from": 500, "lines": 0, "totalLines": 2}
        transcript.unlink()
        assert memory_get(access, name).missing is True


def test_error_repeats_only_start_of_long_name(real) -> None:
    answer = memory_get(real(), "a/" * 100_000)
    assert answer.disabled is True
    assert len(answer.path) <= 1000


@pytest.mark.parametrize("path", ["MEMORY.md", "MEMORY.md#L1", "MEMORY.md:1-2", "memory.md", "other/MEMORY.md"])
def test_group_session_cannot_read_private_memory(real, notes: Path, path: str) -> None:
    file = notes / re.split("[#:]", path)[0]
    file.parent.mkdir(exist_ok=True)
    file.write_text("private\nwords\n")
    assert "private" in memory_get(real(), path).text
    for key in (GROUP, "agent:main:slack:channel:c1"):
        answer = memory_get(real(key), path)
        assert (answer.text, answer.disabled) == ("", True)


@pytest.mark.parametrize(
    "path", ["./MEMORY.md", "x/../MEMORY.md", " MEMORY.md", "MEMORY.md ", "MEMORY.md/", "//MEMORY.md"]
)
def test_group_session_cannot_reach_it_by_other_names(real, notes: Path, path: str) -> None:
    (notes / "MEMORY.md").write_text("private")
    (notes / "x").mkdir()
    assert "private" not in memory_get(real(GROUP), path).text


def test_sessions_are_not_read_in_a_group(memory: FakeMemory, tmp_path: Path) -> None:
    store = tmp_path / "claude" / "projects"
    sessions = msgspec.structs.replace(Settings().sessions, folders=(str(store),))
    chosen = Settings(sessions=sessions)
    memory.files = {"sessions/claude/a.jsonl": "said", "sessions/standup.md": "noted"}
    mine, group = (AgentAccess(lambda: memory, chosen, session_key=key) for key in (None, GROUP))
    assert memory_get(mine, "sessions/claude/a.jsonl").text == "said"
    assert memory_get(group, "sessions/claude/a.jsonl").disabled is True
    assert memory_get(group, "sessions/standup.md").text == "noted"  # notes in a folder named sessions


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(path=ANYTHING, start=ANYTHING, lines=ANYTHING)
def test_any_arguments_get_an_answer(access, path: Any, start: Any, lines: Any) -> None:
    msgspec.json.encode(memory_get(access(), path, start, lines))


@settings(deadline=None, max_examples=30)
@given(outcome=ANYTHING | st.sampled_from([KeyError("x"), RecursionError(), SystemExit(), OSError(5, "x")]))
def test_any_memory_error_is_an_answer(outcome: Any) -> None:
    answer = memory_get(AgentAccess(lambda: Unruly(outcome), Settings()), "a.md")
    assert (answer.disabled, answer.path, answer.text) == (True, "a.md", "")


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(st.text(st.sampled_from("ab\U0001f469\u200d é\u0301"), max_size=40), max_size=12),
    times=st.integers(1, 800),
)
def test_pages_together_are_the_file(access, memory: FakeMemory, text: list[str], times: int) -> None:
    memory.files = {"a.md": "\n".join(line * times if number % 3 else line for number, line in enumerate(text))}
    start, seen = 1, []
    for _ in range(len(text) + 1):
        page = memory_get(access(), "a.md", start)
        page_text = page.text.removesuffix(f"[More follows: continue with from={page.next_from}.]")
        seen.append(page_text)
        assert len(page_text) <= 12_000 + 80
        if page.next_from is msgspec.UNSET:
            break
        assert page.next_from > start
        start = page.next_from
    else:
        pytest.fail("the last page still names a next one")
