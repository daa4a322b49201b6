"""The last word of a query before it is typed to the end, completed from the index for the embedding model."""

from pathlib import Path

import pytest

from tests.helpers.fake_provider import FakeProvider

NOTES = {
    "gauges": "The thread of the gauge thrives.",
    "threads": "Threads and a thread.",
    "short": "The thr is in millimetres.",
    "weir": "A weir with gates and a garden.",
}


@pytest.mark.parametrize(
    ("query", "embedded"),
    [
        ("gauge threa", "gauge thread"),
        ("gauge threads", "gauge threads"),
        ("gauge threa ", "gauge threa "),
        ("threa", "threa"),
        ("weir ga", "weir ga"),
        ("weir gat gar", "weir gat garden"),
        ("gauge xyz", "gauge xyz"),
        ('gauge "threa"', "gauge threa"),
    ],
)
def test_last_word_is_completed_before_embedding(
    open_memory, provider: FakeProvider, workspace: Path, query: str, embedded: str
) -> None:
    for name, text in NOTES.items():
        (workspace / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory = open_memory()
    memory.sync()
    memory.search(query, correct=False)
    assert provider.questions[-1] == embedded


def test_completed_query_is_explained(open_memory, workspace: Path) -> None:
    (workspace / "threads.md").write_text("The threads of the gauge.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("gauge threa", explain=True)
    assert outcome.explanation is not None
    assert any("“gauge threads”" in stage.note for stage in outcome.explanation.stages)


def test_word_known_to_model_is_not_completed(
    open_memory, provider: FakeProvider, workspace: Path, monkeypatch
) -> None:
    """A car is no carpet."""
    monkeypatch.setattr(provider, "pieces", lambda word: 1 if word == "car" else 2)
    (workspace / "rooms.md").write_text("The blue carpet.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    memory.search("blue car", correct=False)
    memory.search("blue carp", correct=False)
    assert provider.questions[-2:] == ["blue car", "blue carpet"]
