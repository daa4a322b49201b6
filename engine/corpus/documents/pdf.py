"""Extracts the text of a PDF (2.0, ISO 32000-2:2020) by page, with pdfium.

Of three libraries it was the fastest on six manuals of 17 to 146 pages: 0.5 s for 145 pages; pypdf took 9 s and lost
spaces between words, pdfminer.six 20 s.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import pairwise
from typing import Any, NamedTuple

from engine.base import skip_reasons
from engine.corpus.documents.text_collector import (
    CUT,
    LONGEST_TITLE,
    DocumentText,
    comment,
    damaged,
    encrypted,
    one_line,
)

MAX_PAGES = 20_000
_MAX_COMMENTS = 1_000
"""Annotations of a page that are read."""
_MAX_LINES = 100
"""Lines of marked text that are compared with the comment on it."""
_DRAWN = {3: b"Contents", 20: b"V"}
"""Kinds of annotations (`FPDF_ANNOT_…`) that are text on the page, which pdfium reads once they are flat: free text and
fields of forms, each with the entry that has its text.
"""
_MARKS = (9, 10, 11, 12)
"""Marked text: highlighted, underlined, with a wavy line, crossed out."""
_COMMENTED = (1, 4, 5, 6, 7, 8, *_MARKS, 13, 14, 15)
"""Kinds of annotations with a comment by a reader: notes, lines, shapes, marks, stamps, carets and ink."""

_PROGRAM = re.compile(r"\AMicrosoft (?:Word|PowerPoint|Excel|Publisher) - ")
_NO_TITLE = re.compile(
    r"\S.*\.(?:docx?|od[tgps]|rtf|indd|qxd|tex|dvi|p65|pmd|pptx?|xlsx?|pub|wpd|cdr|ai|eps|ps|txt|md|html?|pdf)"
    r"|\W*|untitled(?:[ -](?:document|\d+))?|(?:document|presentation|dokument) ?\d+|\(?(?:anonymous|unknown)\)?",
    re.IGNORECASE,
)
_HYPHENS = "\u00ad\x02\ufffe"
_SOFT_HYPHEN = re.compile("(\\w?)[\x02\ufffe](\\w{0,2})")
"""A hyphen at the end of a line, which pdfium joins with the next one."""

_WORDS = re.compile(r"\w+")
_BROKEN = re.compile("[\u00ad\x02\ufffe]\\s*")
_SPACE = re.compile(r"[\s\x02\ufffe]+")
_MORE_LINES = 1.25
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
"""Alef, with or without a mark, and lam; in a font, one sign stands for the two in the other order."""


def read_pdf(data: bytes, text: DocumentText) -> None:
    """Read the text of a PDF file into `text`. Raises `DocumentError`, also for an encrypted file."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
        raise (encrypted() if locked else damaged(skip_reasons.NO_PDF)) from None
    with closing(document):
        if document.get_formtype() != pypdfium2.raw.FORMTYPE_NONE:
            document.init_forms()  # draws the values of fields that the file has without their appearance
        text.title, text.author = _title(document.get_metadata_value("Title")), document.get_metadata_value("Author")
        remaining = _MAX_ARRANGED
        for number in range(min(len(document), MAX_PAGES)):
            page_text, comments = _pdf_page(document, number, pypdfium2, arranged=remaining > 0)
            remaining -= len(page_text)
            text.page(number + 1, page_text)
            for note in comments:
                text.paragraph(note)
        if len(document) > MAX_PAGES:
            text.paragraph(CUT)


def _title(declared: str) -> str:
    """Return the declared title of a file; empty if a program put something else there, such as a file name."""
    title = _PROGRAM.sub("", declared.strip())
    return "" if _NO_TITLE.fullmatch(title) else title


