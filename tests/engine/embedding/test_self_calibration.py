from pathlib import Path

import numpy as np
import pytest

from engine.embedding.embedded_model import EmbeddedProvider
from engine.embedding.gguf import PASSAGES, QUESTIONS, calibrated, make
from engine.providers import Calibration
from engine.settings import Settings
from engine.settings.options import LocalSettings


def _cosine_at(score: float, calibration: Calibration) -> float:
    return calibration.low + score * (calibration.high - calibration.low)


def test_self_calibration_slightly_stricter_than_manual() -> None:
    provider = EmbeddedProvider()
    try:
        questions = np.stack([provider.embed_query(question) for question in QUESTIONS])
        found = calibrated(questions, provider.embed_documents(PASSAGES))
    finally:
        provider.close()
    known = provider.calibration
    assert 0 < _cosine_at(0.35, found) - _cosine_at(0.35, known) < 1.2 * known.spread
    assert 0 < found.low - known.low < known.spread
    assert found.spread == pytest.approx(known.spread, abs=0.01)


def test_model_with_similar_cosines_gets_narrow_scale() -> None:
    noise = np.random.default_rng(5).normal(size=(32, 64)).astype(np.float32)
    vectors = noise / np.linalg.norm(noise, axis=1, keepdims=True) * 0.2 + 0.12  # cosines of .95 and more
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = calibrated(vectors[:16], vectors[16:])
    assert 0.9 < found.low < found.high < 1


def test_gguf_model_is_calibrated_by_first_query(minilm: Path) -> None:
    provider = make(Settings(local=LocalSettings(model_path=str(minilm))), None)
    try:
        before = provider.calibration
        provider.embed_documents(["apples"])
        assert provider.calibration == before
        provider.embed_query("apples")
        assert provider.calibration.low == pytest.approx(0.159, abs=0.005)
        assert provider.calibration.high == pytest.approx(0.478, abs=0.005)
    finally:
        provider.close()
