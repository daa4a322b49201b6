"""Cost of sessions by recorded cost or price table, and sums over sessions."""

from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from engine.base.errors import SettingsError
from engine.insight.session_stats import load_prices, session_stats
from engine.records import ModelUsage, SessionSummary, UsageTotal
from tests.helpers.fake_sessions import make_session_summary

NOON = datetime(2026, 2, 11, 12).timestamp()
LATER = datetime(2026, 2, 13, 12).timestamp()


def usage(
    model: str = "claude-opus-4-5", sent: int | None = 1000, received: int | None = 100, **more: Any
) -> ModelUsage:
    return ModelUsage(model=model, input_tokens=sent, output_tokens=received, **more)


def session(*used: ModelUsage, **changes: Any) -> SessionSummary:
    return make_session_summary(**{"started": NOON, "ended": NOON + 600, "messages": 4, "usage": used, **changes})


def test_cost_has_a_price_for_each_kind_of_token() -> None:
    one = usage(cache_read_tokens=10_000, cache_write_tokens=2000, cache_write_hour_tokens=500)
    expected = (1000 * 5 + 100 * 25 + 10_000 * 0.5 + 1500 * 6.25 + 500 * 10) / 1e6
    assert load_prices().cost(one) == pytest.approx(expected)


def test_recorded_cost_wins() -> None:
    assert load_prices().cost(usage(recorded_cost=0.5)) == 0.5


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-4-5-20251101",
        "anthropic/claude-opus-4.5",
        "us.anthropic.claude-opus-4-5-20251101-v1:0",
        "claude-opus-4-5@20251101",
        "claude-opus-4-5[1m]",
        "openrouter/anthropic/claude-opus-4.5:beta",
    ],
)
def test_model_is_found_by_the_names_that_agents_use(name: str) -> None:
    assert load_prices().cost(usage(name)) == load_prices().cost(usage())


@pytest.mark.parametrize(
    ("name", "cost"), [("gpt-5-2025-08-07", 0.00225), ("models/gemini-2.5-pro", 0.00225), ("openai/gpt-4.1", 0.0028)]
)
def test_price_of_model_name_with_dots_and_dates(name: str, cost: float) -> None:
    assert load_prices().cost(usage(name)) == pytest.approx(cost)


@pytest.mark.parametrize("one", [usage("gpt-99"), usage(""), usage(sent=None), usage(received=None)])
def test_unknown_cost_is_not_zero(one: ModelUsage) -> None:
    assert load_prices().cost(one) is None


