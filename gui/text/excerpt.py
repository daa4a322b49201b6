"""Turns a snippet into the excerpt of a result row: one line of text that starts near the matches.

Offsets are code points throughout; the painter turns them into Qt's units when it lays the text out.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine import EXCERPT_LENGTH, richest_match

# --- Matched ranges, adjusted while text around them is removed. Offsets are code points throughout ------------------

Range = tuple[int, int]


@dataclass(frozen=True)
class Piece:
    """A range of the original text that was not cut: its start there (`origin`), its range in the shortened text."""

    origin: int
    start: int
    end: int


def move_ranges(ranges: Iterable[Range], pieces: Sequence[Piece], length: int) -> list[Range]:
    """Map ranges of the original text to the shortened text, which has `length` characters.

    `pieces` are the parts that were not cut; ranges in other parts are dropped.
    """
    origins = [piece.origin for piece in pieces]
    moved = []
    for start, end in ranges:
        if start >= end:
            continue
        first = bisect_right(origins, start) - 1
        begin = pieces[first].start + start - origins[first]
        if begin >= pieces[first].end and first + 1 < len(pieces):
            begin = pieces[first + 1].start
        last = pieces[bisect_right(origins, end - 1) - 1]
        stop = min(last.start + end - last.origin, last.end, length)
        if begin < stop:
            moved.append((begin, stop))
    return moved


def cut_out(text: str, cuts: Iterable[Range], ranges: Iterable[Range]) -> tuple[str, list[Range]]:
    """Return `text` without the ranges `cuts` (ascending, disjoint), and `ranges` mapped to the shorter text."""
    pieces: list[Piece] = []
    position = length = 0
    for start, end in (*cuts, (len(text), len(text))):
        pieces.append(Piece(position, length, length + start - position))
        length, position = pieces[-1].end, end
    joined = "".join(text[piece.origin : piece.origin + piece.end - piece.start] for piece in pieces)
    return joined, move_ranges(ranges, pieces, length)


# ---------------------------------------------------------------------------------------------------------------------

LEAD = 40
"""Distance of the first match from the start, in code points, up to which nothing before it is cut."""
_OPENING = 500
"""Characters of a text that fill one line."""
ELLIPSIS = "…"
SEPARATOR = " · "

_BLANK = r"[\s\x00-\x1f\x7f]"
_ITEM = r"(?:\#{1,6}|(?<![^\]\s]\n)={1,6}|[-+]|\*{1,8}|\d{1,3}[.)])[^\S\n]+(?:\[[ xX-]\][^\S\n]+)?"
"""The sign before a list item or heading. In AsciiDoc, no text is in the line before a heading, only its attributes; in
Markdown, such a line is part of a calculation.
"""
_KEYWORD = r"\#\+(?:(?i:begin|end)_[^\n]*(?:\n|\Z)|[A-Za-z_]+:[^\S\n]*)"
"""A keyword of Org: one that surrounds a block, or one before text."""
_RULE = r"(?:-{3,}|={3,}(?:\ +={3,})*|~{3,}|\^{3,}|\|={3,}|\+[-=+]{3,}|\|[-:|\ ]*-[-:|\ ]*)[^\S\n]*(?=\n|\Z)"
"""A rule, a line below a heading or a table's head, or one around a block of AsciiDoc."""
_OF_BLOCK = (
    r"(?:\[(?:source(?=[],%])|cols=|\[)[^\n]*\][^\S\n]*(?:\n|\Z)"
    r"|\.\.\ (?:[\w-]+::|_[^:\n]+:)[^\S\n]*|:(?:PROPERTIES:|END:|LOGBOOK:|ID:[^\n]*)[^\S\n]*)"
)
"""Attributes of a block in AsciiDoc, the name of a directive in reStructuredText, or the ends of a drawer in Org."""
_GAP = re.compile(
    rf"""
    (?P<break> (?:\A|[^\S\n]*\|?[^\S\n]*\n) {_BLANK}*  # a line break, with the Markdown marks that open the next line
        (?P<marks>
            (?: {_RULE} | {_ITEM} | {_KEYWORD} | {_OF_BLOCK} | \|[^\S\n]* | >[^\S\n]* | `{{3,}}[^\n`]*(?:\n|\Z) )*
        ) )
    | {_BLANK}{{2,}} | [^\S\ ] | [\x00-\x1f\x7f]      # or any blanks that are not one plain space already
    """,
    re.VERBOSE,
)
_FENCED = re.compile(r"^[^\S\n]*(`{3,}|~{3,})[^\n]*\n(?:[\s\S]*?^[^\S\n]*\1|[\s\S]*)", re.MULTILINE)
"""A code block between fences; one without an end continues after the snippet."""
_BOUNDARY = re.compile(r"(?<=[.!?…])\s(?:·\s)?|(?<= ·)\s")
_TAKEN, _CODE = "\ue000", "\ue001"
"""Placeholders for parts that need no second pass: removed marks, and code, in which no mark has a meaning."""
_MERE_MARK = 3
"""Longest mark, in characters; longer matches would hide text instead of formatting."""

