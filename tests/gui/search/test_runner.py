import time
from typing import Any

import pytest
import shiboken6

from engine import CancelToken, StoreError
from gui.core.workspace import FIRST_RESULTS
from gui.search import search_runner as module
from gui.search.query import DAY, Answer, Query, Scope, is_searchable
from gui.search.search_runner import SearchRunner


class Heard:
    """A runner over a memory, and all it said."""

    def __init__(self, jobs, memory) -> None:
        self.runner = SearchRunner(jobs)
        self.runner.set_manager(memory)
        self.answers: list[Answer] = []
        self.failures: list[tuple[Query, str]] = []
        self.waiting: list[bool] = []
        self.runner.answered.connect(self.answers.append)
        self.runner.failed.connect(lambda query, sentence: self.failures.append((query, sentence)))
        self.runner.waiting.connect(self.waiting.append)

    def told(self) -> list[tuple[str, str, bool]]:
        return [(answer.query.text, answer.outcome.mode, answer.final) for answer in self.answers]


@pytest.fixture
def heard(jobs, memory, short_waits) -> Heard:
    return Heard(jobs, memory)


def _asked(memory) -> list[tuple[str, str]]:
    return [(query, mode) for query, mode, _ in memory.searches]


@pytest.mark.parametrize("text", ["ab", " ab ", "a b", "水", "ア", "한", "水 ", "🙂", *"❤✂☀♻🏷"])
def test_searchable_text(text: str):
    assert is_searchable(text)


@pytest.mark.parametrize("text", ["", " ", "a", " a ", "é", "。", "1", "*", "\x01", "→"])
def test_unsearchable_text(text: str):
    assert not is_searchable(text)


def test_keyword_answer_comes_before_hybrid(qtbot, heard):
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"))
    assert heard.told() == [("timer", "keyword", False), ("timer", "hybrid", True)]
    assert not heard.runner.busy


def test_whole_request_gives_one_hybrid_answer(qtbot, heard):
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"), whole=True)
    assert heard.told() == [("timer", "hybrid", True)]


def test_burst_of_queries_runs_only_the_last(qtbot, heard, memory):
    with qtbot.waitSignal(heard.runner.idle):
        for text in ("ti", "tim", "time", "timer"):
            heard.runner.run_query(Query(text))
    assert _asked(memory) == [("timer", "keyword"), ("timer", "auto")]


def test_remote_search_waits_until_typing_stops(qtbot, heard, memory):
    memory.remote = True
    for text in ("irri", "irrigation"):
        with qtbot.waitSignal(heard.runner.answered):
            heard.runner.run_query(Query(text))
    with qtbot.waitSignal(heard.runner.idle):
        pass
    assert _asked(memory) == [("irri", "keyword"), ("irrigation", "keyword"), ("irrigation", "auto")]


def test_chosen_query_is_sent_immediately(qtbot, heard, memory, monkeypatch):
    monkeypatch.setattr(module, "SETTLE_MS", 3_600_000)
    memory.remote = True
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"), at_once=True)
    assert _asked(memory) == [("timer", "keyword"), ("timer", "auto")]


@pytest.mark.parametrize("slow", ["keyword_delay", "search_delay"])
def test_newest_query_wins_over_slower_one(qtbot, heard, memory, slow: str):
    setattr(memory, slow, 5.0)
    heard.runner.run_query(Query("irrigation"))
    qtbot.waitUntil(lambda: len(memory.searches) == (1 if slow == "keyword_delay" else 2))
    setattr(memory, slow, 0.0)
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"))
    assert heard.told()[-2:] == [("timer", "keyword", False), ("timer", "hybrid", True)]
    assert ("irrigation", "hybrid", True) not in heard.told()


class _StubbornJobs:
    """Jobs that ignore cancelling, run by the test."""

    def __init__(self) -> None:
        self.started: list[tuple[Any, Any, Any]] = []
        self.cancelled = 0
        self.resumed = 0
        self.token = self

    def read_twice(self, work, on_first, on_done, on_error=None) -> "_StubbornJobs":
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
        on_done(work(CancelToken(), on_first))