def _pdf_page(document: Any, number: int, pdfium: Any, *, arranged: bool) -> tuple[str, list[str]]:
    """The text of the page with this number from 0, `arranged` by columns, and comments on it; empty if damaged."""
    comments: list[str] = []
    try:
        with closing(document[number]) as page:
            area = page.get_bbox()  # not later: a flat page forgets the size that it inherits
            annotations = list(_annotations(page, pdfium.raw))
            comments = list(_comments(page, annotations)) if any(annotation.text for annotation in annotations) else []
            text = _text_of(page, area, arranged=arranged)
            if not any(annotation.kind in _DRAWN for annotation in annotations):
                return text, comments
            pdfium.raw.FPDFPage_Flatten(page, pdfium.raw.FLAT_NORMALDISPLAY)  # in memory
        with closing(document[number]) as page:
            flat = _text_of(page, area, arranged=arranged)
        if _loses_words(text, flat):  # with the fonts that the page inherits, which a flat page forgets
            return "\n".join((text, *(annotation.drawn for annotation in annotations if annotation.drawn))), comments
        return flat, comments
    except pdfium.PdfiumError:
        return "", comments


def _loses_words(text: str, flat: str) -> bool:
    """Whether more than a tenth of the words of a page is missing in the text of the flat page."""
    words = set(_WORDS.findall(text))
    return 10 * len(words.difference(_WORDS.findall(flat))) > len(words)


def _text_of(page: Any, area: tuple[float, float, float, float], *, arranged: bool) -> str:
    """The text of a page in an `area`: left, bottom, right, top."""
    with closing(page.get_textpage()) as text_page:
        arranged = arranged and _may_have_columns(text_page, area[2] - area[0])
        text = _by_columns(_runs(text_page, area)) if arranged else ""
        return text or _SOFT_HYPHEN.sub(_joined, _with_ligatures(_in_lines(text_page, area), text_page))


def _in_lines(text_page: Any, area: tuple[float, float, float, float]) -> str:
    """Return the text of a page in an `area`, with its line breaks.

    With an area, pdfium joins the lines of sideways text and of some slides. Without one, it keeps them, but also
    breaks lines after superscripts. So the text without an area is used only if it has many more lines.
    """
    text: str = text_page.get_text_bounded(*area)
    whole: str = text_page.get_text_range()
    joined = whole.count("\n") > _MORE_LINES * (text.count("\n") + 1)
    return whole if joined and _SPACE.sub("", whole) == _SPACE.sub("", text) else text


def _with_ligatures(text: str, text_page: Any) -> str:
    """Return the text with lam before alef where one sign stands for both, which pdfium turns round."""
    count = text_page.count_chars()
    if not _ALEF_LAM.search(text) or count > _MAX_CHARACTERS:
        return text
    from pypdfium2 import raw

    signs = "".join(chr(raw.FPDFText_GetUnicode(text_page, index)) for index in range(count))
    boxes = [(text_page.get_charbox(at), text_page.get_charbox(at + 1)) for at in _starts(signs)]
    if len(boxes) != len(_starts(text)):
        return text
    same = iter([one == other for one, other in boxes])
    return _ALEF_LAM.sub(lambda pair: pair[0][::-1] if next(same) else pair[0], text)


def _starts(text: str) -> list[int]:
    return [pair.start() for pair in _ALEF_LAM.finditer(text)]


class _Annotation(NamedTuple):
    kind: int
    areas: Sequence[tuple[float, float, float, float]] = ()
    """Left, bottom, right and top of each line of marked text."""
    author: str = ""
    text: str = ""
    drawn: str = ""
    """Text on the page: of a field of a form, or free text."""


def _annotations(page: Any, raw: Any) -> Iterator[_Annotation]:
    """Yield the visible annotations of a page; only possible comments have a text."""
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        hidden = raw.FPDFAnnot_GetFlags(annotation) & raw.FPDF_ANNOT_FLAG_HIDDEN  # such as that a comment is accepted
        if not hidden and kind in _COMMENTED and index < _MAX_COMMENTS:
            areas = list(_areas(annotation, raw)) if kind in _MARKS else ()
            text = _value(annotation, b"Contents", raw).strip()
            yield _Annotation(kind, areas, _value(annotation, b"T", raw), text)
        elif not hidden:
            key = _DRAWN.get(kind, b"")
            has_text = key and raw.FPDFAnnot_GetValueType(annotation, key) == raw.FPDF_OBJECT_STRING
            yield _Annotation(kind, drawn=_value(annotation, key, raw).strip() if has_text else "")
        raw.FPDFPage_CloseAnnot(annotation)


