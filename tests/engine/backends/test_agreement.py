"""What costs money, or minutes that were spent before, is embedded only when someone has agreed to it."""

import pytest

from tests.helpers.fake_provider import PaidProvider

LONG = "word " * 2000


@pytest.fixture
def dear(workspace) -> PaidProvider:
    """A provider that wants some cents for the notes."""
    for number in range(3):
        (workspace / f"long{number}.md").write_text(f"# Long {number}\n\n{LONG}")
    return PaidProvider()


def hits(memory, query: str) -> list[str]:
    return [result.path for result in memory.search(query, mode="keyword", min_score=0.1).results]


def test_what_costs_waits_for_a_yes_and_words_are_searched_meanwhile(open_memory, dear) -> None:
    memory = open_memory(use=dear)
    report = memory.sync()
    assert dear.embedded == []
    assert report.error == ""
    assert report.awaiting is not None
    assert report.awaiting == memory.status().awaiting
    assert report.awaiting == memory.estimate_embedding()
    assert (report.awaiting.chunks, report.awaiting.cached) == (report.vectors_pending, 0)
    assert report.awaiting.cost == pytest.approx(report.awaiting.tokens * 10 / 1e6)
    assert hits(memory, "hose") == ["shopping.md"]

    memory.approve_embedding()
    assert memory.status().awaiting is None
    assert dear.embedded == [], "a yes starts nothing by itself"
    done = memory.sync()
    assert (done.awaiting, done.vectors_pending) == (None, 0)
    assert done.tokens == dear.tokens_used > 0
    assert done.cost == pytest.approx(done.tokens * 10 / 1e6)
    assert memory.status().last_sync.cost == done.cost


def test_a_sync_can_be_agreed_to_beforehand(open_memory, dear) -> None:
    report = open_memory(use=dear).sync(approve=True)
    assert (report.awaiting, report.vectors_pending) == (None, 0)


def test_small_work_asks_nobody(open_memory) -> None:
    provider = PaidProvider()
    report = open_memory(use=provider).sync()
    assert (report.awaiting, report.vectors_pending) == (None, 0)
    assert 0 < report.cost < 0.01
