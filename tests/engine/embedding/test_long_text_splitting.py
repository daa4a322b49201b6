import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding.long_text_splitting import cut, embed_whole
from engine.embedding.provider_interface import Limits, PartialAnswer, normalised

PROSE = st.text(st.sampled_from("ab.!?。 \n\té🙂漢\u0301") | st.characters(codec="utf-8"), max_size=400)


def words(text: str) -> int:
    return len(text.split())


def utf8(text: str) -> int:
    """A tokenizer that counts bytes, plus a mark at both ends as in BERT."""
    return len(text.encode("utf-8", "replace")) + 2


COUNTERS = st.sampled_from([words, utf8, len, lambda text: math.ceil(len(text) / 4)])


def limits(input_tokens: int, *, inputs: int = 100, tokens: int = 10_000) -> Limits:
    return Limits(inputs=inputs, tokens=tokens, input_tokens=input_tokens, at_once=1)


class Letters:
    """A fake embedding function that counts letters, and records its requests."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        rows = [[1 + text.count(letter) for letter in "abcdefgh"] for text in texts]
        return normalised(np.array(rows, float).reshape(len(texts), 8))


@given(PROSE, st.integers(1, 50), COUNTERS)
def test_parts_join_to_text_and_fit_limit(text, limit, count):
    parts = list(cut(text, limit, count))
    assert "".join(part for part, _ in parts) == text
    assert all(tokens == count(part) for part, tokens in parts)
    assert all(tokens <= limit or len(part) <= 1 for part, tokens in parts)
    assert all(part for part, _ in parts) or not text


@given(st.lists(PROSE, max_size=5), st.integers(4, 50), st.integers(1, 4), COUNTERS)
def test_every_text_unit_vector_requests_within_limits(texts, limit, inputs, count):
    embed = Letters()
    vectors = embed_whole(texts, limits(limit, inputs=inputs, tokens=limit * 2), count, embed)
    assert vectors.shape == (len(texts), 8)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(texts)), rel=1e-5)
    for request in embed.asked:
        assert len(request) <= inputs
        assert sum(map(count, request)) <= limit * 2 or len(request) == 1
    sent = "".join(text for request in embed.asked for text in request)
    assert "".join(sent.split()) == "".join("".join(texts).split())


def test_short_texts_share_one_request_unchanged():
    embed = Letters()
    texts = ["a b", "", "c"]
    assert embed_whole(texts, limits(2), words, embed) == pytest.approx(Letters()(texts))
    assert embed.asked == [texts]


@pytest.mark.parametrize(
    ("text", "limit", "parts"),
    [
        pytest.param("One two.\nThree four.\n\nFive six. Seven eight.", 6, 2, id="paragraph"),
        pytest.param("- one two three\n- four five six\n", 5, 2, id="line"),
        pytest.param("One two three four! Five six. Seven eight?", 4, 2, id="sentence"),
        pytest.param("one two three four five six", 2, 3, id="word"),
    ],
)
def test_cut_is_at_a_boundary(text, limit, parts):
    found = [part for part, _ in cut(text, limit, words)]
    assert len(found) == parts
    ends = {"paragraph": "\n\n", "line": "\n", "sentence": "! ", "word": " "}
    kind = next(kind for kind, end in ends.items() if end in text)
    assert all(part.endswith(ends[kind]) for part in found[:-1])


def test_a_sentence_of_chinese_ends_without_a_space():
    sentences = ["我们在市场买了水果。", "他们开会讨论预算。"]
    assert [part for part, _ in cut("".join(sentences), 12, len)] == sentences


def test_the_parts_are_about_equally_long():
    sizes = [tokens for _, tokens in cut("word " * 1001, 250, words)]
    assert sum(sizes) == 1001
    assert len(sizes) <= 6
    assert min(sizes) > 100


def test_cutting_long_text_counts_tokens_rarely():
    counted = []

    def count(text: str) -> int:
        counted.append(len(text))
        return words(text)

    parts = list(cut("lorem ipsum dolor " * 10_000, 100, count))
    assert len(counted) < 3 * len(parts)


def test_vectors_are_averaged_by_their_tokens():
    axes = np.eye(2, dtype=np.float32)

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return axes[[int("b" in text) for text in texts]]

    text = "a a a a a a. b b b b b b b b."
    assert [tokens for _, tokens in cut(text, 8, words)] == [6, 8]
    vector = embed_whole([text], limits(8), words, embed)[0]
    assert vector == pytest.approx(np.array([6, 8]) / 10, abs=1e-6)


def test_blank_parts_do_not_count():
    embed = Letters()
    embed_whole(["a b c" + " " * 100], limits(20), len, embed)
    assert all(text.strip() for request in embed.asked for text in request)
    embed_whole([" " * 100], limits(20), len, embed)
    assert len(embed.asked[-1]) == 1


def test_opposite_parts_leave_a_vector_without_direction():
    signs = iter([1.0, -1.0])
    vector = embed_whole(["a b"], limits(1), words, lambda texts: np.array([[next(signs), 0.0] for _ in texts]))
    assert vector.tolist() == [[0.0, 0.0]]


class FailsLater:
    """Returns vectors for some requests, then raises."""

    def __init__(self, good: int, error: Exception) -> None:
        self._good, self._error, self._letters = good, error, Letters()

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(self._letters.asked) == self._good:
            raise self._error
        return self._letters(texts)


def test_vectors_before_failure_returned():
    texts = ["a", "b", "c d e", "f"]
    error = ProviderError("Too many requests.")
    with pytest.raises(PartialAnswer, match="Too many requests") as caught:
        embed_whole(texts, limits(1, inputs=3), words, FailsLater(1, error))
    assert sorted(caught.value.arrived) == [0, 1]  # only a part of the third text was answered
    assert caught.value.arrived[1] == pytest.approx(Letters()(["b"])[0])
    assert caught.value.__cause__ is error


def test_partial_answer_mapped_to_texts():
    vectors = Letters()(["a", "b", "c", "d"])
    error = PartialAnswer("Two are missing.", {0: vectors[0], 2: vectors[2], 3: vectors[3]})
    with pytest.raises(PartialAnswer) as caught:
        embed_whole(["a", "b", "c d"], limits(1), words, FailsLater(0, error))
    assert sorted(caught.value.arrived) == [0, 2]
    assert caught.value.arrived[2] == pytest.approx(normalised(vectors[2] + vectors[3]))


def test_failure_without_results_unchanged():
    error = ProviderError("No such model.")
    with pytest.raises(ProviderError) as caught:
        embed_whole(["a b"], limits(1, inputs=1), words, FailsLater(1, error))
    assert caught.value is error


def test_a_cancelled_call_is_cancelled():
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        embed_whole(["a"], limits(1), words, lambda texts: token.checkpoint() or Letters()(texts))
