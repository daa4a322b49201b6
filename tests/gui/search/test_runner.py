import threading
import time
from functools import partial
from typing import Any

import msgspec
import pytest
import shiboken6

from engine import CancelToken, ResultText, SearchOutcome, StoreError
from gui.core.jobs import Jobs
from gui.core.workspace import FIRST_RESULTS
from gui.search import search_runner as module
from gui.search.query import DAY, Answer, Query, Scope, is_searchable
from gui.search.search_runner import SearchRunner


class RecordedRunner:
    """A runner on a memory, and everything that it reported."""

    def __init__(self, jobs, memory) -> None:
        self.runner = SearchRunner(jobs, jobs if isinstance(jobs, Jobs) else None)  # its timers end with the jobs
        self.runner.set_manager(memory)
        self.answers: list[Answer] = []
        self.failures: list[tuple[Query, str]] = []
        self.waiting: list[bool] = []
        self.runner.answered.connect(self.answers.append)
        self.runner.failed.connect(lambda query, sentence: self.failures.append((query, sentence)))
        self.runner.waiting.connect(self.waiting.append)

    def received(self) -> list[tuple[str, str, bool]]:
        return [(answer.query.text, answer.outcome.mode, answer.final) for answer in self.answers]


@pytest.fixture
def recorded(jobs, memory, short_waits) -> RecordedRunner:
    return RecordedRunner(jobs, memory)


def _searches(memory) -> list[tuple[str, str]]:
    return [(query, mode) for query, mode, _ in memory.searches]


@pytest.mark.parametrize("text", ["ab", " ab ", "a b", "水", "ア", "한", "水 ", "🙂", *"❤✂☀♻🏷"])
def test_text_of_two_characters_or_one_ideograph_is_searchable(text: str):
    assert is_searchable(text)


@pytest.mark.parametrize("text", ["", " ", "a", " a ", "é", "。", "1", "*", "\x01", "→"])
def test_text_without_searchable_characters_is_not_searched(text: str):
    assert not is_searchable(text)


def test_keyword_answer_comes_before_hybrid(qtbot, recorded):
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"))
    assert recorded.received() == [("timer", "keyword", False), ("timer", "hybrid", True)]
    assert not recorded.runner.busy


def test_complete_only_request_gives_one_hybrid_answer(qtbot, recorded):
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"), complete_only=True)
    assert recorded.received() == [("timer", "hybrid", True)]


def test_burst_of_queries_runs_only_the_last(qtbot, recorded, memory):
    with qtbot.waitSignal(recorded.runner.idle):
        for text in ("ti", "tim", "time", "timer"):
            recorded.runner.run_query(Query(text))
    assert _searches(memory) == [("timer", "keyword"), ("timer", "auto")]


def test_remote_search_waits_until_typing_stops(qtbot, recorded, memory):
    memory.remote = True
    for text in ("irri", "irrigation"):
        with qtbot.waitSignal(recorded.runner.answered):
            recorded.runner.run_query(Query(text))
    with qtbot.waitSignal(recorded.runner.idle):
        pass
    assert _searches(memory) == [("irri", "keyword"), ("irrigation", "keyword"), ("irrigation", "auto")]


def test_chosen_query_is_sent_immediately(qtbot, recorded, memory, monkeypatch):
    monkeypatch.setattr(module, "SETTLE_MS", 3_600_000)
    memory.remote = True
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"), immediately=True)
    assert _searches(memory) == [("timer", "keyword"), ("timer", "auto")]


@pytest.mark.parametrize("slow", ["keyword_delay", "search_delay"])
def test_newest_query_wins_over_slower_one(qtbot, recorded, memory, slow: str):
    setattr(memory, slow, 5.0)
    recorded.runner.run_query(Query("irrigation"))
    qtbot.waitUntil(lambda: len(memory.searches) == (1 if slow == "keyword_delay" else 2))
    setattr(memory, slow, 0.0)
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"))
    assert recorded.received()[-2:] == [("timer", "keyword", False), ("timer", "hybrid", True)]
    assert ("irrigation", "hybrid", True) not in recorded.received()


class _HeldJobs:
    """Stand-in for `Jobs`, and for the running job, which is finished by the test."""

    def __init__(self) -> None:
        self.started: list[tuple[Any, Any, Any]] = []
        self.cancelled = 0
        self.resumed = 0
        self.token = self
        self.held_in: list[_HeldJobs] = []

    def read_twice(self, work, on_first, on_done, on_error=None) -> "_HeldJobs":
        self.started.append((work, on_first, on_done))
        return self

    def cancel(self) -> None:
        self.cancelled += 1

    def resume(self) -> None:
        self.resumed += 1

    def deliver_first(self, number: int) -> None:
        """The keyword answer; the job then pauses."""
        work, on_first, _ = self.started[number]
        first: list[Any] = []
        work(CancelToken(), first.append)
        on_first(first[0])

    def deliver(self, number: int) -> None:
        work, on_first, on_done = self.started[number]
        self.held_in.remove(self)
        on_done(work(CancelToken(), on_first))


