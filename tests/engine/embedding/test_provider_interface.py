import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.provider_interface import normalised
from engine.providers import Calibration

floats = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(st.lists(st.lists(floats, min_size=3, max_size=3), min_size=1, max_size=4))
def test_prepared_vectors_are_finite_and_have_length_one_or_none(rows: list[list[float]]) -> None:
    prepared = normalised(rows)
    assert prepared.dtype == np.float32
    assert prepared.shape == (len(rows), 3)
    for row, vector in zip(rows, prepared, strict=True):
        finite = [x if np.isfinite(x) else 0.0 for x in row]
        length = float(np.sqrt(np.sum(np.square(np.float64(finite)))))
        if length < 1e-10:
            assert vector == pytest.approx(finite)
        else:
            assert np.linalg.norm(vector) == pytest.approx(1, rel=1e-5)
            assert vector == pytest.approx(np.float64(finite) / length, rel=1e-5, abs=1e-30)


def test_prepare_keeps_shape_and_input_array() -> None:
    given_vector = np.array([3.0, np.nan, 4.0], dtype=np.float32)
    assert normalised(given_vector).tolist() == pytest.approx([0.6, 0.0, 0.8])
    assert given_vector[0] == 3.0


def test_calibration_rises_with_chunks_by_spread() -> None:
    scale = Calibration(low=0.1, high=0.3, weight=0.2, spread=0.06)
    assert scale.for_size(0) == scale.for_size(100) == scale
    thousand, many = scale.for_size(1_000), scale.for_size(100_000)
    assert thousand.low == pytest.approx(0.142)
    assert many.low == pytest.approx(0.226)
    assert many.high - many.low == pytest.approx(scale.high - scale.low)
    assert Calibration(0.1, 0.3, 0.2).for_size(100_000) == Calibration(0.1, 0.3, 0.2)


def test_calibration_of_few_words_approaches_the_usual_one() -> None:
    scale = Calibration(low=0.1, high=0.3, weight=0.2, words=(0.2, 0.4))
    scales = [scale.for_words(words) for words in (2, 3, 4, 20)]
    assert (scales[0].low, scales[0].high) == pytest.approx((0.3, 0.7))
    assert [of.low for of in scales] == sorted((of.low for of in scales), reverse=True)
    assert (scales[-1].low, scales[-1].high) == pytest.approx((0.1, 0.3), abs=0.001)
    assert scale.between_passages.for_words(2) == scale.between_passages
    assert Calibration(0.1, 0.3, 0.2).for_words(2) == Calibration(0.1, 0.3, 0.2)
