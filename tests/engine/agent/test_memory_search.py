"""`memory_search`: payload, citations, budget, and an answer to every call."""

import json
import threading
import time
from datetime import datetime
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_get, memory_search
from engine.base.cancellation import CancelToken
from engine.base.errors import Closed, IndexCorrupt, ProviderError, StoreError
from engine.records import FallbackStatus, FoundMessage, SearchOutcome, to_json
from engine.settings import Settings
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import with_text


def payload_of(answer: Any) -> Any:
    """Return the answer as a model receives it."""
    return json.loads(to_json(answer))


GROUP = "agent:main:discord:group:123"


def test_an_answer_has_the_payload_of_the_reference(access, memory: FakeMemory) -> None:
    memory.set_status(fallback=FallbackStatus(from_="qmd", reason="gone"))
    payload = payload_of(memory_search(access(), "irrigation timer", 1))
    assert list(payload) == ["results", "provider", "model", "fallback", "citations", "mode"]
    assert payload["fallback"] == {"from": "qmd", "reason": "gone"}
    assert (payload["provider"], payload["model"], payload["mode"]) == ("embedded", "use-multilingual-v3", "hybrid")
    (result,) = payload["results"]
    assert list(result) == ["path", "startLine", "endLine", "score", "snippet", "source", "date", "citation"]
    assert result["citation"] == f"{result['path']}#L{result['startLine']}-L{result['endLine']}"
    assert result["snippet"].endswith(f"\n\nSource: {result['citation']}")


def test_session_result_has_date_agent_and_project(memory: FakeMemory) -> None:
    message = FoundMessage(ordinal=3, id="", role="user", agent="codex", project="/home/kim/src/crush")
    moment = datetime(2026, 5, 30, 17, 56).timestamp()
    outcome = memory.search("timer")
    found = msgspec.structs.replace(
        with_text(outcome.results[0], message=message), source="sessions", modified=moment, title="A broken timer"
    )

    class Sessions:
        def search(self, query: str, **options: Any) -> SearchOutcome:
            return msgspec.structs.replace(outcome, results=(found,))

        status = memory.status

    (result,) = payload_of(memory_search(AgentAccess(Sessions, Settings()), "timer"))["results"]
    assert (result["date"], result["agent"], result["project"]) == ("2026-05-30", "codex", "crush")
    assert result["title"] == "A broken timer"


def test_answer_says_that_vectors_are_pending(access, memory: FakeMemory) -> None:
    memory.set_status(chunks=400, pending_vectors=300)
    pending = "Only 25% of the passages have a vector; the others are found by words only."
    assert memory_search(access(), "irrigation timer").notice == pending
    memory.set_status(pending_vectors=0)
    assert memory_search(access(), "irrigation timer").notice is msgspec.UNSET


def test_without_citations_nothing_is_added(access, memory: FakeMemory) -> None:
    payload = payload_of(memory_search(access(citations="off"), "irrigation timer", 1))
    assert payload["citations"] is False
    assert "citation" not in payload["results"][0]
    assert "Source:" not in payload["results"][0]["snippet"]


@pytest.mark.parametrize(
    ("setting", "key", "cited"),
    [
        ("auto", None, True),
        ("auto", "agent:main:main", True),
        ("auto", GROUP, False),
        ("auto", "agent:main:slack:channel:c1", False),
        ("auto", "agent:main:groups", True),
        ("on", GROUP, True),
        ("off", None, False),
    ],
)
def test_citations_depend_on_chat_kind(access, setting: str, key: str | None, cited: bool) -> None:
    assert memory_search(access(citations=setting, session_key=key), "timer").citations is cited


def test_session_key_is_passed_to_the_memory(memory: FakeMemory) -> None:
    seen: list[Any] = []

    class Watched:
        def search(self, query: str, **options: Any):
            seen.append((query, options["session_key"], options["max_results"], options["min_score"]))
            return memory.search(query)

        status = memory.status

    memory_search(AgentAccess(Watched, Settings(), session_key=GROUP), "timer", 3, 0.5)
    assert seen == [("timer", GROUP, 3, 0.5)]


