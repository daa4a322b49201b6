"""Makes the records of groups of notes that share text."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from engine.insight.grouping import key_of
from engine.insight.passages import LineRange
from engine.insight.shingles import ChunkText, by_line, without_overlaps
from engine.records import DuplicateGroup, DuplicateKind, DuplicateMember

_MOST_MEMBERS = 200
_EXCERPT = 300


class Note(NamedTuple):
    """One indexed note."""

    id: int
    path: str
    title: str
    hash: str
    size: int
    modified: float


def told(
    kind: DuplicateKind,
    similarity: float,
    words: int,
    members: Sequence[tuple[Note, LineRange, float]],
    texts: Mapping[int, Sequence[ChunkText]],
) -> DuplicateGroup | None:
    """A group of notes, newest first, each with the lines and the share of it that the others have, too.

    `texts` has that of the first note; None without it.
    """
    newest, lines, _ = members[0]
    if newest.id not in texts:
        return None
    return DuplicateGroup(
        kind=kind,
        similarity=similarity,
        words=words,
        members=tuple(_member(*member) for member in members[:_MOST_MEMBERS]),
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
    """The beginning of these lines, without what is empty."""
    wanted = (text for number, text in by_line(without_overlaps(texts)) if lines[0] <= number <= lines[1])
    taken: list[str] = []
    for text in wanted:
        if text.strip():
            taken.append(text.strip())
        if sum(map(len, taken)) >= _EXCERPT:
            break
    return "\n".join(taken)[:_EXCERPT]
