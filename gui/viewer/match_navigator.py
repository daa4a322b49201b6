"""Goes to the next or previous hit in the shown text: the words of the query, or the text of the open find bar."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QObject, QTimer, Signal

from engine import CancelToken, marked, number, tr
from gui.commands.commands import FIND
from gui.commands.keymap import keymap
from gui.core.jobs import Jobs, JobSlot
from gui.viewer.match_list import (
    BLOCK,
    Finder,
    Hit,
    MatchMap,
    Step,
    UnsearchedBlock,
    block_of,
    plain_finder,
    query_finder,
)
from gui.viewer.text_lines import Lines, TextPosition


@dataclass(frozen=True)
class FindMessages:
    """The sentences that the find bar shows, to be translated by `tr`: one set for files, another for sessions."""

    find: str
    looking: str
    no_search: str
    """Nothing is searched yet; with the `key` that opens the find bar."""
    missing: str
    without_word: str
    """No word of the query occurs there."""


IN_FILE = FindMessages(
    find=marked("Find in this file"),
    looking=marked("Looking through the rest of the file…"),
    no_search=marked("There is no current search. Press {key} to find text in this file."),
    missing=marked("Not found in this file."),
    without_word=marked("This file contains none of the words searched for."),
)
IN_SESSION = FindMessages(
    find=marked("Find in this session"),
    looking=marked("Looking through the rest of the session…"),
    no_search=marked("There is no current search. Press {key} to find text in this session."),
    missing=marked("Not found in this session."),
    without_word=marked("This session contains none of the words searched for."),
)


_OVERVIEW_CHARACTERS = 8 * 1024 * 1024
"""Amount of text analysed for the overview; further hits are searched on demand."""
_FIND_CHARACTERS = 1 << 40
_NOTICE_DELAY_MS = 300
_JOB_SECONDS = 0.1
"""Seconds that one job works before it reports."""
MAX_HITS = 20_000
_LOW = 0.7
"""Part of the view's height below which a message at the lower edge may cover a hit."""

Found = list[tuple[int, list[Hit]]]
OnStep = Callable[[Step | None], None]


class TextScan(QObject):
    """Searches a text for the hits of one finder in the background, the part near the user's position first.

    Signals:
        changed: more hits are known, or the search has ended.
    """

    changed = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._lines: Lines | None = None
        self._finder: Finder | None = None
        self._near = 0
        self._remaining = 0
        self._pending_step: tuple[TextPosition, bool, OnStep] | None = None
        self.hits = MatchMap(0)

    @property
    def active(self) -> bool:
        """Whether a text is being searched for."""
        return self._finder is not None

    @property
    def running(self) -> bool:
        return self._job.busy

    def start(self, lines: Lines, finder: Finder, *, near: int, most_characters: int) -> None:
        """Search a new text, from line `near` on, until `most_characters` characters were read."""
        self.stop()
        self._lines, self._finder = lines, finder
        self._near, self._remaining = block_of(near), most_characters
        self.hits = MatchMap(lines.line_count)
        self._continue()

    def stop(self) -> None:
        """Stop the search in the text and drop its hits."""
        self._job.cancel()
        self._lines = self._finder = self._pending_step = None
        self.hits = MatchMap(0)
        self.changed.emit()

    def step(self, position: TextPosition, *, forward: bool, on_done: OnStep) -> None:
        """Call `on_done` with the next hit after `position` (or, not `forward`, before it) now, or once it is found."""
        self._pending_step = position, forward, on_done
        self._answer_step()

    def _answer_step(self) -> None:
        if self._pending_step is None:
            return
        position, forward, then = self._pending_step
        step = self.hits.step(position, forward=forward)
        if isinstance(step, UnsearchedBlock):
            self._search(_order(self.hits, step.block, forward=forward), until_hit=True)
            return
        self._pending_step = None
        then(step)

    def _continue(self) -> None:
        """Search further blocks until the limits of characters and hits are reached."""
        if self._remaining > 0 and not self.hits.complete and self.hits.count < MAX_HITS:
            self._search(_order(self.hits, self._near, forward=True), until_hit=False)

    def _search(self, blocks: Iterable[int], *, until_hit: bool) -> None:
        lines, finder, most = self._lines, self._finder, self._remaining
        if lines is None or finder is None:
            return
        self._job.read(
            lambda token: _search_blocks(lines, finder, blocks, token, most=most, until_hit=until_hit),
            self._merge,
            self._give_up,
        )

    def _merge(self, result: tuple[Found, int]) -> None:
        found, read = result
        for block, hits in found:
            self.hits.add(block, hits)
        self._remaining -= read
        self._answer_step()
        if not self._job.busy:
            self._continue()
        self.changed.emit()  # once, whether the search has ended or goes on: a view may map thousands of hits

    def _give_up(self, _sentence: str) -> None:
        """Stop the search since the text can't be read any more; earlier hits stay."""
        self._remaining = 0
        if self._pending_step is not None:
            then, self._pending_step = self._pending_step[2], None
            then(None)
        self.changed.emit()


