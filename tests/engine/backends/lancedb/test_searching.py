"""A table gives the same answers as the program's own index, within its filters."""

import pytest

from engine.backends.lancedb.table import TableView
from engine.records import EarlierQuery, Passage
from tests.engine.search.test_word_similarity import PUMPS

NOTES = {
    "greenhouse.md": "# Greenhouse\n\n## Watering\n\nThe timer on the drip irrigation skipped Tuesday again.\n",
    "shopping.md": "# Shopping\n\nIrrigation hose 16 mm, two T-pieces, spare timer batteries. #garden/tools\n",
    "daily/2026-02-08.md": "# Sunday\n\nTomatoes limp. Probably the watering clock, not the soil.\n",
    "daily/2026-02-09.md": "# Monday\n\nThe watering clock was right, the valve was shut.\n\nCall Ines.\n",
    "people/ines.md": "# Ines\n\nShe lent us the pressure gauge; os.path.join(a, b) broke her script.\n",
    "日記.md": "# 庭\n\n庭のトマトに水をやった。バルブが閉まっていた。\n",
    "empty.md": "",
}
QUESTIONS = (
    "irrigation",
    "drip timer",
    "watering clock",
    "the valve",
    "water",
    "irrig",
    "os.path.join",
    "トマト",
    "水",
    '"watering clock"',
    "watering -valve",
    "pressure -valve",
    "timer -tag:garden",
    "path:daily watering",
    "title:greenhouse",
    "tag:garden",
    "irrigation OR gauge",
    "nothing of the kind",
    "-timer",
)


@pytest.fixture
def desk(machine):
    memory = machine("desk", notes=NOTES)
    report = memory.sync()
    assert not report.error
    return memory


@pytest.mark.parametrize("mode", ["auto", "keyword"])
def test_table_gives_the_answers_of_an_own_index(desk, builtin_memory, mode) -> None:
    own = builtin_memory("desk")
    own.sync()

    for question in QUESTIONS:
        theirs = desk.search(question, mode=mode, min_score=0.1)
        ours = own.search(question, mode=mode, min_score=0.1)

        assert [(hit.citation, hit.snippet) for hit in theirs.results] == [
            (hit.citation, hit.snippet) for hit in ours.results
        ], question
        assert [hit.score for hit in theirs.results] == pytest.approx([hit.score for hit in ours.results], abs=0.05)
        assert (theirs.total, theirs.mode, theirs.provider) == (ours.total, ours.mode, ours.provider), question


def test_compound_in_short_note_is_marked(machine) -> None:
    german = "# Haus\n\nDas Dach ist nicht dicht, und der Keller ist feucht.\n"
    memory = machine("desk", notes={"todo.md": "Stromrechnung bezahlen\n", "haus.md": german})
    memory.sync()

    [hit] = memory.search("Rechnung bezahlen", mode="keyword", min_score=0.1).results
    assert [hit.snippet[start:end] for start, end in hit.match_ranges] == ["rechnung", "bezahlen"]


def test_search_before_first_sync_is_empty(machine) -> None:
    answer = machine("desk", notes=NOTES).search("irrigation")

    assert (answer.results, answer.notice) == ((), "Nothing is indexed yet.")
    assert [remedy.name for remedy in answer.remedies] == ["sync"]


def test_filters_limit_results(desk, tmp_path) -> None:
    import os

    os.utime(tmp_path / "desk/notes/people/ines.md", (1_000_000, 1_000_000))
    desk.sync()

    def paths(**options) -> set[str]:
        return {hit.path for hit in desk.search("watering", min_score=0.0, **options).results}

    assert paths(path_glob="daily/**") == {"daily/2026-02-08.md", "daily/2026-02-09.md"}
    assert paths(until=2_000_000) == {"people/ines.md"}
    assert "people/ines.md" not in paths(since=2_000_000)
    assert paths(sources=["sessions"]) == set()


@pytest.mark.parametrize("text", ["x' OR '1'='1", "'; DROP TABLE notes; --", '"', "\\'", "\0", "%", "\ud800"])
def test_user_text_never_becomes_sql(desk, text) -> None:
    assert desk.search("watering", min_score=0.0, path_glob=text).results == ()
    with pytest.raises(ValueError, match="Unknown sources"):
        desk.search("watering", min_score=0.0, sources=[text])
    for question in (f"watering path:{text}", f"{text} watering", f'tag:"{text}"', f"watering -{text}"):
        desk.search(question)
    assert desk.search("drip irrigation").results


def test_group_session_finds_no_private_memory(machine) -> None:
    desk = machine(
        notes={"MEMORY.md": "# Memory\n\nShe hates the timer.\n", "memory/2026-02-08.md": "The timer was reset.\n"}
    )
    desk.sync()
    other = machine("shed")  # shows the first machine's note under another name
    for memory, path in ((desk, "MEMORY.md"), (other, "//desk/MEMORY.md")):
        found = {hit.path for hit in memory.search("hates the timer", min_score=0.0).results}
        hidden = {hit.path for hit in memory.search("hates the timer", min_score=0.0, session_key="a:group:1").results}
        assert path in found
        assert path not in hidden
        assert hidden


