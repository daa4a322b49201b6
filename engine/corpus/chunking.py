"""Cuts a note into chunks, the passages that are indexed, embedded and shown: exact slices of whole lines."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from engine.base import lazy_pattern
from engine.corpus.chunk_boundaries import AFTER_HEADING, CHARACTERS_PER_TOKEN, NEVER, WITHIN_WORD, Outline
from engine.corpus.front_matter import FrontMatter, without_block_properties
from engine.corpus.note_structure import Structure

if TYPE_CHECKING:
    from engine.corpus.note_metadata import DocumentInfo

_SMALLEST_LIMIT = 32
_SMALL_SHARE = 4
_DISTANCE_PENALTY = 0.7
_EVEN_CHUNKS = 4
"""Number of chunks at the end of a text that share the rest of it equally. Earlier chunks are filled to the limit, so
that text added at the end doesn't change them.
"""

Span = tuple[int, int]
"""Half-open range of a chunk's pieces."""


_DRAWING = lazy_pattern(r"^#{1,2} Drawing\r?\n```(?:compressed-)?json\r?$", re.MULTILINE)


class _Unit(NamedTuple):
    """Consecutive sections, such as a section with its subsections, that are chunked together."""

    start: int
    """First piece, of the first section or of a preceding part that is too small for a chunk."""
    first: int
    stop: int
    """Half-open range of sections."""


