"""Random numbers: correctly distributed, and the same in every run."""

import numpy as np
import pytest

from engine.insight import seeded_random
from engine.insight.seeded_random import normal


def test_random_numbers_shaped_and_reproducible() -> None:
    assert normal(1, (3, 2)).tolist() == normal(1, (3, 2)).tolist()
    assert normal(1, (3, 2)).tolist() != normal(2, (3, 2)).tolist()
    assert normal(1, (0, 2)).shape == (0, 2)
    # Also after an update: locations and findings stay unchanged.
    assert normal(1, (2,)).tolist() == pytest.approx([0.97925121, 0.48979125])


def test_numbers_follow_the_normal_distribution() -> None:
    drawn = normal(7, (100_000, 2))
    shares = [(np.abs(drawn) < width).mean() for width in (0.5, 1, 2, 3)]
    assert shares == pytest.approx([0.3829, 0.6827, 0.9545, 0.9973], abs=0.004)
    assert drawn.mean(axis=0) == pytest.approx([0, 0], abs=0.01)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(0, abs=0.01)
    assert np.corrcoef(drawn[:-1, 0], drawn[1:, 0])[0, 1] == pytest.approx(0, abs=0.01)


def test_zero_bytes_give_finite_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Zeros:
        def __init__(self, seed: int) -> None:
            pass

        def randbytes(self, count: int) -> bytes:
            return bytes(count)

    monkeypatch.setattr(seeded_random.random, "Random", Zeros)
    assert np.isfinite(normal(1, (4,))).all()
