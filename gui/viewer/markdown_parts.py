"""Splits the Markdown of a note into parts that Qt converts, lays out and draws within a few milliseconds each.

Qt does each of these in one step on the GUI thread, and some take time that grows with the square of the input. A note
that can't be split into small enough parts is refused, so that its source is shown instead.
"""

import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QSizeF, QTimer, Signal
from PySide6.QtGui import QTextDocument

from engine import MnemoscopeError, marked, tr
from gui.core.jobs import Jobs, JobSlot
from gui.viewer.code_colours import Code, Token, code_steps, colour_steps, coloured_code
from gui.viewer.markdown_extensions import SEPARATOR, NoteMarkup
from gui.viewer.markdown_page import Page, PageStyle, page_steps
from gui.viewer.outline import Outline
from gui.viewer.pictures import Picture
from gui.viewer.text_lines import FileLines, TextLines

_STEP = 0.006
"""Seconds before the events of the window have their turn."""
_CHARACTERS = 1_000
"""Characters laid out between looks at the clock, at least one paragraph."""
TOO_LONG = marked("A part of this file is too long to render. Its source is shown.")

_LONGEST_BLOCK = 8 * 1024
"""Maximum number of characters of a paragraph, line of code or cell: Qt lays out a paragraph in one step."""
_LONGEST_MARKERS = 200
"""Maximum number of characters of indentation and markers of quotes and lists; the rest of the line may be indented
code."""
_SPANS = "*_`[~@:"
"""Characters that begin or end most inline formatting, including links."""

_CONTAINERS = re.compile(r"(?:[ \t>]|[-+*](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))*")
_ITEM = re.compile(r"[-+*]|\d[.)]")
_LIST_ITEM = re.compile(r"(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)")
_OPENS_LIST = re.compile(r" {0,3}(?:[-+*][ \t]|\d{1,9}[.)][ \t]|\[\^)")
"""The beginning of an item of a list or of the text of a footnote."""
_BULLET = re.compile(r"[-+*][ \t]")
_UNDER_HEADER = re.compile(r"[|:\- \t]*-[|:\- \t]*")
_FENCE = re.compile(r" {0,3}(?:`{3}|~{3})")
_HEADING = re.compile(r"#{1,6}[ \t]")
_INDENTED_ITEM = re.compile(r"(\t| {4})[ \t]*[-*+][ \t]")
_LOGSEQ_PROPERTY = re.compile(r"[\w.-]+::[ \t]")
_FORMATS = {"---": "yaml", "+++": "toml"}
"""The language of front matter by the line above it."""
_PROPERTIES_FENCE = "~~~~~~"
_MAX_PROPERTIES, _LONGEST_PROPERTY = 40, 200
"""Lines of front matter that are shown, and characters of each."""
_RULE = re.compile(r"-{3,}\s*$")


@dataclass
class Load:
    """Counts of the content of a part that takes Qt time: characters, lines, list items, table cells, spans."""

    characters: int = 0
    lines: int = 0
    items: int = 0
    """Items of lists."""
    cells: int = 0
    """Cells of tables."""
    spans: int = 0
    """Characters that may begin a span."""

    def add(self, other: "Load") -> None:
        self.characters += other.characters
        self.lines += other.lines
        self.items += other.items
        self.cells += other.cells
        self.spans += other.spans

    def reaches(self, limit: "Load") -> bool:
        return (  # spelled out, as above: it is asked twice for every line of a note
            self.characters >= limit.characters
            or self.lines >= limit.lines
            or self.items >= limit.items
            or self.cells >= limit.cells
            or self.spans >= limit.spans
        )


ENOUGH = Load(characters=8 * 1024, lines=2_000, items=300, cells=300, spans=500)
"""A part with this load ends where the next one may begin."""
MAX = Load(characters=64 * 1024, lines=8_000, items=1_000, cells=1_000, spans=2_000)
"""Limits of a part; a note without a possible split within them is refused."""


def markdown_slices(lines: FileLines | TextLines, outline: Outline, markup: NoteMarkup | None = None) -> Iterator[str]:
    """Yield the Markdown in parts, its front matter as code; all but the first begin with a heading, paragraph, list
    item or code block.

    `markup` rewrites the lines outside of code. Raises `MnemoscopeError` if a part would be too long.
    """
    cutter = _Cutter(outline)
    for number, line in _rewritten_lines(lines.full_lines(1, lines.line_count).split("\n"), outline, markup):
        part = cutter.add_line(number, line)
        if part is not None:
            yield part
    yield cutter.end()


