"""Prints a conversation or a note strip by strip; the caller may pause between any two steps.

On the GUI thread alone, like everything that creates documents (see `gui/viewer/markdown_page.py`).
"""

import time
from collections.abc import Generator, Sequence

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtGui import QTextDocument, QTextOption

from engine import tr, tr_count
from gui.conversation.entries import Conversation, Entry
from gui.conversation.piece_builder import PieceLayout, PieceStyle, piece_steps
from gui.conversation.rows import MORE, SUMMARY, PackedRows
from gui.conversation.wording import clock, day_text, summary
from gui.sessions.wording import UNTITLED, agent_name, message_count
from gui.sharing.print_pages import Ground, Paper, Strip, letter_height
from gui.viewer.markdown_page import PageStyle, page_steps
from gui.widgets.formatting import date, exact
from gui.widgets.plain_text import Styled, rich_document

Steps = Generator[float, None, None]
"""Each step yields the share done, 0 to 1."""

_BOLD = "font-weight:bold"
_BLOCKS = 20
"""Blocks laid out per step."""


def conversation_steps(
    paper: Paper, style: PageStyle, conversation: Conversation, rows: PackedRows, printed: float
) -> Steps:
    """Messages with speakers and times, with tools and reasoning folded as in these rows; `printed` is its date."""
    line = letter_height(style)
    indent = 1.5 * line
    pieces = PieceStyle(style, round(paper.width), round(paper.width - 2 * indent), ())
    for strip in _conversation_head(conversation, style, paper.width, printed):
        yield from _put(paper, strip, 0.0)
    day, speaker, before, shown = 0, "", -1, 0
    for position in range(len(rows)):
        row = rows[position]
        entry = conversation.entries[row.entry]
        is_first, done = row.entry != before, position / len(rows)
        if is_first:
            before, shown = row.entry, 0
            if entry.day and entry.day != day:
                day, speaker = entry.day, ""
                strip = Strip(_small(day_text(day), style, paper.width), above=1.4 * line, keeps_next=True)
                yield from _put(paper, strip, done)
            if entry.speaker != speaker:
                speaker = entry.speaker
                strip = Strip(_name(entry, style, paper.width), above=line, keeps_next=True)
                yield from _put(paper, strip, done)
        if row.slot == SUMMARY:
            document = _folded(conversation, entry, style, pieces.plain_width)
            yield from _put(paper, Strip(document, indent, 0.5 * line, "tool"), done)
        elif row.slot == MORE:
            if shown < entry.piece_count:
                words = tr_count(
                    "… {count:,} line in all, the rest is folded",
                    "… {count:,} lines in all, the rest is folded",
                    entry.longest,
                )
                document = _small(words, style, pieces.plain_width)
                yield from _put(paper, Strip(document, indent, 0.2 * line, "tool"), done)
        else:
            shown += 1
            laid = yield from _laid(piece_steps(conversation, entry.first_piece + row.slot, pieces), done)
            boxed = entry.kind == "tool"
            ground: Ground = "tool" if boxed else "person" if entry.kind == "user" else "none"
            above = 0.0 if boxed or (ground == "person" and not is_first) else 0.6 * line
            yield from _put(paper, Strip(laid, indent if boxed else 0.0, above, ground), done)
        yield (position + 1) / len(rows)


def note_steps(paper: Paper, style: PageStyle, name: str, slices: Sequence[str], printed: float) -> Steps:
    """A note as a rendered page; `slices` are those of `markdown_slices`."""
    line = letter_height(style)
    told = tr("{name} · printed {moment}", name=name, moment=exact(printed))
    yield from _put(paper, Strip(_small(told, style, paper.width)), 0.0)
    for number, part in enumerate(slices):
        # Only the first part may have front matter; in the others Qt would take a rule in the first line for it.
        making = page_steps([part if number == 0 else f"\n{part}"], style)
        while True:
            try:
                next(making)
            except StopIteration as end:
                document: QTextDocument = end.value.document
                break
            yield number / len(slices)
        _wrap(document, paper.width)
        count = document.blockCount()
        for block in range(0, count, _BLOCKS):
            document.documentLayout().blockBoundingRect(document.findBlockByNumber(block))
            yield (number + block / count) / len(slices)
        yield from _put(paper, Strip(document, above=line), (number + 1) / len(slices))


