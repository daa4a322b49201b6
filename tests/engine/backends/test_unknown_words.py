"""Results by meaning for a query in which some words don't occur in the index."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.search.pipeline_stages import short_of
from engine.text.stopwords import unsearched_words
from tests.helpers.fake_provider import FakeProvider

QUERY = "how many players does the cricket team have on the field"
KNOWN = QUERY.replace("cricket", "harvest").replace("players", "people")
NAMED = "how many players does Oswin have on the field"
TITLE = "How Many Players Does Oswin Have on the Field"
DATED = "how many dogs in October"
ENGLISH = "The people of our team brought in the harvest. The apples are in the shed by the gate.\n"
GERMAN = "Die Ernte ist eingebracht, und alle haben geholfen. Wir haben viele Äpfel, die nun im Schuppen liegen.\n"
OTHER = "We painted the fence and then went for a walk across many a field with the dogs.\n"
NONSENSE = ["qqqzzz", "Qqqzzz!", "qqqzzz czyste", "qqqzzz orite", "xqzzy"]
TOGETHER = "has Oswin brought the harvest of our team in the shed"
APART = f"{TOGETHER} and painted the fence with the dogs"
NAMES = [NAMED, NAMED.lower(), TITLE, TOGETHER, APART]
SHORT = ["team und Ernte", "team Ernte einbringen", "team Oswin"]
UNSURE = "fence skateboards jugglers"
WORDS = ["kayaks", "xkcd", "qqqzzz kayaks", "qqqzzz gate"]


class NearProvider(FakeProvider):
    """Texts about a harvest are near every query, others are not."""

    cosine = 0.32

    def pieces(self, word: str) -> int:
        return {"qqqzzz": 5, "czyste": 4, "xkcd": 3, "orite": 2, "xqzzy": 3}.get(word, 1)

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            near = self.cosine if "apples" in text or "Äpfel" in text else 0.0
            row[:2] = (
                (1, 0)
                if text in {QUERY, KNOWN, DATED, "cricket apples", *NAMES, *SHORT, *NONSENSE, *WORDS, UNSURE}
                else (near, np.sqrt(1 - near * near))
            )
        return rows


@pytest.fixture
def provider() -> NearProvider:
    return NearProvider()


def indexed(open_memory, workspace: Path, *texts: str):
    for number, text in enumerate(texts):
        (workspace / f"note-{number}.md").write_text(text, "utf-8")
    memory = open_memory()
    memory.sync()
    return memory


def found(memory, query: str, **options) -> list[str]:
    return [result.path for result in memory.search(query, correct=False, **options).results]


def test_weak_meaning_with_unknown_words_is_left_out(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, QUERY, min_score=0.0)[0] == "note-0.md"
    assert found(memory, QUERY) == []
    assert found(memory, KNOWN) == ["note-0.md"]


@pytest.mark.parametrize("name", ["2019-10-04.md", "note-0.md"])
def test_words_beside_a_month_of_no_such_note_are_found(open_memory, workspace: Path, provider, name: str) -> None:
    provider.cosine = 0.4
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    (workspace / "note-0.md").rename(workspace / name)
    memory.sync()
    assert found(memory, DATED) == ["note-1.md"]


def test_unknown_words_of_an_unsure_language_stay(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.4
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert "note-0.md" in found(memory, UNSURE)


def test_strong_meaning_with_unknown_words_is_found(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.6
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, QUERY) == ["note-0.md"]


@pytest.mark.parametrize(("query", "results"), [(NAMED, []), (NAMED.lower(), ["note-0.md"]), (TITLE, ["note-0.md"])])
def test_good_meaning_without_a_name_is_left_out(
    open_memory, workspace: Path, provider, query: str, results: list[str]
) -> None:
    provider.cosine = 0.5
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, query) == results
    (workspace / "note-1.md").write_text(f"{OTHER}Oswin threw the ball.\n", "utf-8")
    memory.sync()
    assert "note-0.md" in found(memory, query)


@pytest.mark.parametrize(("cosine", "results"), [(0.35, []), (0.65, ["note-0.md"])])
def test_match_without_a_name_needs_near_meaning(
    open_memory, workspace: Path, provider, cosine: float, results: list[str]
) -> None:
    provider.cosine = cosine
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, TOGETHER) == results
    assert found(memory, TOGETHER, mode="keyword")[0] == "note-0.md"


def test_match_without_a_name_and_another_word_is_left_out(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.5
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, APART) == []
    assert found(memory, APART, mode="keyword")[0] == "note-0.md"


def test_meaning_without_a_name_in_another_language_is_found(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.5
    memory = indexed(open_memory, workspace, GERMAN, OTHER)
    assert found(memory, NAMED) == ["note-0.md"]


def test_noun_of_a_short_german_query_is_not_a_name(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.4
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert [found(memory, query) for query in SHORT] == [["note-0.md"], ["note-0.md"], []]


def test_weak_meaning_in_another_language_is_found(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.4
    memory = indexed(open_memory, workspace, GERMAN, OTHER)
    assert found(memory, QUERY) == ["note-0.md"]


def test_passage_with_all_known_words_is_found(open_memory, workspace: Path, provider) -> None:
    provider.cosine = 0.3
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, "cricket apples") == ["note-0.md"]


@pytest.mark.parametrize("query", NONSENSE)
def test_random_letters_are_searched_by_keywords_alone(open_memory, workspace: Path, provider, query: str) -> None:
    provider.cosine = 0.9
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    assert found(memory, query) == []
    stages = memory.search(query, correct=False, explain=True).explanation.stages
    (note,) = [stage.note for stage in stages if stage.name == "embedding"]
    assert note.lower().startswith("not searched by meaning: the model doesn't know “")
    filtered = memory.search(f"{query} source:notes", correct=False, explain="if empty")
    assert note in [stage.note for stage in filtered.explanation.stages]
    (workspace / "note-2.md").write_text(f"{query}\n", "utf-8")
    memory.sync()
    assert found(memory, query)[0] == "note-2.md"


@pytest.mark.parametrize("query", WORDS)
def test_word_that_occurs_nowhere_is_found_by_meaning(open_memory, workspace: Path, provider, query: str) -> None:
    provider.cosine = 0.9
    assert "note-0.md" in found(indexed(open_memory, workspace, ENGLISH, OTHER), query)


def test_empty_answer_names_the_unknown_words(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, ENGLISH, OTHER)
    explanation = memory.search(QUERY, correct=False, explain=True).explanation
    assert explanation.emptied_by == "unknown"
    (stage,) = [stage for stage in explanation.stages if stage.name == "unknown"]
    assert (stage.before, stage.after) == (1, 0)
    assert "nothing contains “players” or “cricket”" in stage.note
    (remedy,) = [remedy for remedy in explanation.remedies if remedy.name == "weak"]
    assert "because nothing contains “players” or “cricket”" in remedy.advice


def test_query_without_the_unknown_words_is_offered(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, *[f"The hedge by gate {number} was cut.\n" for number in range(4)])
    query = "skateboard hedge zzyzx"
    explanation = memory.search(query, mode="keyword", correct=False, explain=True).explanation
    remedy = explanation.remedies[0]
    assert (remedy.name, remedy.query, remedy.finds) == ("condition", "hedge", 4)
    assert remedy.advice == "Nothing contains “skateboard” or “zzyzx”. The rest of the query finds 4 results."
    joined = memory.search("skateboard-hedge zzyzx", mode="keyword", correct=False, explain=True).explanation
    assert joined.remedies[0].query == "hedge"  # "-hedge" would exclude it
    question = memory.search("Where is a skateboard hedge zzyzx?", mode="keyword", correct=False, explain=True)
    assert question.explanation.remedies[0].query == "hedge"
    nothing = memory.search("skateboard zzyzx", mode="keyword", correct=False, explain=True).explanation
    assert [remedy for remedy in nothing.remedies if remedy.query] == []


def test_time_in_a_query_is_offered_as_a_condition(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace, "The hedge was cut.\n", OTHER)
    today = date.today()
    named = f"{today:%B} {today.year}"
    expected = f'hedge dogs fence walk on:"{named}"'
    for query in (f"hedge dogs fence walk in {named}", f"{named} hedge dogs fence walk"):
        outcome = memory.search(query, mode="keyword", correct=False, explain=True, min_score=0.9)
        remedy = outcome.explanation.remedies[0]
        assert (remedy.name, remedy.query, remedy.finds) == ("condition", expected, 1)
    outcome = memory.search(f"zzyzx in {named}", mode="keyword", correct=False, explain=True)
    assert [remedy.query for remedy in outcome.explanation.remedies if "on:" in remedy.query] == []


def test_function_words_alone_are_not_offered(open_memory, workspace: Path) -> None:
    texts = [f"How does the hedge have its birds on the side {number}?\n" for number in range(4)]
    memory = indexed(open_memory, workspace, *texts)
    explanation = memory.search(QUERY, correct=False, explain=True).explanation
    assert [remedy.query for remedy in explanation.remedies if remedy.query] == []


@given(st.floats(0, 1), st.floats(0, 1))
@example(0.348, 0.35)
@example(0.4031, 0.4032)
def test_best_score_is_shown_below_the_minimum(best: float, least: float) -> None:
    best, least = sorted((best, least))
    if best < least and round(least, 2) > 0:
        rounded = short_of(best, least)
        assert float(f"{rounded:.2f}") < round(least, 2)
        assert abs(rounded - best) < 0.0151


def test_model_spells_no_word_before_there_are_vectors(open_memory, workspace: Path, provider, monkeypatch) -> None:
    """Unpacking the model takes a second or more of the first search in a new folder."""
    spelt: list[str] = []
    monkeypatch.setattr(provider, "pieces", lambda word: spelt.append(word) or 1)
    memory = open_memory()
    assert found(memory, "kayaks") == []
    assert memory.search("kayaks").results == ()
    assert spelt == []
    (workspace / "note.md").write_text(ENGLISH, "utf-8")
    memory.sync()
    memory.search("kayaks")
    assert "kayaks" in spelt


def test_function_words_correct_sentences_and_swapped_letters(open_memory, workspace: Path) -> None:
    notes = {
        "italian": "Nello stesso giorno abbiamo comprato i semi per l'orto della nonna, dopo la festa con gli amici.",
        "german": "Dieser Kompost war schon fertig, obwohl wir ihn umgesetzt haben. Welche Schaufel nehmen wir?",
        "english": "They would have used those pumps, which were found under the shed. Their timer is broken now.",
    }
    memory = indexed(open_memory, workspace, *notes.values())

    def offered(query: str) -> list[str]:
        return [suggestion.words[0][1] for suggestion in memory.search(query, correct=False).suggestions]

    checked = set[str]()
    for language, text in notes.items():
        for word in unsearched_words(language).intersection(text.lower().split()):
            swapped = word[:1] + word[2:3] + word[1:2] + word[3:]
            if len(word) < 5 or swapped == word:
                continue
            checked.add(word)
            assert unsearched_words(language).isdisjoint(offered(f"q{word}"))  # as "nello" for "anello"
            assert offered(swapped) == [word]
    assert {"nello", "welche", "would", "which"} <= checked
    assert offered("thoe pumps under the shed")[:1] == ["those"]
    assert "nello" not in offered("anello di mia nonna con gli amici")


def test_word_of_another_language_is_offered_from_its_texts(open_memory, workspace: Path) -> None:
    """German "man" and "unter" are function words, English "man" isn't."""
    german = "Man geht unter der Brücke durch, und dann sieht man das Haus der Kinder. Es war nicht schwer zu finden.\n"
    memory = indexed(open_memory, workspace, german)
    assert memory.search("manx bridge in the fog", correct=False).suggestions == ()
    english = "The old man lived by the bridge in the fog, and the children of the town have always liked him.\n"
    memory = indexed(open_memory, workspace, german, english)
    (suggestion, *_) = memory.search("manx bridge in the fog", correct=False).suggestions
    assert suggestion.words == (("manx", "man"),)