def _rewritten_lines(text: Sequence[str], outline: Outline, markup: NoteMarkup | None) -> Iterator[tuple[int, str]]:
    """Yield the lines to convert, each with the number of its line in the note."""
    first = outline.front_matter + 1
    yield from enumerate(_properties(text[: outline.front_matter]))
    body = _outdented(text[outline.front_matter :], first, outline)
    if markup is not None:
        markup.find_comments((number, line) for number, line in enumerate(body, first) if not outline.is_code(number))
    after_code = False
    indented = _IndentedCode()
    for number, source in enumerate(body, first):
        is_code = outline.is_code(number)
        is_indented = indented.read_line(source, is_text=not (is_code or outline.is_heading(number)))
        if markup is None or is_code or (is_indented and not markup.is_inside_block):
            line: str | None = source
        else:
            line = markup.line(number, source)
        if is_code and markup is not None and markup.open_table.lines:
            yield number, markup.line(number, "") or ""
        begins = after_code and _FENCE.match(source) is not None
        if line is not None:
            yield from ((number, written) for written in ((SEPARATOR, "", line) if begins else (line,)))
        if source.strip():
            code = outline.code_block(number)
            after_code = code is not None and code[1] == number
    if markup is not None:
        if markup.open_table.lines:
            yield len(text), markup.line(len(text), "") or ""
        yield from ((len(text) + 1, written) for written in markup.notes())


def _properties(front: Sequence[str]) -> Iterator[str]:
    """Yield the front matter of a note, or the properties of a page of Logseq, as a block of code."""
    marker = front[0].strip() if front else ""
    lines = front[1:] if marker in _FORMATS else front
    written = [line for line in lines if line.strip() and line.strip() not in (*_FORMATS, "...")]
    if written:
        shown = written[:_MAX_PROPERTIES]
        yield f"{_PROPERTIES_FENCE}{_FORMATS.get(marker, '')}"
        yield from (line[:_LONGEST_PROPERTY] for line in shown)
        yield from ("…",) if len(shown) < len(written) else ()
        yield from (_PROPERTIES_FENCE, SEPARATOR, "")


class _IndentedCode:
    """Finds the lines of code that only their indentation marks, outside of lists and footnotes."""

    def __init__(self) -> None:
        self._in_list = self._after_text = self._after_blank = False

    def read_line(self, line: str, *, is_text: bool) -> bool:
        """Return whether the next line is such code; `is_text`: it is neither a heading nor part of fenced code."""
        if not line.strip():
            self._after_text, self._after_blank = False, True
            return False
        is_indented = is_text and line.startswith(("    ", "\t"))
        if is_indented and not (self._in_list or self._after_text):
            return True
        if is_text and _OPENS_LIST.match(line):
            self._in_list = True
        elif not line[0].isspace() and (self._after_blank or not is_text):
            self._in_list = False
        self._after_text, self._after_blank = is_text, False
        return False


def _outdented(body: Sequence[str], first: int, outline: Outline) -> list[str]:
    """Return the lines, numbered from `first`, with each list that is indented right below a heading moved to the left.

    Logseq indents the blocks below a heading, which Markdown would take for code.
    """
    lines, margin, after_heading = list[str](), "", True
    for number, line in enumerate(body, first):
        if margin and line.strip() and not line.startswith(margin):
            margin = ""
        if after_heading and (item := _INDENTED_ITEM.match(line)):
            margin = item[1]
        begins = not outline.is_code(number) and _HEADING.match(line)
        after_heading = bool(begins or (after_heading and _LOGSEQ_PROPERTY.match(line)))
        lines.append(line.removeprefix(margin))
    return lines