_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)(?<!`)\1(?!`)(?:__?(?!\w))?")
"""Code, with the sign of a link that text in backticks has in reStructuredText."""
_ROLE = re.compile(r"(?<![\w:]):[a-z][\w:+-]{0,40}:\Z")
_COMMENT = re.compile(r"(<!--)(?:(?!-->)[\s\S])*(-->)")
_TAGS = (
    "a|b|big|br|center|code|del|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|s|small|span|strong|sub|"
    "summary|sup|table|tbody|td|th|thead|tr|u|ul"
)
_ATTRIBUTES = r"[^\S\n]+\{(?:-|:?[^\S\n]*[\#.][^{}\n]{1,200})\}"
"""After a heading, such as its id."""
_ALONE = re.compile(
    rf"""
    {_ATTRIBUTES} (?=[^\S\n]*$)
    | (?<!\w) !\[\] \([^()\n]*\)                 # a picture without a name
    | \[(?:\^|fn:)[^\[\]\s]+\] (?!:)           # a footnote's number
    | \(\(\( [^()\n]{{1,200}} \)\)\)             # a term for the index of AsciiDoc
    | [^\S\n]+ \^[\w-]{{1,64}} $                # a block's id, and a reference to it
    | \(\([\da-f]{{8}}(?:-[\da-f]{{4}}){{3}}-[\da-f]{{12}}\)\)
    | (?<=>\ ) \[![A-Za-z]+\] [+-]? [^\S\n]*   # the kind of a call-out
    | </?(?:{_TAGS})(?:\s[^<>\n]*)?/?>
    | <!--[^\S\n]? | ^[^\S\n]*-->              # of a comment whose other end is outside the snippet
    | \\ (?=[\\`*_{{}}\[\]()\#+.!|<>~-])
    """,
    re.VERBOSE | re.MULTILINE,
)
_ORG_TAGS = r":[\w@\#%]+(?::[\w@\#%]+)*:"
_ORG = re.compile(
    rf"""
    ^ (?: (\#\+ (?!(?i:(?:sub)?title|author|date|description|keywords|caption|name):) [A-Za-z_]+: [^\n]*)
        | ({_ORG_TAGS} [^\S\n]*) $
        | \*{{1,8}}\  ((?:(?:TODO|DONE)\ )? (?:\[\#\w\]\ )?) [^\n]*? ((?:(?<=\S)[^\S\n]+{_ORG_TAGS}[^\S\n]*)?) $ )
    """,
    re.VERBOSE | re.MULTILINE,
)
"""A setting, the tags of the file, or a heading of Org with its state and tags."""
_ORG_SIGNS = ("#+", "* TODO ", "* DONE ", "* [#", ":\n")
_END_OF_TITLE = re.compile(rf"(?:{_ATTRIBUTES})?$", re.MULTILINE)
_WORD = "[^\\W\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]"
"""A letter of a script that separates words by spaces, or a digit; between others, marks are no operators."""
_OPENS = rf"[\w\"'\u201c\u2018({_TAKEN}{_CODE}]"
_ADDRESS = r"\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)"
_WRAPPED = tuple(
    (sign, re.compile(pattern))
    for sign, pattern in (
        ("![", rf"(!\[)[^\[\]\n]+(\]{_ADDRESS})"),
        ("](", rf"(\[)[^\[\]\n]+(\]{_ADDRESS})"),
        ("](", rf"\A{ELLIPSIS}()[^\[\]\n]*(\]{_ADDRESS})"),  # a link that begins before the snippet
        ("][", rf"\A{ELLIPSIS}([^\[\]\n]*\]\[)[^\[\]\n]+(\]\])"),
        ("]]", rf"\A{ELLIPSIS}((?:[^\[\]|\n]*\|)?)[^\[\]|\n]+(\]\])"),
        ("][", r"(\[\[[^\[\]\n]*\]\[)[^\[\]\n]+(\]\])"),  # of Org
        ("][", r"(?<![\w\[])(\[)[^\[\]\n]+(\]\[[^\[\]\n]*\])"),
        ("[[", r"(!?\[\[(?! )(?:[^\[\]|\n]*\||\#\^?)?)[^\[\]|\n]+(\]\])"),
        ("[[", r"(!?\[\[)(?! )[^\[\]\n]+(\]\])"),  # keeps the target of a link if the query matches there
        ("<<", r"(<<(?=\S)(?:[^<>,\n]*,[^\S\n]*)?)[^<>,\n]+(?<=\S)(>>)"),  # of AsciiDoc
        ("<", r"(<)(?:https?://|mailto:)[^<>\s]+(>)"),
        (
            "**",
            rf"(?<!\*)(?<!{_WORD})(\*{{2,3}})(?={_OPENS})(?:(?!\*\*|\n\s*\n)[\s\S]){{1,300}}?(?<=\S)(\1)(?!\*|{_WORD})",
        ),
        ("__", rf"(?<![\w_])(__)(?={_OPENS})(?!\w+__)(?:(?!__|\n\s*\n)[\s\S]){{1,300}}?(?<=\S)(__)(?!\w)"),
        ("~~", rf"(?<!~)(?<!{_WORD})(~~)(?=\S)(?:(?!~~)[^\n]){{1,300}}?(?<=\S)(~~)(?!~|{_WORD})"),
        ("==", rf"(?<!=)(?<!{_WORD})(==)(?=\w)(?:(?!==)[^\n]){{1,300}}?(?<=\w)(==)(?!=|{_WORD})"),
        ("^^", r"(?<!\^)(\^\^)(?=\w)(?:(?!\^\^)[^\n]){1,300}?(?<=\w)(\^\^)(?!\^)"),  # of Logseq
        ("*", rf"(?<![\w*])(\*)(?={_OPENS})(?:(?!\n\s*\n)[^*]){{1,300}}?(?<=[^\s*])(\*)(?![\w*])"),
        ("_", rf"(?<![\w_])(_)(?!_)(?={_OPENS})(?:(?!\n\s*\n)[^_]|(?<=\w)_(?=\w)){{1,300}}?(?<=[^\s_])(_)(?!\w)"),
    )
)
"""Marks around text, each with a character without which it can't occur; pictures and links come before emphasis."""


