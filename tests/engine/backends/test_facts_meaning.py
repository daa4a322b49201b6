"""With the built-in model: relevant facts are recalled, and others are not."""

import contextlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.embedded_model import EmbeddedProvider
from engine.memory.facts import Facts
from engine.search.fact_scoring import FactTable, FactWords, is_about_user
from engine.store.user_data import UserData
from tests.benchmarks.rows.facts import LABELLED


@pytest.fixture(scope="module")
def labelled() -> dict[str, list]:
    return tomllib.loads(LABELLED.read_text("utf-8"))


@contextlib.contextmanager
def keeping(folder: Path, texts: list[str], *, model: bool = True) -> Iterator[Facts]:
    provider = EmbeddedProvider() if model else None
    with contextlib.closing(UserData(folder / "user.sqlite")) as user:
        made = Facts(user, lambda: provider, lambda _: None)
        for text in dict.fromkeys(texts):
            made.add(text)
        yield made
    if provider is not None:
        provider.close()


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory, labelled: dict[str, list]) -> Iterator[Facts]:
    with keeping(tmp_path_factory.mktemp("facts"), [fact for fact, _ in labelled["facts"]]) as made:
        yield made


def test_other_words_and_other_languages_recall_a_fact(facts: Facts, labelled: dict[str, list]) -> None:
    prompts = labelled["facts"]
    missed = [
        prompt
        for fact, prompt in prompts
        if fact not in [found.fact.text for found in facts.find(f"{prompt} ", max_results=3).results]
    ]
    assert len(missed) <= len(prompts) // 5, missed


def test_unrelated_prompts_rarely_recall(facts: Facts, labelled: dict[str, list]) -> None:
    recalled = {
        prompt: found.results[0].fact.text
        for prompt in labelled["off_topic"]
        if (found := facts.find(f"{prompt} ")).results
    }
    assert len(recalled) <= len(labelled["off_topic"]) // 20, recalled


@pytest.mark.parametrize("name", ["personal", "personal_unseen"])
def test_questions_about_the_user_recall_their_fact(tmp_path: Path, labelled: dict[str, list], name: str) -> None:
    queries = labelled[name]
    with keeping(tmp_path, [fact for fact, _ in queries]) as facts:
        found = {query: [one.fact.text for one in facts.find(f"{query} ").results] for _, query in queries}
        missed = [query for fact, query in queries if fact not in found[query]]
        assert len(missed) <= len(queries) // 10, missed
        assert sum(map(len, found.values())) <= 2 * len(queries)  # and few other facts
        recalled = {query for query in labelled["not_personal"] if facts.find(f"{query} ").results}
        assert len(recalled) <= len(labelled["not_personal"]) // 8, recalled


@pytest.mark.parametrize("model", [True, False])
@pytest.mark.parametrize(
    ("fact", "query"),
    [
        ("I prefer green tea over coffee.", "what do I drink"),
        ("Anna is my wife.", "my wife's name"),
        ("Anna is my wife.", "What is my wife called?"),
        ("I moved to Lisbon in 2021.", "Where do I live?"),
    ],
)
def test_one_fact_answers_its_question(tmp_path: Path, fact: str, query: str, model: bool) -> None:
    with keeping(tmp_path, [fact], model=model) as facts:
        assert [one.fact.text for one in facts.find(f"{query} ").results] == [fact]
        for other in ("how do volcanoes erupt", "where do penguins live", "how do I undo a git commit", "I live well"):
            assert not facts.find(f"{other} ").results


@given(query=st.text())
def test_any_text_is_classified(query: str) -> None:
    assert is_about_user(query) in (True, False)


@pytest.mark.parametrize(
    ("query", "personal"),
    [
        ("what do I drink", True),
        ("Where does my brother live?", True),
        ("my wife’s name", True),
        ("do I have a car", True),
        ("Wie heißt meine Frau?", True),
        ("how do I undo a commit", False),
        ("what should I cook", False),
        ("what do I do when it hangs", False),
        ("how do volcanoes erupt", False),
        ("my test fails with a timeout", False),
        ("what is it in " + "I " * 50, False),
        ("", False),
    ],
)
def test_personal_question_is_recognised(query: str, personal: bool) -> None:
    assert is_about_user(query) is personal


def test_short_fact_in_another_language_is_found_in_another_form() -> None:
    texts = ("Camino por el parque cada domingo.", "El perro no quiere la comida de los gatos.")
    table = FactTable([FactWords.of(text) for text in texts])
    assert list(table.score("caminar", [None, None], None)) == [0]
