import contextlib
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import ProviderError
from engine.embedding.gguf_file import read_gguf
from tests.helpers.gguf_files import write_gguf

BERT = {
    "general.architecture": "bert",
    "general.name": "tiny",
    "bert.context_length": 512,
    "bert.embedding_length": 8,
    "bert.attention.layer_norm_epsilon": 1e-12,
    "bert.pooling_type": 2,
    "tokenizer.ggml.tokens": ["a", "bc"],
    "tokenizer.ggml.token_type": [1, 1],
}


def test_header_of_a_real_model_is_read(minilm: Path) -> None:
    model = read_gguf(str(minilm))
    assert (model.architecture, model.name) == ("bert", "all-MiniLM-L6-v2")
    assert (model.dims, model.context, model.pooling) == (384, 512, 1)


def test_values_after_the_vocabulary_are_read(tmp_path: Path) -> None:
    last = {**BERT, "general.name": "first"}
    last["general.name"] = last.pop("general.name")
    assert read_gguf(str(write_gguf(tmp_path / "m.gguf", last))).name == "first"


def test_missing_pooling_means_mean_pooling(tmp_path: Path) -> None:
    values = {name: value for name, value in BERT.items() if name != "bert.pooling_type"}
    assert read_gguf(str(write_gguf(tmp_path / "m.gguf", values))).pooling == 1
    assert read_gguf(str(write_gguf(tmp_path / "m.gguf", {**values, "bert.pooling_type": 0}))).pooling == 1
    assert read_gguf(str(write_gguf(tmp_path / "m.gguf", BERT))).pooling == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bert.pooling_type": 4}, "only re-ranks texts"),
        ({"general.architecture": "clip"}, "contains no language model"),
        ({"bert.embedding_length": 0}, "contains no language model"),
        ({"bert.context_length": "long"}, "contains no language model"),
        ({"bert.pooling_type": 9}, "unknown pooling method"),
    ],
)
def test_non_embedding_model_refused(tmp_path: Path, changes: dict, message: str) -> None:
    path = write_gguf(tmp_path / "m.gguf", BERT | changes)
    with pytest.raises(ProviderError, match=message):
        read_gguf(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a GGUF model"),
        (b"PK\x03\x04" + bytes(100), "not a GGUF model"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "version 1"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 2**60), "damaged"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 2**63), "damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"a", 9, 8, 2**62), "damaged"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"a", 9, 9, 1), "damaged"),
    ],
)
def test_broken_header_refused_immediately(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(ProviderError, match=message):
        read_gguf(str(path))


@given(cut=st.integers(0, 400), place=st.integers(0, 400), byte=st.integers(0, 255))
def test_damaged_file_is_read_or_raises_provider_error(
    tmp_path_factory: pytest.TempPathFactory, cut: int, place: int, byte: int
):
    path = write_gguf(tmp_path_factory.getbasetemp() / "damaged.gguf", BERT)
    content = bytearray(path.read_bytes())
    content[min(place, len(content) - 1)] = byte
    path.write_bytes(content[:cut] if cut else content)
    with contextlib.suppress(ProviderError):
        assert read_gguf(str(path)).dims > 0


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match=r"gone.gguf cannot be read: No such file"):
        read_gguf(str(tmp_path / "gone.gguf"))


def test_the_fingerprint_follows_the_content_not_the_name(tmp_path: Path) -> None:
    content = write_gguf(tmp_path / "a.gguf", BERT).read_bytes() + bytes(1_000_000)
    first = tmp_path / "a.gguf"
    first.write_bytes(content)
    before = read_gguf(str(first)).fingerprint
    os.utime(first, (1, 1))
    assert read_gguf(str(first.rename(tmp_path / "b.gguf"))).fingerprint == before
    (tmp_path / "c.gguf").write_bytes(content[:-1] + b"x")
    assert read_gguf(str(tmp_path / "c.gguf")).fingerprint != before
    (tmp_path / "d.gguf").write_bytes(content + bytes(1))
    assert read_gguf(str(tmp_path / "d.gguf")).fingerprint != before