def test_name_in_capitals_is_corrected_to_capitals_alone(open_memory, workspace: Path) -> None:
    memory = indexed(
        open_memory, workspace, "A nasal spray and a pair of new boots.\n", "The launch by ESA was late.\n"
    )
    for query, offered in {
        "NASA spray": [],
        "nasla spray": ["nasal spray"],
        "late ESAA launch": ["late ESA launch"],
    }.items():
        assert [found.query for found in memory.search(query, correct=False).suggestions] == offered


def test_operator_with_an_unknown_value_suggests_similar_ones(open_memory, workspace: Path) -> None:
    (workspace / "papers").mkdir()
    text = "---\ntitle: Word vectors\ntags: [retrieval, ml/ranking]\n---\nPassages are compared by their cosines.\n"
    (workspace / "papers/vectors.md").write_text(text)
    memory = indexed(open_memory, workspace)
    cases = {
        "tag:retrievel": "tag:retrieval",
        "tag:rankin cosines": "cosines tag:ml/ranking",
        "path:papiers/": "path:papers/",
        "path:papers/vektors.md": "path:papers/vectors.md",
        "title:vektors": "title:vectors",
        "tag:retrieval zebra": "",
        "path:papers/ tag:garden": "",
        "tag:retrievel zebra": "",
    }
    for query, suggested in cases.items():
        explanation = memory.search(query, explain=True).explanation
        assert explanation is not None
        similar = [of.query for of in explanation.remedies if of.advice.startswith("As “")]
        assert similar == [suggested] * bool(suggested), query


