"""Cached answers: the same query again, and every change that must invalidate one."""

import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.records import EarlierQuery
from engine.search import query_conditions, result_cache
from engine.search.query_conditions import Conditions
from engine.search.result_cache import IndexState, ResultCache, SearchState
from engine.settings.search_settings import QuerySettings, ResultCacheSettings
from engine.text import date_parsing
from tests.helpers.fake_provider import FakeProvider


def paths(outcome) -> list[str]:
    return [result.path for result in outcome.results]


def test_repeated_query_is_answered_from_cache(memory) -> None:
    first = memory.search("irrigation timer", explain=True)
    again = memory.search("irrigation timer", explain=True)
    assert first.age is None
    assert again.age is not None
    assert again.age >= 0
    assert again.results == first.results
    assert again.explanation == first.explanation
    spent = again.timings
    assert (spent.keyword, spent.embed, spent.vector, spent.merge) == (0, 0, 0, 0)
    assert spent.total > 0


@pytest.mark.parametrize(
    "options",
    [
        {"min_score": 0.1},
        {"max_results": 2},
        {"sources": ["memory"]},
        {"path_glob": "daily/**"},
        {"since": 1.0},
        {"until": 1.0},
        {"session_key": "agent:main:discord:group:1"},
        {"half_life_days": 3.0},
        {"diverse": True},
        {"explain": True},
        {"mode": "keyword"},
        {"within": [EarlierQuery(query="timer")]},
    ],
    ids=lambda options: next(iter(options)),
)
def test_other_options_do_not_use_the_cached_answer(memory, options) -> None:
    memory.search("irrigation timer")
    assert memory.search("irrigation timer", **options).age is None
    assert memory.search("irrigation timer", **options).age is not None
    assert memory.search("irrigation timers").age is None


