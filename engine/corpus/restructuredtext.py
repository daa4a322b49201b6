"""Reads the structure and the tables of a reStructuredText file, as docutils' "reStructuredText Markup Specification"
(docutils 0.22) describes them (docutils.sourceforge.io/docs/ref/rst/restructuredtext.html).

Section titles, the fields before and below the first title, `meta` directives and literal blocks are read. Titles rank
in the order in which their styles appear. An underline may be shorter than its title from four characters on, which
docutils only warns about.
"""

import re
import string
import unicodedata
from collections.abc import Sequence
from itertools import pairwise, takewhile

from engine.base import lazy_pattern
from engine.corpus.markdown_writer import indent_of
from engine.corpus.note_structure import Structure, StructureBuilder, markup_lines

PUNCTUATION = frozenset(string.punctuation)
BULLET = lazy_pattern(r"[-*+\u2022\u2023\u2043](?:[ ]+|$)")
FIELD = lazy_pattern(r"[ \t]*:((?![: ])[^:]+):(?:[ \t]+(.*))?")
_DIRECTIVE = lazy_pattern(r"[ \t]*\.\.[ \t]+([\w:.+-]+)[ \t]*::(?:[ \t].*)?")
_COMMENTED = lazy_pattern(r"\.\.[ \t]+(title|slug|date|tags|category|description):[ \t]+(.*)")
"""Matches a metadata field of Nikola, in a comment."""
CODE_DIRECTIVES = frozenset({"code", "code-block", "sourcecode", "parsed-literal", "math", "raw", "doctest", "prompt"})
_ROLE = lazy_pattern(r"(?::[\w:.+-]{1,40}:)?`{1,2}([^`<>]+?)(?:[ ]*<[^<>`]*>)?`{1,2}_{0,2}")
_MARKS = lazy_pattern(r"(?<![\w\\])\*{1,2}(?=\S)|(?<=[^\s\\])\*{1,2}(?!\w)")
_REFERENCE = lazy_pattern(
    r"[ ]?\[(?:#?[\w.:+-]*|\*)\]_(?!\w)|\|(?=\S)([^|]+)(?<=\S)\|_{0,2}|(?<![\w`])_(?=`)"
    r"|(?:^|(?<=[\s'\"(\[{</:-]))([^\W_](?:[\w.+-]*[^\W_])?)_{1,2}(?!\w)"
)
"""Matches references to footnotes, substitutions and links, and the mark of a target."""
_ESCAPED = lazy_pattern(r"\\(\S)|\\\s?")
_SHORT = 4


def read(text: str) -> Structure:
    reader = _Reader()
    for number, line, below, second in markup_lines(text):
        reader.read_line(number, line, below, second)
    reader.close()
    return reader.found.done()


