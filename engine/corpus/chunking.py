"""Cuts a note into the passages that are indexed, embedded and shown: exact slices of whole lines."""

import msgspec

from engine.corpus.chunk_packing import pack
from engine.corpus.front_matter import FrontMatter
from engine.corpus.outline import Outline
from engine.corpus.token_estimate import CHARACTERS_PER_TOKEN

CHUNKER_VERSION = 3
"""Raise it when the same text would give other chunks: indexes are then rebuilt."""

_SMALLEST_LIMIT = 32


class Chunk(msgspec.Struct, frozen=True):
    start_line: int
    end_line: int
    """Lines from 1, both included; parts of one overlong line share its number."""
    text: str
    """An exact slice of the file, in which the lines of the front matter hold nothing but the values that count."""
    heading: tuple[str, ...]
    """The titles above all of the text, outermost first; its own if it stands under a single one."""


def chunk_markdown(text: str, *, tokens: int = 400, overlap: int = 80, front: FrontMatter | None = None) -> list[Chunk]:
    """The chunks of a text in order, each of at most `tokens` by the reference's counting, overlap included.

    Every visible character is in a chunk, except for keys and other data in the front matter: `front` is what was read
    of it. A chunk repeats up to `overlap` tokens (at most half a chunk) of the one before it, in whole lines, where
    both are in one section. Blank chunks are left out.
    """
    limit = max(_SMALLEST_LIMIT, tokens * CHARACTERS_PER_TOKEN)
    if front is not None:
        text = "\n".join((*front.searched_lines(), *text.split("\n", front.length)[front.length :]))
    outline = Outline(text, limit, 0 if front is None else front.length)
    chunks: list[Chunk] = []
    for span in pack(outline, limit, max(0, overlap * CHARACTERS_PER_TOKEN)):
        first, stop = _trimmed(outline, *span)
        if first < stop:
            passage = text[outline.starts[first] : outline.ends[stop - 1]]
            numbers = outline.numbers[first], outline.numbers[stop - 1]
            chunks.append(Chunk(*numbers, passage, _heading(outline, first, stop)))
    return chunks


def _trimmed(outline: Outline, first: int, stop: int) -> tuple[int, int]:
    """The pieces without blank ones at either end."""
    while first < stop and outline.is_blank(first):
        first += 1
    while first < stop and outline.is_blank(stop - 1):
        stop -= 1
    return first, stop


def _heading(outline: Outline, first: int, stop: int) -> tuple[str, ...]:
    """What the heading paths of all sections with a text of their own in the chunk have in common."""
    sections = range(outline.section_of(first), outline.section_of(stop - 1) + 1)
    paths = [
        outline.sections[index].path
        for index in sections
        if outline.has_words(max(first, outline.sections[index].body), min(stop, outline.section_end(index)))
    ]
    named = [path for path in paths if path] or [outline.sections[sections[-1]].path]
    low, high = min(named), max(named)
    length = next((at for at, (one, other) in enumerate(zip(low, high, strict=False)) if one != other), None)
    return low if length is None else low[:length]
