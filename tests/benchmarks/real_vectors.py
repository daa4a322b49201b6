"""Vectors of a real model for human-written sentences, from the documentation on this machine."""

import ast
import os
import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

SENTENCES = 100_000
_DIMS = 512
_BATCH = 2_000
"""Number of sentences between two writes."""
_DOCUMENTATION = Path("/usr/share/doc")
_LARGEST_FILE = 1_000_000
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|\n\s*\n")


def real_vectors(cache: Path) -> Vectors:
    """Return unit vectors of the embedded model, (n, 512), with n at most `SENTENCES`; the first call takes some
    minutes.

    An interrupted run continues later: vectors made so far stay in `cache`.
    """
    path = cache / "sentences.npy"
    if not path.exists():
        unfinished = path.with_suffix(".unfinished")
        _embed_remaining(unfinished)
        np.save(path.with_suffix(".whole.npy"), np.fromfile(unfinished, np.float32).reshape(-1, _DIMS))
        path.with_suffix(".whole.npy").rename(path)
        unfinished.unlink()
    vectors: Vectors = np.load(path, mmap_mode="r")
    return vectors


def _embed_remaining(path: Path) -> None:
    """Append the missing vectors to this file of plain float32 rows."""
    from engine.embedding.embedded_model import EmbeddedProvider

    provider, sentences = EmbeddedProvider(), _some_sentences()
    with path.open("ab") as file:
        file.truncate(file.tell() - file.tell() % (4 * _DIMS))
        for start in range(file.tell() // (4 * _DIMS), len(sentences), _BATCH):
            file.write(provider.embed_documents(sentences[start : start + _BATCH]).tobytes())
            file.flush()


def lifted(cache: Path, dims: int) -> Vectors:
    """Return the real vectors rotated into more dimensions, (n, dims); cosines stay the same within random noise."""
    real = real_vectors(cache)[:26_000]
    turn = np.random.default_rng(1).standard_normal((real.shape[1], dims), np.float32)
    return real @ turn / np.float32(np.sqrt(dims))


def _some_sentences() -> list[str]:
    found: dict[str, None] = {}
    folders = (Path(sysconfig.get_path("stdlib")), Path(sysconfig.get_path("purelib")), _DOCUMENTATION)
    for text in (text for folder in folders for text in _texts(folder)):
        for part in _END.split(text):
            sentence = " ".join(part.split())
            if 30 <= len(sentence) <= 400 and sentence.count(" ") >= 5:
                found[sentence] = None
    sentences = sorted(found)
    random.Random(1).shuffle(sentences)
    return sentences[:SENTENCES]


def _texts(folder: Path) -> Iterator[str]:
    """Return docstrings of modules, and text files."""
    for parent, _, names in os.walk(folder):
        for name in sorted(names):
            path = Path(parent, name)
            is_module = name.endswith(".py")
            if not (is_module or name.endswith((".txt", ".md", ".rst")) or name == "copyright"):
                continue
            try:
                if path.stat().st_size > _LARGEST_FILE:
                    continue
                text = path.read_text("utf-8")
                if not is_module:
                    yield text
                    continue
                for node in ast.walk(ast.parse(text)):
                    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                        yield ast.get_docstring(node) or ""
            except (OSError, SyntaxError, ValueError):
                continue