class _Reader:
    def __init__(self) -> None:
        self.found = StructureBuilder()
        self._styles: list[str] = []
        self._above = ""
        self._title_end = 0
        """Last line of the latest title."""
        self._code = self._code_end = 0
        """First and last line of the block of code that may continue."""
        self._margin = 0
        self._doctest = False
        self._fields = True
        """Whether fields here describe the document."""
        self._key = ""
        """The field that an indented line continues."""
        self._meta = False

    def read_line(self, number: int, line: str, below: str, second: str) -> None:
        if number > self._title_end and not self._in_code(number, line):
            if is_line(line) and not self._above and below and not is_line(below) and second == line:
                self._title(number, number + 2, line[0] * 2, below.strip())
            elif not self._above and _is_title(line, below):
                self._title(number, number + 1, below[0], line)
            else:
                self._other(number, line)
        self._above = line if number != self._title_end else ""

    def close(self) -> None:
        """End the block of code that may be open."""
        if self._code and (self._code_end > self._code or self._doctest):
            self.found.code.append((self._code, self._code_end))
        self._code, self._doctest = 0, False

    def _title(self, number: int, last: int, style: str, title: str) -> None:
        if style not in self._styles:
            self._styles.append(style)
        self._fields = not self.found.headings
        self._meta, self._key = False, ""
        self._title_end = last
        self.found.heading(number, last, self._styles.index(style) + 1, plain(title))

    def _in_code(self, number: int, line: str) -> bool:
        """Whether the line continues the open block of code; otherwise ends the block."""
        if not self._code:
            return False
        if line and (self._doctest or indent_of(line) > self._margin):
            self._code_end = number
            return True
        if not line and not self._doctest:
            return True
        self.close()
        return False

    def _other(self, number: int, line: str) -> None:
        if self._is_data(number, line):
            return
        self._meta = self._meta and not line
        if match := _DIRECTIVE.fullmatch(line):
            self._meta = match[1].lower() == "meta"
            if match[1].lower() in CODE_DIRECTIVES:
                self._code, self._margin = number, indent_of(line)
        elif line.startswith(">>> ") and not self._above:
            self._code = self._code_end = number
            self._doctest = True
        elif line.endswith("::") and not line.lstrip().startswith(".. "):
            self._code, self._margin = number + 1, indent_of(line)
            self._begin()
        elif line and line[0] not in " \t" and not line.startswith("..") and not is_line(line):
            self._begin()

    def _begin(self) -> None:
        self.found.begun, self._fields = True, False

    def _is_data(self, number: int, line: str) -> bool:
        """Whether the line is a field of the document, or continues one."""
        field = FIELD.fullmatch(line) if self._fields or self._meta else None
        if field and (indent_of(line) > 0) == self._meta:
            self._property(number, field[1].lower(), field[2] or "")
            return True
        if self._key and line and indent_of(line):
            self._property(number, self._key, line)
            return True
        self._key = ""
        if commented := _COMMENTED.fullmatch(line):
            self._property(number, commented[1], commented[2])
            self._key = ""
            return True
        return False

    def _property(self, number: int, key: str, value: str) -> None:
        self._key = key
        if key == "title":
            self.found.title = plain(value)
        self.found.property(number, key, value)


def is_line(line: str) -> bool:
    """Whether the line consists of one punctuation mark, repeated."""
    return len(line) > 1 and line[0] in PUNCTUATION and line == line[0] * len(line)


def _is_title(line: str, below: str) -> bool:
    """Whether a line after a blank one is a title, underlined by the next line."""
    if not line or line[0] in " \t" or line.startswith(".. ") or is_line(line) or not is_line(below):
        return False
    return len(below) >= min(len(line), _SHORT)


def plain(title: str) -> str:
    """Return a title without roles, links and emphasis."""
    title = _ROLE.sub(r"\1", _REFERENCE.sub(lambda match: match[1] or match[2] or "", title))
    return _ESCAPED.sub(lambda match: match[1] or "", _MARKS.sub("", title))


# --- Tables ---------------------------------------------------------------------------------------------------------

_GRID_SIGNS = ("+", "|")
_GRID = lazy_pattern(r"\+(?:-+\+)+")
_GRID_HEADER = lazy_pattern(r"\+(?:=+\+)+")
_SIMPLE = lazy_pattern(r"=+(?:[ ]+=+)+")


def end_of_table(lines: Sequence[str], at: int) -> int:
    """Return the end of the table whose first line is `lines[at]`; 0 if there is none."""
    if _GRID.fullmatch(lines[at]):
        return at + sum(1 for _ in takewhile(lambda number: lines[number][:1] in _GRID_SIGNS, range(at, len(lines))))
    return _end_of_simple(lines, at) if lines[at][0] == "=" and _SIMPLE.fullmatch(lines[at]) else 0


