"""Finds duplicate text in the notes: identical files, similar files, and copied passages.

Files with the same hash are treated as one. For the others, a sample of shingles finds candidates
(`duplicate_candidates`), and a comparison word by word verifies and locates the common text (`text_comparison`). So
every group is exact, and text that recurs in dozens of notes is one group. Files are processed in batches: memory holds
the sample, but no texts.
"""

import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from engine.base.cancellation import CancelToken, checkpoint
from engine.corpus.note_reader import EMPTY
from engine.corpus.path_guard import PathGuard
from engine.insight.duplicate_candidates import NearChunks, Pair, Recurring, Sample, near_chunks
from engine.insight.duplicate_groups import FoundGroup, Match, Part, grouped, key_of
from engine.insight.text_comparison import (
    ChunkText,
    Hashes,
    LineRange,
    ShingledFile,
    Shingler,
    TextSimilarity,
    by_line,
    compare,
    find_passage,
    shingles_of,
    stored_texts,
    without_overlaps,
)
from engine.records import DuplicateGroup, DuplicateKind, DuplicateMember, DuplicateReport
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import Ids, integers

Progress = Callable[[float], None]
"""Function called with the completed share, 0 to 1, on the worker thread."""

ALIKE = 0.6
"""Least similarity of two similar files: with every seventh word changed, .7 is left."""
CONTAINED = 0.7
"""Least share of a file that another file must contain for it to count as contained."""
LENGTHS = 0.5
"""A file with fewer tokens than this share of the other's is not similar to it, but contained in it."""
PASSAGE_TOKENS = 40
"""Minimum length of a reported passage, some three lines; shorter ones are quotations and phrases."""
PASSAGE_DENSITY = 0.6
MIN_TOKENS = 20
"""Files with fewer tokens are duplicates only if they are identical."""
RECURRING_TOKENS = 12
SAME_WORDS = 0.6
"""Least share of common words, of all words of two passages with the same meaning, for them to be duplicates."""
_MOSTLY = 0.8
"""Share of the files with a recurring text that must consist mostly of it, for the files to count as similar."""

_BATCH_SIZE = 200
_SAMPLED = 1_500_000
"""Maximum number of shingles in memory: 12 bytes each, and as much again during sorting."""
_CHARACTERS_PER_TOKEN = 6
_MAX_COMPARED = 5_000
_CACHED_FILES = 256
_READING = 0.8
"""Share of the running time spent on reading, for the progress."""
_MAX_LOCATED = 200
_MAX_GROUPS = 1_000
_MAX_EMBEDDED = 0.9
"""Share of the chunks that must have vectors for these to be used: below it, vectors are still being added."""
State = tuple[str, int, int, int, int, ModelName | None]
"""Identifies a state of the index with the same duplicates: by its texts and by the model with usable vectors."""
_MAX_MEMBERS = 200
_EXCERPT = 300


class Note(NamedTuple):
    """One indexed note that is compared with others."""

    id: int
    path: str
    title: str
    hash: str
    size: int
    modified: float


def make_group(
    kind: DuplicateKind,
    similarity: float,
    words: int,
    members: Sequence[tuple[Note, LineRange, float]],
    texts: Mapping[int, Sequence[ChunkText]],
) -> DuplicateGroup | None:
    """Make the record of a group of notes, given newest first, each with its shared lines and share of words.

    `texts` must contain the first note's text; otherwise None is returned.
    """
    newest, lines, _ = members[0]
    if newest.id not in texts:
        return None
    return DuplicateGroup(
        kind=kind,
        similarity=similarity,
        words=words,
        members=tuple(_member(*member) for member in members[:_MAX_MEMBERS]),
        files=len(members),
        excerpt=_excerpt(texts[newest.id], lines),
        key=key_of(kind, (note.path for note, _, _ in members)),
    )


def _member(note: Note, lines: LineRange, share: float) -> DuplicateMember:
    return DuplicateMember(
        path=note.path,
        title=note.title,
        start_line=lines[0],
        end_line=lines[1],
        size=note.size,
        modified=note.modified,
        share=share,
    )


