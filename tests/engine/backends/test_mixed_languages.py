"""Searches with vectors in a folder of two languages, where the query's words occur in only one of them."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.providers import Calibration
from tests.helpers.fake_provider import FakeProvider

QUERY = "Wie lange hatte die Fähre zum Leuchtturm gestern Verspätung?"
WORDS = "Der Leuchtturm ist die Zeitung, die wir auf der Fähre mit der Verspätung von gestern lesen."
ANSWER = "Die Fähre zum Leuchtturm hatte gestern eine Verspätung, so lange wie ein Mittagessen."
ENGLISH = "On the second day we walked along the coast to the beacon. The ship back was two hours late."
GERMAN = "Am zweiten Tag gingen wir die Küste entlang bis zu dem Turm. Das Schiff kam zwei Stunden zu spät."
FRENCH = "Le deuxième jour, nous avons longé la côte jusqu'au phare. Le bateau est revenu avec deux heures de retard."
SIMILAR = "On the third day we walked along the coast to the beacon. The ship there was three hours late."
FARTHER = "Am vierten Tag gingen wir die Küste entlang bis zu dem Hafen. Das Schiff fuhr nicht."
SHORT_QUERY = "Wie löscht man Browser-Cookies?"
SHORT_WORDS = "Wer die Cookies seines Browsers nie löscht, der weiß nicht, was das Internet über ihn weiß."
SHORT_ANSWER = "To remove the cookies of the browser, open its settings and choose what to forget."
COSINES = {QUERY: 1.0, SHORT_QUERY: 1.0, WORDS: 0.1, ANSWER: 0.6, ENGLISH: 0.7, GERMAN: 0.6, SIMILAR: 0.8, FARTHER: 0.4}
COSINES |= {SHORT_WORDS: 0.1, SHORT_ANSWER: 0.7, FRENCH: 0.75}


class DirectionProvider(FakeProvider):
    """Fixed cosines to the query, and a direction for notes about the coast alone."""

    calibration = Calibration(0.0, 0.4, 0.05)

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            row[0] = COSINES.get(text.strip(), 0.0)
            row[1 + (text.strip() not in {ENGLISH, GERMAN, FRENCH, SIMILAR, FARTHER})] = np.sqrt(1 - row[0] ** 2)
        return rows


def _memory(open_memory, workspace: Path, notes: dict[str, str]):
    notes |= {f"other-{number}": f"The tiles on roof number {number} are new and grey." for number in range(8)}
    for name, text in notes.items():
        (workspace / f"{name}.md").write_text(text, "utf-8")
    memory = open_memory(use=DirectionProvider())
    memory.sync()
    return memory


def test_nearer_passage_in_other_language_ranks_first(open_memory, workspace: Path) -> None:
    memory = _memory(open_memory, workspace, {"words": WORDS, "english": ENGLISH})

    def first() -> str:
        return memory.search(QUERY, min_score=0.0).results[0].path

    explanation = memory.search(QUERY, explain=True).explanation
    assert [result.citation.partition(".")[0] for result in explanation.results] == ["english", "words"]
    assert [result.raised_weight for result in explanation.results] == [True, False]

    (workspace / "german.md").write_text(GERMAN, "utf-8")
    memory.sync()
    assert first() == "words.md", "a note with a translation in the query's language gains nothing"
    (workspace / "german.md").unlink()

    (workspace / "answer.md").write_text(ANSWER, "utf-8")
    memory.sync()
    assert first() == "answer.md", "a note that is hardly nearer than one with the words ranks below it"


def test_passage_similar_to_a_translation_ranks_first(open_memory, workspace: Path) -> None:
    memory = _memory(open_memory, workspace, {"words": WORDS, "english": ENGLISH, "german": GERMAN, "similar": SIMILAR})
    assert memory.search(QUERY, min_score=0.0).results[0].path == "similar.md"


def test_translations_into_two_languages_gain_nothing(open_memory, workspace: Path) -> None:
    memory = _memory(open_memory, workspace, {"words": WORDS, "english": ENGLISH, "french": FRENCH, "german": GERMAN})
    assert memory.search(QUERY, min_score=0.0).results[0].path == "words.md"


def test_farther_passage_in_own_language_is_no_translation(open_memory, workspace: Path) -> None:
    memory = _memory(open_memory, workspace, {"words": WORDS, "english": ENGLISH, "farther": FARTHER})
    assert memory.search(QUERY, min_score=0.0).results[0].path == "english.md"


def test_function_word_shows_that_a_passage_is_foreign(open_memory, workspace: Path) -> None:
    memory = _memory(open_memory, workspace, {"words": SHORT_WORDS, "english": SHORT_ANSWER})
    assert memory.search(SHORT_QUERY, min_score=0.0).results[0].path == "english.md"