def table(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the rows of a table, or None if it is malformed."""
    return _grid(lines) if lines[0][0] == "+" else _simple_table(lines)


def _grid(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the cells of a table that is drawn with lines, or None if the lines do not meet.

    A cell across several columns is written in the first.
    """
    drawn = [bool(_GRID.fullmatch(line) or _GRID_HEADER.fullmatch(line)) for line in lines]
    borders = [line for line, is_drawn in zip(lines, drawn, strict=True) if is_drawn]
    bounds = sorted({at for line in borders for at, sign in enumerate(line) if sign == "+"})
    rows, cells = list[list[str]](), [""] * (len(bounds) - 1)
    for line, is_drawn in zip(lines[1:], drawn[1:], strict=True):
        columns = _screen_columns(line)
        if len(columns) != bounds[-1] + 1 or line[-1] not in _GRID_SIGNS:
            return None
        if is_drawn:
            rows.append(cells)
            cells = [""] * (len(bounds) - 1)
            continue
        first = 0
        for column, (left, right) in enumerate(pairwise(bounds)):
            if columns[left] in _GRID_SIGNS:
                first = column
            text = "".join(columns[left + (first == column) : right])
            cells[first] += (" " if first == column else "") + ("" if set(text) <= set("-+=") else text)
    return [[" ".join(cell.split()) for cell in row] for row in rows] if drawn[-1] else None


def _simple_table(lines: Sequence[str]) -> list[list[str]] | None:
    """Return the cells of a table whose columns are below lines of `=`, or None if text lies between the columns.

    A row without a first cell continues the row above.
    """
    starts = [match.start() for match in re.finditer("=+", lines[0])]
    bounds = list(pairwise([*starts, 10_000]))
    has_spans = any(set(line) <= set("- ") for line in lines if line)
    rows = list[list[str]]()
    for line in lines[1:]:
        if not line or (line[0] in "=-" and set(line) <= {line[0], " "}):
            continue
        columns = _screen_columns(line)
        cells, first = [""] * len(bounds), 0
        for column, (left, right) in enumerate(bounds):
            if not left or "".join(columns[left - 1 : left]).isspace() or left > len(columns):
                first = column
            elif not has_spans:
                return None
            cells[first] += "".join(columns[left:right])
        cells = list(map(str.strip, cells))
        if not cells[0] and rows:
            rows[-1] = [f"{before} {cell}".strip() for before, cell in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    return rows if len(lines[-1]) == len(lines[0]) and _SIMPLE.fullmatch(lines[-1]) else None


def _end_of_simple(lines: Sequence[str], at: int) -> int:
    """Return the end of a table whose first line is `lines[at]`, or of the paragraph if the table has no last line."""
    borders = 0
    for number in range(at + 1, len(lines)):
        if lines[number][:1] == "=" and _SIMPLE.fullmatch(lines[number]):
            if len(lines[number]) != len(lines[at]):
                break
            borders += 1
            if borders == 2 or number + 1 == len(lines) or not lines[number + 1]:
                return number + 1
    return end_of_paragraph(lines, at)


def end_of_paragraph(lines: Sequence[str], at: int) -> int:
    """Return the index of the first empty line from `at`, or the number of lines."""
    return next((number for number in range(at, len(lines)) if not lines[number]), len(lines))


def _screen_columns(line: str) -> Sequence[str]:
    """Return the content of each column of a line: a wide character is followed by an empty column."""
    if line.isascii():
        return line
    wide = unicodedata.east_asian_width
    return [part for sign in line for part in ((sign, "") if wide(sign) in "WF" else (sign,))]


def list_table(block: Sequence[str]) -> list[list[str]] | None:
    """Return the cells of a list of rows that are lists of cells, or None if it is anything else."""
    rows, margin = list[list[list[str]]](), 0
    for line in block:
        if row := BULLET.match(line):
            rows.append([])
        rest = " " * row.end() + line[row.end() :] if row else line
        text = rest.strip()
        if rows and (cell := BULLET.match(text)) and (not rows[-1] or indent_of(rest) <= margin):
            margin = indent_of(rest)
            rows[-1].append([text[cell.end() :].removeprefix("| ")])
        elif text:
            if not rows or not rows[-1]:
                return None
            rows[-1][-1].append(text.removeprefix("| "))  # a line of a line block
    return [[" ".join(cell) for cell in row] for row in rows]