def test_newer_query_cancels_the_older_one(qtbot, memory):
    jobs = _HeldJobs()
    recorded = RecordedRunner(jobs, memory)
    recorded.runner.run_query(Query("irrigation"), immediately=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    recorded.runner.run_query(Query("timer"), immediately=True)
    assert jobs.cancelled == 1
    qtbot.waitUntil(lambda: len(jobs.started) == 2)
    jobs.deliver(1)  # the complete answer follows immediately, so the keyword answer is skipped
    qtbot.waitUntil(lambda: not recorded.runner.busy)
    assert recorded.received() == [("timer", "hybrid", True)]
    recorded.runner.stop()


def test_keyword_answer_is_shown_before_hybrid_search_starts(qtbot, memory):
    jobs = _HeldJobs()
    recorded = RecordedRunner(jobs, memory)
    recorded.runner.run_query(Query("timer"), immediately=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    prepared: list[Answer] = []
    resumed: list[int] = []
    recorded.runner.arrived.connect(prepared.append)
    recorded.runner.answered.connect(lambda _: resumed.append(jobs.resumed))
    jobs.deliver_first(0)
    assert len(prepared) == 1
    assert recorded.answers == []
    qtbot.waitUntil(lambda: recorded.answers == prepared)
    assert recorded.received() == [("timer", "keyword", False)]
    assert resumed == [0]
    assert recorded.runner.busy
    qtbot.waitUntil(lambda: jobs.resumed == 1)
    assert len(jobs.started) == 1
    recorded.runner.stop()


def test_new_query_drops_answer_that_arrived(qtbot, memory):
    jobs = _HeldJobs()
    recorded = RecordedRunner(jobs, memory)
    recorded.runner.run_query(Query("time"), immediately=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    jobs.deliver_first(0)
    recorded.runner.run_query(Query("timer"), immediately=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 2)
    jobs.deliver_first(1)
    qtbot.waitUntil(lambda: bool(recorded.answers))
    assert recorded.received() == [("timer", "keyword", False)]
    recorded.runner.stop()


def test_new_query_replaces_pending_hybrid_search(qtbot, memory):
    jobs = _HeldJobs()
    recorded = RecordedRunner(jobs, memory)
    recorded.runner.run_query(Query("time"), immediately=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    with qtbot.waitSignal(recorded.runner.answered):
        jobs.deliver_first(0)
    recorded.runner.run_query(Query("timer"), immediately=True)
    assert jobs.cancelled == 1
    qtbot.waitUntil(lambda: len(jobs.started) == 2)
    with qtbot.waitSignal(recorded.runner.answered):
        jobs.deliver_first(1)
    assert recorded.received() == [("time", "keyword", False), ("timer", "keyword", False)]
    recorded.runner.stop()


def test_waiting_signal_starts_and_ends(qtbot, recorded, meaning_waits):
    recorded.runner.run_query(Query("timer"))
    qtbot.waitUntil(lambda: recorded.waiting == [True])
    meaning_waits.set()
    qtbot.waitUntil(lambda: not recorded.runner.busy)
    assert recorded.waiting == [True, False]


def test_fast_answer_emits_no_waiting_signal(qtbot, jobs, memory, monkeypatch):
    monkeypatch.setattr(module, "NOTICE_DELAY_MS", 10_000)
    recorded = RecordedRunner(jobs, memory)
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"), immediately=True)
    assert recorded.waiting == []


def test_failure_is_reported_once(qtbot, recorded, memory):
    memory.search_error = StoreError("The index is locked.")
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"))
    assert recorded.failures == [(Query("timer"), "The index is locked.")]
    assert recorded.answers == []


def test_stop_drops_pending_and_running_searches(qtbot, recorded, memory):
    memory.keyword_delay = 5.0
    recorded.runner.run_query(Query("irrigation"))
    qtbot.waitUntil(lambda: len(memory.searches) == 1)
    recorded.runner.run_query(Query("timer"))
    recorded.runner.stop()
    qtbot.wait(20)
    assert recorded.answers == []
    assert len(memory.searches) == 1
    assert not recorded.runner.busy


def test_repeats_run_once_after_running_search(qtbot, recorded, memory):
    memory.search_delay = 0.02
    recorded.runner.run_query(Query("timer"))
    qtbot.waitUntil(lambda: len(memory.searches) >= 1)
    for _ in range(3):
        recorded.runner.repeat(Query("timer"))
    assert recorded.runner.busy
    qtbot.waitUntil(lambda: not recorded.runner.busy)
    assert _searches(memory) == [("timer", "keyword"), ("timer", "auto"), ("timer", "auto")]


def test_first_repeat_begins_immediately(qtbot, recorded, memory, monkeypatch):
    monkeypatch.setattr(module, "REPEAT_MS", 3_600_000)
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.repeat(Query("timer"))
    assert _searches(memory) == [("timer", "auto")]
    recorded.runner.repeat(Query("timer"))
    qtbot.wait(20)
    assert len(memory.searches) == 1
    assert recorded.runner.busy
    recorded.runner.stop()


def test_repeat_uses_query_running_meanwhile(qtbot, recorded, memory):
    """Otherwise the earlier answer would return below a box with another query."""
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("irrigation"))
    memory.search_delay = 0.02
    recorded.runner.run_query(Query("timer"))
    recorded.runner.repeat(Query("irrigation"))  # the index changes while the first answer is still shown
    qtbot.waitUntil(lambda: not recorded.runner.busy)
    assert _searches(memory)[2:] == [("timer", "keyword"), ("timer", "auto"), ("timer", "auto")]
    assert recorded.answers[-1].query.text == "timer"


def test_new_query_replaces_repeat(qtbot, recorded, memory):
    recorded.runner.repeat(Query("irrigation"))
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer"))
    assert {query for query, _ in _searches(memory)} == {"timer"}


def test_query_limits_reach_engine(qtbot, recorded, memory):
    with qtbot.waitSignal(recorded.runner.idle):
        recorded.runner.run_query(Query("timer", ("sessions",), 7))
    _, _, options = memory.searches[-1]
    assert options["max_results"] == FIRST_RESULTS
    assert options["sources"] == ("sessions",)
    assert options["since"] == pytest.approx(time.time() - 7 * DAY, abs=60)


def test_without_manager_nothing_is_searched(qtbot, recorded, memory):
    recorded.runner.set_manager(None)
    recorded.runner.run_query(Query("timer"))
    recorded.runner.repeat(Query("timer"))
    qtbot.waitUntil(lambda: not recorded.runner.busy)
    assert memory.searches == []


def test_result_limits_do_not_change_subject():
    assert Query("a").subject == Query("a", max_results=900, min_score=0.0).subject
    assert len({Query("a").subject, Query("b").subject, Query("a", ("memory",)).subject}) == 3
    assert Query("a").subject != Query("a", days=7).subject


def test_scope_glob_escapes_wildcards():
    assert Scope("sessions/a[1]/what?*.jsonl", "").glob == "sessions/a[[]1]/what[?][*].jsonl"


def test_deleted_runner_cancels_its_job(qtbot, memory):
    jobs = _HeldJobs()
    runner = SearchRunner(jobs)
    runner.set_manager(memory)
    runner.run_query(Query("timer"), immediately=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    shiboken6.delete(runner)
    assert jobs.cancelled == 1


def test_texts_of_results_are_made_on_pool_thread(qtbot, recorded, memory, monkeypatch):
    made, search = {}, memory.search

    def later(number: int, text: ResultText):
        return lambda: made.setdefault(number, threading.current_thread()) and text

    def search_later(*values: Any, **options: Any) -> SearchOutcome:
        outcome = search(*values, **options)
        found = outcome.results[0]
        results = [
            msgspec.structs.replace(found, path=f"{number}.md", text=later(number, found.shown)) for number in range(40)
        ]
        return msgspec.structs.replace(outcome, results=tuple(results))

    monkeypatch.setattr(memory, "search", search_later)
    before_shown: list[list[int]] = []
    recorded.runner.arrived.connect(lambda _: before_shown.append(sorted(made)))
    recorded.runner.run_query(Query("timer"), complete_only=True)
    qtbot.waitUntil(lambda: len(made) == 40)
    assert before_shown == [list(range(12))]  # with a heading each, the rows of a tall screen
    assert threading.main_thread() not in made.values()


def test_new_query_stops_making_texts_of_the_last(qtbot, recorded, memory, monkeypatch):
    made: list[str] = []
    started, released, search = threading.Event(), threading.Event(), memory.search

    def slow(query: str, text: ResultText) -> ResultText:
        made.append(query)
        started.set()
        assert released.wait(60)
        return text

    def search_slowly(query: str, **options: Any) -> SearchOutcome:
        outcome = search(query, **options)
        results = [
            msgspec.structs.replace(result, text=partial(slow, query, result.text)) for result in outcome.results
        ]
        return msgspec.structs.replace(outcome, results=(*results, *results))

    monkeypatch.setattr(memory, "search", search_slowly)
    recorded.runner.run_query(Query("timer"), complete_only=True)
    qtbot.waitUntil(started.is_set)
    recorded.runner.run_query(Query("irrigation"), complete_only=True)
    released.set()
    qtbot.waitUntil(lambda: "irrigation" in made)
    assert made.count("timer") == 1