def _excerpt(texts: Sequence[ChunkText], lines: tuple[int, int]) -> str:
    """Return the beginning of these lines of a text, without empty lines."""
    lines_of_part = (text for number, text in by_line(without_overlaps(texts)) if lines[0] <= number <= lines[1])
    taken: list[str] = []
    for text in lines_of_part:
        if text.strip():
            taken.append(text.strip())
        if sum(map(len, taken)) >= _EXCERPT:
            break
    return "\n".join(taken)[:_EXCERPT]


def state_of(snapshot: Snapshot, model: ModelName | None) -> State:
    """Return a value that changes whenever the duplicates may have changed; `model` is the model in use."""
    # Chunk ids are never reused: an addition raises the newest id, and a removal lowers a count.
    chunks = snapshot.chunk_count()
    counts = snapshot.newest_chunk_id(), chunks, snapshot.file_count()
    stored = None if model is None else snapshot.stored_model(*model)
    embedded = 0 if stored is None else chunks - snapshot.pending_vectors(stored)
    usable = model if embedded and embedded >= _MAX_EMBEDDED * chunks else None
    return snapshot.identity, snapshot.generation, *counts, usable


def find_duplicates(
    store: IndexStore,
    guard: PathGuard,
    cancel: CancelToken | None = None,
    progress: Progress | None = None,
    model: ModelName | None = None,
) -> DuplicateReport:
    """Find all groups of notes that share text. Raises `Cancelled`.

    With a `model`, passages with near vectors of it are compared too: they may have the same words in another order, or
    with many insertions. A note that is re-indexed meanwhile is used in its new form or left out.
    """
    return _Search(store, guard, cancel, progress, model).run()


