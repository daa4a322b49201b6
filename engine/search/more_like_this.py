"""More like this: searches with a passage's vector and its most distinctive words."""

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from engine.base.errors import PassageMissing
from engine.base.language import tr
from engine.corpus.ignore_rules import is_unusable, printable_name
from engine.corpus.path_guard import PathGuard
from engine.corpus.transcripts.message_offsets import read_offsets
from engine.records import LAST_LINE, Passage
from engine.redaction.secret_masking import beginning_of, redact
from engine.search.keyword_leg import KeywordLeg
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel, Vectors, decode
from engine.text import QueryAnalysis, QueryTerm, passage_terms

if TYPE_CHECKING:
    from engine.search.search_context import WordCountSource

LONGEST = 4096
"""Maximum number of code points of a selection that are used."""
_MAX_DISTINCTIVE = 20
_MAX_COUNTED = 200
"""Number of a passage's most frequent words whose frequency in the index is looked up."""
_WHOLE_SHARE = 0.9
_OWN_SHARE = 0.5


class ExamplePassage(NamedTuple):
    """A passage to find similar ones for: its text, its chunks, and the chunks whose vectors represent it."""

    text: str
    """The indexed text, or the selected text with secrets masked: it may be sent to a provider."""
    own: frozenset[int]
    """Ids of the chunks that contain the passage, which are excluded from the results."""
    vector_chunks: tuple[int, ...]
    """Ids of the chunks whose vectors represent the passage; empty if it must be embedded itself."""


def find_passage(snapshot: Snapshot, passage: Passage, guard: PathGuard) -> ExamplePassage:
    """Find a passage's text and chunks in this state of the index.

    Files that the settings exclude by now are not read. Raises `PassageMissing` if nothing is indexed on its lines and
    no text is given.
    """
    # Mask before cutting to length: half of a secret would not be recognised.
    selected = redact(beginning_of(passage.text.strip(), 2 * LONGEST))[:LONGEST]
    chunks = _chunks_on(snapshot, passage, guard)
    if passage.message is not None:
        chunks = _in_message(chunks, passage.message) or chunks
    if not chunks and not selected:
        raise PassageMissing(_missing(passage))
    ids = tuple(sorted(chunks))
    exact = tuple(id_ for id_ in ids if chunks[id_][:2] == (passage.start_line, passage.end_line))
    text = "\n".join(chunks[id_].text for id_ in exact or ids)
    if selected and (not chunks or _letters(selected) < _WHOLE_SHARE * _letters(text)):
        holding = tuple(id_ for id_ in ids if _letters_and_digits(selected) in _letters_and_digits(chunks[id_].text))
        return ExamplePassage(selected, frozenset(holding or _mostly_within(chunks, passage)), ())
    return ExamplePassage(text[:LONGEST], frozenset(exact or _mostly_within(chunks, passage)), exact or ids)


class _Chunk(NamedTuple):
    start: int
    end: int
    text: str
    message_offsets: bytes | None


def _chunks_on(snapshot: Snapshot, passage: Passage, guard: PathGuard) -> dict[int, _Chunk]:
    """Return the chunks that overlap the lines of a passage, by id."""
    if is_unusable(passage.path) or guard.refused((passage.path,), snapshot.meta("names")):
        return {}
    rows = snapshot.connection.execute(
        f"""SELECT f.id, c.id, c.start_line, c.end_line, c.text, c.places FROM {snapshot.tables.files} f
            CROSS JOIN {snapshot.tables.chunks} c ON c.file_id = f.id
            WHERE f.source IN ('memory', 'sessions') AND f.path = ? AND c.start_line <= ? AND c.end_line >= ?""",
        (passage.path, passage.end_line, passage.start_line),
    )
    return {id_: _Chunk(*rest) for file, id_, *rest in rows if file not in snapshot.hidden}


def _in_message(chunks: dict[int, _Chunk], ordinal: int) -> dict[int, _Chunk]:
    """Return the chunks that contain a part of the message with this number."""
    return {
        id_: chunk
        for id_, chunk in chunks.items()
        if chunk.message_offsets is not None
        and any(offset.ordinal == ordinal for offset in read_offsets(chunk.message_offsets))
    }


def _mostly_within(chunks: dict[int, _Chunk], passage: Passage) -> list[int]:
    """Return the ids of chunks that are mostly within the passage's lines, or contain them.

    A neighbour that only overlaps by its last lines is left out.
    """

    def is_mostly_within(chunk: _Chunk) -> bool:
        common = min(chunk.end, passage.end_line) - max(chunk.start, passage.start_line) + 1
        shorter = min(chunk.end - chunk.start, passage.end_line - passage.start_line) + 1
        return common >= _OWN_SHARE * shorter

    return [id_ for id_, chunk in chunks.items() if is_mostly_within(chunk)]


def stored_vector(snapshot: Snapshot, model: StoredModel, example: ExamplePassage) -> Vectors | None:
    """Return the mean direction (dims,) of a passage's stored vectors; None unless all its chunks are embedded."""
    rows = [vector for _, vector in snapshot.vectors(model.id, model.dims, example.vector_chunks)]
    if not rows or len(rows) < len(example.vector_chunks):
        return None
    import numpy as np

    total = decode(rows, model.dims).sum(axis=0, dtype=np.float64)
    length = float(np.linalg.norm(total))
    return (total / length).astype(np.float32) if length else None


def distinctive_words(snapshot: Snapshot, example: ExamplePassage, frequencies: "WordCountSource") -> QueryAnalysis:
    """Return the most distinctive terms of a passage as a query: frequent in it, rare in the rest of the index."""
    found, languages = passage_terms(example.text, snapshot.languages())
    first: dict[tuple[object, object], QueryTerm] = {}
    times: Counter[tuple[object, object]] = Counter()
    for term in found:
        if not term.stop:
            first.setdefault((term.word, term.stems), term)
            times[term.word, term.stems] += 1
    often = times.most_common(_MAX_COUNTED)
    frequent_terms = tuple(first[name] for name, _ in often)
    counted = KeywordLeg(snapshot, QueryAnalysis(frequent_terms, languages), frequencies).terms
    weighed = [
        (term.idf * (1 + math.log(count)), index)
        for index, (term, (_, count)) in enumerate(zip(counted, often, strict=True))
        if term.chunks > len(example.own)
    ]
    weighed.sort(reverse=True)
    return QueryAnalysis(tuple(frequent_terms[index] for _, index in weighed[:_MAX_DISTINCTIVE]), languages)


def _missing(passage: Passage) -> str:
    path, first, last = printable_name(passage.path), passage.start_line, passage.end_line
    if last == LAST_LINE:
        return tr("No passage of {path} is indexed: the file may have changed.", path=path)
    if first == last:
        return tr("No passage of {path}, line {line:,}, is indexed: the file may have changed.", path=path, line=first)
    return tr(
        "No passage of {path}, lines {line:,} to {last:,}, is indexed: the file may have changed.",
        path=path,
        line=first,
        last=last,
    )


def _letters_and_digits(text: str) -> str:
    """Return letters and digits only, since a rendered page shows no Markdown syntax."""
    return "".join(filter(str.isalnum, text))


def _letters(text: str) -> int:
    return len(_letters_and_digits(text))
