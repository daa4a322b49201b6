import base64
import json
import math
import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.errors import ProviderError
from engine.embedding.response_parsing import MAX_DIMENSIONS, indexed, ordered, read_json, vector_of
from engine.embedding.service_errors import Transient

floats = st.floats(width=32, allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(values)
def test_response_json_is_parsed_unchanged(value: object) -> None:
    assert read_json(json.dumps(value).encode()) == value


def test_an_answer_of_megabytes_is_read_in_steps() -> None:
    value = {"data": [{"index": index, "embedding": [index + 0.5] * 3072} for index in range(40)]}
    assert read_json(json.dumps(value).encode()) == value


@given(values, st.data())
def test_truncated_response_is_refused(value: object, data) -> None:
    whole = json.dumps({"data": value}).encode()
    with pytest.raises(Transient, match="not complete JSON"):
        read_json(whole[: data.draw(st.integers(0, len(whole) - 1))])


@settings(max_examples=20)
@given(st.binary(max_size=40) | st.lists(st.sampled_from([*b'[]{}":,1.e-\\u"naN'])).map(bytes))
def test_large_answer_is_read_like_a_small_one(body: bytes) -> None:
    """Small ones are parsed in one call, large ones in steps."""

    def read(sent: bytes) -> object:
        try:
            return read_json(sent)
        except Transient:
            return Transient

    assert read(body) == read(body + b" " * 4_200_000)


@pytest.mark.parametrize("start", [b"[", b'{"a":', b'[{"a":'])
@pytest.mark.parametrize("closed", [True, False])
def test_deep_answer_refused_without_memory(start: bytes, closed: bool) -> None:
    ends = bytes({91: 93, 123: 125}[code] for code in reversed(start) if code in b"[{")
    body = start * 40_000 + (b"1" + ends * 40_000 if closed else b"")
    tracemalloc.start()
    try:
        with pytest.raises(Transient, match="not complete JSON"):
            read_json(body)
        assert tracemalloc.get_traced_memory()[1] < 4_000_000
    finally:
        tracemalloc.stop()


def test_string_longer_than_any_vector_is_refused() -> None:
    answer = read_json(b'{"data": [{"index": 0, "embedding": "%b"}]}' % (b"A" * 8_000_000))
    assert len(answer["data"][0]["embedding"]) > 10, "read in parts, since a whole one takes the square of its length"
    with pytest.raises(Transient, match="something other than a vector"):
        indexed(answer["data"], 1)


@pytest.mark.parametrize("body", [b"", b"<html>", b"{} {}", b'"\xff"', b"[1,]", b"NaN NaN", b"[Nope]"])
def test_invalid_json_refused(body: bytes) -> None:
    with pytest.raises(Transient, match="not complete JSON"):
        read_json(body)


def test_nan_in_response_is_refused() -> None:
    assert read_json(b'{"a": [NaN, 1.5, -Infinity, Infinity], "b": "BaNaNa"}')["a"] == [None, 1.5, None, None]


@given(st.lists(floats, min_size=1, max_size=40))
def test_vectors_are_read_as_numbers_or_base64(vector: list[float]) -> None:
    packed = base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
    for sent in (vector, packed):
        found = vector_of(sent)
        assert found.dtype == np.float32
        assert found.tolist() == vector


def test_missing_components_are_nan() -> None:
    assert [math.isnan(x) for x in vector_of([1.0, None, 2])] == [False, True, False]
    assert math.isinf(vector_of([1e300, 1.0])[0])


@pytest.mark.parametrize("sent", [None, 3, {}, [], "", "a", "abcde", [[1.0]], [{}], ["x"], [10**400]])
def test_invalid_vector_refused(sent: object) -> None:
    with pytest.raises(Transient):
        vector_of(sent)


@given(st.permutations(range(5)), st.integers(0, 5))
def test_index_fields_decide_the_order(order: list[int], count: int) -> None:
    items = [{"index": place, "embedding": [place + 1.0]} for place in order[:count]]
    assert {place: vector.tolist() for place, vector in indexed(items, 5).items()} == {
        place: [place + 1.0] for place in order[:count]
    }


@pytest.mark.parametrize("indexes", [[0, 0], [0, None], [0, 2], [-1, 0], [True, 0], [0.0, 1], [0, 1, 1]])
def test_unreliable_indexes_invalidate_answer(indexes: list[object]) -> None:
    with pytest.raises(ProviderError, match="does not say which vector belongs to which text"):
        indexed([{"index": place, "embedding": [1.0]} for place in indexes], 2)


@pytest.mark.parametrize("empty", [None, [], ""])
def test_empty_vectors_have_not_arrived(empty: object) -> None:
    found = indexed([{"index": 0, "embedding": empty}, {"index": 1, "embedding": [1.0]}], 2)
    assert list(found) == list(ordered([empty, [1.0]], 2)) == [1]


@pytest.mark.parametrize("items", [None, {}, "data", [1]])
def test_list_of_other_values_is_refused(items: object) -> None:
    with pytest.raises(Transient):
        indexed(items, 1)
    with pytest.raises(Transient):
        ordered(items, 1)


def test_response_without_indexes_needs_every_vector() -> None:
    assert [vector.tolist() for vector in ordered([[1.0], [2.0]], 2).values()] == [[1.0], [2.0]]
    for sent in ([[1.0]], [[1.0]] * 3):
        with pytest.raises(Transient, match="doesn't have one vector per text"):
            ordered(sent, 2)


@pytest.mark.parametrize("encoded", [False, True])
def test_vector_of_too_many_numbers_is_refused(encoded: bool) -> None:
    numbers = [0.5] * (MAX_DIMENSIONS + 1)
    sent = base64.b64encode(np.array(numbers, "<f4").tobytes()).decode() if encoded else numbers
    with pytest.raises(ProviderError, match="choose another model"):
        vector_of(sent)
