"""Divides a text into pieces (lines, or parts of very long lines) and sections, and rates a cut before each piece.

Most time of chunking is spent here, so a plain line costs a handful of steps; and 10 MB of short lines are millions of
pieces, so these are parallel arrays.

Sizes are tokens, estimated by characters: four per token. A Chinese, Japanese or Korean character is about a token and
weighs 4; other characters beyond the basic plane (emoji) are two UTF-16 units and weigh 2; everything else weighs 1.
"""

from array import array
from bisect import bisect_right
from collections.abc import Callable

from engine.base import lazy_pattern
from engine.corpus import markdown_line_types
from engine.corpus.note_structure import MarkupHeading, Structure, blocks_of
from engine.text.writing_systems import character_start

CHARACTERS_PER_TOKEN = 4

_STEP = 64 * 1024
_CJK_WEIGHT = 4
_ASTRAL_WEIGHT = 2
_CJK = "⺀-鿿ꀀ-꓿가-힯豈-﫿\U00020000-\U0002fa1f"  # noqa: RUF001 the ranges of the reference
_HEAVY = lazy_pattern(f"[{_CJK}\U00010000-\U0010ffff]")
_CJK_RUN = lazy_pattern(f"[{_CJK}]+")
_OTHER_ASTRAL_RUN = lazy_pattern("[\U00010000-\U0001ffff\U0002fa20-\U0010ffff]+")
_SENTENCE_END = lazy_pattern(r"[.!?…]['\")\]”’»*_]*\s+|[。！？]['\")\]”’」』]*\s*")  # noqa: RUF001
_SPACE = lazy_pattern(r"\s+|[、，；：]")  # noqa: RUF001


def is_heavy(text: str) -> bool:
    """Whether any character of a text weighs more than 1."""
    return not text.isascii() and any(_HEAVY.search(text, at, at + _STEP) for at in range(0, len(text), _STEP))


def weigh(text: str) -> int:
    """Return the weight of a text: its length in characters, with some counted as several; a token weighs 4.

    Meant for lines: one call examines all of it.
    """
    length = len(text)
    if text.isascii():
        return length
    cjk = sum(map(len, _CJK_RUN.findall(text)))
    astral = sum(map(len, _OTHER_ASTRAL_RUN.findall(text)))
    return length + (_CJK_WEIGHT - 1) * cjk + (_ASTRAL_WEIGHT - 1) * astral