def strip_markup(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """Remove inline Markdown marks from a snippet; returns the text, and `ranges` mapped to it.

    Marks with a match, such as the address of a link, stay only if all matches are in marks.
    """
    text, in_text = cut_out(snippet, _Marks(snippet, ()).find(), ranges)
    if in_text or not ranges:
        return text, in_text
    return cut_out(snippet, _Marks(snippet, ranges).find(), ranges)


class _Marks:
    """Finds inline Markdown marks (`**`, backticks, links…) in a text, one kind after the other.

    Marks that were found are hidden from the search for the next kind.
    """

    def __init__(self, text: str, ranges: Sequence[Range]) -> None:
        self._text = text
        self._ranges = ranges
        self._found: list[Range] = []

    def find(self) -> list[Range]:
        """Return the ranges of all marks, ascending and disjoint."""
        for code in _CODE_SPAN.finditer(self._text):
            begin, (start, end) = code.start(), code.span(2)
            if self._text[begin - 1 : begin] == ":" and (role := _ROLE.search(self._text, max(0, begin - 50), begin)):
                begin = role.start()  # of reStructuredText
            address = code[2].rfind(" <") if code[0].endswith("_") and code[2].endswith(">") else -1
            if address > 0 and self._hide_markup((begin, start), (start + address, code.end())):
                end = start + address
            else:
                self._hide_markup((begin, start), (end, code.end()))
            self._hide(start, end, _CODE)
        for comment in _COMMENT.finditer(self._text):
            if not self._hide_markup(comment.span()):
                self._hide_markup(comment.span(1), comment.span(2))
        for alone in _ALONE.finditer(self._text):
            if self._hide_markup(alone.span()) and alone[0] == "\\":
                self._hide(alone.end(), alone.end() + 1, _CODE)  # it precedes text
        self._hide_org()
        for sign, pattern in _WRAPPED:
            for pair in pattern.finditer(self._text) if sign in self._text else ():
                matches = self._matches(pair.end(1), pair.start(2))
                self._hide_markup(pair.span(1), pair.span(2), anyway=matches)
        found: list[Range] = []
        for start, end in sorted(self._found):
            if found and start < found[-1][1]:  # marks of code within the marks of a link
                found[-1] = found[-1][0], max(end, found[-1][1])
            else:
                found.append((start, end))
        return found

    def _hide_org(self) -> None:
        if not (any(sign in self._text for sign in _ORG_SIGNS) or self._text.endswith(":")):
            return
        for line in _ORG.finditer(self._text):
            for start, end in map(line.span, range(1, _ORG.groups + 1)):
                if start < end:
                    self._hide_markup((start, end))

    def _hide_markup(self, *spans: Range, anyway: bool = False) -> bool:
        """Mark these spans as Markdown marks to remove; returns False if one contains a match and has to stay.

        `anyway`: remove them although they contain a match, since the text between them contains one, too.
        """
        if not anyway and any(end - start > _MERE_MARK and self._matches(start, end) for start, end in spans):
            return False
        for start, end in spans:
            self._found.append((start, end))
            self._hide(start, end, _TAKEN)
        return True

    def _matches(self, start: int, end: int) -> bool:
        return any(first < end and start < last for first, last in self._ranges)

    def _hide(self, start: int, end: int, stand_in: str) -> None:
        self._text = self._text[:start] + stand_in * (end - start) + self._text[end:]


@dataclass(frozen=True)
class Excerpt:
    """The text of a result row, at most two lines, and the ranges of matched words in it (code points, ascending)."""

    text: str
    marks: tuple[Range, ...]


def make_excerpt(snippet: str, ranges: Sequence[Range], heading: str = "", title: str = "") -> Excerpt:
    """Convert a snippet to one line without Markdown marks, cut to start near its densest matches.

    The row shows `heading` and `title` elsewhere, so they are not repeated. `heading` is left out at the start of the
    line, unless it contains a highlighted word. `title` is left out if it is a line of front matter or a heading, not
    if it is a comment in code. If `title` contains all highlighted words, it is left out only once, as the row
    highlights them in the title, too. Front matter that only repeats matches is left out, too.
    """
    if title and title in snippet:
        snippet, ranges = _without_title(*_without_front_matter(snippet, ranges, title), title)
    text, marks = _flatten(*strip_markup(snippet, ranges))
    opening = f"{heading}{SEPARATOR}"
    if heading and text.startswith(opening) and not (marks and marks[0][0] < len(opening)):
        text, marks = _cut_front(text, marks, len(opening), "")
    if not marks:
        return Excerpt(text, ())
    focus = richest_match(text, marks, EXCERPT_LENGTH) or 0
    if focus <= LEAD:
        return Excerpt(text, tuple(marks))
    start, front = _start_before(text, focus)
    text, marks = _cut_front(text, marks, start, front)
    return Excerpt(text, tuple(marks))


def _without_front_matter(snippet: str, ranges: Sequence[Range], title: str) -> tuple[str, Sequence[Range]]:
    """Return the snippet without the aliases and tags before the note's text, which read like text in an excerpt.

    They are before the heading with the title, or in the lines after the title. They stay if only they have a match.
    """
    end = snippet.find(f"\n# {title}\n") + 1
    if not end and snippet.startswith(f"{title}\n"):
        end = snippet.find("\n\n") + 1
    if not end or "```" in snippet[:end] or not snippet[end:].strip():
        return snippet, ranges
    matched = {snippet[first:last].casefold() for first, last in ranges if first < end}
    elsewhere = {snippet[first:last].casefold() for first, last in ranges if first >= end}
    elsewhere.update(word for word in matched if elsewhere and word in title.casefold())
    if not matched <= elsewhere:
        return snippet, ranges
    return cut_out(snippet, [(0, end)], ranges)


def _without_title(snippet: str, ranges: Sequence[Range], title: str) -> tuple[str, list[Range]]:
    """Return the snippet without the lines that are the note's title, and the ranges, mapped to the rest.

    The title is not made into a regular expression, since compiling one takes as long as the rest of an excerpt.
    """
    code = [block.span() for block in _FENCED.finditer(snippet)]
    titles = []
    at = snippet.find(title)
    while at >= 0:
        end = at + len(title)
        line = snippet.rfind("\n", 0, at) + 1
        before, after = snippet[line:at], _END_OF_TITLE.match(snippet, end)
        if after is not None and (not at or (before[:2] == "# " and not before[2:].strip(" "))):
            end = after.end()
            if snippet[end:].strip() and not any(first <= line < last for first, last in code):
                titles.append((at, end))
        at = snippet.find(title, end)
    if ranges and all(any(first < end and start < last for start, end in titles) for first, last in ranges):
        del titles[:1]
    return cut_out(snippet, titles, ranges)


def opening_words(text: str) -> str:
    """Return the beginning of a text as one line without Markdown marks."""
    return make_excerpt(text[:_OPENING], ()).text


def _flatten(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """Replace each gap by a space, or by a separator before a list item or heading; maps the ranges accordingly."""
    parts: list[str] = []
    pieces: list[Piece] = []
    position = length = 0
    after_heading = False

    def keep(end: int) -> None:
        nonlocal length
        parts.append(snippet[position:end])
        pieces.append(Piece(position, length, length + end - position))
        length = pieces[-1].end

    for gap in _GAP.finditer(snippet):
        if gap.end() == gap.start():
            continue
        keep(gap.start())
        opener = (gap["marks"] or "").strip("> ")  # a quote is text like the line before it
        if length and gap.start() > position:
            announced = snippet[gap.start() - 1] == ":"  # "Plan: · one · two" would be one mark too many
            joint = SEPARATOR if gap["break"] and (opener or after_heading) and not announced else " "
            parts.append(joint)
            length += len(joint)
        if gap["break"] is not None:
            after_heading = opener.startswith(("#", "="))
        position = gap.end()
    keep(len(snippet))
    text = "".join(parts).rstrip().removesuffix(SEPARATOR.rstrip())
    return text, move_ranges(ranges, pieces, len(text))


def _cut_front(text: str, marks: Sequence[Range], start: int, front: str) -> tuple[str, list[Range]]:
    shift = len(front) - start
    return front + text[start:], [(first + shift, last + shift) for first, last in marks if first >= start]


def _start_before(text: str, focus: int) -> tuple[int, str]:
    """Return the start that puts `focus` near the beginning: a sentence or list item, else a word after an ellipsis."""
    begins = [match.end() for match in _BOUNDARY.finditer(text, focus - LEAD, focus)]
    if begins:
        return begins[0], ""
    blank = text.find(" ", focus - LEAD, focus)
    return (blank + 1 if blank >= 0 else focus - LEAD), ELLIPSIS
