"""`mnemoscope sessions stats`."""

from pathlib import Path
from typing import Any

import pytest

from engine.records import ModelUsage
from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import make_session

SPENT = ModelUsage(model="claude-opus-4-5", input_tokens=1_000_000, output_tokens=2000, cache_read_tokens=5)
UNPRICED = ModelUsage(model="gpt-99", input_tokens=10, output_tokens=1)


@pytest.fixture(autouse=True)
def _sessions(memory: FakeMemory) -> None:
    made = [
        make_session([("user", [("text", "Hello")])], **fields)
        for fields in (
            {"path": "sessions/a/1", "agent": "codex", "usage": (SPENT,)},
            {"path": "sessions/a/2", "agent": "claude-code", "usage": (SPENT, UNPRICED)},
            {"path": "sessions/a/3", "agent": "aider", "started": 86_400.0, "ended": 90_000.0},
        )
    ]
    memory.session_texts = {session.summary.path: session for session in made}


def stats(run: Run, *arguments: str) -> Any:
    return run("sessions", "stats", *arguments, "--json").json


def test_stats_add_up_all_sessions(run: Run) -> None:
    found = stats(run)
    total = found["total"]
    assert (total["sessions"], total["messages"], total["withoutUsage"]) == (3, 3, 1)
    assert total["usage"] == {
        "inputTokens": 2_000_010,
        "outputTokens": 4001,
        "cacheReadTokens": 10,
        "cacheWriteTokens": None,
        "cost": pytest.approx(10.100005),
        "costComplete": False,
    }
    assert (found["rows"], found["unpriced"]) == ([], ["gpt-99"])


def test_stats_by_agent_and_since(run: Run) -> None:
    assert [row["name"] for row in stats(run, "--by", "agent")["rows"]] == ["claude-code", "codex", "aider"]
    assert [row["name"] for row in stats(run, "--by", "agent", "--since", "2026-01-01")["rows"]] == [
        "claude-code",
        "codex",
    ]
    assert stats(run, "--agent", "codex")["total"]["sessions"] == 1
    assert stats(run, "--agent", "abacus")["total"]["usage"]["inputTokens"] is None


def test_copied_requests_cost_nothing_and_are_explained(run: Run, memory: FakeMemory) -> None:
    copied = tuple(ModelUsage(model, 0, 0, 0, 0) for model in ("claude-opus-4-5", "gpt-99"))
    made = make_session([("user", [("text", "Hello")])], path="sessions/b/4", agent="droid", usage=copied)
    memory.session_texts |= {"sessions/b/4": made}
    lines = run("sessions", "stats", "--agent", "droid").out.splitlines()
    assert lines[1].split()[4:] == ["0"] * 4 + ["$0.00"]
    assert lines[2:][0] == "1 session with copied requests only: the usage is counted with the original session."
    assert not any("No price is known" in line for line in lines)


def test_session_that_only_wrote_to_the_cache_is_no_copy(run: Run, memory: FakeMemory) -> None:
    usage = (ModelUsage("claude-opus-4-5", 0, 0, 0, 1_000),)
    made = make_session([("user", [("text", "Hello")])], path="sessions/b/4", agent="droid", usage=usage)
    memory.session_texts |= {"sessions/b/4": made}
    assert "copied" not in run("sessions", "stats", "--agent", "droid").out


def test_stats_of_no_session_name_the_agents(run: Run) -> None:
    shown = run("sessions", "stats", "--agent", "abacus").out
    assert shown == "No session matches. There are sessions of these agents: codex, claude-code, aider.\n"


def test_stats_text_names_unknown_values(run: Run) -> None:
    lines = run("sessions", "stats", "--by", "agent").out.splitlines()
    assert lines[0].split() == ["agent", "sessions", "messages", "active", "in", "cached", "written", "out", "cost"]
    assert lines[1].split() == ["claude-code", "1", "1", "0:00", "1,000,010", "5", "unknown", "2,001", "$5.05+"]
    assert lines[3].split()[4:] == ["unknown"] * 5
    assert lines[4].split()[0] == "total"
    assert "1 session without recorded tokens." in lines
    assert any("gpt-99" in line for line in lines)


def test_stats_by_machine_name_this_machine(run: Run, memory: FakeMemory) -> None:
    made = [
        make_session([("user", [("text", "Hi")])], path=f"sessions/a/{at}", machine="lab" * (at > 1))
        for at in (1, 2, 3)
    ]
    memory.session_texts = {session.summary.path: session for session in made}
    assert [(row["name"], row["sessions"]) for row in stats(run, "--by", "machine")["rows"]] == [("lab", 2), ("", 1)]
    lines = run("sessions", "stats", "--by", "machine").out.splitlines()
    assert [line.split("  ")[0] for line in lines[:4]] == ["machine", "lab", "this machine", "total"]


def test_incomplete_cost_below_a_cent_is_a_lower_bound(run: Run, memory: FakeMemory) -> None:
    little = ModelUsage(model="claude-opus-4-5", input_tokens=1, output_tokens=1)
    session = make_session([("user", [("text", "Hi")])], path="sessions/a/5", agent="codex", usage=(little, UNPRICED))
    memory.session_texts = {session.summary.path: session}
    assert run("sessions", "stats", "--by", "agent").out.splitlines()[1].endswith(" $0.00+")


def test_unknown_duration_is_shown_as_unknown(run: Run, memory: FakeMemory) -> None:
    untimed = make_session([("user", [("text", "Hello")])], path="sessions/a/4", agent="gptme", started=None)
    memory.session_texts = {untimed.summary.path: untimed}
    assert stats(run)["total"]["seconds"] is None
    lines = run("sessions", "stats", "--by", "agent").out.splitlines()
    assert lines[1].split()[:4] == ["gptme", "1", "1", "unknown"]


def test_stats_use_the_price_list_of_the_settings(run: Run, tmp_path: Path, settings: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text('[[list]]\n[list.models]\n"claude-opus-4-5" = { input = 1, output = 0 }\n')
    settings.write_text(f'{settings.read_text()}[defaults.sessions]\nprices = "{own.as_posix()}"\n')
    assert stats(run, "--config", str(settings), "--agent", "codex")["total"]["usage"]["cost"] == pytest.approx(
        1.000005
    )
    assert f"else by {own}, else by list prices" in run("sessions", "stats", "--config", str(settings)).out
    own.unlink()
    failed = run("sessions", "stats", "--config", str(settings))
    assert failed.code == 1
    assert "prices.toml" in failed.err


def test_unknown_grouping_is_wrong_usage(run: Run) -> None:
    assert run("sessions", "stats", "--by", "moon").code == 2