def test_group_search_for_similar_counts_together(machine, monkeypatch) -> None:
    notes = {f"memory/{name}": text for name, text in NOTES.items()}
    memory = machine("desk", notes={**notes, "MEMORY.md": "# Mine\n\nThe valve of the irrigation timer.\n"})
    assert not memory.sync().error
    requests, known = [], set()
    count = TableView.count

    def counted(view, tokens, condition="", cancel=None):
        new = {(condition, token) for token in tokens} - known
        requests.extend([new] if new else [])
        known.update(new)
        return count(view, tokens, condition, cancel)

    monkeypatch.setattr(TableView, "count", counted)
    passage = Passage(path="memory/daily/2026-02-08.md", start_line=1, end_line=3)
    memory.search_like(passage, min_score=0)
    own = len(requests)
    memory.search_like(passage, min_score=0, session_key="agent:main:discord:group:42")
    assert 0 < len(requests) - own <= own


def test_words_shared_by_results_cost_no_requests(machine, monkeypatch) -> None:
    notes = {f"{name}.md": text for name, text in PUMPS.items()}
    memory = machine("desk", notes=notes)
    assert not memory.sync().error
    counted, count = [], TableView.count
    monkeypatch.setattr(
        TableView, "count", lambda view, tokens, *rest: counted.extend(tokens) or count(view, tokens, *rest)
    )
    query = "Why did the garden pump lose so much pressure in winter?"
    explanation = memory.search(query, min_score=0, explain=True).explanation
    assert "best" in [stage.name for stage in explanation.stages]
    assert any("pump" in token for token in counted)
    assert not any("frost" in token for token in counted)


def test_query_is_limited_to_earlier_results(desk) -> None:
    earlier = EarlierQuery(query="watering", min_score=0.2)

    answer = desk.search("valve", within=[earlier], min_score=0.2)

    assert [hit.path for hit in answer.results] == ["daily/2026-02-09.md"]
    assert answer.within[0].passages >= 2


def test_similar_search_excludes_passage(desk, builtin_memory) -> None:
    own = builtin_memory("desk")
    own.sync()
    passage = Passage(path="daily/2026-02-08.md", start_line=1, end_line=3)

    found = desk.search_like(passage, min_score=0.1)

    assert [hit.path for hit in found.results] == [hit.path for hit in own.search_like(passage, min_score=0.1).results]
    assert found.results
    assert "daily/2026-02-08.md" not in {hit.path for hit in found.results}
    assert found.passage_words


def test_results_are_explained(desk) -> None:
    explanation = desk.search("drip irrigation", explain=True).explanation

    assert explanation is not None
    assert {"words", "keywords", "vectors", "scores", "threshold"} <= {stage.name for stage in explanation.stages}
    assert {term.term for term in explanation.results[0].terms} == {"drip", "irrigation"}


def test_query_cached_until_table_changes(desk, machine) -> None:
    desk.search("irrigation")
    assert desk.search("irrigation").age is not None

    machine("shed", notes={"hose.md": "# Hose\n\nIrrigation again.\n"}).sync()
    desk.table.view(fresh=True)  # searches do so after a second

    assert {hit.path for hit in desk.search("irrigation").results} >= {"//shed/hose.md"}


def test_operators_are_completed_from_the_whole_table(desk, machine) -> None:
    shed = machine("shed", notes={"own.md": "# Own\n"})
    shed.sync()

    assert "garden/tools" in shed.query_values("tag", "gar")
    assert desk.query_values("title", "gree") == ("Greenhouse",)


def test_search_without_provider_uses_keywords(machine) -> None:
    memory = machine("desk", notes=NOTES, use=None)
    memory.sync()

    answer = memory.search("drip irrigation")

    assert answer.mode == "keyword"
    assert answer.results[0].path == "greenhouse.md"


def test_vectors_of_another_model_are_not_compared(desk, machine) -> None:
    from tests.helpers.fake_provider import FakeProvider

    shed = machine("shed", notes={"own.md": "# Own\n\nThe drip tray.\n"}, use=FakeProvider(dims=8, model="other"))
    assert not shed.sync().error

    answer = shed.search("drip")

    assert {hit.path for hit in answer.results} == {"own.md", "//desk/greenhouse.md"}
    assert answer.mode == "keyword"
    assert "contains vectors of fake/bag-of-words (64 dimensions)" in answer.notice
    assert "contains vectors of fake/bag-of-words" in (shed.status().index_error or "")
    assert desk.search("drip").mode == "hybrid"
