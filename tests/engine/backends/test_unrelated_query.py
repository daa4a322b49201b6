"""Results for a query that no passage of the index is about."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.base.errors import ProviderError
from engine.providers import Calibration
from engine.settings.options import SessionSettings
from engine.settings.search_settings import HybridSettings, QuerySettings
from tests.helpers.fake_provider import FakeProvider

QUERY = "orchard"
FILE = "orchard.py"
QUESTION = "Where do the skateboards and the jugglers of the vicar have their orchard?"
"""Its language is recognised, unlike that of one word, and the index has one of its words."""
GERMAN = "Wo haben die Nachbarn denn ihren Obstgarten?"
SUBJECTS = 32
"""Subjects, each with its own direction of vectors; the first is that of a single note."""


class SubjectProvider(FakeProvider):
    """Fixed similarities: `nearest` of the query to notes on its subjects, `usual` of the query to all others."""

    calibration = Calibration(0.0, 0.4, 0.2)
    subjects = 4
    nearest = 0.25
    usual = 0.25

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text in {QUERY, QUESTION, FILE, GERMAN}:
                row[: self.subjects] = self.nearest
            elif text.endswith("?"):
                row[SUBJECTS - 1] = np.sqrt(self.usual + 0.05 * (-1) ** len(text))
            else:
                other = 9 if "Pears" in text else 1
                number = int(text.rstrip(".").rpartition(" ")[2]) if text.startswith("Apples") else other
                row[1 + number % (SUBJECTS - 1) if number else 0] = 1
            row[-1] = np.sqrt(1 - row @ row)
        return rows


@pytest.fixture
def provider() -> SubjectProvider:
    return SubjectProvider()


def indexed(open_memory, workspace: Path, notes: int = 400, **changes):
    for number in range(notes):
        (workspace / f"note-{number:03}.md").write_text(
            f"Apples are in the shed by the gate of the house, and that is tree {number}.\n", "utf-8"
        )
    memory = open_memory(**changes)
    memory.sync()
    return memory


def found(memory, query: str = QUERY, **options) -> list[str]:
    return [result.path for result in memory.search(query, correct=False, **options).results]


def test_notice_if_no_result_contains_a_word(open_memory, workspace: Path, provider) -> None:
    provider.usual = 0.1
    memory = indexed(open_memory, workspace)
    outcome = memory.search(QUERY)
    assert outcome.results
    assert outcome.notice == "No result contains “orchard”: the results are similar in meaning."
    assert memory.search(QUERY).age is not None, "the answer is cached in spite of the notice"
    assert memory.search(QUESTION).notice.startswith("No result contains a word of the query: ")
    assert memory.search("apples").notice == ""
    (workspace / "orchard.pages").write_bytes(b"x")
    (workspace / ".orchard.md").write_text("Hidden.\n", "utf-8")
    memory.sync()
    assert memory.search(QUERY).full_notice.endswith(" .orchard.md is not indexed: Hidden files are not indexed.")
    (workspace / "orchard.md").write_text("The orchard has a new fence 3.\n", "utf-8")
    memory.sync()
    assert memory.search(QUERY).notice == ""


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("orchard map.md", b"Trees.\n" * 99, "693 bytes; files of more than 500 bytes"),
        ("drafts/orchard map.md", b"Trees.\n", "Excluded by the pattern"),
        ("orchard map.txt", bytes(99), "The file isn't text"),
    ],
)
def test_weak_results_name_unindexed_file(open_memory, workspace, provider, name, content, reason) -> None:
    provider.usual = 0.1
    (workspace / name).parent.mkdir(exist_ok=True)
    (workspace / name).write_bytes(content)
    (workspace / "shed map.md").write_bytes(b"Trees.\n" * 99)
    memory = indexed(open_memory, workspace, max_file_bytes=500, exclude=("drafts/**",))
    why = memory.explain_path(name).sentence.partition(" This rule")[0]
    assert reason in why
    for query in (QUERY, "the orchard map?", "orchard apples", "orchard map by the gate"):
        outcome = memory.search(query, correct=False, explain="if weak")
        remedies = outcome.remedies or outcome.explanation.remedies
        named = {remedy.path: remedy.advice for remedy in remedies if remedy.name == "excluded"}
        assert named == {name: f"{name} is not indexed: {why}"}, query


def test_good_results_name_no_unindexed_file(open_memory, workspace, provider) -> None:
    for name in ("shed map.md", "tree apples.md"):
        (workspace / name).write_bytes(b"Trees.\n" * 99)
    memory = indexed(open_memory, workspace, max_file_bytes=500)
    assert [memory.search(query).remedies for query in ("shed", "apples in the shed", "tree apples")] == [()] * 3
    assert [remedy.path for remedy in memory.search("shed map").remedies] == ["shed map.md"]
    assert memory.search("shed map", sources=["sessions"]).remedies == ()
    assert memory.search("shed map", session_key="agent:main:slack:group:1").remedies == ()


def test_no_notice_if_words_are_not_compared(open_memory, workspace: Path, provider) -> None:
    provider.usual = 0.1
    indexed(open_memory, workspace)
    outcome = open_memory(query=QuerySettings(hybrid=HybridSettings(enabled=False))).search(QUERY)
    assert outcome.results
    assert outcome.notice == ""


@pytest.mark.parametrize(("text", "letters", "share"), [("apples", 3, 0.5), ("apples", 2, 1.0), ("林檎林檎", 1, 0.5)])
def test_notes_spelt_in_short_pieces_lean_on_keywords(
    open_memory, workspace: Path, text: str, letters: int, share: float
) -> None:
    speller = FakeProvider()
    speller.calibration = Calibration(0.0, 1.0, 0.5, letters_a_piece=2.6)
    speller.pieces = lambda word: len(word) // letters  # type: ignore[method-assign]
    for number in range(12):
        (workspace / f"note-{number}.md").write_text(f"{text} {number}: " + f"{text} " * 40, "utf-8")
    memory = open_memory(use=speller)
    memory.sync()
    results = memory.search(text, copies=True).results
    assert results
    assert all((result.text_share == 1.0) == (share == 1.0) for result in results)


@pytest.mark.parametrize(
    ("notes", "known"), [("Varmuuskopion voi palauttaa levyltä, kun se on päällä.", False), ("The disk is old.", True)]
)
def test_query_in_language_of_unknown_notes_leans_on_keywords(
    open_memory, workspace: Path, notes: str, known: bool
) -> None:
    provider = FakeProvider()
    provider.calibration = Calibration(0.0, 1.0, 0.5, unknown_languages=frozenset({"finnish"}))
    (workspace / "note.md").write_text(notes, "utf-8")
    memory = open_memory(use=provider)
    memory.sync()
    (found,) = memory.search("Miten varmuuskopion voi palauttaa?", min_score=0.0).results[:1]
    assert (found.text_share < 1.0) == known


class PolicyProvider(FakeProvider):
    """The query is near to the notes about an automobile alone."""

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0 if text == "car insurance" or "automobile" in text else 1] = 1
        return rows


def test_words_met_by_chance_in_a_file_leave_meaning_its_weight(open_memory, workspace: Path) -> None:
    week = "Some plain words about the week and what was done in it. " * 60
    journal = (
        f"# Journal\n\n## Monday\n\nWashed the car. {week}\n\n## Friday\n\nCalled about travel insurance. {week}\n"
    )
    (workspace / "journal.md").write_text(journal, "utf-8")
    (workspace / "policy.md").write_text("The premium for the automobile is due in May.\n", "utf-8")
    memory = open_memory(use=PolicyProvider())
    memory.sync()
    assert "policy.md" in [result.path for result in memory.search("car insurance").results]


def test_search_of_notes_counts_sessions_that_used_it(open_memory, workspace: Path, tmp_path: Path, provider) -> None:
    provider.usual = 0.1
    block = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": f"/home/ada/{FILE}"}}
    output = {"type": "tool_result", "tool_use_id": "t", "content": "An orchard."}
    messages = ("user", "Why?"), ("assistant", [{"type": "text", "text": "Pears."}, block]), ("user", [output])
    lines = (
        {"type": role, "uuid": role, "sessionId": "s", "message": {"role": role, "content": content}}
        for role, content in messages
    )
    folder = tmp_path / ".claude" / "projects" / "-home-ada"
    folder.mkdir(parents=True)
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    memory = indexed(open_memory, workspace, sessions=SessionSettings(folders=(str(folder.parent),)))
    assert [result.source for result in memory.search(FILE).results[:1]] == ["sessions"]
    assert memory.search(FILE, sources=("memory",)).notice == (
        f"No result contains “{FILE}”: the results are similar in meaning. 1 session used this file: file:{FILE}"
    )
    assert memory.search(f"file:{FILE}").results
    assert memory.search(QUERY).full_notice.endswith("similar in meaning.")
    (remedy,) = memory.search(QUERY, explain="if weak").remedies
    assert (remedy.name, "A call or result of a tool in “Why?”" in remedy.advice) == ("tools", True)


LONG_QUERY = (
    "Which gardener repaired the wooden bridge behind the old chapel before the heavy storm flooded the valley, "
    "and who paid the carpenter for the oak planks?"
)
"""Twelve and more words, of which an answer has some."""


class SameDistance(FakeProvider):
    """Gives every note the same cosine, `nearness`, to every query."""

    calibration = Calibration(0.0, 1.0, 0.05)
    nearness = 0.1

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = self.nearness if text.endswith("?") else 1
            row[1] = np.sqrt(1 - row[0] ** 2)
        return rows


def long_query_memory(open_memory, workspace: Path, nearness: float, *texts: str):
    for number, text in enumerate(texts):
        (workspace / f"long-{number}.md").write_text(f"{text}\n", "utf-8")
    provider = SameDistance()
    provider.nearness = nearness
    memory = open_memory(use=provider)
    memory.sync()
    return memory


def test_long_query_finds_note_with_some_of_its_words(open_memory, workspace: Path) -> None:
    answer = "The carpenter repaired the wooden bridge by the chapel after the storm, and the planks are new."
    others = ["The gardener paid for the oak behind the house."] * 3
    memory = long_query_memory(open_memory, workspace, 0.1, answer, *others)
    outcome = memory.search(LONG_QUERY, correct=False, explain=True)
    assert [result.path for result in outcome.results] == ["long-0.md"]
    assert outcome.results[0].score == 0.35
    assert memory.search(LONG_QUERY, correct=False, min_score=0.01).results[0].score < 0.35
    assert found(memory, LONG_QUERY.replace("flooded the", "flooded Rosalinde's")) == ["long-0.md"]


def test_long_query_needs_several_words_in_one_note(open_memory, workspace: Path) -> None:
    words = "gardener bridge chapel storm valley carpenter planks".split()
    texts = [f"On that day we saw the {word} and then went home for the soup of the house." for word in words]
    memory = long_query_memory(open_memory, workspace, 0.45, *texts)
    assert found(memory, LONG_QUERY, min_score=0.1)
    assert found(memory, LONG_QUERY) == []
    assert found(memory, "Who was the gardener of the monks?"), "a short query may have other words than its answer"


def test_words_outside_the_limits_show_the_subject(open_memory, workspace: Path, tmp_path: Path) -> None:
    (workspace / "MEMORY.md").write_text(f"{LONG_QUERY}\n\nThe owner did.\n", "utf-8")
    shed = tmp_path / "shed"
    shed.mkdir()
    for word in "gardener bridge chapel storm valley carpenter planks".split():
        (shed / f"{word}.md").write_text(f"On that day we saw the {word} and then went home for soup.\n", "utf-8")
    provider = LikeWords()
    provider.nearness, provider.calibration = 0.45, Calibration(0.0, 1.0, 0.8)
    memory = open_memory(use=provider, extra_paths=(str(shed),))
    memory.sync()
    for session, some in ((None, True), ("agent:main:discord:group:1", False)):  # the group may not know of MEMORY.md
        outcome = memory.search(LONG_QUERY, path_glob="shed/*", session_key=session, correct=False, explain=True)
        assert bool(outcome.results) == some
        notes = [stage.note for stage in outcome.explanation.stages if stage.name == "limits"]
        assert ["satisfy the limits" in note for note in notes] == [True] * some


def test_date_alone_does_not_answer_for_missing_name(open_memory, workspace: Path) -> None:
    text = "On 3 March 2025 we painted the shed and had soup with the neighbours of the house."
    memory = long_query_memory(open_memory, workspace, 0.4, text, *["We had the same soup again, in that year."] * 3)
    assert found(memory, "What was painted in March 2025?")
    assert found(memory, "What did Rosalinde do in March 2025?") == []


class LikeWords(SameDistance):
    """The words of every line are as similar to those of a query as `similar` says; those of quinces more."""

    similar = 0.1

    def word_vectors(self, words: Sequence[str], **_: object) -> NDArray[np.float32]:
        return self.vectors_of(words)

    def rarity(self, word: str) -> float:
        return 12.0

    def nearest_pieces(self, query: str, lines: Sequence[str], frequent: float, **_: object) -> tuple[object, object]:
        similar = [[0.9 if "Quinces" in line else self.similar for line in lines]]
        return np.array(similar, np.float32), np.array([12.0], np.float32)


OPERA = "Who was the singer of the song in the opera?"


@pytest.mark.parametrize(
    ("similar", "nearness", "some"), [(0.1, 0.5, False), (0.5, 0.5, True), (0.1, 0.57, False), (0.2, 0.57, True)]
)
@pytest.mark.parametrize("notes", [20, 250])
def test_weak_result_needs_similar_words(open_memory, workspace: Path, notes, similar, nearness, some) -> None:
    provider = LikeWords()
    provider.similar, provider.nearness = similar, nearness
    memory = indexed(open_memory, workspace, notes, use=provider)
    for diverse in (False, True):
        outcome = memory.search(OPERA, correct=False, explain=True, diverse=diverse)
        assert bool(outcome.results) == some
        assert outcome.explanation.emptied_by == ("" if some else "unknown")
        assert any(stage.name == "lines" for stage in outcome.explanation.stages) != diverse


def test_similar_words_of_one_passage_are_enough(open_memory, workspace: Path) -> None:
    provider = LikeWords()
    provider.nearness = 0.5
    memory = indexed(open_memory, workspace, 3, use=provider)
    assert not found(memory, OPERA)
    (workspace / "quinces.md").write_text("Quinces are in the shed by the gate of the house.\n", "utf-8")
    memory.sync()
    assert len(found(memory, OPERA)) > 1


def test_alternatives_are_never_required_together(open_memory, workspace: Path) -> None:
    provider = LikeWords()
    provider.nearness = 0.5
    (workspace / "opera.md").write_text("They liked the opera that day, and the soup of the neighbours.\n", "utf-8")
    memory = indexed(open_memory, workspace, 20, use=provider)
    end = "theatre curtain velvet season stage?"
    assert found(memory, f"Who saw the opera singer {end}") == []
    assert found(memory, f"Who saw the opera OR singer {end}") == ["opera.md"]


@pytest.mark.parametrize(("repeated", "some"), [(1, True), (12, False)])
def test_long_passage_without_similar_words_needs_more(open_memory, workspace: Path, repeated: int, some: bool) -> None:
    for other in workspace.rglob("*.md"):
        other.unlink()
    (workspace / "fence.md").write_text("The pears are by the fence of the house. " * repeated, "utf-8")
    provider = LikeWords()
    provider.similar, provider.nearness = 0.2, 0.57
    memory = open_memory(use=provider)
    memory.sync()
    assert bool(found(memory, OPERA)) == some


def test_shortest_note_without_similar_words_is_no_answer(open_memory, workspace: Path) -> None:
    provider = LikeWords()
    provider.similar, provider.nearness = 0.0, 0.6
    memory = indexed(open_memory, workspace, 20, use=provider)
    assert not found(memory, OPERA)
    (workspace / "pears.md").write_text("Pears.\n", "utf-8")
    memory.sync()
    assert not found(memory, OPERA)


@pytest.mark.parametrize("model", [LikeWords, SameDistance])
def test_similar_texts_do_not_answer_for_missing_name(open_memory, workspace: Path, monkeypatch, model) -> None:
    (workspace / "sing.md").write_text("They sing in the opera.\n", "utf-8")
    monkeypatch.setattr(LikeWords, "similar", 0.9)
    provider = model()
    provider.nearness = 0.7
    memory = indexed(open_memory, workspace, 20, use=provider)
    assert found(memory, "When did she sing the song in the opera?")
    outcome = memory.search("When did Rosalinde sing the song in the opera?", correct=False, explain=True)
    assert (outcome.results, outcome.explanation.emptied_by) == ((), "unknown")
    (remedy,) = [remedy for remedy in outcome.explanation.remedies if remedy.name == "weak"]
    assert "nothing contains “Rosalinde”" in remedy.advice


def test_empty_answer_explains_the_unrelated_query(open_memory, workspace: Path) -> None:
    for word in ("singer", "song", "opera"):
        (workspace / f"{word}.md").write_text(f"On that day we saw the {word} and then went home for soup.\n", "utf-8")
    provider = LikeWords()
    provider.similar, provider.nearness = 0.0, 0.22
    memory = indexed(open_memory, workspace, 250, use=provider)
    explanation = memory.search(OPERA, correct=False, explain=True).explanation
    (stage,) = [stage for stage in explanation.stages if stage.name == "unrelated"]
    assert stage.after == 0
    assert "words and meaning must reach 0.45 together" in stage.note
    (remedy,) = [remedy for remedy in explanation.remedies if remedy.name == "weak"]
    assert remedy.advice.endswith("; the minimum is 0.45.")
    assert found(memory, OPERA, min_score=0.1), "as the advice offers"


@pytest.mark.parametrize(("nearness", "closest"), [(0.15, True), (0.5, False)])
def test_notice_if_no_result_is_clearly_on_the_subject(open_memory, workspace: Path, nearness, closest) -> None:
    provider = LikeWords()
    provider.similar, provider.nearness = 0.9, nearness
    (workspace / "singer.md").write_text("They sang a song.\n", "utf-8")
    memory = indexed(open_memory, workspace, 20, use=provider)
    outcome = memory.search(OPERA, correct=False)
    assert outcome.results
    assert outcome.closest_only == closest
    assert outcome.full_notice.startswith("No result is clearly about this query") == closest
    assert memory.search(OPERA, correct=False, min_score=0.1).closest_only is False, "the limit follows the minimum"


@pytest.mark.parametrize(("nearness", "some"), [(0.65, False), (0.95, True)])
def test_raised_minimum_may_exceed_the_highest_score(open_memory, workspace: Path, nearness, some) -> None:
    provider = LikeWords()
    provider.calibration, provider.nearness = Calibration(0.0, 0.5, 0.05), nearness
    memory = indexed(open_memory, workspace, 20, use=provider)
    explanation = memory.search(OPERA, correct=False, explain=True, min_score=0.9).explanation
    assert explanation.emptied_by == ("" if some else "unknown")
    notes = [stage.note for stage in explanation.stages if stage.name == "unknown"]
    assert some or "must reach 1.17 together" in notes[0]


def test_note_with_words_of_the_query_keeps_weak_results(open_memory, workspace: Path) -> None:
    (workspace / "singer.md").write_text("The singer had a song about the sea and the wind of the north.\n", "utf-8")
    (workspace / "tickets.md").write_text("We had no tickets for the opera.\n", "utf-8")
    provider = LikeWords()
    provider.nearness = 0.9
    memory = indexed(open_memory, workspace, 250, use=provider)
    outcome = memory.search(OPERA, correct=False, explain=True)
    assert len(outcome.results) > 1
    assert "lines" in [stage.name for stage in outcome.explanation.stages]
    provider.nearness = 0.5
    assert found(memory, "Who was the singer of the song 1974 in the opera?") == ["singer.md", "tickets.md"]


def test_note_without_vector_stays_among_unrelated_ones(open_memory, workspace: Path) -> None:
    provider = LikeWords()
    provider.nearness = 0.5
    memory = indexed(open_memory, workspace, 20, use=provider)
    (workspace / "tickets.md").write_text("We had no tickets for the opera.\n", "utf-8")
    memory.sync()
    with memory.store.write() as writer:
        writer.connection.execute("DELETE FROM embedding_cache WHERE id = (SELECT max(id) FROM embedding_cache)")
    assert found(memory, OPERA, min_score=0.2) == ["tickets.md"]


def test_rare_word_outweighs_another_meaning(open_memory, workspace: Path, provider) -> None:
    provider.calibration = Calibration(0.2, 0.4, 0.2)
    (workspace / "zither.md").write_text("Pears: the zither is on the bench 9.\n", "utf-8")
    (workspace / "fence.md").write_text("Pears by the fence, and they are ripe 9.\n", "utf-8")
    memory = indexed(open_memory, workspace, notes=1100)
    assert "zither.md" in found(memory, "zither bench fence", max_results=60)


@pytest.mark.parametrize("begun", ["m", "mo", "Mo"])
def test_begun_word_keeps_notes_with_the_words_before_it(open_memory, workspace: Path, provider, begun: str) -> None:
    provider.calibration = Calibration(0.2, 0.4, 0.2)
    for word in ("pump", "cellar", "plumber") * 20:
        number = len(list(workspace.iterdir()))
        (workspace / f"pears-{number}.md").write_text(f"Pears of week {number} for the {word} 9.\n", "utf-8")
    (workspace / "cellar.md").write_text("Pears: the pump of the cellar needs the plumber more often 9.\n", "utf-8")
    (workspace / "guests.md").write_text("Pears for Mo, and for M as well 9.\n", "utf-8")
    memory = indexed(open_memory, workspace, notes=200)
    assert "cellar.md" in found(memory, f"pump cellar plumber {begun}", max_results=60)
    assert "cellar.md" not in found(memory, f"pump cellar plumber {begun} ", max_results=60), "another, finished word"


class Translator(SubjectProvider):
    """Compares the words of `GERMAN` with those of the notes, which translate them or not."""

    translated = 1.0
    """Similarity of words."""

    def word_vectors(self, words: Sequence[str], **_: object) -> NDArray[np.float32]:
        rows = np.zeros((len(words), self.dims), np.float32)
        for row, word in zip(rows, words, strict=True):
            cosine = 1.0 if word in GERMAN.lower() else self.translated
            row[:2] = cosine, (1 - cosine**2) ** 0.5
        return rows

    def rarity(self, word: str) -> float:
        return 12.0

    def nearest_pieces(self, query: str, lines: Sequence[str], frequent: float, **_: object) -> tuple[object, object]:
        raise ProviderError("The notes are in another language.")


@pytest.mark.parametrize("translated", [True, False])
def test_translated_words_show_the_subject(open_memory, workspace: Path, translated: bool) -> None:
    provider = Translator()
    provider.translated = float(translated)
    memory = indexed(open_memory, workspace, use=provider)
    assert [bool(found(memory, GERMAN, diverse=diverse)) for diverse in (False, True)] == [translated] * 2
    assert not memory.search(GERMAN).closest_only
    remedies = memory.search(GERMAN, correct=False, explain=True).explanation.remedies
    reasons = [remedy.advice.partition("because ")[2] for remedy in remedies if remedy.name == "weak"]
    untranslated = "no passage in another language has words that translate the query."
    assert reasons == ([] if translated else [untranslated])
    assert found(memory, GERMAN, min_score=0.1), "as the advice offers"
    (workspace / "zaun.md").write_text("Der Zaun steht hinter dem Haus und ist aus altem Holz.\n", "utf-8")
    memory.sync()
    with_weak_one = found(memory, GERMAN, max_results=500, min_score=0.49)
    assert bool(with_weak_one) == translated, "a weak note in the language of the query changes nothing"
    assert "zaun.md" not in with_weak_one


@pytest.mark.parametrize(("translated", "closest"), [(0.65, True), (0.95, False)])
def test_notice_if_no_passage_translates_the_query_clearly(open_memory, workspace: Path, translated, closest) -> None:
    provider = Translator()
    provider.translated = translated
    memory = indexed(open_memory, workspace, 20, use=provider)
    outcome = memory.search(GERMAN, correct=False)
    assert outcome.results
    assert outcome.closest_only is closest
