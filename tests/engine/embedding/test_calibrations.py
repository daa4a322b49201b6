"""The scale of a model: scores of queries in other words than their note's, and of unrelated queries."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.embedding.embedded_model import EmbeddedProvider
from engine.embedding.gguf import make
from engine.embedding.provider_interface import EmbeddingProvider
from engine.search.scoring import vector_evidence, within_limits
from engine.settings import Settings
from engine.settings.options import LocalSettings
from tests.helpers.notes_with_queries import ASKED

_USUAL = 0.35


@pytest.fixture(params=["embedded", "gguf"])
def provider(request: pytest.FixtureRequest) -> Iterator[EmbeddingProvider]:
    if request.param == "embedded":
        made: EmbeddingProvider = EmbeddedProvider()
    else:
        path: Path = request.getfixturevalue("minilm")
        made = make(Settings(local=LocalSettings(model_path=str(path))), None)
    yield made
    made.close()


def test_paraphrases_reach_threshold_unrelated_do_not(provider: EmbeddingProvider) -> None:
    questions = np.stack([provider.embed_query(question) for _, question in ASKED.values()])
    cosines = questions @ provider.embed_documents([note for note, _ in ASKED.values()]).T
    scores = np.array(
        [[within_limits(vector_evidence(float(cosine), provider.calibration)) for cosine in row] for row in cosines]
    )
    right = np.eye(len(ASKED), dtype=bool)
    assert np.mean(scores[right] >= _USUAL) > 0.8
    assert np.mean(scores[~right] >= _USUAL) < 0.05
