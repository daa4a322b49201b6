"""Results by meaning for a query whose subject no passage of the index shares."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from engine.providers import Calibration
from tests.helpers.fake_provider import FakeProvider

QUERY = "orchard"
NEAREST = "note-000.md"


class SpreadProvider(FakeProvider):
    """The first note is near the query; the cosines of the others deviate by `deviation`."""

    calibration = Calibration(0.05, 0.2, 0.2, scatter=(0.044, 0.05))
    deviation = 0.04
    nearest = 0.13

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        for row, text in zip(rows, texts, strict=True):
            if text == QUERY:
                row[0] = 1
                continue
            number = int(text.rstrip(".").rpartition(" ")[2]) if text.startswith("Apples") else 1
            cosine = self.nearest if number == 0 else self.deviation * (-1) ** number
            row[[0, 1 + number % (self.dims - 1)]] = cosine, np.sqrt(1 - cosine * cosine)
        return rows


@pytest.fixture
def provider() -> SpreadProvider:
    return SpreadProvider()


def indexed(open_memory, workspace: Path, notes: int = 400):
    for number in range(notes):
        (workspace / f"note-{number:03}.md").write_text(f"Apples {number}.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    return memory


def found(memory, query: str = QUERY, **options) -> list[str]:
    return [result.path for result in memory.search(query, correct=False, **options).results]


def test_weak_meaning_without_related_passages_is_left_out(open_memory, workspace: Path) -> None:
    memory = indexed(open_memory, workspace)
    assert found(memory, min_score=0.0)[0] == NEAREST
    assert found(memory) == []


def test_weak_meaning_among_related_passages_is_found(open_memory, workspace: Path, provider) -> None:
    provider.deviation = 0.06
    assert found(indexed(open_memory, workspace)) == [NEAREST]


def test_strong_meaning_without_related_passages_is_found(open_memory, workspace: Path, provider) -> None:
    provider.nearest = 0.2
    assert found(indexed(open_memory, workspace)) == [NEAREST]


def test_outstanding_passage_is_found(open_memory, workspace: Path, provider) -> None:
    provider.deviation = 0.02
    assert found(indexed(open_memory, workspace)) == [NEAREST]


def test_few_passages_do_not_show_the_subject(open_memory, workspace: Path) -> None:
    assert found(indexed(open_memory, workspace, notes=20)) == [NEAREST]


def test_model_without_measured_scatter_keeps_results(open_memory, workspace: Path, provider) -> None:
    provider.calibration = msgspec.structs.replace(provider.calibration, scatter=None)
    assert found(indexed(open_memory, workspace)) == [NEAREST]


def test_empty_answer_explains_the_unrelated_query(open_memory, workspace: Path) -> None:
    explanation = indexed(open_memory, workspace).search(QUERY, correct=False, explain=True).explanation
    assert explanation.emptied_by == "unrelated"
    (stage,) = [stage for stage in explanation.stages if stage.name == "unrelated"]
    assert (stage.entered, stage.left) == (1, 0)
    assert "the minimum for a query without related passages" in stage.note
    (remedy,) = [remedy for remedy in explanation.remedies if remedy.name == "weak"]
    assert "because no passage is related" in remedy.advice
