"""Queries within the results of others."""

from pathlib import Path

import pytest

from engine.records import EarlierQuery, EarlierResultCount, Passage
from engine.search import result_set
from tests.helpers.fake_provider import FakeProvider


def paths(outcome) -> list[str]:
    return [result.path for result in outcome.results]


IRRIGATION = EarlierQuery(query="irrigation")


def test_only_earlier_results_searched(memory) -> None:
    assert set(paths(memory.search("timer"))) >= {"greenhouse.md", "shopping.md"}
    earlier = memory.search("Tuesday")
    outcome = memory.search("timer", within=[EarlierQuery(query="Tuesday")])
    assert paths(outcome) == ["greenhouse.md"]
    assert outcome.within == (
        EarlierResultCount(passages=earlier.total, total=earlier.total, total_is_least=earlier.total_is_least),
    )
    assert memory.search("gauge", within=[IRRIGATION]).results == ()


@pytest.mark.parametrize("mode", ["auto", "keyword"])
def test_earlier_queries_nest(memory, mode: str) -> None:
    outcome = memory.search("timer", within=[IRRIGATION, EarlierQuery(query="hose")], mode=mode)
    assert paths(outcome) == ["shopping.md"]
    assert [answer.passages for answer in outcome.within] == [2, 1]


def test_earlier_query_has_its_own_conditions(memory) -> None:
    in_one = EarlierQuery(query="irrigation", path_glob="shopping.md")
    assert paths(memory.search("timer", within=[in_one])) == ["shopping.md"]
    nothing = EarlierQuery(query="irrigation", sources=("sessions",))
    assert memory.search("timer", within=[nothing]).within[0].passages == 0
    strict = EarlierQuery(query="irrigation gauge tomatoes", min_score=1.0)
    assert paths(memory.search("timer", within=[strict])) == []


def test_the_new_question_keeps_its_filters_and_operators(memory) -> None:
    assert paths(memory.search("timer", within=[IRRIGATION], path_glob="green*")) == ["greenhouse.md"]
    assert paths(memory.search("timer -hose", within=[IRRIGATION])) == ["greenhouse.md"]
    assert paths(memory.search("path:shopping", within=[IRRIGATION])) == ["shopping.md"]
    assert paths(memory.search("timer path:shopping", within=[IRRIGATION])) == ["shopping.md"]
    assert paths(memory.search("timer", within=[IRRIGATION], until=1.0)) == []


def test_search_within_uses_the_current_index(memory, workspace: Path) -> None:
    within = [EarlierQuery(query="Tuesday")]
    assert paths(memory.search("timer", within=within)) == ["greenhouse.md"]
    (workspace / "greenhouse.md").write_text("# Greenhouse\n\nThe timer on the drip irrigation works.\n", "utf-8")
    (workspace / "new.md").write_text("# New\n\nOn Tuesday a timer came.\n", "utf-8")
    memory.sync()
    assert paths(memory.search("timer", within=within)) == ["new.md"]
    memory.sync(force=True)
    assert paths(memory.search("timer", within=within)) == ["new.md"]


def test_scope_combines_with_similarity(memory) -> None:
    like = Passage(path="greenhouse.md", start_line=1, end_line=5)
    within = [EarlierQuery(like=like, min_score=0.05)]
    assert paths(memory.search("batteries", within=within)) == ["shopping.md"]
    assert paths(memory.search_like(like, within=[EarlierQuery(query="batteries")])) == ["shopping.md"]


def test_only_the_best_of_many_are_searched(open_memory, workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr(result_set, "LARGEST_SCOPE", 3)
    for number in range(6):
        (workspace / f"note{number}.md").write_text(f"# Note {number}\n\nfilter{' filter' * number} water\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("water", within=[EarlierQuery(query="filter", min_score=0.0)], explain=True)
    [answer] = outcome.within
    assert (answer.passages, answer.total) == (3, 6)
    assert outcome.total == 3
    note = next(stage.note for stage in outcome.explanation.stages if stage.name == "within")
    assert note == "Only the results of “filter” were searched. Passages: 3, the best of 6."


def test_each_query_embedded_once(memory, provider: FakeProvider) -> None:
    provider.questions.clear()
    memory.search("timer", within=[IRRIGATION])
    memory.search("hose", within=[IRRIGATION])
    assert provider.questions == ["irrigation", "timer", "hose"]
    provider.fails_queries = "The quota is used up."
    outcome = memory.search("gauge", within=[EarlierQuery(query="pressure")])
    assert provider.questions[3:] == ["pressure"], "after one failure, no further query is embedded"
    assert outcome.mode == "keyword"
    assert outcome.notice.count("quota") == 1
    assert paths(outcome) == ["people/ines.md"]
    provider.fails_queries = ""
    outcome = memory.search("gauge", within=[EarlierQuery(query="pressure")])
    assert (outcome.mode, outcome.notice) == ("hybrid", "")


def test_deleted_passage_of_earlier_query_is_an_error(memory) -> None:
    from engine.base.errors import PassageMissing

    gone = EarlierQuery(like=Passage(path="gone.md", start_line=1, end_line=2))
    with pytest.raises(PassageMissing):
        memory.search("timer", within=[gone])
