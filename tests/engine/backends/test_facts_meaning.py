"""With the built-in model: what fits is recalled, and what does not is not."""

import contextlib
import tomllib
from collections.abc import Iterator

import pytest

from engine.backends.facts import Facts
from engine.embedding.embedded import EmbeddedProvider
from engine.store.user_data import UserData
from tests.benchmarks.rows.facts import LABELLED


@pytest.fixture(scope="module")
def labelled() -> dict[str, list]:
    return tomllib.loads(LABELLED.read_text("utf-8"))


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory, labelled: dict[str, list]) -> Iterator[Facts]:
    provider = EmbeddedProvider()
    with contextlib.closing(UserData(tmp_path_factory.mktemp("facts") / "user.sqlite")) as user:
        made = Facts(user, lambda: provider, lambda _: None)
        for fact, _ in labelled["facts"]:
            made.add(fact)
        yield made
    provider.close()


def test_other_words_and_other_languages_recall_a_fact(facts: Facts, labelled: dict[str, list]) -> None:
    asked = labelled["facts"]
    missed = [
        prompt
        for fact, prompt in asked
        if fact not in [found.fact.text for found in facts.find(f"{prompt} ", max_results=3).results]
    ]
    assert len(missed) <= len(asked) // 5, missed


def test_prompts_about_something_else_recall_hardly_ever_anything(facts: Facts, labelled: dict[str, list]) -> None:
    recalled = {
        prompt: found.results[0].fact.text
        for prompt in labelled["off_topic"]
        if (found := facts.find(f"{prompt} ")).results
    }
    assert len(recalled) <= len(labelled["off_topic"]) // 20, recalled