def _order(hits: MatchMap, start: int, *, forward: bool) -> Iterable[int]:
    """Return the blocks still to search: from `start` on, wrapping around at the end of the text."""
    count = hits.block_count
    known = {block for block in range(count) if hits.has_block(block)}
    turn = (start + step if forward else start - step for step in range(count))
    return (block % count for block in turn if block % count not in known)


def _search_blocks(
    lines: Lines, finder: Finder, blocks: Iterable[int], token: CancelToken, *, most: int, until_hit: bool
) -> tuple[Found, int]:
    """On a pool thread: search blocks until `most` characters were read or, with `until_hit`, up to the first hit.

    Returns the hits by block, and the number of characters that were read.
    """
    matches: Found = []
    read = 0
    until = time.monotonic() + _JOB_SECONDS
    for block in blocks:
        first = block * BLOCK + 1
        texts = lines.lines(first, first + BLOCK - 1)
        matches.append((block, _hits(texts, first, finder, token)))
        read += sum(map(len, texts)) + len(texts)
        enough = bool(matches[-1][1]) if until_hit else read >= most
        if enough or time.monotonic() > until:
            break
    return matches, read


def _hits(texts: Sequence[str], first: int, finder: Finder, token: CancelToken) -> list[Hit]:
    hits: list[Hit] = []
    for block, text in enumerate(texts, first):
        token.checkpoint()
        hits.extend(Hit(block, start, end) for start, end in finder(text))
    return hits


class MatchView(Protocol):
    """Protocol of a view that shows hits: the source, the rendered page or a conversation."""

    def set_finders(self, marks: Finder | None, found: Finder | None) -> None:
        """Set the finders of the query's words (`marks`) and of the find bar's text (`found`), to be highlighted."""

    def position(self) -> TextPosition:
        """Return the position from which the next or previous hit is searched."""

    def level(self, hit: Hit) -> float | None:
        """Return how far down the view a hit is, from 0 at the top to 1 at the bottom; None if it isn't in view."""

    def show_hit(self, hit: Hit | None) -> None:
        """Frame a hit and scroll to it; None frames none."""

    def show_hits(self, marks: MatchMap, found: MatchMap | None) -> None:
        """Update the display of all known hits of the query (`marks`) and of the find bar (`found`)."""


