"""Results by meaning in folders of very short notes, with the built-in model: any two words have much in common."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import StoreSettings

NAMES = ("island", "guitar", "doctor", "quokka", "bread", "taxes", "bicycle", "tomatoes", "budget", "nginx")
TRANSLATED = {"Insel": "island", "Gitarre": "guitar", "Arzt": "doctor", "Steuern": "taxes", "Fahrrad": "bicycle"}
OFF_TOPIC = ("wombat", "submarine", "democracy", "insulin", "hockey", "volcano", "printer", "cathedral", "satellite")

OpenIndex = Callable[[Mapping[str, str]], BuiltinMemory]


@pytest.fixture
def open_index(tmp_path: Path) -> Iterator[OpenIndex]:
    """Index notes, given by name, with the built-in model."""
    memories: list[BuiltinMemory] = []

    def open_(notes: Mapping[str, str]) -> BuiltinMemory:
        folder = tmp_path / str(len(memories))
        (folder / "notes").mkdir(parents=True)
        for name, text in notes.items():
            (folder / "notes" / f"{name}.md").write_text(text, "utf-8")
        settings = Settings(store=StoreSettings(path=str(folder / "store")))
        memories.append(BuiltinMemory(folder / "notes", settings, executor=None, background=False))
        assert not memories[-1].sync(approve=True).error
        return memories[-1]

    yield open_
    for memory in memories:
        memory.close()


@pytest.mark.parametrize("text", ["", "{}\n", "# {}\n", "- {}\n"])
def test_unrelated_words_among_notes_of_one_word_score_low(open_index: OpenIndex, text: str) -> None:
    memory = open_index({name: text.format(name.capitalize()) for name in NAMES})
    scores = [max((found.score for found in memory.search(query).results), default=0.0) for query in OFF_TOPIC]
    assert max(scores) < 0.8
    assert sum(score > 0 for score in scores) <= len(OFF_TOPIC) / 2
    for query, name in TRANSLATED.items():
        first = memory.search(query).results[0]
        assert (first.path, first.score) >= (f"{name}.md", 0.8)


def test_short_line_is_still_found_by_meaning(open_index: OpenIndex) -> None:
    memory = open_index(
        {"cat": "Feed the cat.", "soup": "Pumpkin soup with ginger.", "rent": "Pay the rent on Friday."}
    )
    found = {query: memory.search(query).results[0].path for query in ("pet food", "recipe", "landlord")}
    assert found == {"pet food": "cat.md", "recipe": "soup.md", "landlord": "rent.md"}


def test_explanation_names_the_scale_of_each_passage(open_index: OpenIndex) -> None:
    memory = open_index({"island": "Island", "trip": "We took the ferry to a small island and stayed for two nights."})
    explanation = memory.search("Insel", explain=True).explanation
    assert explanation is not None
    short, usual = sorted(explanation.results, key=lambda of: of.cosine_low or 0.0, reverse=True)
    assert (short.citation, usual.citation) == ("island.md#L1", "trip.md#L1")
    for of in (short, usual):
        assert of.cosine is not None
        assert of.cosine_low is not None
        assert of.cosine_high is not None
        assert of.vector_evidence == pytest.approx((of.cosine - of.cosine_low) / (of.cosine_high - of.cosine_low))
    assert short.cosine_low is not None
    assert usual.cosine_low is not None
    assert short.cosine_low > usual.cosine_low + 0.2