@pytest.mark.parametrize("most", [1, 3, 8, 40, 100, 150, 4000])
def test_budget_cuts_last_passage(access, most: int) -> None:
    whole = memory_search(access(), "irrigation timer valve CR2032").results
    cut = memory_search(access(max_injected_chars=most), "irrigation timer valve CR2032").results
    assert sum(len(found.snippet) for found in cut) == min(most, sum(len(found.snippet) for found in whole))
    for passage, found in zip(cut[:-1], whole, strict=False):
        assert passage == found
    assert whole[len(cut) - 1].snippet.startswith(cut[-1].snippet)


def test_cut_splits_no_character(access, memory: FakeMemory) -> None:
    memory.files = {"a.md": "# A\n\nvalve \U0001f469\u200d\U0001f467\n"}
    snippets = {memory_search(access(max_injected_chars=n), "valve").results[0].snippet for n in range(6, 10)}
    assert snippets == {"valve ", "valve \U0001f469\u200d\U0001f467"}


def test_injection_budget_defaults_for_qmd_only() -> None:
    assert Settings().injection_budget is None
    assert Settings(backend="qmd").injection_budget == 4000
    assert Settings(backend="qmd", max_injected_chars=900).injection_budget == 900
    assert Settings(max_injected_chars=900).injection_budget == 900


def test_empty_answer_includes_notice(access, memory: FakeMemory) -> None:
    memory.files = {}
    payload = payload_of(memory_search(access(), "timer"))
    assert (payload["results"], payload["notice"]) == ([], "The index is empty.")