def test_typo_in_an_identifier_is_corrected_but_no_number(open_memory, workspace: Path) -> None:
    text = "The view pg_cursors lists cursors, see postgresql.conf and max_files_per_process. The gene is KATNAL1.\n"
    (workspace / "view.md").write_text(f"{text}We use utf8mb4 tables and int8 columns.\n")
    memory = open_memory(use=None)
    memory.sync()
    cases = {
        "pg_cusors": "pg_cursors",
        "the pg_curosrs view": "the pg_cursors view",
        "postgresql.cnof": "postgresql.conf",
        "katnla1": "katnal1",
        **dict.fromkeys(["utf8mb3", "int9", "katnal2", "pg-cursers", "pg_crsr", "pg_cursirs"], ""),
    }
    for query, corrected in cases.items():
        outcome = memory.search(query)
        assert (outcome.corrected.query if outcome.corrected else "") == corrected, query
        assert not (outcome.suggestions and set(query) & set("0123456789-")), query


class SpelledProvider(FakeProvider):
    """Knows the words of the notes, and none with a typo."""

    def pieces(self, word: str) -> int:
        return 1 if word in (ENGLISH + OTHER).lower() else 3


def test_query_is_embedded_with_the_likely_word_of_a_typo(open_memory, workspace: Path) -> None:
    """Keywords search similar words, but the vector of a misspelt word has no meaning."""
    for number, text in enumerate((ENGLISH, OTHER, "The gardan, the gardon.\n")):
        (workspace / f"note-{number}.md").write_text(text)
    memory = open_memory(use=(provider := SpelledProvider()))
    memory.sync()
    cases = {
        "where did the team sing about the harvist": "where did the team sing about the harvist harvest",
        "path:note where did the team sing about the harvist": "where did the team sing about the harvist harvest",
        "where did the team sing about apples": "where did the team sing about apples",
        "where did the team sing about zorvic": "where did the team sing about zorvic",
        "where did the team sing about the garden": "where did the team sing about the garden",
        "Gaate of the zorvic team sings now": "Gaate of the zorvic team sings now",
    }
    for query, embedded in cases.items():
        outcome = memory.search(query)
        assert outcome.corrected is None
        assert provider.questions[-1] == embedded