def pack(outline: Outline, limit: int, overlap: int) -> list[Span]:
    """Return the chunks of a text in order, as ranges of pieces, each of at most `limit` weight.

    Together they contain every piece.
    """
    packer = _Packer(outline, limit, min(overlap, limit // 2))
    units = list(packer.units(0, len(outline.sections)))
    for part in ([unit] for unit in units) if outline.separate_pages else (units,):
        packer.pack(part)
    return packer.spans


class _Packer:
    def __init__(self, outline: Outline, limit: int, overlap: int) -> None:
        self._outline = outline
        self._limit = limit
        self._overlap = overlap
        self.spans: list[Span] = []

    def units(self, first: int, stop: int) -> Iterator[_Unit]:
        """Yield each section with its subsections."""
        sections = self._outline.sections
        while first < stop:
            end = first + 1
            while end < stop and sections[end].level > sections[first].level:
                end += 1
            yield _Unit(sections[first].start, first, end)
            first = end

    def pack(self, units: list[_Unit]) -> None:
        """Chunk the units that have the same parent section."""
        run: list[_Unit] = []
        for unit in self._with_text(units):
            if self._outline.weight(unit.start, self._end(unit)) <= self._limit:
                run.append(unit)
                continue
            groups = self._shared(run)
            run = []
            start = unit.start
            if groups and self._is_small(groups[-1]):
                start = groups.pop()[0]
            self.spans.extend(groups)
            if unit.stop - unit.first == 1:
                self._split(start, self._end(unit))
            else:
                below = self.units(unit.first + 1, unit.stop)
                self.pack([_Unit(start, unit.first, unit.first + 1), *below])
        self.spans.extend(self._shared(run))

    def _with_text(self, units: list[_Unit]) -> Iterator[_Unit]:
        """Join each unit that is a heading (or front matter) without text to the next unit."""
        start = None
        for number, unit in enumerate(units, start=1):
            joined = unit if start is None else unit._replace(start=start)
            has_text = self._outline.has_words(self._outline.sections[unit.first].body, self._end(unit))
            if has_text or number == len(units):
                start = None
                yield joined
            else:
                start = joined.start

    def _shared(self, run: list[_Unit]) -> list[Span]:
        """Distribute neighbouring units that each fit in a chunk over few chunks, the last ones evenly."""
        groups: list[Span] = []
        index = 0
        while index < len(run):
            start = run[index].start
            rest = self._outline.weight(start, self._end(run[-1]))
            share = _share(rest, self._limit)
            stop = self._end(run[index])
            index += 1
            while index < len(run):
                end = self._end(run[index])
                grown, middle = self._outline.weight(start, end), self._outline.weight(start, stop)
                if grown > self._limit or (middle + grown) / 2 > share:
                    break
                stop = end
                index += 1
            groups.append((start, stop))
        return groups

    def _is_small(self, span: Span) -> bool:
        """Return whether a part before a long section is too small for a chunk of its own.

        A heading without text always is.
        """
        sections = self._outline.sections
        index = self._outline.section_of(span[1] - 1)
        bare = not self._outline.has_words(sections[index].body, span[1])
        return bare or self._outline.weight(*span) < self._limit // _SMALL_SHARE

    def _split(self, start: int, stop: int) -> None:
        """Split the text of one section (and a small part before it) into overlapping chunks."""
        fresh = head = start
        while True:
            room = self._limit - self._weight_before(head, fresh)
            rest = self._outline.weight(fresh, stop)
            if rest <= room:
                self.spans.append((head, stop))
                return
            share = _share(rest, max(1, self._limit - self._overlap))
            cut = self._best_cut(fresh, stop, room, share, forced=head == fresh)
            if cut is None:
                head = fresh
                continue
            self.spans.append((head, cut))
            head, fresh = self._overlap_start(fresh, cut), cut

    def _best_cut(self, fresh: int, stop: int, room: int, share: float, *, forced: bool) -> int | None:
        """Return the piece before which to cut: within `room` after `fresh`, at a good position near `share`.

        None if the first piece doesn't fit, unless `forced`: then even code or a heading is cut off.
        """
        outline = self._outline
        last = bisect_right(outline.weights, outline.weights[fresh] + room + 1, fresh, stop + 1) - 1
        last = min(last, stop - 1)
        while last > fresh and outline.weight(fresh, last) > room:
            last -= 1
        nearest = bisect_right(outline.weights, outline.weights[fresh] + share / 2, fresh, stop) - 1
        cut = self._nearest_good(fresh, max(fresh, nearest), last, share)
        if cut is None and forced:
            positions = range(last, fresh, -1)
            after_heading = (position for position in positions if outline.cuts[position] == AFTER_HEADING)
            return next(after_heading, last)
        return cut

    def _nearest_good(self, fresh: int, low: int, last: int, share: float) -> int | None:
        weights, cuts = self._outline.weights, self._outline.cuts
        origin = weights[fresh]
        reach = max(share - (weights[low] - origin), weights[last] - origin - share, 1)
        best, best_value = None, 0.0
        for position in range(low + 1, last + 1):
            if cuts[position] > NEVER:
                distance = (weights[position] - origin - share) / reach
                value = cuts[position] * (1 - _DISTANCE_PENALTY * distance * distance)
                if value > best_value:
                    best, best_value = position, value
        if best is None:
            best = next((position for position in range(low, fresh, -1) if cuts[position] > NEVER), None)
        return best

    def _overlap_start(self, fresh: int, cut: int) -> int:
        """Return the first piece that the chunk after `cut` repeats, as far back as the overlap allows.

        It never repeats a whole chunk or crosses a heading, and never starts within a word, within code or right after
        a heading.
        """
        outline = self._outline
        lowest = max(fresh + 1, outline.sections[outline.section_of(cut)].start)
        start = position = cut
        while position > lowest and self._weight_before(position - 1, cut) <= self._overlap:
            position -= 1
            if outline.cuts[position] > WITHIN_WORD:
                start = position
        return start

    def _weight_before(self, first: int, stop: int) -> int:
        """Return the weight of the text from piece `first` up to `stop`, including the last line end."""
        return self._outline.weights[stop] - self._outline.weights[first]

    def _end(self, unit: _Unit) -> int:
        return self._outline.section_end(unit.stop - 1)


def _share(rest: int, limit: int) -> float:
    """Return the weight that the next chunk of a text of weight `rest` should have, at most `limit`."""
    chunks = -(-rest // limit)
    return limit if chunks > _EVEN_CHUNKS else rest / max(1, chunks)


class Chunk(msgspec.Struct, frozen=True):
    start_line: int
    end_line: int
    """Lines from 1, both included; parts of one overlong line share its number."""
    text: str
    """Exact slice of the file, but front matter is reduced to the searched values, and ids of Logseq are left out."""
    heading: tuple[str, ...]
    """Headings common to the whole chunk, outermost first; includes its own heading if there is only one."""


def chunk_note(text: str, about: "DocumentInfo", *, tokens: int, overlap: int) -> list[Chunk]:
    """Return the chunks of a note like `chunk_text`, without the properties that Logseq writes below blocks.

    Of a note of Obsidian's plugin Excalidraw, the data of the drawing, which follow its texts, are left out; of one of
    Joplin, the fields at its end.
    """
    if about.structure is None:
        text = without_block_properties(text)
    if about.front is not None and about.front.scalar("excalidraw_plugin"):
        drawing = _DRAWING.search(text, max(0, text.find("# Drawing") - 1))
        text = text[: drawing.start()] if drawing else text
    if "type_" in about.exported:
        from engine.corpus.note_metadata import split_joplin  # which a search doesn't need

        text = split_joplin(text)[0]
    return chunk_text(text, tokens=tokens, overlap=overlap, front=about.front, structure=about.structure)


def chunk_text(
    text: str,
    *,
    tokens: int = 400,
    overlap: int = 80,
    front: FrontMatter | None = None,
    structure: Structure | None = None,
) -> list[Chunk]:
    """Return the chunks of a text in order, each of at most `tokens` of four characters, overlap included.

    Every visible character is in a chunk, except for keys and other data in the front matter: `front` is the parsed
    front matter, `structure` that of a note in another format than Markdown. A chunk repeats up to `overlap` tokens (at
    most half a chunk) of the one before it, in whole lines, if both are in one section. Blank chunks are left out.
    """
    limit = max(_SMALLEST_LIMIT, tokens * CHARACTERS_PER_TOKEN)
    if front is not None:
        text = "\n".join((*front.searched_lines(), *text.split("\n", front.length)[front.length :]))
    if structure is not None:
        text = structure.searched_text(text)
    outline = Outline(text, limit, 0 if front is None else front.length, structure)
    chunks: list[Chunk] = []
    for span in pack(outline, limit, max(0, overlap * CHARACTERS_PER_TOKEN)):
        first, stop = _trimmed(outline, *span)
        if first < stop:
            passage = text[outline.starts[first] : outline.ends[stop - 1]]
            numbers = outline.numbers[first], outline.numbers[stop - 1]
            chunks.append(Chunk(*numbers, passage, _heading(outline, first, stop)))
    return chunks


def _trimmed(outline: Outline, first: int, stop: int) -> tuple[int, int]:
    """Return the range of pieces without blank pieces at both ends."""
    while first < stop and outline.is_blank(first):
        first += 1
    while first < stop and outline.is_blank(stop - 1):
        stop -= 1
    return first, stop


def _heading(outline: Outline, first: int, stop: int) -> tuple[str, ...]:
    """Return the headings that all sections with text in a chunk have in common, outermost first."""
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
