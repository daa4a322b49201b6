"""Looks a text through in the background, in short jobs, so that it can change its mind at any time."""

import time
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import QObject, Signal

from engine import CancelToken
from gui.core.jobs import Job, Jobs
from gui.viewer.lines import Lines, Place
from gui.viewer.matches import BLOCK, Finder, Hit, MatchMap, Step, Unknown, block_of

_SHIFT = 0.1
"""Seconds that one job works before it reports."""
MOST_HITS = 20_000

Found = list[tuple[int, list[Hit]]]
OnStep = Callable[[Step | None], None]


class TextScan(QObject):
    """The hits of one text for one finder, found near the reader first.

    Signals:
        changed: more hits are known, or the looking has ended.
    """

    changed = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job: Job | None = None
        self._lines: Lines | None = None
        self._finder: Finder | None = None
        self._near = 0
        self._left = 0
        self._sought: tuple[Place, bool, OnStep] | None = None
        self.hits = MatchMap(0)

    @property
    def active(self) -> bool:
        """Whether there is something to look for."""
        return self._finder is not None

    @property
    def running(self) -> bool:
        return self._job is not None

    def start(self, lines: Lines, finder: Finder, *, near: int, most_characters: int) -> None:
        """Forget what was, and look through at most so many characters, beginning at line `near`."""
        self.stop()
        self._lines, self._finder = lines, finder
        self._near, self._left = block_of(near), most_characters
        self.hits = MatchMap(lines.line_count)
        self._go_on()

    def stop(self) -> None:
        """Forget the text and what was found."""
        self._drop_job()
        self._lines = self._finder = self._sought = None
        self.hits = MatchMap(0)
        self.changed.emit()

    def step(self, place: Place, *, forward: bool, then: OnStep) -> None:
        """Call `then` with the next hit after `place` (or before it), at once or when it has been found."""
        self._sought = place, forward, then
        self._answer()

    def _answer(self) -> None:
        if self._sought is None:
            return
        place, forward, then = self._sought
        step = self.hits.step(place, forward=forward)
        if isinstance(step, Unknown):
            self._drop_job()
            self._look(_order(self.hits, step.block, forward=forward), until_hit=True)
            return
        self._sought = None
        then(step)

    def _go_on(self) -> None:
        """Look through what is left of the part that the overview shows."""
        if self._left > 0 and not self.hits.complete and self.hits.count < MOST_HITS:
            self._look(_order(self.hits, self._near, forward=True), until_hit=False)
        else:
            self.changed.emit()

    def _look(self, blocks: Iterable[int], *, until_hit: bool) -> None:
        lines, finder, left = self._lines, self._finder, self._left
        if lines is None or finder is None:
            return
        self._job = self._jobs.read(
            lambda token: _look_through(lines, finder, blocks, token, left=left, until_hit=until_hit),
            self._merge,
            self._give_up,
        )

    def _merge(self, result: tuple[Found, int]) -> None:
        self._job = None
        found, seen = result
        for block, hits in found:
            self.hits.add(block, hits)
        self._left -= seen
        self.changed.emit()
        self._answer()
        if self._job is None:
            self._go_on()

    def _give_up(self, _sentence: str) -> None:
        """The text cannot be read any more; what was found before stays."""
        self._job = None
        self._left = 0
        if self._sought is not None:
            then, self._sought = self._sought[2], None
            then(None)
        self.changed.emit()

    def _drop_job(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self._job = None


def _order(hits: MatchMap, start: int, *, forward: bool) -> Iterable[int]:
    """Blocks to look through: from `start` on, round the end of the text; those known already left out."""
    count = hits.block_count
    known = {block for block in range(count) if hits.knows(block)}
    turn = (start + step if forward else start - step for step in range(count))
    return (block % count for block in turn if block % count not in known)


def _look_through(
    lines: Lines, finder: Finder, blocks: Iterable[int], token: CancelToken, *, left: int, until_hit: bool
) -> tuple[Found, int]:
    """On a pool thread: the hits of some blocks, and how many characters these had."""
    found: Found = []
    seen = 0
    until = time.monotonic() + _SHIFT
    for block in blocks:
        first = block * BLOCK + 1
        texts = lines.lines(first, first + BLOCK - 1)
        found.append((block, _hits(texts, first, finder, token)))
        seen += sum(map(len, texts)) + len(texts)
        enough = bool(found[-1][1]) if until_hit else seen >= left
        if enough or time.monotonic() > until:
            break
    return found, seen


def _hits(texts: Sequence[str], first: int, finder: Finder, token: CancelToken) -> list[Hit]:
    hits: list[Hit] = []
    for number, text in enumerate(texts, first):
        token.checkpoint()
        hits.extend(Hit(number, start, end) for start, end in finder(text))
    return hits
