"""A search that answers twice: first by keywords, then completely with vectors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.records import EarlierQuery, SearchOutcome
from engine.settings import Settings
from tests.engine.backends.conftest import OpenMemory
from tests.helpers.fake_provider import FakeProvider, PaidProvider


class Reads:
    """Counts the snapshots that a memory opens, and those that are open."""

    def __init__(self, memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = self.open = 0
        read = memory.store.read

        @contextmanager
        def counted(*arguments: Any, **options: Any) -> Iterator[Any]:
            self.count += 1
            self.open += 1
            try:
                with read(*arguments, **options) as snapshot:
                    yield snapshot
            finally:
                self.open -= 1

        monkeypatch.setattr(memory.store, "read", counted)


@pytest.fixture
def memory(open_memory: OpenMemory) -> BuiltinMemory:
    memory = open_memory()
    memory.sync()
    return memory


@pytest.fixture
def remote() -> PaidProvider:
    return PaidProvider()


@pytest.fixture
def remote_memory(open_memory: OpenMemory, remote: PaidProvider) -> BuiltinMemory:
    memory = open_memory(use=remote)
    memory.sync()
    return memory


def _twice(memory: BuiltinMemory, query: str, **options: Any) -> tuple[list[SearchOutcome], SearchOutcome]:
    first: list[SearchOutcome] = []
    return first, memory.search(query, on_keywords=first.append, **options)


def _passages(outcome: SearchOutcome) -> list[tuple[object, ...]]:
    return [
        (result.path, result.start_line, result.score, result.text_score, result.vector_score, result.match_ranges)
        for result in outcome.results
    ]


@pytest.mark.parametrize("query", ["irrigation timer", "soil", "timer -hose", "zucchini"])
def test_first_and_whole_answer_equal_separate_searches(memory: BuiltinMemory, query: str) -> None:
    first, whole = _twice(memory, query)
    by_words = memory.search(query, mode="keyword")
    memory.apply_query_settings(Settings())  # drops cached answers
    alone = memory.search(query)
    assert [outcome.mode for outcome in first] == ["keyword"]
    assert whole.mode == "hybrid"
    assert _passages(first[0]) == _passages(by_words)
    assert (_passages(whole), whole.total) == (_passages(alone), alone.total)


def test_both_answers_use_one_snapshot(memory: BuiltinMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = Reads(memory, monkeypatch)
    for query in ("irrigation timer", "irrigatoin timer", "zucchini"):
        before = reads.count
        _twice(memory, query, explain="if empty")
        assert reads.count == before + 1


@pytest.mark.parametrize("far", [True, False], ids=["another machine", "another process"])
def test_remote_embedding_holds_no_snapshot(
    remote_memory: BuiltinMemory, remote: PaidProvider, monkeypatch: pytest.MonkeyPatch, *, far: bool
) -> None:
    monkeypatch.setattr(remote, "remote", far)
    reads = Reads(remote_memory, monkeypatch)
    held: list[int] = []
    embed = remote.embed_query

    def embed_query(text: str, **options: Any) -> Any:
        held.append(reads.open)
        return embed(text, **options)

    monkeypatch.setattr(remote, "embed_query", embed_query)
    first: list[tuple[str, bool, int]] = []
    whole = remote_memory.search(
        "irrigation timer", on_keywords=lambda outcome: first.append((outcome.mode, outcome.remote, reads.open))
    )
    assert held == [0]
    assert first == [("keyword", far, 0)]
    assert (whole.mode, whole.remote) == ("hybrid", far)


@pytest.mark.parametrize("kind", ["memory", "remote_memory"])
def test_search_cancelled_at_the_first_answer_embeds_nothing(kind: str, request: pytest.FixtureRequest) -> None:
    memory: BuiltinMemory = request.getfixturevalue(kind)
    used: FakeProvider = request.getfixturevalue("provider" if kind == "memory" else "remote")
    token = CancelToken()

    def stop(_: SearchOutcome) -> None:
        token.cancel()
        token.checkpoint()

    with pytest.raises(Cancelled):
        memory.search("irrigation timer", cancel=token, on_keywords=stop)
    assert used.questions == []
    assert memory.search("irrigation timer").mode == "hybrid"


def test_cached_answer_is_delivered_once(remote_memory: BuiltinMemory, remote: PaidProvider) -> None:
    _twice(remote_memory, "timer")
    first, whole = _twice(remote_memory, "timer")
    assert first == []
    assert whole.age is not None
    assert remote.questions == ["timer"]


@pytest.mark.parametrize("options", [{"mode": "keyword"}, {}], ids=["by words", "without a provider"])
def test_keyword_answer_is_reported_once(open_memory: OpenMemory, options: dict[str, Any]) -> None:
    memory = open_memory() if options else open_memory(use=None)
    memory.sync()
    first, whole = _twice(memory, "timer", **options)
    assert first == []
    assert (whole.mode, whole.total) == ("keyword", 2)


def test_answer_is_delivered_once_before_first_embedding(open_memory: OpenMemory, provider: FakeProvider) -> None:
    memory = open_memory(background=False)
    first, whole = _twice(memory, "timer")
    assert first == []
    assert whole.notice == "Nothing is indexed yet."
    assert provider.questions == []


@pytest.mark.parametrize("kind", ["memory", "remote_memory"])
def test_first_answer_has_corrected_spelling(kind: str, request: pytest.FixtureRequest) -> None:
    memory: BuiltinMemory = request.getfixturevalue(kind)
    first, whole = _twice(memory, "irrigatoin timer")
    assert [outcome.corrected and outcome.corrected.query for outcome in first] == ["irrigation timer"]
    assert whole.corrected == first[0].corrected
    assert whole.mode == "hybrid"
    assert {result.path for result in first[0].results} == {"greenhouse.md", "shopping.md"}


def test_only_the_corrected_query_is_sent(remote_memory: BuiltinMemory, remote: PaidProvider) -> None:
    _twice(remote_memory, "irrigatoin timer")
    assert remote.questions == ["irrigation timer"]


def test_failing_service_is_called_once(remote_memory: BuiltinMemory, remote: PaidProvider) -> None:
    remote.fails_queries = "The service is down."
    first, whole = _twice(remote_memory, "timer")
    assert remote.questions == ["timer"]
    assert whole.notice == "Searched by words only: The service is down."
    assert _passages(whole) == _passages(first[0])
    remote.fails_queries = ""
    assert remote_memory.search("timer").mode == "hybrid"


def test_both_answers_are_limited_to_earlier_results(memory: BuiltinMemory) -> None:
    first, whole = _twice(memory, "hose", within=[EarlierQuery(query="irrigation timer")])
    assert [result.path for result in first[0].results] == ["shopping.md"]
    assert first[0].within == whole.within
    assert whole.results[0].path == "shopping.md"


@pytest.mark.parametrize("kind", ["memory", "remote_memory"])
def test_only_an_empty_answer_is_explained_if_so_requested(kind: str, request: pytest.FixtureRequest) -> None:
    memory: BuiltinMemory = request.getfixturevalue(kind)
    first, whole = _twice(memory, "timer", explain="if empty")
    assert first[0].explanation is None
    assert whole.explanation is None
    first, whole = _twice(memory, "timer path:nowhere", explain="if empty")
    assert first[0].explanation is None
    requested = memory.search("timer path:nowhere", explain=True).explanation
    assert whole.explanation is not None
    assert requested is not None
    assert [stage[:4] for stage in map(msgspec.structs.astuple, whole.explanation.stages)] == [
        stage[:4] for stage in map(msgspec.structs.astuple, requested.stages)
    ]
    assert whole.explanation.emptied_by == "operators"
    assert [remedy.name for remedy in whole.explanation.remedies] == ["condition"]