def _put(paper: Paper, strip: Strip, done: float) -> Steps:
    for _ in paper.flow(strip):
        yield done


def _laid(making: Generator[None, None, PieceLayout], done: float) -> Generator[float, None, QTextDocument]:
    while True:
        try:
            next(making)
        except StopIteration as end:
            document: QTextDocument = end.value.document
            return document
        yield done


def _conversation_head(
    conversation: Conversation, style: PageStyle, width: float, printed: float
) -> Generator[Strip, None, None]:
    facts = conversation.session.summary
    title = " ".join((facts.title or tr(UNTITLED)).split())
    yield Strip(_rich([(title, _BOLD)], style, width, 1.7))
    told = [agent_name(facts.agent), facts.project, facts.branch, message_count(facts.messages)]
    times = list(dict.fromkeys(date(moment) for moment in (facts.started, facts.ended) if moment is not None))
    yield Strip(_small(" · ".join(part for part in (*told, " – ".join(times)) if part), style, width))
    masked = conversation.session.masked
    made = [tr("Printed {moment}", moment=exact(printed))]
    if masked:
        made.append(tr_count("secrets masked in {count:,} message", "secrets masked in {count:,} messages", masked))
    yield Strip(_small(" · ".join(made), style, width))


def _name(entry: Entry, style: PageStyle, width: float) -> QTextDocument:
    """Speaker and time."""
    moment = [(f" {clock(entry.time)}", _muted(style))] if entry.time else []
    return _rich([(entry.speaker, _BOLD), *moment], style, width)


def _folded(conversation: Conversation, entry: Entry, style: PageStyle, width: float) -> QTextDocument:
    """The line that stands for a tool's call or for thinking; on paper it is wrapped and not cut."""
    name, words, size = summary(conversation, entry)
    return _rich([(name, _BOLD), (f" {words} · {size}", _muted(style))], style, width, 0.85)


def _small(words: str, style: PageStyle, width: float) -> QTextDocument:
    return _rich([(words, _muted(style))], style, width, 0.85)


def _muted(style: PageStyle) -> str:
    return f"color:{style.colours.muted.name()}"


def _rich(parts: Styled, style: PageStyle, width: float, size: float = 1.0) -> QTextDocument:
    """One paragraph; `size` is its font size relative to the text's."""
    document = rich_document(parts)
    document.setDocumentMargin(0)
    font = style.font
    if size != 1.0:
        font = type(font)(font)
        font.setPointSizeF(font.pointSizeF() * size)
    document.setDefaultFont(font)
    _wrap(document, width)
    return document


def _wrap(document: QTextDocument, width: float) -> None:
    """Lay it out for a width at which nothing is cut, however long a word is."""
    option = QTextOption(document.defaultTextOption())
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    document.setDefaultTextOption(option)
    document.setTextWidth(width)


# --- Runs the steps of one print in short turns of the loop, so that the window answers meanwhile --------------------

_TURN = 0.010
"""Seconds of one turn."""


class PrintRun(QObject):
    """One print, from `start` on.

    Signals: progressed: the share done, 0 to 1, and the number of pages so far. finished: whether all pages were
    printed; never after `cancel`.
    """

    progressed = Signal(float, int)
    finished = Signal(bool)

    def __init__(self, paper: Paper, steps: Steps, parent: QObject) -> None:
        super().__init__(parent)
        self.paper = paper
        self._steps: Steps | None = steps
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._go_on)

    def start(self) -> None:
        self._timer.start(0)

    def cancel(self) -> None:
        """Stop, and let go of the device."""
        if self._steps is not None:
            self._end()
            self.paper.drop()

    def _go_on(self) -> None:
        until = time.perf_counter() + _TURN
        done = 0.0
        while self._steps is not None and time.perf_counter() < until:
            try:
                done = next(self._steps)
            except StopIteration:
                self._end()
                self.finished.emit(self.paper.finish())
                return
            if not self.paper.ok:
                self._end()
                self.paper.drop()
                self.finished.emit(False)
                return
        self.progressed.emit(done, self.paper.pages)

    def _end(self) -> None:
        self._steps = None
        self._timer.stop()
