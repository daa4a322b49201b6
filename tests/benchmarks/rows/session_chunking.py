"""Comparison of ways to cut sessions into chunks: nDCG@10 on sessions made of Cranfield.

A result counts if it opens an abstract that was judged relevant, or the question before it
(`labelled/cranfield_sessions.py`). Needs the environment variable CRANFIELD, as `ranking` does.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from engine.backends.builtin import BuiltinMemory
from engine.corpus.transcripts.chunk_packing import ChunkPacker, IndexedMessage, SessionChunk
from engine.corpus.transcripts.message_offsets import MessageOffset
from engine.indexing import session_row_builder
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.benchmarks.labelled import cranfield
from tests.benchmarks.labelled.cranfield_sessions import write_cranfield_sessions
from tests.benchmarks.measuring import Figure, measure
from tests.benchmarks.prepared import Bench
from tests.benchmarks.reference import chunks_of

_DEPTH = 30


class _OneByOne(ChunkPacker):
    """Makes a chunk of each message."""

    def add(self, message: IndexedMessage) -> None:
        self._close()
        super().add(message)


class _Exchanges(ChunkPacker):
    """Makes a chunk of each question with its answer."""

    def add(self, message: IndexedMessage) -> None:
        if message.role == "user":
            self._close()
        super().add(message)


class _Joined(ChunkPacker):
    """Joins messages, one per line, and cuts without regard to their ends, as the reference does."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self._said: list[IndexedMessage] = []

    def add(self, message: IndexedMessage) -> None:
        self._said.append(message)

    def finish(self) -> list[SessionChunk]:
        lines = [" ".join(message.with_speaker.split()) for message in self._said]
        return [self._placed(chunk.text, chunk.start - 1) for chunk in chunks_of("\n".join(lines))]

    def _placed(self, text: str, first: int) -> SessionChunk:
        places, offset, number = list[MessageOffset](), 0, first
        for line in text.split("\n"):
            if places and line.startswith(("User: ", "Assistant: ")):
                number += 1
            message = self._said[number]
            places.append(MessageOffset(offset, message.line, message.ordinal, message.id, message.role))
            offset += len(line) + 1
        return SessionChunk(places[0].line, places[-1].line, text, (), tuple(places))


_WAYS: dict[str, type[ChunkPacker]] = {
    "packed, as it is": ChunkPacker,
    "message by message": _OneByOne,
    "question and answer": _Exchanges,
    "joined, as the reference does": _Joined,
}


def run(bench: Bench) -> Iterator[Figure]:
    collection = cranfield.collection()
    if collection is None:
        return
    first: dict[str, float] = {}
    for number, way in enumerate(_WAYS):
        found = measure(_ours, collection, bench.scratch / f"chunked-{number}", way).value
        first = first or found
        yield Figure(
            f"nDCG@10 by message, sessions of Cranfield: {way}",
            "–",
            f"by words {found['keyword']:.3f}, and by meaning {found['auto']:.3f}; "
            f"{found['chunks']:,} chunks, {found['characters'] / 1e6:.1f} M characters",
            f"{found['auto'] / first['auto']:.3f}× of packed, by words {found['keyword'] / first['keyword']:.3f}×",
        )


def _ours(collection: Path, scratch: Path, way: str) -> dict[str, float]:
    session_row_builder.ChunkPacker = _WAYS[way]  # type: ignore[misc]
    documents_said = write_cranfield_sessions(collection, scratch / "sessions")
    (scratch / "notes").mkdir()
    settings = Settings(sessions=SessionSettings(folders=(str(scratch / "sessions"),)))
    settings = msgspec.structs.replace(settings, store=msgspec.structs.replace(settings.store, path=str(scratch)))
    memory = BuiltinMemory(scratch / "notes", settings, executor=None, background=False)
    report = memory.sync()
    assert not report.error, report.error

    def ranked(mode: str) -> Callable[[str], list[int]]:
        def rank(question: str) -> list[int]:
            results = memory.search(question, max_results=_DEPTH, min_score=0.0, mode=mode).results  # type: ignore[arg-type]
            # A result with other words counts as a rank as well.
            hits = [documents_said.get((result.path, result.snippet_line), -at) for at, result in enumerate(results, 1)]
            return list(dict.fromkeys(hits))

        return rank

    found = {mode: cranfield.mean_ndcg(collection, ranked(mode)) for mode in ("keyword", "auto")}
    with memory.store.read() as snapshot:
        files = [file.id for file in snapshot.files("sessions").values()]
        texts = [chunk.text for chunk in snapshot.chunks(snapshot.chunks_of_files(files)).values()]
    memory.close()
    return found | {"chunks": len(texts), "characters": sum(map(len, texts))}