def test_empty_answer_gives_reason_and_remedy(access, memory: FakeMemory) -> None:
    (weak,) = memory.remedies
    assert memory_search(access(), "zymurgy").notice.endswith(weak.advice)
    memory.remedies = ()
    assert memory_search(access(), "zymurgy").notice.endswith("Try other words, or fewer of them.")
    assert memory_search(access(), "irrigation timer").notice is msgspec.UNSET


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ProviderError("openai: insufficient_quota"), "quota"),
        (ProviderError("HTTP 429: too many requests"), "quota"),
        (ProviderError("The key of openai was refused."), "embedding provider"),
        (StoreError("No room left."), "doctor"),
        (IndexCorrupt("The index is damaged."), "doctor"),
        (Closed(), "doctor"),
        (ValueError("oops"), "doctor"),
        (SystemExit(3), "doctor"),
    ],
)
def test_failure_answer_says_how_to_fix(
    access, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch, error: BaseException, words: str
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(memory, "search", fail)
    payload = payload_of(memory_search(access(), "timer"))
    assert list(payload) == ["results", "disabled", "unavailable", "error", "warning", "action"]
    assert (payload["results"], payload["disabled"], payload["unavailable"]) == ([], True, True)
    assert words in f"{payload['warning']} {payload['action']}"


def test_unopenable_memory_answers_with_error() -> None:
    def fail() -> FakeMemory:
        raise StoreError("The index is of a newer version.")

    answer = memory_search(AgentAccess(fail, Settings()), "timer")
    assert (answer.disabled, answer.error) == (True, "The index is of a newer version.")


def test_an_error_shows_no_key(access, memory: FakeMemory) -> None:
    memory.search_error = RuntimeError("Bearer sk-proj-abcdefghijklmnopqrstuvwxyz0123456789 refused")
    answer = memory_search(access(), "timer")
    assert "ghijklmnop" not in str(answer.error)
    assert str(answer.error).startswith("RuntimeError: ")


def test_failing_status_keeps_the_answer(access, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise Closed

    monkeypatch.setattr(memory, "status", fail)
    answer = memory_search(access(), "timer")
    assert answer.results
    assert answer.fallback is None


def test_hanging_memory_abandoned_for_a_while() -> None:
    release, searches = threading.Event(), []

    class Hanging(FakeMemory):
        def search(self, *args: Any, **options: Any) -> Any:
            searches.append(options["mode"])
            release.wait(60)
            return super().search(*args, **options)

    memory = Hanging()
    way = AgentAccess(lambda: memory, Settings(), deadline=0.05, cooldown=60)
    first, second = memory_search(way, "timer"), memory_search(way, "timer")
    assert [answer.disabled for answer in (first, second)] == [True, True]
    assert "did not answer within" in str(first.error)
    assert "try again in 60 seconds" in str(second.error)
    assert searches == ["auto", "keyword"]
    release.set()
    until = time.monotonic() + 20
    while memory_search(way, "timer").mode != "hybrid":  # the calls succeed now, which ends the cooldown
        assert time.monotonic() < until
        time.sleep(0.01)
    memory.close()


def test_slow_vectors_keywords_answer_until_ready() -> None:
    loaded, opened = threading.Event(), []

    class Loading(FakeMemory):
        def search(self, *args: Any, **options: Any) -> Any:
            if options["mode"] == "auto":
                loaded.wait(60)
            return super().search(*args, **options)

    memory = Loading()

    def open_() -> FakeMemory:
        opened.append(memory)
        return memory

    way = AgentAccess(open_, Settings(), deadline=1.5, cooldown=60)
    for answer in (memory_search(way, "timer"), memory_search(way, "timer")):
        assert (answer.mode, answer.disabled, bool(answer.results)) == ("keyword", UNSET, True)
        assert "by words only" in str(answer.notice)
    assert len(opened) == 2  # only once for the first search, which may wait for a sync
    assert memory_get(way, answer.results[0].path).text
    loaded.set()
    until = time.monotonic() + 20
    while (answer := memory_search(way, "timer")).mode != "hybrid":
        assert time.monotonic() < until
        time.sleep(0.01)
    assert answer.notice is UNSET
    memory.close()


def test_reopened_memory_is_used(memory: FakeMemory) -> None:
    closed = FakeMemory()
    closed.search_error = Closed()
    opened = iter([closed, memory])
    assert memory_search(AgentAccess(lambda: next(opened), Settings()), "irrigation timer").results
    assert memory_search(AgentAccess(lambda: closed, Settings()), "irrigation timer").unavailable is True
    closed.close()


def test_deadline_cancels_abandoned_call(access, memory: FakeMemory) -> None:
    memory.keyword_delay = 30
    memory.search_delay = 0.2
    assert memory_search(access(deadline=0.05, cooldown=0), "timer").disabled is True
    memory.search_delay = 0
    assert memory_search(access(), "timer").results


def test_a_cancel_ends_the_wait(access, memory: FakeMemory) -> None:
    memory.search_delay = 30
    token = CancelToken()
    threading.Timer(0.05, token.cancel).start()
    assert "cancelled" in str(memory_search(access(), "timer", cancel=token).warning)
    way = access()
    assert memory_search(way, "timer", cancel=token).disabled is True
    memory.search_delay = 0
    assert memory_search(way, "timer").results  # a cancelled call starts no cooldown


ANYTHING = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.lists(st.integers())


class Unruly:
    """A memory that returns or raises any given outcome."""

    def __init__(self, outcome: Any) -> None:
        self.outcome = outcome

    def search(self, *_: object, **__: object) -> Any:
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome

    read_file = search

    def status(self) -> Any:
        return self.search()


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=ANYTHING, most=ANYTHING, least=ANYTHING)
def test_any_arguments_get_an_answer(access, query: Any, most: Any, least: Any) -> None:
    msgspec.json.encode(memory_search(access(), query, most, least))


@given(
    outcome=ANYTHING | st.sampled_from([KeyError("x"), RecursionError(), MemoryError(), SystemExit(), OSError(5, "x")])
)
def test_any_memory_error_is_an_answer(outcome: Any) -> None:
    answer = memory_search(AgentAccess(lambda: Unruly(outcome), Settings()), "timer")
    assert answer.disabled is True
    msgspec.json.encode(answer)
