"""The built-in index as fallback of a failing backend: used immediately, reported, and for no longer than necessary."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import (
    BackendError,
    Cancelled,
    Closed,
    IndexReadOnly,
    PassageMissing,
    PathRefused,
    ProviderError,
    Unsupported,
)
from engine.records import Passage, QueryRecord, SavedSearch
from engine.settings import Settings
from engine.settings.search_settings import QuerySettings
from tests.engine.backends.fallback.conftest import Elsewhere
from tests.helpers.background import wait_until

GONE = BackendError("The command qmd is not there: install it with npm.")


def paths(outcome) -> set[str]:
    return {result.path for result in outcome.results}


def test_chosen_backend_answers_while_it_works(open_manager, backend):
    manager = open_manager()
    manager.sync()
    outcome = manager.search("irrigation")
    assert paths(outcome) == {"greenhouse.md", "shopping.md"}
    assert not outcome.notice
    assert manager.status().fallback is None
    assert len(backend.opened) == 1


def test_failed_search_uses_builtin_immediately(open_manager, backend):
    manager = open_manager()
    backend.fails(GONE)
    outcome = manager.search("irrigation")
    assert paths(outcome) == {"greenhouse.md", "shopping.md"}, "nothing had been indexed there before"
    assert str(GONE) in outcome.notice
    assert "The built-in index of the same notes" in outcome.notice
    assert "answers instead of qmd" in outcome.notice
    assert backend.opened[0].closed


def test_latest_settings_apply_to_next_memory(open_manager, backend):
    manager = open_manager(pause=0)
    manager.sync()
    manager.apply_query_settings(Settings(query=QuerySettings(max_results=1)))
    assert len(manager.search("irrigation").results) == 1
    backend.fails(GONE)
    assert len(manager.search("irrigation").results) == 1, "the built-in index was opened on demand"
    manager.apply_query_settings(Settings())
    assert len(manager.search("irrigation").results) == 2
    backend.works()
    manager.apply_query_settings(Settings(query=QuerySettings(max_results=1)))
    outcome = manager.search("irrigation")
    assert not outcome.notice, "the chosen backend answers again"
    assert len(outcome.results) == 1


def test_status_names_fallback_and_reason(open_manager, backend):
    manager = open_manager()
    backend.fails(GONE)
    manager.search("irrigation")
    status = manager.status()
    assert status.backend == "builtin"
    assert status.fallback is not None
    assert (status.fallback.from_, status.fallback.reason) == ("qmd", str(GONE))
    assert status.custom["fallback"] == {"disabled": True, "reason": str(GONE)}


def test_failed_backend_not_retried_before_pause(open_manager, backend):
    manager = open_manager()
    backend.fails(GONE)
    for _ in range(5):
        manager.search("irrigation")
    assert backend.searched == 1
    assert len(backend.opened) == 1


def test_retry_after_pause_stays_when_it_works(open_manager, backend):
    manager = open_manager(pause=0)
    manager.sync()
    backend.fails(GONE)
    assert manager.search("irrigation").notice
    backend.works()
    outcome = manager.search("irrigation")
    assert paths(outcome) == {"greenhouse.md", "shopping.md"}
    assert not outcome.notice
    assert manager.status().fallback is None
    assert len(backend.opened) == 2
    manager.search("irrigation")
    assert len(backend.opened) == 2


def test_retry_failure_updates_reason(open_manager, backend):
    manager = open_manager(pause=0)
    backend.fails(GONE)
    manager.search("irrigation")
    backend.fails(BackendError("qmd has no index."))
    manager.search("irrigation")
    fallback = manager.status().fallback
    assert fallback is not None
    assert fallback.reason == "qmd has no index."
    assert all(memory.closed for memory in backend.opened)


def test_an_update_by_hand_ends_the_pause(open_manager, backend):
    manager = open_manager()
    manager.sync()
    backend.fails(GONE)
    manager.search("irrigation")
    backend.works()
    assert manager.search("irrigation").notice
    manager.sync()
    assert not manager.search("irrigation").notice


def test_hanging_retry_does_not_block(open_manager, backend):
    manager = open_manager(pause=0)
    manager.sync()
    backend.fails(GONE)
    manager.search("irrigation")
    go_on = threading.Event()
    backend.before_search = lambda memory, cancel: go_on.wait(60)
    assert manager.search("irrigation").notice, "the built-in index answers during the attempt"
    assert manager.search("irrigation").notice
    assert len(backend.opened) == 2, "only one attempt at a time"
    go_on.set()
    returned = threading.Event()
    manager.add_status_listener(returned.set)
    while manager.status().fallback is not None:
        assert returned.wait(60)
        returned.clear()
    assert not manager.search("irrigation").notice


def test_close_cancels_hanging_retry(open_manager, backend):
    manager = open_manager(pause=0)
    backend.fails(GONE)
    manager.search("irrigation")
    tokens: list[CancelToken] = []

    def hang(_memory: Elsewhere, cancel: CancelToken) -> None:
        tokens.append(cancel)
        while True:
            cancel.checkpoint()
            threading.Event().wait(0.01)

    backend.before_search = hang
    manager.search("irrigation")
    manager.close()
    assert tokens[0].cancelled
    assert all(memory.closed for memory in backend.opened)


def test_cancelled_search_does_not_count_as_failure(open_manager, backend):
    manager = open_manager()
    token = CancelToken()

    def cancel(_memory: Elsewhere, _cancel: object) -> None:
        token.cancel()
        token.checkpoint()

    backend.before_search = cancel
    with pytest.raises(Cancelled):
        manager.search("irrigation", cancel=token)
    assert manager.status().fallback is None
    assert not backend.opened[0].closed


@pytest.mark.parametrize("answer", [Unsupported("qmd knows no dates."), PassageMissing("Nothing is there.")])
def test_unsupported_is_not_a_failure(open_manager, backend, answer):
    manager = open_manager()
    backend.fails(answer)
    with pytest.raises(type(answer)):
        manager.search_like(Passage(path="ines.md", start_line=1, end_line=1))
    assert manager.status().fallback is None


def test_unsupported_query_is_not_a_retry_of_the_backend(open_manager, backend):
    manager = open_manager(pause=0)
    backend.fails(GONE)
    manager.search("irrigation")
    backend.fails(Unsupported("qmd knows no dates."))
    assert manager.search("irrigation").notice
    backend.works()
    manager.search("irrigation")
    assert manager.status().fallback is None


def test_failures_outside_searches_cause_no_fallback(open_manager, backend):
    manager = open_manager()
    with pytest.raises(PathRefused):
        manager.read_file("../secret.md")
    backend.opened[0].__dict__["sync"] = raising(GONE)
    with pytest.raises(BackendError, match="is not there"):
        manager.sync()
    assert manager.status().fallback is None
    assert not backend.opened[0].closed


def test_both_errors_shown_when_both_fail(open_manager, backend):
    class Broken(Elsewhere):
        def search(self, *_args, **_options):
            raise ProviderError("The provider is down")

    manager = open_manager(open_builtin=lambda: Broken(backend, backend.open().index))
    backend.fails(GONE)
    with pytest.raises(BackendError) as raised:
        manager.search("irrigation")
    assert str(GONE) in str(raised.value)
    assert "The provider is down." in str(raised.value)


def test_both_errors_shown_when_builtin_cannot_open(open_manager, backend):
    def refuse() -> BuiltinMemory:
        raise IndexReadOnly("The folder cannot be written.")

    manager = open_manager(open_builtin=refuse)
    backend.fails(GONE)
    for _ in range(2):
        with pytest.raises(BackendError) as raised:
            manager.search("irrigation")
        assert str(GONE) in str(raised.value)
        assert "cannot be written" in str(raised.value)


def test_memory_that_cannot_be_opened_is_replaced(open_manager, backend):
    def refuse() -> None:
        raise BackendError("LanceDB is not installed")

    backend.before_open = refuse
    manager = open_manager()
    outcome = manager.search("irrigation")
    assert paths(outcome) == {"greenhouse.md", "shopping.md"}
    assert outcome.notice.startswith("LanceDB is not installed. ")
    assert manager.unsupported == {}


def test_unexpected_error_still_falls_back(open_manager, backend, caplog):
    manager = open_manager()
    backend.fails(KeyError("docid of someone's secret"))
    outcome = manager.search("irrigation")
    assert outcome.results
    assert "The search engine failed unexpectedly (KeyError)." in outcome.notice
    assert "secret" not in outcome.notice


def test_outdated_fallback_index_adds_notice(open_manager, backend):
    go_on = threading.Event()
    taken: list[BuiltinMemory] = []

    def slow() -> Elsewhere:
        memory = backend.open()
        taken.append(memory.index)
        memory.__dict__["sync"] = lambda **options: go_on.wait(60) and memory.index.sync(**options)
        memory.__dict__["search"] = memory.index.search
        return memory

    manager = open_manager(open_builtin=slow)
    backend.fails(GONE)
    outcome = manager.search("irrigation")
    assert not outcome.results
    assert "results may be missing" in outcome.notice
    go_on.set()
    wait_until(lambda: not manager.search("irrigation").notice.count("missing"))
    outcome = manager.search("irrigation")
    assert paths(outcome) == {"greenhouse.md", "shopping.md"}
    assert "missing" not in outcome.notice


def test_index_that_cannot_be_updated_has_a_reason(open_manager, backend):
    def broken() -> Elsewhere:
        memory = backend.open()
        memory.__dict__["sync"] = raising(IndexReadOnly("The folder cannot be written."))
        memory.__dict__["search"] = memory.index.search
        return memory

    manager = open_manager(open_builtin=broken)
    backend.fails(GONE)
    assert "could not be updated, so results may be missing: The folder" in manager.search("x").notice


def test_listeners_hear_of_both_switches(open_manager, backend):
    manager = open_manager(pause=0)
    seen: list[bool] = []
    manager.add_status_listener(lambda: seen.append(manager.status().fallback is not None))
    backend.fails(GONE)
    manager.search("irrigation")
    assert seen[-1]
    backend.works()
    manager.search("irrigation")
    assert not seen[-1]


def test_missing_features_follow_backend_in_use(open_manager, backend):
    manager = open_manager()
    unsupported = {"similar": "qmd finds no passages that are alike."}
    backend.opened[0].__dict__["unsupported"] = unsupported
    assert manager.unsupported == unsupported
    assert manager.insight is not None
    backend.fails(GONE)
    manager.search("irrigation")
    assert manager.unsupported == {}


def test_saved_searches_survive_switches(open_manager, backend):
    manager = open_manager(pause=0)
    store = manager.saved_searches
    store.save(SavedSearch(name="water", query=QueryRecord(text="irrigation"), last_used=1.0))
    backend.fails(GONE)
    manager.search("irrigation")
    backend.works()
    manager.search("irrigation")
    assert manager.saved_searches is store
    assert [saved.name for saved in store.saved()] == ["water"]


def test_facts_survive_switches_with_provider(open_manager, backend):
    manager = open_manager(pause=0)
    facts = manager.facts
    facts.add("The drip irrigation runs on Tuesdays.")
    for prepare in (backend.works, lambda: backend.fails(GONE), backend.works):
        prepare()
        manager.search("irrigation")
        assert manager.facts is facts
        found = facts.find("drip irrigation on Tuesdays")
        assert found.mode == "hybrid"
        assert found.results


def test_session_refused_by_backend_is_refused_by_fallback(open_manager, backend):
    manager = open_manager(refusal=lambda key: "Not in groups." if key and "group" in key else "")
    backend.fails(GONE)
    assert manager.search("irrigation").results
    for ask in (
        lambda: manager.search("irrigation", session_key="agent:main:discord:group:1"),
        lambda: manager.search_like(Passage(path="shopping.md", start_line=1, end_line=3), session_key="x:group:1"),
    ):
        outcome = ask()
        assert (outcome.results, outcome.notice) == ((), "Not in groups.")


def test_parallel_searches_during_switches(open_manager, backend):
    manager = open_manager(pause=0)
    manager.sync()
    count = 0
    lock = threading.Lock()

    def sometimes(_memory: Elsewhere, _cancel: object) -> None:
        nonlocal count
        with lock:
            count += 1
            fails = count % 3 == 0
        if fails:
            raise GONE

    backend.before_search = sometimes

    def ask(number: int) -> set[str]:
        if number % 5 == 0:
            manager.status()
        if number % 7 == 0:
            assert manager.read_file("people/ines.md").text
        return paths(manager.search("irrigation"))

    answers: list[set[str]] = []
    with ThreadPoolExecutor(6) as pool:
        # On a busy machine the first searches can all end before one retry has opened the other index.
        for _ in range(50):
            answers += pool.map(ask, range(120))
            if len(backend.opened) > 2:
                break
    assert all(answer == {"greenhouse.md", "shopping.md"} for answer in answers)
    manager.close()
    assert all(memory.closed for memory in backend.opened)
    assert len(backend.opened) > 2


def test_close_during_searches_ends_cleanly(open_manager, backend):
    manager = open_manager(pause=0)
    backend.fails(GONE)
    start = threading.Barrier(5)

    def ask(_: int) -> str:
        start.wait()
        try:
            for _ in range(50):
                manager.search("irrigation")
        except Closed:
            return "closed"
        return "answered"

    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(ask, number) for number in range(4)]
        start.wait()
        manager.close()
        assert {future.result() for future in searches} <= {"closed", "answered"}
    assert all(memory.closed for memory in backend.opened)


def test_closed_memory_refuses_every_call(open_manager):
    manager = open_manager()
    manager.close()
    manager.close()
    for act in (manager.status, manager.sync, manager.sessions, lambda: manager.search("irrigation")):
        with pytest.raises(Closed):
            act()
    assert manager.current_sync() is None


def raising(error: Exception):
    def fail(*_args, **_options):
        raise error

    return fail