def test_user_price_list_overrides_the_default(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(
        '[[list]]\n[list.models]\n"gpt-99" = { input = 1, output = 2 }\n"gpt-5" = { input = 0, output = 0 }\n'
    )
    prices = load_prices(str(own))
    assert prices.cost(usage("gpt-99", cache_read_tokens=1000)) == pytest.approx(0.0022)
    assert prices.cost(usage("gpt-5")) == 0
    assert prices.cost(usage()) == load_prices().cost(usage())
    assert prices.sources[0].source == str(own)


@pytest.mark.parametrize(
    "text",
    [
        "[[list",
        "[[list]]\nmodels = 3",
        '[[list]]\n[list.models]\n"a" = { input = -1, output = 1 }',
        "a = " + "[" * 100_000,
        "a" + ".a" * 100_000 + " = 1",
        f"a = {'9' * 5000}",
    ],
)
def test_invalid_price_list_is_an_error_with_its_name(tmp_path: Path, text: str) -> None:
    own = tmp_path / "prices.toml"
    own.write_text(text)
    with pytest.raises(SettingsError, match=r"prices\.toml"):
        load_prices(str(own))
    with pytest.raises(SettingsError, match=r"missing\.toml: No such file or directory\. Check"):
        load_prices(str(tmp_path / "missing.toml"))


def test_invalid_price_list_shows_a_valid_example(tmp_path: Path) -> None:
    own = tmp_path / "prices.toml"
    own.write_text("gpt = 1")
    with pytest.raises(SettingsError) as refused:
        load_prices(str(own))
    own.write_text(str(refused.value).partition("as in: ")[2])
    assert load_prices(str(own)).has_price("claude-sonnet-5")


def test_total_marks_unknown_values() -> None:
    stats = session_stats([session(usage(), usage("gpt-99", 5, 6)), session()], load_prices())
    total = stats.total
    assert (total.sessions, total.messages, total.seconds, total.without_usage) == (2, 8, 1200, 1)
    assert total.usage == UsageTotal(input_tokens=1005, output_tokens=106, cost=0.0075, cost_complete=False)
    assert (stats.rows, stats.unpriced) == ((), ("gpt-99",))
    assert all(source.date for source in stats.prices)


def test_model_without_numbers_counts_as_unrecorded() -> None:
    stats = session_stats([session(usage()), session(ModelUsage("gpt-99"))], load_prices(), "model")
    assert (stats.total.without_usage, stats.unpriced, stats.total.usage.cost_complete) == (1, (), True)
    assert [(row.name, row.sessions, row.usage.output_tokens) for row in stats.rows] == [
        ("claude-opus-4-5", 1, 100),
        ("gpt-99", 1, None),
    ]


def test_unknown_duration_is_not_zero() -> None:
    untimed = [session(active_seconds=None), session(active_seconds=None, ended=None)]
    assert session_stats(untimed, load_prices()).total.seconds is None
    assert session_stats([], load_prices()).total.seconds is None
    assert session_stats([*untimed, session()], load_prices()).total.seconds == 600
    assert session_stats([session(active_seconds=0.0)], load_prices()).total.seconds == 0


def test_no_sessions_have_unknown_tokens() -> None:
    assert session_stats([], load_prices()).total.usage == UsageTotal()


def test_sub_agents_add_tokens_not_sessions() -> None:
    part = session(usage(), id="a1", parent="a")
    total = session_stats([session(usage()), part], load_prices()).total
    assert (total.sessions, total.messages, total.usage.input_tokens) == (1, 4, 2000)


def test_sub_agents_without_parent_count_as_sessions() -> None:
    lost, itself = session(usage(), id="a1", parent="gone"), session(id="a2", parent="a2")
    other = session(id="gone", agent="codex")
    total = session_stats([lost, itself, other], load_prices()).total
    assert (total.sessions, total.messages, total.seconds, total.usage.input_tokens) == (3, 12, 1800, 1000)


def test_rows_by_model_agent_project_machine_and_day() -> None:
    first = session(usage(), usage("gpt-5", 1, 2), agent="codex", project="/a")
    later = session(usage(), agent="claude-code", project="/b", machine="lab", started=None, ended=LATER)
    unknown = session(agent="codex", project="", started=None, ended=None)
    sessions = [first, later, unknown]

    def rows(by: Any) -> list[tuple[str, int, int | None]]:
        found = session_stats(sessions, load_prices(), by).rows
        return [(row.name, row.sessions, row.usage.input_tokens) for row in found]

    assert rows("model") == [("claude-opus-4-5", 2, 2000), ("gpt-5", 1, 1), ("", 1, None)]
    assert rows("agent") == [("codex", 2, 1001), ("claude-code", 1, 1000)]
    assert rows("project") == [("/a", 1, 1001), ("/b", 1, 1000), ("", 1, None)]
    assert rows("machine") == [("", 2, 1001), ("lab", 1, 1000)]
    assert rows("day") == [("", 1, None), ("2026-02-11", 1, 1001), ("2026-02-13", 1, 1000)]


def test_session_without_an_end_counts_when_its_file_changed() -> None:
    open_ended = session(started=NOON, ended=None, modified=LATER)
    (row,) = session_stats([open_ended], load_prices(), "day").rows
    assert row.name == "2026-02-13"