def cut_piece(text: str, start: int, end: int, limit: int) -> tuple[int, str]:
    """Return where to end the first piece, of at most `limit` (4 or more), of a long line.

    Also returns what precedes the cut: `sentence`, `space` (as late as possible, but in the second half) or `word` if
    the text has neither. White space stays with the words before it.
    """
    stop = min(end, start + limit)
    while (weight := weigh(text[start:stop])) > limit:
        stop = start + max(1, (stop - start) * limit // weight)
    if stop == end:
        return end, "sentence"
    middle = start + (stop - start) // 2
    for kind, expression in (("sentence", _SENTENCE_END), ("space", _SPACE)):
        ends = [match.end() for match in expression.finditer(text, middle, stop)]
        if ends and ends[-1] > start:
            return ends[-1], kind
    return character_start(text, start, stop), "word"


# Quality of a cut before a piece. Never: inside code that fits in a chunk. After a heading: only as a last resort.
# Then, ascending: after front matter, inside a word, at a space, after a sentence, at a line end, before an item …
NEVER, AFTER_HEADING = 0, -1
AFTER_FRONT_MATTER = 1
WITHIN_WORD, AFTER_SPACE, AFTER_SENTENCE, LINE = 1, 3, 6, 10
INNER_ITEM, ITEM, BLANK, RULE, FENCE_END = 30, 50, 200, 600, 800
HEADINGS = (0, 1900, 1800, 1700, 1600, 1500, 1400)

_CUT_AFTER = {"word": WITHIN_WORD, "space": AFTER_SPACE, "sentence": AFTER_SENTENCE}
_PIECES_PER_CHUNK = 8
_SMALLEST_PIECE = 4
_VISIBLE = lazy_pattern(r"\S")


class Section:
    """The text under one heading, up to the next heading of any level; or the text before the first."""

    __slots__ = ("body", "level", "path", "start")

    def __init__(self, level: int, path: tuple[str, ...], start: int, body: int) -> None:
        self.level = level
        """Heading level, 1 to 6; 0 before the first heading."""
        self.path = path
        """Headings above the section, outermost first, its own included."""
        self.start = start
        """First piece: the heading, or the front matter above the note's first heading."""
        self.body = body
        """The first piece after the heading."""


class Outline:
    """The pieces of one text, numbered from 0, and its sections in order."""

    def __init__(
        self,
        text: str,
        limit: int,
        front: int = 0,
        structure: Structure | None = None,
        checkpoint: Callable[[], None] = lambda: None,
    ) -> None:
        """`limit` is the weight of one chunk: longer lines are cut into pieces, longer code may be cut.

        The first `front` lines hold values of the front matter. Without a `structure`, the text is Markdown.
        `checkpoint` is called every few thousand lines, and may raise to cancel.
        """
        self.text = text
        self.starts: array[int] = array("q")
        """Offset of each piece."""
        self.ends: array[int] = array("q")
        """Offset behind each piece, line ends left out."""
        self.numbers: array[int] = array("q")
        """Line of each piece, from 1."""
        self.cuts: array[int] = array("h")
        """Quality of a cut before each piece."""
        self.weights: array[int] = array("q", [0])
        """Weight of all pieces before each piece, line ends included; one entry more than pieces."""
        self.sections: list[Section] = [Section(0, (), 0, 0)]
        self.headings: list[tuple[int, int, int, str]] = []
        """First piece, piece after the last one, level and title of each heading."""
        self.code: list[tuple[int, int]] = []
        """First and last piece of each block of fenced code."""
        self.separate_pages = structure is not None and structure.separate_pages
        """Whether no chunk contains text of two sections of the highest level."""
        scan = _Scan(self, limit) if structure is None else _MarkupScan(self, limit, structure)
        scan.run(front, checkpoint)

    def __len__(self) -> int:
        return len(self.starts)

    def weight(self, first: int, stop: int) -> int:
        """Return the weight of the text from piece `first` up to `stop`, without its last line end."""
        if stop <= first:
            return 0
        end = self.ends[stop - 1]
        ends_line = end == len(self.text) or self.text[end] == "\n"
        return self.weights[stop] - self.weights[first] - ends_line

    def is_blank(self, piece: int) -> bool:
        return not self.has_words(piece, piece + 1)

    def has_words(self, first: int, stop: int) -> bool:
        """Whether the text from piece `first` up to `stop` is not blank."""
        return first < stop and _VISIBLE.search(self.text, self.starts[first], self.ends[stop - 1]) is not None

    def section_end(self, index: int) -> int:
        """Return the piece after the last piece of a section."""
        return self.sections[index + 1].start if index + 1 < len(self.sections) else len(self)

    def section_of(self, piece: int) -> int:
        return bisect_right(self.sections, piece, key=lambda section: section.start) - 1


# markdown-it-py 4.3 finds the same headings in 117 notes, but takes 303 ms instead of 43 for them, and 1,190 ms instead
# of 22 for a table of 10,000 rows; it knows neither overlines nor parts of long lines.
class _Scan:
    """Scans a text line by line, and fills its outline."""

    def __init__(self, outline: Outline, limit: int) -> None:
        self._outline = outline
        self._text = outline.text
        self._limit = limit
        self._piece_limit = max(_SMALLEST_PIECE, limit // _PIECES_PER_CHUNK)
        self._heavy = is_heavy(outline.text)
        self._next_cut = LINE
        """Quality of a cut before the next line, from the lines before it."""
        self._paragraph = 0
        """Number of lines of the current paragraph."""
        self._fence = ""
        self._fence_start = 0
        self._underlines: dict[str, int] = {}
        self._above: list[Section] = []
        """Open sections, which may contain the next heading."""

    def run(self, front: int, checkpoint: Callable[[], None]) -> None:
        outline, heavy, limit = self._outline, self._heavy, self._limit
        starts, ends, numbers = outline.starts, outline.ends, outline.numbers
        cuts, weights = outline.cuts, outline.weights
        offset = number = total = after_front = 0
        for lines in blocks_of(self._text):
            checkpoint()
            for line in lines:
                number += 1
                size = len(line)
                weight = weigh(line) if heavy and size <= limit else size
                cut = self._cut_before(line, len(starts)) if number > front else NEVER
                if weight > limit:
                    self._add_pieces(offset, offset + size, number, cut)
                    total = weights[-1]
                else:
                    starts.append(offset)
                    ends.append(offset + size)
                    numbers.append(number)
                    cuts.append(cut)
                    total += weight + 1
                    weights.append(total)
                offset += size + 1
                if number == front:
                    outline.sections[0].body = after_front = len(starts)
        if self._fence:
            self._end_code(len(starts) - 1)
            self._forbid_cuts_in_code(len(starts))
        if front:
            self._join_front_matter_to_text(after_front)

    def _join_front_matter_to_text(self, first: int) -> None:
        """Discourage a cut after the front matter, since a chunk of front matter alone is a hit without content.

        `first` is the piece after its last line.
        """
        outline = self._outline
        while first < len(outline) and outline.is_blank(first):
            first += 1
        if first < len(outline):
            outline.cuts[first] = AFTER_FRONT_MATTER

    def _cut_before(self, line: str, piece: int) -> int:
        """Return the rating of a cut before a line, and update the state; `piece` is the line's number as a piece."""
        if self._fence:
            if not markdown_line_types.is_below_item(line, self._fence):
                return self._code(line, piece)
            self._end_code(piece - 1)
            self._next_cut = FENCE_END
            self._forbid_cuts_in_code(piece)
        if line[:1].isalpha():
            cut, self._next_cut = self._next_cut, LINE
            self._paragraph += 1
            return cut
        if not line or line.isspace():
            self._paragraph = 0
            self._next_cut = self._raised(BLANK)
            return NEVER
        return self._special(line, piece)

    def _special(self, line: str, piece: int) -> int:
        """Return how good it is to cut before a line that begins with a character of headings, lists or fences."""
        first = line.lstrip()[:1]
        cut = self._next_cut
        if first == "#" and (heading := markdown_line_types.atx_heading(line)):
            return self._heading(heading[0], heading[1], piece, piece + 1)
        if self._paragraph == 1 and piece and (mark := self._underlined(line, piece)):
            title = markdown_line_types.plain_title(self._line(piece - 1))
            start = piece - 2 if self._overlined(line, piece) else piece - 1
            self._outline.cuts[piece - 1] = NEVER
            self._outline.cuts[start] = self._heading(self._underline_level(mark), title, start, piece + 1)
            return NEVER
        if marks := markdown_line_types.opened_block(line, lambda end: self._is_below(end, line, piece)):
            self._fence, self._fence_start = marks, piece
            if markdown_line_types.is_list_item(line):
                cut = self._raised(INNER_ITEM if line[0] in " \t" else ITEM)
        elif first in "-*_" and markdown_line_types.is_rule(line):
            self._next_cut = self._raised(RULE)
        elif markdown_line_types.is_list_item(line):
            cut = self._raised(INNER_ITEM if line[0] in " \t" else ITEM)
            self._next_cut = LINE
        else:
            self._next_cut = LINE
            indented_code = not self._paragraph and line.startswith(("    ", "\t"))
            is_text = not indented_code and not markdown_line_types.is_overline(line)
            self._paragraph = self._paragraph + 1 if is_text else 0
            return cut
        self._paragraph = 0
        return cut

    def _code(self, line: str, piece: int) -> int:
        """Return the rating of a cut before a line of fenced code.

        Code that fits in a chunk is never cut, longer code preferably at blank lines.
        """
        if self._ends_code(line):
            self._end_code(piece)
            self._next_cut = FENCE_END
            self._forbid_cuts_in_code(piece, len(line))
            return NEVER
        blank = not line or line.isspace()
        cut, self._next_cut = self._next_cut, BLANK if blank else LINE
        return NEVER if blank or piece == self._fence_start + 1 else cut

    def _ends_code(self, line: str) -> bool:
        return markdown_line_types.closes_block(line, self._fence)

    def _end_code(self, last: int) -> None:
        if markdown_line_types.is_fence(self._fence):
            self._outline.code.append((self._fence_start, last))
        self._fence = ""

    def _forbid_cuts_in_code(self, stop: int, closing: int = 0) -> None:
        """Forbid cuts in the code before piece `stop`, if it fits in a chunk with its closing line."""
        first = self._fence_start
        if self._outline.weights[stop] - self._outline.weights[first] + closing <= self._limit:
            self._outline.cuts[first + 1 : stop] = array("h", [NEVER]) * (stop - first - 1)

    def _heading(self, level: int, title: str, start: int, body: int) -> int:
        sections = self._outline.sections
        self._outline.headings.append((start, body, level, title))
        while self._above and self._above[-1].level >= level:
            self._above.pop()
        path = (*self._above[-1].path, title) if self._above else (title,)
        above_is_bare = not self._outline.has_words(sections[-1].body, start)
        if above_is_bare and not sections[-1].level:
            start = 0  # front matter belongs to the first heading after it
        section = Section(level, path, start, body)
        self._above.append(section)
        if start == sections[-1].start:
            sections.pop()
        sections.append(section)
        self._next_cut = AFTER_HEADING
        self._paragraph = 0
        return AFTER_HEADING if above_is_bare else HEADINGS[level]

    def _raised(self, cut: int) -> int:
        """Return the better of `cut` and the rating by earlier lines, but never allow a cut right after a heading."""
        return max(self._next_cut, cut) if self._next_cut > 0 else self._next_cut

    def _line(self, piece: int) -> str:
        return self._text[self._outline.starts[piece] : self._outline.ends[piece]]

    def _is_below(self, text: str, line: str, piece: int) -> bool:
        """Whether the text is below the line that is scanned."""
        start = self._outline.ends[piece - 1] + 1 if piece else 0
        return self._text.find(text, start + len(line)) >= 0

    def _underlined(self, line: str, piece: int) -> str:
        start = self._outline.starts[piece - 1]
        whole = start == 0 or self._text[start - 1] == "\n"
        return markdown_line_types.underline_mark(self._line(piece - 1), line) if whole else ""

    def _overlined(self, line: str, piece: int) -> bool:
        outline = self._outline
        return piece - 1 > outline.sections[-1].start and self._line(piece - 2).rstrip() == line.rstrip()

    def _underline_level(self, mark: str) -> int:
        """Return the level of an underlined heading.

        It is fixed for Markdown's two marks; other marks, as in reStructuredText, rank in order of appearance.
        """
        if not self._underlines and mark in "=-":
            self._underlines = {"=": 1, "-": 2}
        return self._underlines.setdefault(mark, min(6, len(self._underlines) + 1))

    def _add_pieces(self, start: int, end: int, number: int, cut: int) -> None:
        """Cut a very long line at sentences or spaces into pieces much smaller than a chunk, treated like lines."""
        outline = self._outline
        while start < end:
            stop, kind = cut_piece(self._text, start, end, self._piece_limit)
            outline.starts.append(start)
            outline.ends.append(stop)
            outline.numbers.append(number)
            outline.cuts.append(cut)
            outline.weights.append(outline.weights[-1] + weigh(self._text[start:stop]) + (stop == end))
            start, cut = stop, _CUT_AFTER[kind]


class _MarkupScan(_Scan):
    """Scans a text that isn't Markdown, and whose headings and code are known."""

    def __init__(self, outline: Outline, limit: int, structure: Structure) -> None:
        super().__init__(outline, limit)
        self._headings: dict[int, MarkupHeading] = {heading.line: heading for heading in structure.headings}
        self._structure = structure
        self._number = 0
        self._heading_end = 0
        self._code_end = 0

    def _cut_before(self, line: str, piece: int) -> int:
        self._number += 1
        if self._number <= self._heading_end:
            return NEVER
        if self._fence:
            return self._code(line, piece)
        if heading := self._headings.get(self._number):
            self._heading_end = heading.last
            return self._heading(heading.level, heading.title, piece, piece + 1 + heading.last - heading.line)
        if code := self._structure.code_block(self._number):
            self._fence, self._fence_start, self._code_end = "code", piece, code[1]
            cut, self._next_cut, self._paragraph = self._next_cut, LINE, 0
            return self._code(line, piece) if code[0] == code[1] else cut
        return super()._cut_before(line, piece)

    def _special(self, line: str, piece: int) -> int:
        cut = self._next_cut
        if markdown_line_types.is_list_item(line):
            cut = self._raised(INNER_ITEM if line[0] in " \t" else ITEM)
        self._next_cut = LINE
        return cut

    def _ends_code(self, line: str) -> bool:
        return self._number >= self._code_end


# --- Headings and blocks of code of a whole note ----------------------------------------------------------------------

_WHOLE = 2**62
_FRONT = ("---", "+++", "\ufeff")
"""Beginnings of a note with front matter; Logseq's properties contain two colons."""


def markdown_outline(
    text: str, checkpoint: Callable[[], None] = lambda: None
) -> tuple[list[MarkupHeading], list[tuple[int, int]], int]:
    """Return headings, blocks of fenced code and the length of the front matter of a Markdown note.

    Each block is its first and last line. The length is the number of lines of front matter or properties.

    `checkpoint` is called every few thousand lines, and may raise to cancel.
    """
    length = 0
    if text.startswith(_FRONT) or "::" in text:
        from engine.corpus.front_matter import read  # parts of notes have none

        front = read(text)
        length = 0 if front is None else front.length
    outline = Outline(text, _WHOLE, length, checkpoint=checkpoint)
    # No line is cut into pieces here, so that pieces are lines, counted from 0.
    headings = [MarkupHeading(start + 1, body, level, title) for start, body, level, title in outline.headings]
    return headings, [(first + 1, last + 1) for first, last in outline.code], length
