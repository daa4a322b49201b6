import pytest

from engine import Increase, IncreaseKind, MemorySearchResult, SearchStage
from gui.explanation import wording
from gui.explanation.tables import stage_rows
from tests.helpers.fake_explanations import WEAK, explain, make_reason
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture
def result() -> MemorySearchResult:
    memory = FakeMemory()
    try:
        return memory.search("timer").results[0]
    finally:
        memory.close()


def test_shares_add_up_to_score_and_age_loss(result):
    reason = make_reason()
    of = wording.shares(reason, result)
    assert of.score == pytest.approx(reason.score)
    assert of.words == pytest.approx(reason.score * result.text_share)
    assert of.score + of.aged == pytest.approx(reason.fresh_score)
    assert wording.spoken_shares(of).endswith("lost by age; minimum 0.35")


def test_no_decay_omits_age(result):
    reason = make_reason(fresh_score=0.343, decay=1.0, min_score=0.0)
    assert wording.spoken_shares(wording.shares(reason, result)).count(",") == 1


def test_terms_are_ordered_by_score_with_missing_last():
    parts = wording.parts(make_reason())
    assert [(part.term, part.where) for part in parts] == [
        ("timer", "heading, text"),
        ("irrigation", "text"),
        ("near each other", ""),
        ("skipped", "not in this passage"),
    ]
    assert (
        wording.spoken_parts(parts) == "timer 0.46, irrigation 0.25, near each other 0.03, skipped not in this passage"
    )


def test_words_of_the_project_are_a_part_and_a_figure():
    reason = make_reason(increases=(Increase("project", 0.05, ("Marlene",)),))
    assert "words in other passages of the project 0.05" in wording.spoken_parts(wording.parts(reason))
    figures = {figure.name: figure.value for figure in wording.figures(reason)}
    assert figures["Added: words in other passages of the project"] == "0.050"


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("coverage", "share"),
        ("file", "rest"),
        ("definition", "definition"),
        ("spelling", "spelled"),
        ("signs", "signs"),
    ],
)
def test_each_increase_has_its_own_words(kind: IncreaseKind, word: str):
    without = wording.parts(make_reason(increases=()))
    added = [part.term for part in wording.parts(make_reason(increases=(Increase(kind, 0.2),))) if part not in without]
    assert len(added) == 1
    assert word in added[0]


def test_match_of_title_is_listed_as_part_and_figure():
    reason = make_reason(increases=(Increase("title", 0.98),))
    assert "near each other 0.03, match of the title or name 0.98" in wording.spoken_parts(wording.parts(reason))
    assert wording.Figure("Added: match of the title or name", "0.980") in wording.figures(reason)


def test_figures_have_values_and_units():
    figures = {figure.name: figure.value for figure in wording.figures(make_reason())}
    assert figures["“timer”"] == "0.460 · BM25 4.40 · in 5 passages"
    assert figures["Cosine range of the model"] == "0.15 to 0.65"
    assert figures["Half-life"] == "30 days"
    assert figures["Score left after ageing"] == "50.0%"
    assert figures["Date taken from"] == "the name"
    assert figures["Similar to"] == "topics/shopping.md#L1-L3"


def test_figures_omit_unused_parts():
    bare = make_reason(
        vector_score=None, cosine=None, cosine_low=None, cosine_high=None, date_origin=None, mmr_similar_to="", rank=1
    )
    names = {figure.name for figure in wording.figures(bare)}
    assert names == {
        *("Rank", "Score", "Minimum score", "Score by words", "“timer”", "“irrigation”", "“skipped”"),
        *(
            "BM25 sum",
            "Added for nearby words",
            "Score of a full match",
            "Share of the query",
            "Score from BM25",
        ),
    }


def test_emptied_stage_is_marked():
    rows = stage_rows(explain((), (), min_score=0.35, remedies=(WEAK,)))
    assert [row.name for row in rows if row.emptied] == ["\N{MULTIPLICATION SIGN} Minimum score"]
    emptied = next(row for row in rows if row.emptied)
    assert emptied.description == (
        "Minimum score: 4 passages entered, 0 remaining. "
        "Passages that scored below 0.35: 4. This step removed everything."
    )


def test_cached_answer_shows_its_age():
    explanation = explain((), (), min_score=0.35, remedies=())
    assert wording.total(explanation, 5.2, None) == "5 stages in 5 ms."
    assert wording.total(explanation, 0.3, 12.3) == "5 stages, cached 12 s ago; read in 1 ms."


def test_unknown_stage_shows_its_own_name():
    stage = SearchStage(name="proximity", before=1, after=1, note="", unit="queries")
    assert (wording.stage_name(stage), wording.counts(stage)) == ("Proximity", "")
    assert [wording.milliseconds_text(each) for each in (0.004, 9.99, 12.4, 1240.2)] == ["0.00", "9.99", "12", "1,240"]


def test_named_time_shown_with_its_factor(result):
    reason = make_reason(time="“in May” of any year", time_factor=1.3, decay=1.0, fresh_score=0.4, score=0.52)
    figures = {figure.name: figure.value for figure in wording.figures(reason)}
    assert figures["Time in the query"] == "“in May” of any year"
    assert figures["Factor for a matching date"] == "1.30"
    assert wording.shares(reason, result).aged == pytest.approx(0)
    assert "Time in the query" not in {figure.name for figure in wording.figures(make_reason())}