# markdown-it-py 4.3 must parse the whole note first: 1,160 ms for a table of 10,000 rows, which is refused in 30 here.
class _Cutter:
    """Collects lines into parts, and ends a part only where splitting does not change how the Markdown is rendered."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._part: list[str] = []
        self._load = Load()
        self._before = ""
        self._block = 0
        """Characters of the paragraph so far."""
        self._is_plain = False
        """Whether that paragraph is outside of quotes, lists, tables and code."""
        self._columns = 0
        """Columns of the open table, else 0."""
        self._opening = ""
        """The opening fence of the open code block."""

    def add_line(self, number: int, line: str) -> str | None:
        """Add a line; returns the part before it if a new part begins here, else None."""
        part = None
        fills_up = self._load.reaches(ENOUGH) or self._block + len(line) > _LONGEST_BLOCK
        if fills_up and self._may_begin(number, line):
            part = self._cut(number)
        self._part.append(line)
        self._measure(number, line)
        self._before = line
        if self._block > _LONGEST_BLOCK or self._load.reaches(MAX):
            raise MnemoscopeError(tr(TOO_LONG))
        return part

    def end(self) -> str:
        """Return the last part."""
        return "\n".join(self._part) + "\n"

    def _cut(self, number: int) -> str:
        part = self.end()
        in_code = self._is_inside_code(number)
        self._part = [self._opening] if in_code else []
        self._load = Load()
        self._block = 0
        return part

    def _is_inside_code(self, number: int) -> bool:
        """Return whether a line is between the fences of a code block."""
        code = self._outline.code_block(number)
        return code is not None and code[0] < number < code[1]

    def _may_begin(self, number: int, line: str) -> bool:
        """Return whether a part may begin with this line without changing how the Markdown is rendered."""
        if _RULE.match(line):
            return False
        if self._outline.is_code(number):
            return self._is_inside_code(number)
        if self._outline.is_heading(number) or _BULLET.match(line):
            return True
        if not line or line[0] in " \t|>" or _LIST_ITEM.match(line):
            return False
        if not self._before.strip():
            return True
        return self._is_plain and self._block + len(line) > _LONGEST_BLOCK  # the rest becomes another paragraph

    def _measure(self, number: int, line: str) -> None:
        """Add a line to the counts; lines of code too, since Qt may see the end of a code block earlier."""
        match = _CONTAINERS.match(line)
        containers = match[0] if match else ""
        text = line[len(containers) :]
        length = len(line) - min(len(containers), _LONGEST_MARKERS)
        items = len(_ITEM.findall(containers))
        cells = self._cells_of(text)
        self._load.add(Load(len(line) + 1, 1, items, cells, sum(map(text.count, _SPANS))))
        code = self._outline.code_block(number)
        if code is not None and code[0] == number:
            self._opening = line
        if not length or not self._block or items or cells or code or self._outline.is_heading(number):
            self._block = length
            self._is_plain = bool(text) and not (containers or cells or code)
        else:
            self._block += length + 1

    def _cells_of(self, text: str) -> int:
        """Return the table cells that a line adds: each row has as many as the header, however many are written."""
        if not text:
            self._columns = 0
        elif not self._columns and ("|" in text or ":" in text) and _UNDER_HEADER.fullmatch(text):
            self._columns = text.strip().strip("|").count("|") + 1
        return self._columns


_TURN = 0.008
"""Seconds of building in one turn of the event loop."""


class PageBuilder(QObject):
    """Builds one page at a time, in short steps; its code is read on a pool thread.

    Signals: made: the Page, when it is complete.
    """

    made = Signal(object)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._steps: Generator[None, None, None] | None = None
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._continue)

    def start(self, slices: Sequence[str], style: PageStyle, pictures: Mapping[str, Picture]) -> None:
        """Build a page from `slices`, dropping an unfinished one."""
        self._job.cancel()
        self._run(self._build(slices, style, pictures))

    def stop(self) -> None:
        self._steps = None
        self._timer.stop()
        self._job.cancel()

    def _build(
        self, slices: Sequence[str], style: PageStyle, pictures: Mapping[str, Picture]
    ) -> Generator[None, None, None]:
        page = yield from page_steps(slices, style, pictures)
        codes = yield from code_steps(page.document)
        if not codes:
            self.made.emit(page)
            return
        texts = [code for _, code in codes]

        def colour(known: Mapping[Code, Sequence[Token]]) -> None:
            self._run(self._colour(page, colour_steps(page.document, codes, style.colours, known)))

        self._job.read(lambda token: coloured_code(texts, token), colour, lambda _: colour({}))

    def _colour(self, page: Page, steps: Iterator[None]) -> Generator[None, None, None]:
        yield from steps
        self.made.emit(page)

    def _run(self, steps: Generator[None, None, None]) -> None:
        self._steps = steps
        self._timer.start(0)

    def _continue(self) -> None:
        steps = self._steps
        until = time.perf_counter() + _TURN
        while steps is not None and time.perf_counter() < until:
            try:
                next(steps)
            except StopIteration:
                if self._steps is steps:
                    self._steps = None
                    self._timer.stop()
                return


class StepwiseLayout(QObject):
    """Lays out one document at a time, in short steps that keep the window responsive.

    Signals:
        reached: the page is laid out up to the requested block.
        finished: it is laid out completely.
    """

    reached = Signal()
    finished = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._document: QTextDocument | None = None
        self._done = self._target = 0
        self.complete = False
        """Whether all of the document is laid out."""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._continue)

    def set_document(self, document: QTextDocument) -> None:
        """Set the document; it is not laid out before `start`."""
        self._document = document
        self._timer.stop()
        self.complete = False
        document.documentLayout().installEventFilter(self)

    def start(self, target: int, *, begin: bool = True) -> None:
        """Lay out from the first block on, and emit `reached` at block number `target`, from 0.

        `begin`: with a step in this turn, so that a short page is complete before it is painted for the first time.
        """
        self._target = target
        self.restart()
        if begin:
            self._continue()

    def restart(self) -> None:
        """Lay out again from the first block, after a change of the width."""
        if self._document is not None:
            self.complete = False
            self._done = 0
            self._timer.start(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Suppress Qt's own layout timer, whose steps double until one takes 0.1 s."""
        return not self.complete and event.type() == QEvent.Type.Timer

    def _continue(self) -> None:
        document = self._document
        if document is None:
            self._timer.stop()
            return
        until = time.perf_counter() + _STEP
        before, count = self._done, document.blockCount()
        last = document.begin()
        while self._done < count and time.perf_counter() < until:
            block, characters = document.findBlockByNumber(self._done), 0
            while block.isValid() and characters < _CHARACTERS:
                characters += block.length()
                self._done += 1
                last, block = block, block.next()
            document.documentLayout().blockBoundingRect(last)
        if before <= self._target < self._done:
            self._target = -1
            layout = document.documentLayout()
            # Held back too, and the scroll bar needs it now. `documentSize` would lay out the rest in one go.
            layout.documentSizeChanged.emit(QSizeF(document.textWidth(), layout.blockBoundingRect(last).bottom()))
            self.reached.emit()
        if self._done >= count:
            self._timer.stop()
            self.complete = True
            self.finished.emit()
