"""A hundred notes, a real GGUF model and the real index: queries in other words find their notes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.records import SearchOutcome
from engine.settings import Settings
from engine.settings.options import LocalSettings, StoreSettings
from tests.helpers.notes_with_queries import ASKED

OFF_TOPIC = (
    "how do I renew my driving licence",
    "distance between earth and moon",
    "knitting patterns for scarves",
    "history of the roman republic",
    "nuclear fusion reactor status",
    "Shakespeare sonnets about love",
    "quarterly revenue forecast for marketing",
    "cheap hotels in Lisbon",
)
_PEOPLE = ("Ines", "Jonas", "Mara", "Pavel", "Ruth")
_WORK = ("the login page", "the export", "the invoice layout", "a flaky test", "the release notes", "the price list")
_STATE = ("is finished", "waits for review", "was put off", "needs another day", "was handed over", "is half done")
NOTES = 100


@pytest.fixture
def memory(minilm: Path, tmp_path: Path) -> Iterator[BuiltinMemory]:
    notes = tmp_path / "notes"
    notes.mkdir()
    for name, (text, _) in ASKED.items():
        (notes / f"{name}.md").write_text(f"{text}\n")
    for number in range(NOTES - len(ASKED)):
        person, work, state = _PEOPLE[number % 5], _WORK[number // 5 % 6], _STATE[number % 6]
        (notes / f"standup-{number:03}.md").write_text(f"# Standup {number}\n\n{person}: {work} {state}.\n")
    settings = Settings(
        provider="gguf",
        local=LocalSettings(model_path=str(minilm)),
        store=StoreSettings(path=str(tmp_path / "data")),
    )
    opened = BuiltinMemory(notes, settings, executor=None, background=False)
    yield opened
    opened.close()


def first(outcome: SearchOutcome) -> str | None:
    return next((Path(result.path).stem for result in outcome.results), None)


def test_hundred_notes_are_found_by_their_meaning(memory: BuiltinMemory) -> None:
    report = memory.sync(approve=True)
    assert (report.files_indexed, report.vectors_embedded, report.vectors_pending) == (NOTES, NOTES, 0)
    assert not report.error
    status = memory.status()
    assert (status.provider, status.model) == ("gguf", "all-MiniLM-L6-v2-F16")
    assert status.vector.dims == 384

    ranked, kept = {}, {}
    for name, (_, question) in ASKED.items():
        outcome = memory.search(question, min_score=0)
        assert (outcome.provider, outcome.mode) == ("gguf", "hybrid")
        ranked[name] = first(outcome)
        kept[name] = first(memory.search(question))
    missed = {name: found for name, found in ranked.items() if found != name}
    assert len(missed) <= 2, missed
    # Queries that share no word with the note are hard: some score below the default minimum.
    assert sum(found == name for name, found in kept.items()) >= 0.8 * len(ASKED), kept

    by_words = [name for name, (_, question) in ASKED.items() if memory.search(question, mode="keyword").results]
    assert len(by_words) < len(ASKED) / 2, "keywords alone would answer the queries"
    answered = [question for question in OFF_TOPIC if memory.search(question).results]
    assert len(answered) <= 1, answered