class MatchNavigator(QObject):
    """Finds hits in the text of one view, and goes from one to the next.

    Signals:
        counted: the find bar's text about its hits, "3 of 17".
        notice: a message which hit was reached, that the search wrapped around or found nothing; empty if the last one
            no longer holds. True if the hit is in the lower part of the view.
    """

    counted = Signal(str)
    notice = Signal(str, bool)

    def __init__(self, jobs: Jobs, parent: QObject, words: FindMessages) -> None:
        super().__init__(parent)
        self._sentences = words
        self._marks = TextScan(jobs, self)
        self._found = TextScan(jobs, self)
        self._marks.changed.connect(self._show_hits)
        self._found.changed.connect(self._show_hits)
        self._view: MatchView | None = None
        self._lines: Lines | None = None
        self._near = 1
        self._words = ""
        self._query: Finder | None = None
        self._needle: Finder | None = None
        self._origin: TextPosition | None = None
        self._current: Hit | None = None
        self._notice_delay = QTimer(self, singleShot=True, interval=_NOTICE_DELAY_MS)
        self._notice_delay.timeout.connect(lambda: self.notice.emit(tr(words.looking), False))

    @property
    def busy(self) -> bool:
        """Whether the text is still being searched."""
        return self._marks.running or self._found.running

    def search_in(self, view: MatchView, lines: Lines, *, near: int, query: str, language: str) -> None:
        """Search a text for the words of a query, from line `near` on, and highlight them in `view`."""
        self._current = self._origin = None
        view.show_hit(None)
        if (view, lines, query) == (self._view, self._lines, self._words):
            return
        self._view, self._lines, self._near, self._words = view, lines, near, query
        self._query = query_finder(query, language) if query.strip() else None
        view.set_finders(self._query, self._needle)
        self._restart()

    def search_again(self, lines: Lines) -> None:
        """Search the text again, since it has grown, from the view's position. The framed hit stays."""
        if self._view is not None:
            self._lines, self._near = lines, self._view.position()[0]
            self._restart()

    def stop(self) -> None:
        """Stop searching, since the text was closed."""
        self._view = self._lines = self._current = self._origin = None
        self._restart()

    def find(self, needle: str) -> None:
        """Search for the find bar's text from the position at which it was opened; an empty text ends the search."""
        if self._view is None or not needle:
            self._needle = self._origin = self._current = None
            if self._view is not None:
                self._view.show_hit(None)
        else:
            self._needle = plain_finder(needle)
            if self._origin is None:
                line, column = self._current.position if self._current is not None else self._view.position()
                self._origin = line, max(-1, column - 1)
        if self._view is not None:
            self._view.set_finders(self._query, self._needle)
        self._restart_found()
        if self._needle is not None and self._origin is not None:
            self._step(self._found, self._origin, forward=True, quiet=True)

    def step(self, *, forward: bool) -> None:
        """Go to the next or previous hit, wrapping around at the ends of the text."""
        if self._view is None:
            return
        scan = self._found if self._needle is not None else self._marks
        if not scan.active:
            key = keymap().first_key(FIND.name)
            self.notice.emit(
                tr(self._sentences.no_search, key=key) if key else tr("There is no current search."), False
            )
            return
        visible = self._current is not None and self._view.level(self._current) is not None
        position = self._current.position if self._current is not None and visible else self._view.position()
        self._step(scan, position, forward=forward, quiet=False)

    def _step(self, scan: TextScan, position: TextPosition, *, forward: bool, quiet: bool) -> None:
        self._notice_delay.start()
        scan.step(position, forward=forward, on_done=lambda step: self._show_step(step, forward=forward, quiet=quiet))

    def _show_step(self, step: Step | None, *, forward: bool, quiet: bool) -> None:
        if quiet and not self._notice_delay.isActive():
            self.notice.emit("", False)  # it said that the search was still running
        self._notice_delay.stop()
        self._current = step.hit if step is not None else None
        if self._view is not None:
            self._view.show_hit(self._current)
        if step is None and not quiet:
            words = self._sentences
            self.notice.emit(tr(words.missing if self._needle is not None else words.without_word), False)
        elif step is not None and not quiet:
            around = tr("The search continues from the start.") if forward else tr("The search continues from the end.")
            scan = self._found if self._needle is not None else self._marks
            position = "" if self._needle is not None else self._position(scan)  # the find bar shows its own
            message = " · ".join(filter(None, (position, around if step.wrapped else "")))
            if message:
                level = None if self._view is None else self._view.level(step.hit)
                self.notice.emit(message, level is not None and level > _LOW)
        self._count()

    def _position(self, scan: TextScan) -> str:
        """Return "3 of 12" for the framed hit, or only the number of hits if none is framed."""
        hits = scan.hits
        total = f"{number(hits.count)}{'+' if hits.count >= MAX_HITS else ''}{'…' if scan.running else ''}"
        if self._current is None:
            return total
        return tr("{rank:,} of {total}", rank=hits.rank(self._current) + 1, total=total)

    def _restart(self) -> None:
        if self._lines is None or self._query is None:
            self._marks.stop()
        else:
            self._marks.start(self._lines, self._query, near=self._near, most_characters=_OVERVIEW_CHARACTERS)
        self._restart_found()

    def _restart_found(self) -> None:
        self._notice_delay.stop()
        if self._lines is None or self._needle is None:
            self._found.stop()
        else:
            near = self._origin[0] if self._origin is not None else self._near
            self._found.start(self._lines, self._needle, near=near, most_characters=_FIND_CHARACTERS)

    def _show_hits(self) -> None:
        if self._view is not None:
            self._view.show_hits(self._marks.hits, self._found.hits if self._needle is not None else None)
        self._count()

    def _count(self) -> None:
        if self._needle is None:
            self.counted.emit("")
            return
        hits, running = self._found.hits, self._found.running
        if not hits.count:
            self.counted.emit(tr("Searching…") if running else tr("Not found"))
            return
        self.counted.emit(self._position(self._found))