def test_newer_query_cancels_older_and_drops_its_answer(qtbot, memory):
    jobs = _StubbornJobs()
    heard = Heard(jobs, memory)
    heard.runner.run_query(Query("irrigation"), at_once=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    heard.runner.run_query(Query("timer"), at_once=True)
    assert jobs.cancelled == 1
    qtbot.waitUntil(lambda: len(jobs.started) == 2)
    jobs.deliver(0)
    assert heard.answers == []
    jobs.deliver(1)  # the complete answer follows at once, so the keyword answer is skipped
    qtbot.waitUntil(lambda: not heard.runner.busy)
    assert heard.told() == [("timer", "hybrid", True)]
    heard.runner.stop()


def test_keyword_answer_is_shown_before_hybrid_search_starts(qtbot, memory):
    jobs = _StubbornJobs()
    heard = Heard(jobs, memory)
    heard.runner.run_query(Query("timer"), at_once=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    prepared: list[Answer] = []
    resumed: list[int] = []
    heard.runner.arrived.connect(prepared.append)
    heard.runner.answered.connect(lambda _: resumed.append(jobs.resumed))
    jobs.deliver_first(0)
    assert len(prepared) == 1
    assert heard.answers == []
    qtbot.waitUntil(lambda: heard.answers == prepared)
    assert heard.told() == [("timer", "keyword", False)]
    assert resumed == [0]
    assert heard.runner.busy
    qtbot.waitUntil(lambda: jobs.resumed == 1)
    assert len(jobs.started) == 1
    heard.runner.stop()


def test_new_query_drops_answer_that_arrived(qtbot, memory):
    jobs = _StubbornJobs()
    heard = Heard(jobs, memory)
    heard.runner.run_query(Query("time"), at_once=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    jobs.deliver_first(0)
    heard.runner.run_query(Query("timer"), at_once=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 2)
    jobs.deliver_first(1)
    qtbot.waitUntil(lambda: bool(heard.answers))
    assert heard.told() == [("timer", "keyword", False)]
    heard.runner.stop()


def test_new_query_replaces_pending_hybrid_search(qtbot, memory):
    jobs = _StubbornJobs()
    heard = Heard(jobs, memory)
    heard.runner.run_query(Query("time"), at_once=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    with qtbot.waitSignal(heard.runner.answered):
        jobs.deliver_first(0)
    heard.runner.run_query(Query("timer"), at_once=True)
    assert jobs.cancelled == 1
    qtbot.waitUntil(lambda: len(jobs.started) == 2)
    with qtbot.waitSignal(heard.runner.answered):
        jobs.deliver_first(1)
    assert heard.told() == [("time", "keyword", False), ("timer", "keyword", False)]
    heard.runner.stop()


def test_waiting_signal_starts_and_ends(qtbot, heard, meaning_waits):
    heard.runner.run_query(Query("timer"))
    qtbot.waitUntil(lambda: heard.waiting == [True])
    meaning_waits.set()
    qtbot.waitUntil(lambda: not heard.runner.busy)
    assert heard.waiting == [True, False]


def test_fast_answer_emits_no_waiting_signal(qtbot, jobs, memory, monkeypatch):
    monkeypatch.setattr(module, "NOTICE_DELAY_MS", 10_000)
    heard = Heard(jobs, memory)
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"), at_once=True)
    assert heard.waiting == []


def test_failure_is_reported_once(qtbot, heard, memory):
    memory.search_error = StoreError("The index is locked.")
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"))
    assert heard.failures == [(Query("timer"), "The index is locked.")]
    assert heard.answers == []


def test_stop_drops_pending_and_running_searches(qtbot, heard, memory):
    memory.keyword_delay = 5.0
    heard.runner.run_query(Query("irrigation"))
    qtbot.waitUntil(lambda: len(memory.searches) == 1)
    heard.runner.run_query(Query("timer"))
    heard.runner.stop()
    qtbot.wait(20)
    assert heard.answers == []
    assert len(memory.searches) == 1
    assert not heard.runner.busy


def test_repeats_run_once_after_running_search(qtbot, heard, memory):
    memory.search_delay = 0.02
    heard.runner.run_query(Query("timer"))
    qtbot.waitUntil(lambda: len(memory.searches) >= 1)
    for _ in range(3):
        heard.runner.repeat(Query("timer"))
    assert heard.runner.busy
    qtbot.waitUntil(lambda: not heard.runner.busy)
    assert _asked(memory) == [("timer", "keyword"), ("timer", "auto"), ("timer", "auto")]


def test_first_repeat_begins_immediately(qtbot, heard, memory, monkeypatch):
    monkeypatch.setattr(module, "REPEAT_MS", 3_600_000)
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.repeat(Query("timer"))
    assert _asked(memory) == [("timer", "auto")]
    heard.runner.repeat(Query("timer"))
    qtbot.wait(20)
    assert len(memory.searches) == 1
    assert heard.runner.busy
    heard.runner.stop()


def test_repeat_uses_query_running_meanwhile(qtbot, heard, memory):
    """Else the answer before would come again, below a box that asks something else."""
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("irrigation"))
    memory.search_delay = 0.02
    heard.runner.run_query(Query("timer"))
    heard.runner.repeat(Query("irrigation"))  # that answer is still on show while the index changes
    qtbot.waitUntil(lambda: not heard.runner.busy)
    assert _asked(memory)[2:] == [("timer", "keyword"), ("timer", "auto"), ("timer", "auto")]
    assert heard.answers[-1].query.text == "timer"


def test_new_query_replaces_repeat(qtbot, heard, memory):
    heard.runner.repeat(Query("irrigation"))
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer"))
    assert {query for query, _ in _asked(memory)} == {"timer"}


def test_query_limits_reach_engine(qtbot, heard, memory):
    with qtbot.waitSignal(heard.runner.idle):
        heard.runner.run_query(Query("timer", ("sessions",), 7))
    _, _, options = memory.searches[-1]
    assert options["max_results"] == FIRST_RESULTS
    assert options["sources"] == ("sessions",)
    assert options["since"] == pytest.approx(time.time() - 7 * DAY, abs=60)


def test_without_manager_nothing_is_searched(qtbot, heard, memory):
    heard.runner.set_manager(None)
    heard.runner.run_query(Query("timer"))
    heard.runner.repeat(Query("timer"))
    qtbot.waitUntil(lambda: not heard.runner.busy)
    assert memory.searches == []


def test_result_limits_do_not_change_subject():
    assert Query("a").subject == Query("a", max_results=900, min_score=0.0).subject
    assert len({Query("a").subject, Query("b").subject, Query("a", ("memory",)).subject}) == 3
    assert Query("a").subject != Query("a", days=7).subject


def test_scope_glob_escapes_wildcards():
    assert Scope("sessions/a[1]/what?*.jsonl", "").glob == "sessions/a[[]1]/what[?][*].jsonl"


def test_deleted_runner_cancels_its_job(qtbot, memory):
    jobs = _StubbornJobs()
    runner = SearchRunner(jobs)
    runner.set_manager(memory)
    runner.run_query(Query("timer"), at_once=True)
    qtbot.waitUntil(lambda: len(jobs.started) == 1)
    shiboken6.delete(runner)
    assert jobs.cancelled == 1