def _areas(annotation: Any, raw: Any) -> Iterator[tuple[float, float, float, float]]:
    points = raw.FS_QUADPOINTSF()
    for number in range(min(raw.FPDFAnnot_CountAttachmentPoints(annotation), _MAX_LINES)):
        raw.FPDFAnnot_GetAttachmentPoints(annotation, number, points)
        across, down = (points.x1, points.x2, points.x3, points.x4), (points.y1, points.y2, points.y3, points.y4)
        yield min(across), min(down), max(across), max(down)


def _value(annotation: Any, key: bytes, raw: Any) -> str:
    """Return an entry of an annotation that is text; empty if it has none."""
    size = raw.FPDFAnnot_GetStringValue(annotation, key, None, 0)
    buffer = (raw.FPDF_WCHAR * (size // 2 + 1))()
    raw.FPDFAnnot_GetStringValue(annotation, key, buffer, size)
    return bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace")


def _comments(page: Any, annotations: Sequence[_Annotation]) -> Iterator[str]:
    """Yield the comments of readers on a page, without marked text that some programs repeat as its comment."""
    with closing(page.get_textpage()) as text_page:
        for annotation in annotations:
            lines = (text_page.get_text_bounded(*area) for area in annotation.areas if annotation.text)
            marked = one_line(_BROKEN.sub("", " ".join(lines)))
            if annotation.text and not (annotation.kind in _MARKS and _letters(annotation.text) in _letters(marked)):
                about = marked if len(marked) <= LONGEST_TITLE else f"{marked[:LONGEST_TITLE]}…"
                yield comment(annotation.author, annotation.text, about)


def _letters(text: str) -> str:
    return "".join(_WORDS.findall(text))


def _joined(hyphen: re.Match[str]) -> str:
    """The two halves of a word; the hyphen stays before a capital letter that begins a word, and between digits."""
    before, after = hyphen[1], hyphen[2]
    joins = after[:1].islower() or (len(after) > 1 and after.isupper() and before.isupper())
    return before + after if joins else f"{before}-{after}"


# --- Columns ----------------------------------------------------------------------------------------------------------

_MAX_ARRANGED = 3_000_000
"""Maximum number of characters of a document in which columns are detected, which takes some 20 seconds."""
_MIN_LINES = 12
_MAX_CHARACTERS = 50_000
"""Maximum number of characters of a page that are arranged by columns."""
_INNER = 0.3
"""Left part of a page, as a share of its width, in which only a first column can begin."""
_WIDE = 0.9
"""Least space between two columns, as a share of the height of the line."""
_CROSSING = 0.06
"""Maximum number of runs, as a share of the larger side, that may cross the space between two columns, such as
headings."""
_FULL = 0.55
"""Least width of the usual line, as a share of its column; cells of tables are shorter."""
_MIN_CHARACTERS = 24
_SWITCHES = 0.15
"""Least share of the runs that are followed by one in another column, if the page is written line by line."""
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LINE_HYPHEN = re.compile("(\\w)[-\u00ad\x02\ufffe]\n(\\w{1,2})")


class _Run(NamedTuple):
    """Text in one line without a wide space; distances in points, from the left and the bottom of the page."""

    left: float
    right: float
    bottom: float
    top: float
    text: str


def _may_have_columns(text_page: Any, width: float) -> bool:
    """Whether as much text as a column has begins within the page."""
    if text_page.count_chars() > _MAX_CHARACTERS:
        return False
    inner = sum(text_page.get_rect(number)[0] > _INNER * width for number in range(text_page.count_rects()))
    return bool(inner >= _MIN_LINES)


def _runs(text_page: Any, area: tuple[float, float, float, float]) -> list[_Run]:
    """Return the text in an `area` (left, bottom, right, top) as runs, in the order of the file."""
    from pypdfium2 import raw

    runs: list[_Run] = []
    text: list[str] = []
    left = right = bottom = top = 0.0

    def end() -> None:
        if words := " ".join("".join(text).split()):
            runs.append(_Run(left, right, bottom, top, words))
        text.clear()

    for index in range(text_page.count_chars()):
        sign = chr(raw.FPDFText_GetUnicode(text_page, index))
        if sign.isspace() or not sign.isprintable():
            text.append("-" if sign in _HYPHENS else " ")
            continue
        box = text_page.get_charbox(index, loose=True)
        across, down = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        if not (area[0] <= across <= area[2] and area[1] <= down <= area[3]):
            continue
        height = box[3] - box[1]
        if not text or not bottom <= down <= top or not -height < box[0] - right < _WIDE * height:
            end()
            left, bottom, right, top = box
        text.append(sign)
        left, bottom, right, top = min(left, box[0]), min(bottom, box[1]), max(right, box[2]), max(top, box[3])
    end()
    return runs


def _by_columns(runs: Sequence[_Run]) -> str:
    """Return the text of a page column by column, if the file has it line by line across columns; else "".

    pdfium returns text in the order of the file, which is that of the columns in most files.
    """
    if any(_RIGHT_TO_LEFT.search(run.text) for run in runs):
        return ""  # columns, and words in them, would be in the wrong order
    gutters = _gutters(runs)
    columns = [_column(run, gutters) for run in runs]
    switches = sum(one != other for one, other in pairwise(columns))
    if not gutters or switches < _SWITCHES * len(runs):
        return ""
    bounds = [min(run.left for run in runs), *gutters, max(run.right for run in runs)]
    for number, (left, right) in enumerate(pairwise(bounds)):
        lines = _lines([run for run, column in zip(runs, columns, strict=True) if column == number])
        widths = sorted(line[-1].right - line[0].left for line in lines)
        if len(lines) < _MIN_LINES or widths[len(widths) // 2] < _FULL * (right - left):
            return ""
    lines_of_text = list(_ordered(runs, columns))
    long = sum(len(line) >= _MIN_CHARACTERS for line in lines_of_text)
    return _LINE_HYPHEN.sub(_joined, "\n".join(lines_of_text)) if 2 * long > len(lines_of_text) else ""


def _gutters(runs: Sequence[_Run]) -> list[float]:
    """Return the middles of the spaces between columns, from the left."""
    lefts, rights = sorted(run.left for run in runs), sorted(run.right for run in runs)
    least = _WIDE * sorted(run.top - run.bottom for run in runs)[len(runs) // 2] if runs else 0
    gutters: list[float] = []
    for edge in sorted({round(left) for left in lefts}):
        before, after = bisect_right(rights, edge), len(runs) - bisect_right(lefts, edge - 1)
        crossing = len(runs) - before - after
        if min(before, after) < _MIN_LINES or crossing > _CROSSING * max(before, after):
            continue
        end = rights[before - 1]
        if edge - end >= least and (not gutters or end > gutters[-1]):
            gutters.append((end + edge) / 2)
    return gutters


def _column(run: _Run, gutters: Sequence[float]) -> int:
    """Return the number of a run's column, from 0; -1 if it crosses several."""
    first, last = bisect_right(gutters, run.left), bisect_right(gutters, run.right)
    return first if first == last else -1


def _ordered(runs: Sequence[_Run], columns: Sequence[int]) -> Iterator[str]:
    """Yield the lines of a page: those between two that cross columns by column, each column from the top."""
    crossing = _lines([run for run, column in zip(runs, columns, strict=True) if column < 0])
    top = math.inf
    for line in [*crossing, []]:
        bottom = max((run.top for run in line), default=-math.inf)
        for number in sorted(set(columns) - {-1}):
            band = [
                run
                for run, column in zip(runs, columns, strict=True)
                if column == number and bottom <= (run.top + run.bottom) / 2 < top
            ]
            yield from map(_line_text, _lines(band))
        if line:
            yield _line_text(line)
            top = bottom


def _lines(runs: Sequence[_Run]) -> list[list[_Run]]:
    """Return the runs by lines from the top, in each line from the left."""
    lines: list[list[_Run]] = []
    for run in sorted(runs, key=lambda run: -(run.top + run.bottom)):
        middle = (run.top + run.bottom) / 2
        if lines and lines[-1][0].bottom <= middle:
            lines[-1].append(run)
        else:
            lines.append([run])
    return [sorted(line) for line in lines]


def _line_text(line: Sequence[_Run]) -> str:
    return " ".join(run.text for run in line)