class _Search:
    def __init__(
        self,
        store: IndexStore,
        guard: PathGuard,
        cancel: CancelToken | None,
        progress: Progress | None,
        model: ModelName | None,
    ) -> None:
        self._store = store
        self._guard = guard
        self._model = model
        self._cancel = cancel
        self._progress = progress or (lambda _share: None)
        self._shingler = Shingler()
        self._shingled: OrderedDict[int, ShingledFile] = OrderedDict()
        self._notes: list[Note] = []
        """The newest note of each distinct text."""

    def run(self) -> DuplicateReport:
        began = time.monotonic()
        copies: dict[str, list[Note]] = defaultdict(list)
        everything, characters = self._read_notes()
        for note in everything:
            copies[note.hash].append(note)
        self._notes = [group[0] for group in copies.values()]
        pairs, recurring = self._sample(characters).candidates(self._cancel)
        recurring_found, common = self._locate(recurring)
        matches = list(self._matches(pairs, common, recurring_found))
        matches += self._near_duplicates(matches, recurring_found)
        found = recurring_found + grouped(matches)
        groups = [group for each in found if (group := self._to_record(each)) is not None]
        groups += [group for each in copies.values() if len(each) > 1 and (group := self._identical(each)) is not None]
        groups.sort(key=lambda group: (group.kind == "recurring", -group.words * (group.files - 1), group.key))
        self._progress(1.0)
        return DuplicateReport(
            groups=tuple(groups[:_MAX_GROUPS]),
            found=len(groups),
            files=len(everything),
            seconds=time.monotonic() - began,
        )

    # --- reading ----------------------------------------------------------------------------------------------------

    def _read_notes(self) -> tuple[list[Note], int]:
        """Return all notes with text, newest first, and their total number of characters."""
        with self._store.read(self._cancel) as snapshot:
            tables = snapshot.tables
            rows = snapshot.connection.execute(
                f"""SELECT f.id, f.path, f.title, f.hash, f.size, f.mtime_ns / 1e9 FROM {tables.files} f
                    WHERE f.source = 'memory' AND f.hash <> ?
                    AND EXISTS (SELECT 1 FROM {tables.chunks} c WHERE c.file_id = f.id)
                    ORDER BY f.mtime_ns DESC, f.path""",
                (EMPTY.hash,),
            )
            notes = [Note(*row) for row in rows]
            under = snapshot.meta("names")
        refused = self._guard.refused((note.path for note in notes), under)
        notes = [note for note in notes if note.path not in refused]
        return notes, sum(note.size for note in notes)

    def _sample(self, characters: int) -> Sample:
        sample = Sample(step=1 + characters // (_CHARACTERS_PER_TOKEN * _SAMPLED))
        for start in range(0, len(self._notes), _BATCH_SIZE):
            batch = self._notes[start : start + _BATCH_SIZE]
            texts = self._texts([note.id for note in batch])
            for note in batch:
                checkpoint(self._cancel)
                shingled = self._shingler.shingle(without_overlaps(texts.get(note.id, ())))
                sample.add(shingled.hashes if shingled.tokens >= MIN_TOKENS else shingled.hashes[:0])
            self._progress(_READING * (start + len(batch)) / len(self._notes))
        return sample

    def _texts(self, ids: Sequence[int]) -> dict[int, list[ChunkText]]:
        with self._store.read(self._cancel) as snapshot:
            return stored_texts(snapshot, ids)

    def _load(self, number: int) -> ShingledFile:
        """Return the shingles of one note, given by its position, with the line of each; cached."""
        found = self._shingled.pop(number, None)
        if found is None:
            checkpoint(self._cancel)
            id_ = self._notes[number].id
            found = self._shingler.shingle(by_line(without_overlaps(self._texts([id_]).get(id_, ()))))
            if len(self._shingled) >= _CACHED_FILES:
                self._shingled.popitem(last=False)
        self._shingled[number] = found
        return found

    # --- comparing --------------------------------------------------------------------------------------------------

    def _matches(self, pairs: Sequence[Pair], common: Hashes, known: Sequence[FoundGroup]) -> Iterator[Match]:
        alike = [{part.note for part in found.parts} for found in known if found.kind == "similar"]
        chosen = sorted(pairs[:_MAX_COMPARED], key=lambda pair: (pair.first, pair.second))
        for done, pair in enumerate(chosen):
            self._progress(_READING + (1 - _READING) * done / len(chosen))
            if any(pair.first in notes and pair.second in notes for notes in alike):
                continue
            texts = self._load(pair.first), self._load(pair.second)
            compared = compare(*texts, common)
            match = None if compared is None else _match(pair, texts, compared)
            if match is not None:
                yield match

    def _near_duplicates(self, known: Sequence[Match], recurring: Sequence[FoundGroup]) -> Iterator[Match]:
        """Yield passages with nearly the same meaning and mostly the same words, in notes without a match so far."""
        if self._model is None:
            return
        number_of = {note.id: number for number, note in enumerate(self._notes)}
        rows = self._chunk_lines(list(number_of))
        chunks, files = rows[:, 0], rows[:, 1]
        matched = {frozenset((match.first.note, match.second.note)) for match in known}
        templates = [{part.note for part in found.parts} for found in recurring]
        for pair in near_chunks(self._store, self._model, chunks, files, self._cancel)[:_MAX_COMPARED]:
            first, second = rows[np.searchsorted(chunks, pair)].tolist()
            notes = number_of[first[1]], number_of[second[1]]
            if frozenset(notes) in matched or any(set(notes) <= members for members in templates):
                continue
            match = self._by_bags(pair, notes, [(first[2], first[3]), (second[2], second[3])])
            if match is not None:
                yield match

    def _chunk_lines(self, files: Sequence[int]) -> Ids:
        """Return id, file id, first line and last line (n, 4) of each chunk of these notes, by ascending id."""
        with self._store.read(self._cancel) as snapshot:
            rows = snapshot.connection.execute(
                f"""SELECT c.id, c.file_id, c.start_line, c.end_line FROM {snapshot.tables.chunks} c
                    CROSS JOIN {snapshot.tables.files} f ON f.id = c.file_id WHERE f.source = 'memory'"""
            )
            found = integers(rows, 4)
        found = found[np.isin(found[:, 1], files)]
        return found[np.argsort(found[:, 0])]

    def _to_record(self, found: FoundGroup) -> DuplicateGroup | None:
        """Convert a group to a record; None if its newest note no longer exists."""
        notes = sorted(found.parts, key=lambda part: (-self._notes[part.note].modified, self._notes[part.note].path))
        texts = self._texts([self._notes[notes[0].note].id])
        members = [(self._notes[part.note], part.lines, part.share) for part in notes]
        return make_group(found.kind, found.similarity, found.words, members, texts)

    def _identical(self, notes: Sequence[Note]) -> DuplicateGroup | None:
        texts = self._texts([notes[0].id])
        if notes[0].id not in texts:
            return None
        chunks = texts[notes[0].id]
        tokens = self._shingler.shingle(without_overlaps(chunks)).tokens
        lines = chunks[0][0], chunks[-1][1]
        return make_group("identical", 1.0, tokens, [(note, lines, 1.0) for note in notes], texts)

    def _by_bags(self, pair: NearChunks, notes: tuple[int, int], lines: Sequence[LineRange]) -> Match | None:
        checkpoint(self._cancel)
        with self._store.read(self._cancel) as snapshot:
            texts = snapshot.texts(pair)
        if len(texts) < 2:
            return None
        bags = [Counter(self._shingler.tokens(text.text)) for text in texts]
        both, everything = (bags[0] & bags[1]).total(), (bags[0] | bags[1]).total()
        if both < PASSAGE_TOKENS or both < SAME_WORDS * everything:
            return None
        parts = [Part(note, line, both / bag.total()) for note, line, bag in zip(notes, lines, bags, strict=True)]
        return Match("passage", both / everything, both, *parts)

    def _locate(self, recurring: Sequence[Recurring]) -> tuple[list[FoundGroup], Hashes]:
        """Find recurring text in each note. Returns the groups, and all shingles of these texts, sampled or not."""
        found, common = [], [np.empty(0, np.uint64)]
        for text in recurring:
            first = self._load(text.files[0])
            passage = find_passage(first, text.hashes)
            if passage is None or passage.tokens < RECURRING_TOKENS or passage.density < PASSAGE_DENSITY:
                continue
            hashes = shingles_of(first, passage)
            parts = []
            for number in text.files[:_MAX_LOCATED]:
                loaded = self._load(number)
                there = find_passage(loaded, hashes)
                if there is not None and there.tokens >= max(RECURRING_TOKENS, passage.tokens // 2):
                    parts.append(Part(number, there.lines, there.tokens / loaded.tokens))
            if len(parts) < 2:
                continue
            mostly = sum(part.share >= ALIKE for part in parts) >= _MOSTLY * len(parts)
            similarity = min(part.share for part in parts) if mostly else 1.0
            found.append(FoundGroup("similar" if mostly else "recurring", similarity, passage.tokens, tuple(parts)))
            common.append(hashes)
        return found, np.unique(np.concatenate(common))


def _match(pair: Pair, texts: tuple[ShingledFile, ShingledFile], compared: TextSimilarity) -> Match | None:
    """Classify two notes as similar, one containing the other, or sharing a passage; None if they share too little."""
    passage = compared.passages[0]
    shorter = int(texts[1].tokens < texts[0].tokens)
    contained = max(compared.shares) >= CONTAINED
    much_longer = min(text.tokens for text in texts) < LENGTHS * max(text.tokens for text in texts)
    if compared.similarity >= ALIKE and not (contained and (much_longer or min(compared.shares) < ALIKE)):
        words = round(compared.shares[shorter] * texts[shorter].tokens)
        whole = [(int(text.lines[0]), int(text.lines[-1])) for text in texts]
        return Match("similar", compared.similarity, words, *_compared_parts(pair, whole, compared))
    contained = contained and passage.tokens >= MIN_TOKENS
    if not contained and (passage.tokens < PASSAGE_TOKENS or passage.density < PASSAGE_DENSITY):
        return None
    parts = _compared_parts(pair, [part.lines for part in compared.passages], compared)
    if contained:
        return Match("contained", max(compared.shares), passage.tokens, *parts)
    return Match("passage", passage.density, passage.tokens, *parts)


def _compared_parts(pair: Pair, lines: Sequence[tuple[int, int]], compared: TextSimilarity) -> tuple[Part, Part]:
    shares = compared.shares
    return Part(pair.first, lines[0], shares[0]), Part(pair.second, lines[1], shares[1])
