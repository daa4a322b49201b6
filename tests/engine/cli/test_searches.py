"""Searches that were saved in the window, on the command line."""

from collections.abc import Iterator

import pytest

from engine.base.errors import DiskFull
from engine.records import Passage, QueryRecord, SavedSearch
from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture(autouse=True)
def stays(memory: FakeMemory) -> Iterator[None]:
    """Keep the memory open after a verb, for the next one."""
    close = memory.close
    memory.close = lambda: None
    yield
    memory.close = close


@pytest.fixture
def saved(memory: FakeMemory) -> None:
    for used, (name, query) in enumerate(
        {
            "Hoses": QueryRecord(text="hose", half_life_days=0.0, diverse=False),
            "All of it": QueryRecord(
                text="irrigation timer",
                sources=("memory",),
                days=30_000,
                path="topics/shop[1].md",
                within=QueryRecord(text="garden", within=QueryRecord(text="water")),
                half_life_days=90.0,
                diverse=True,
                order="date",
            ),
        }.items()
    ):
        memory.saved_searches.save(SavedSearch(name=name, query=query, last_used=used))


def test_saved_searches_are_listed_as_commands(run: Run, saved: None) -> None:
    lines = run("searches").out.splitlines()
    assert lines[0] == (
        "  All of it  'irrigation timer' --source memory --since 30000d --path 'topics/shop[[]1].md' --within water "
        "--within garden "
        "--half-life-days 90 --diverse"
    )
    assert lines[1].split() == ["Hoses", "hose", "--half-life-days", "0", "--no-diverse"]
    first, second = run("searches", "--json").json["searches"]
    assert (first["name"], second["name"]) == ("All of it", "Hoses")
    assert first["query"]["halfLifeDays"] == 90


def test_no_saved_searches_is_reported(run: Run) -> None:
    assert run("searches").out == "No searches are saved yet: in the window, Ctrl+S saves the current search.\n"
    assert run("searches", "--json").json == {"searches": []}


def test_saved_search_runs_with_all_its_options(run: Run, memory: FakeMemory, saved: None) -> None:
    assert run("search", "--saved", "All of it").code == 0
    [(query, _, options)] = memory.searches
    assert query == "irrigation timer"
    assert options["sources"] == ("memory",)
    assert options["path_glob"] == "topics/shop[[]1].md"
    assert options["since"] is not None
    assert (options["half_life_days"], options["diverse"]) == (90.0, True)
    assert [search.name for search in memory.saved_searches.saved()] == ["All of it", "Hoses"]


def test_given_options_replace_saved(run: Run, memory: FakeMemory, saved: None) -> None:
    run("search", "--saved", "All of it", "--source", "sessions", "--half-life-days", "0", "--no-diverse")
    options = memory.searches[-1][2]
    assert (options["sources"], options["half_life_days"], options["diverse"]) == (["sessions"], 0.0, False)
    assert options["path_glob"] == "topics/shop[[]1].md"


def test_saved_order_by_date_is_used(run: Run, memory: FakeMemory) -> None:
    memory.modified = {"topics/shopping.md": 3.0, "projects/greenhouse.md": 2.0, "daily/2026-02-08.md": 9.0}
    memory.saved_searches.save(SavedSearch(name="New", query=QueryRecord(text="timer", order="date"), last_used=1.0))
    modified = [result["modified"] for result in run("search", "--saved", "New", "--json").json["results"]]
    assert len(modified) > 1
    assert modified == sorted(modified, reverse=True)


def test_similar_passages_search_can_be_saved(run: Run, memory: FakeMemory) -> None:
    passage = Passage(path="topics/shopping.md", start_line=1, end_line=3)
    memory.saved_searches.save(SavedSearch(name="Like", query=QueryRecord(like=passage), last_used=1.0))
    assert run("search", "--saved", "Like").code == 0
    assert "--like 'topics/shopping.md#L1-L3'" in run("searches").out


def test_unknown_name_is_an_error(run: Run, saved: None) -> None:
    answer = run("search", "--saved", "hoses")
    assert (answer.code, answer.err) == (
        1,
        "mnemoscope: No saved search is named “hoses”: see mnemoscope searches.\n",
    )
    assert run("search", "--saved", "Hoses", "timer").code == 2


def test_full_disk_still_prints_results(run: Run, saved: None, memory: FakeMemory, monkeypatch) -> None:
    def full(name: str) -> None:
        raise DiskFull("The disk is full.")

    expected = run("search", "--saved", "Hoses")
    assert "topics/" in expected.out
    monkeypatch.setattr(memory.saved_searches, "touch", full)
    printed = run("search", "--saved", "Hoses")
    assert (printed.code, printed.out, printed.err) == (0, expected.out, expected.err)