def test_group_session_gets_no_cached_private_answer(memory, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Mine\n\nThe irrigation timer code is 4711.\n", "utf-8")
    memory.sync()
    assert "MEMORY.md" in paths(memory.search("irrigation timer"))
    assert "MEMORY.md" not in paths(memory.search("irrigation timer", session_key="a:b:group:1"))
    assert "MEMORY.md" in paths(memory.search("irrigation timer"))


def test_group_session_counts_no_private_chunks(memory, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Mine\n\nThe irrigation timer code is 4711.\n", "utf-8")
    memory.sync()

    def counted(query: str, **options: str) -> int:
        stages = memory.search(query, explain=True, **options).explanation.stages
        return next(stage.before for stage in stages if stage.name == "operators")

    assert counted("timer -valve") == counted("hose -valve", session_key="a:b:group:1") + 1


def test_conditions_cached_by_keywords_hold_for_vectors(memory) -> None:
    for mode in ("keyword", "auto"):
        assert paths(memory.search("irrigation valve OR hose", mode=mode, min_score=0)) == ["shopping.md"]


def test_two_filters_are_read_once_while_typing(memory, monkeypatch) -> None:
    read, chunks = list[object](), Conditions.chunks
    monkeypatch.setattr(Conditions, "chunks", lambda self, files: read.append(files) or chunks(self, files))
    for text in ("wat", "watering", "watering clock"):
        for glob in ("daily/**", "*.md"):
            memory.search(f"{text} -valve", path_glob=glob)
    assert len(read) == 2
    for glob in (*"abcdefg", "*.md"):  # more than are cached
        memory.search("water -valve", path_glob=glob)
    assert len(read) == 2 + 8


def test_excluded_word_is_read_in_the_language_of_each_query(open_memory, workspace: Path) -> None:
    (workspace / "pump.md").write_text("Die Pumpe und der Schlauch sind alt, und das Ventil ist neu.\n", "utf-8")
    (workspace / "hose.md").write_text("Der Schlauch ist alt, und das Ventil ist noch nicht neu.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    for query, found in (
        ("which Schlauch is in the house -pumpen", {"hose.md", "pump.md"}),
        ("wo sind der Schlauch und das Ventil -pumpen", {"hose.md"}),
    ):
        assert {*paths(memory.search(query, correct=False, min_score=0))} == found


def test_own_writes_found_immediately(memory, workspace: Path) -> None:
    memory.search("irrigation timer")
    (workspace / "new.md").write_text("# New\n\nAn irrigation timer for the roof.\n", "utf-8")
    assert memory.search("irrigation timer").age is not None, "nothing is indexed yet"
    memory.sync()
    outcome = memory.search("irrigation timer")
    assert outcome.age is None
    assert "new.md" in paths(outcome)


def test_deleted_file_leaves_the_results(memory, workspace: Path) -> None:
    assert "greenhouse.md" in paths(memory.search("irrigation timer"))
    (workspace / "greenhouse.md").unlink()
    memory.sync()
    assert "greenhouse.md" not in paths(memory.search("irrigation timer"))


@pytest.mark.parametrize("force", [False, True])
def test_other_process_writes_found_immediately(open_memory, workspace: Path, tmp_path: Path, *, force: bool) -> None:
    window = open_memory()
    window.sync()
    assert "greenhouse.md" in paths(window.search("irrigation timer"))
    assert window.search("irrigation timer").age is not None
    (workspace / "greenhouse.md").unlink()
    (workspace / "new.md").write_text("# New\n\nAn irrigation timer for the roof.\n", "utf-8")
    command = [sys.executable, "-m", "tests.helpers.sync_worker", str(workspace), str(tmp_path / "data")]
    subprocess.run([*command, "force"] if force else command, check=True, capture_output=True)
    outcome = window.search("irrigation timer")
    assert outcome.age is None
    assert "new.md" in paths(outcome)
    assert "greenhouse.md" not in paths(outcome)


def test_a_file_that_was_only_touched_is_newer_from_then_on(memory, workspace: Path) -> None:
    os.utime(workspace / "shopping.md", (1_000, 1_000))
    memory.sync()
    assert "shopping.md" not in paths(memory.search("irrigation timer", since=2_000.0))
    os.utime(workspace / "shopping.md", (3_000, 3_000))
    memory.sync()
    assert "shopping.md" in paths(memory.search("irrigation timer", since=2_000.0))


def test_a_rebuild_that_is_published_ends_all_answers(memory) -> None:
    memory.search("irrigation timer")
    memory.sync(force=True)
    outcome = memory.search("irrigation timer")
    assert outcome.age is None
    assert paths(outcome)


def test_newly_excluded_names_not_cached(open_memory, tmp_path: Path) -> None:
    first = open_memory()
    first.sync()
    assert "shopping.md" in paths(first.search("irrigation timer"))
    second = open_memory(exclude=("shopping.md",))
    assert "shopping.md" not in paths(second.search("irrigation timer")), "hidden before the next sync"
    second.sync()
    assert "shopping.md" not in paths(first.search("irrigation timer"))


def test_keyword_only_answer_not_cached(open_memory, provider: FakeProvider) -> None:
    memory = open_memory()
    memory.sync()
    provider.fails_queries = "The quota is used up."
    assert memory.search("irrigation timer").mode == "keyword"
    assert memory.search("irrigation timer").age is None
    provider.fails_queries = ""
    outcome = memory.search("irrigation timer")
    assert (outcome.mode, outcome.notice) == ("hybrid", "")
    assert memory.search("irrigation timer").age is not None


def test_first_vectors_replace_cached_keyword_answer(open_memory, provider: FakeProvider) -> None:
    without = open_memory(use=None)
    without.sync()
    assert without.search("irrigation timer").mode == "keyword"
    memory = open_memory()
    assert "nothing has been embedded yet" in memory.search("irrigation timer").notice
    assert memory.search("irrigation timer").age is None
    memory.sync()
    assert memory.search("irrigation timer").mode == "hybrid"


def test_cached_answers_end_with_change_of_provider(open_memory, provider: FakeProvider) -> None:
    memory = open_memory(instead=FakeProvider(id="other", model="other-words"))
    memory.sync()
    assert memory.search("irrigation timer").provider == "fake"
    memory._provider.prepare_fallback("It went away.")
    memory._provider.switch_to_fallback()
    outcome = memory.search("irrigation timer")
    assert (outcome.provider, outcome.age) == ("other", None)


def test_relative_date_is_not_cached_over_midnight(memory, monkeypatch) -> None:
    class Clock(result_cache.datetime):
        day = 1

        @classmethod
        def now(cls, tz=None):
            return cls(2026, 5, cls.day, 10, 30)

    monkeypatch.setattr(result_cache, "datetime", Clock)
    memory.search("irrigation after:yesterday")
    memory.search("irrigation")
    assert memory.search("irrigation after:yesterday").age is not None
    Clock.day = 2
    assert memory.search("irrigation after:yesterday").age is None
    assert memory.search("irrigation").age is None


def test_filter_of_hours_back_moves_with_the_clock(memory, workspace: Path, monkeypatch) -> None:
    class Clock(datetime):
        hour = 10

        @classmethod
        def now(cls, tz=None):
            return cls(2026, 5, 1, cls.hour, 30)

    for module in (date_parsing, query_conditions, result_cache):
        monkeypatch.setattr(module, "datetime", Clock)
    moment = Clock(2026, 5, 1, 9).timestamp()
    os.utime(workspace / "shopping.md", (moment, moment))
    memory.sync()
    assert "shopping.md" in paths(memory.search("irrigation timer after:2h"))
    Clock.hour = 12
    assert "shopping.md" not in paths(memory.search("irrigation timer after:2h"))


def test_cancelled_query_raises_despite_cached_answer(memory) -> None:
    memory.search("irrigation timer")
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        memory.search("irrigation timer", cancel=token)


@pytest.mark.parametrize("cache", [{"enabled": False}, {"ttl_seconds": 0}])
def test_disabled_cache_stores_no_answer(open_memory, cache) -> None:
    memory = open_memory(query=QuerySettings(cache=ResultCacheSettings(**cache)))
    memory.sync()
    memory.search("irrigation timer")
    assert memory.search("irrigation timer").age is None


class TestResultCache:
    STATE = SearchState(IndexState("a", 1, 1, ()), None, "2026-05-01")

    def make(self, **settings) -> ResultCache[str]:
        self.now = 100.0
        return ResultCache(ResultCacheSettings(**settings), lambda: self.now)

    def test_cached_answer_has_its_age_and_expires(self) -> None:
        cache = self.make(ttl_seconds=60)
        cache.put(self.STATE, "q", "answer")
        self.now += 59.5
        assert cache.get(self.STATE, "q") == ("answer", 59.5)
        self.now += 0.5
        assert cache.get(self.STATE, "q") is None

    def test_recent_answers_stay_cached(self) -> None:
        cache = self.make(max_entries=2)
        cache.put(self.STATE, "a", "A")
        cache.put(self.STATE, "b", "B")
        cache.get(self.STATE, "a")
        cache.put(self.STATE, "c", "C")
        assert [cache.get(self.STATE, name) is not None for name in "abc"] == [True, False, True]

    def test_index_change_empties_result_cache(self) -> None:
        cache = self.make()
        cache.put(self.STATE, "a", "A")
        later = replace(self.STATE, indexed=replace(self.STATE.indexed, stamp=2))
        assert cache.get(later, "a") is None
        assert cache.get(self.STATE, "a") is None, "the older answer is not restored"
