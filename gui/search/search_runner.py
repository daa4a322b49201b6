"""Searches while the user types: the newest query wins, keywords answer first, meaning follows.

A newer query cancels the job of the older one, which then reports nothing more.
"""

import math
import time
from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import CancelToken, MemorySearchManager, SearchOutcome
from gui.core.jobs import Jobs, JobSlot
from gui.search.query import Answer, Query, run_query

PAUSE_MS = 80
"""Least time between two queries; the first key after a pause searches immediately, later ones are combined."""
SETTLE_MS = 400
"""Milliseconds without typing before a query is sent to a remote provider: partial words would be billed and
disclosed."""
NOTICE_DELAY_MS = 150
"""Delay before waiting is shown."""
REPEAT_MS = 300
"""Least time between two repeats; the first one after a pause begins immediately, later ones are combined."""
_FIRST_ROWS = 24
"""Rows on a tall screen, whose texts are made before an answer is shown."""
_TEXTS_MS = 300
"""Pause after an answer before the texts of its later results are made: while the user types, most are never shown."""


def _left_of(milliseconds: int, since: float) -> int:
    """Return how many of these milliseconds, counted from the time `since`, remain."""
    return round(max(0.0, milliseconds - (time.monotonic() - since) * 1000))


class SearchRunner(QObject):
    """Runs queries off the GUI thread through `Jobs` and emits their answers; lives on the GUI thread."""

    arrived = Signal(object)
    """Answer that `answered` emits in the next turn of the event loop; slow parts can be prepared in this turn."""
    answered = Signal(object)
    """Answer of a query: a keyword-only one first, then the final one."""
    failed = Signal(object, str)
    """Query that failed, and why, as one sentence."""
    waiting = Signal(bool)
    """True if an answer is late, False when it arrived or was cancelled."""
    idle = Signal()
    """No query is running or due any more."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job, self._texts_job = JobSlot(self, jobs), JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._due: Query | None = None
        self._due_complete_only = False
        self._typing = False
        """Whether the query may be incomplete."""
        self._arrived: Answer | None = None
        self._repeat: Query | None = None
        self._newest: Query | None = None
        """The last query, answered or not."""
        self._started_at = 0.0
        self._repeated_at = -math.inf
        self._waited = False
        self.explaining = False
        """Whether complete answers include an explanation; empty answers always do."""
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._start)
        self._notice_delay = QTimer(self, singleShot=True, interval=NOTICE_DELAY_MS)
        self._notice_delay.timeout.connect(self._report_waiting)
        self._again = QTimer(self, singleShot=True)
        self._again.timeout.connect(self._start_repeat)
        self._next_turn = QTimer(self, singleShot=True, interval=0)
        self._next_turn.timeout.connect(self._show)
        self._resume_timer = QTimer(self, singleShot=True)
        self._resume_timer.timeout.connect(self._job.resume)
        self._texts_pause = QTimer(self, singleShot=True, interval=_TEXTS_MS)
        self._texts_pause.timeout.connect(self._complete)
        self._shown: Answer | None = None
        """The final answer that is shown, until the next query."""

    @property
    def busy(self) -> bool:
        """Whether a query is due or running, including repeats after a change of the index."""
        return self._due is not None or self._is_running or self._repeat is not None

    @property
    def _is_running(self) -> bool:
        return self._job.busy or self._arrived is not None

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self.stop()
        self._manager = manager

    def run_query(self, query: Query, *, immediately: bool = False, complete_only: bool = False) -> None:
        """Run `query` and drop earlier queries; at most one query per `PAUSE_MS` unless `immediately`.

        `complete_only` skips the keyword-only answer, which would show fewer results than the current answer.
        """
        self._cancel()
        if self._manager is None:
            return
        self._due = self._newest = query
        self._due_complete_only = complete_only
        self._typing = not immediately
        self._notice_delay.start()
        self._pause.start(0 if immediately else _left_of(PAUSE_MS, self._started_at))

    def repeat(self, query: Query) -> None:
        """Run `query` again after a change of the index, silently and without a keyword-only answer first.

        If another query is running, that one finishes first and is repeated instead.
        """
        self._repeat = query
        self._plan_repeat()

    def stop(self) -> None:
        """Cancel the query that is due or running."""
        self._cancel()
        self._newest = None
        self.idle.emit()

    def _cancel(self) -> None:
        self._job.cancel()
        self._due = self._repeat = self._arrived = self._shown = None
        self._texts_job.cancel()
        for timer in (self._pause, self._again, self._next_turn, self._resume_timer, self._texts_pause):
            timer.stop()
        self._end_waiting()

    @Slot()
    def _start(self) -> None:
        query, self._due = self._due, None
        if query is not None:
            if not self._due_complete_only:
                self._started_at = time.monotonic()
            self._run(query, complete_only=self._due_complete_only)

    @Slot()
    def _start_repeat(self) -> None:
        if self._is_running or self._due is not None:
            return  # runs after the current query's answer, which may predate the change
        query, self._repeat = self._repeat, None
        query = query and (self._newest or query)
        if query is not None and self._manager is not None:
            self._repeated_at = time.monotonic()
            self._run(query, complete_only=True)

    def _plan_repeat(self) -> None:
        if self._repeat is not None and not self._again.isActive():
            self._again.start(_left_of(REPEAT_MS, self._repeated_at))

    def _run(self, query: Query, *, complete_only: bool) -> None:
        manager, explained = self._manager, self.explaining
        assert manager is not None

        def work(token: CancelToken, pass_on: Callable[[Answer], None]) -> Answer:
            def on_keywords(outcome: SearchOutcome) -> None:
                pass_on(Answer(query, outcome, final=False).make_texts(token, _FIRST_ROWS))

            # An empty answer is always explained.
            first = None if complete_only else on_keywords
            outcome = run_query(manager, query, explain=explained or "if empty", cancel=token, on_keywords=first)
            return Answer(query, outcome, True, explained).make_texts(token, _FIRST_ROWS)

        def on_error(sentence: str) -> None:
            self._end_waiting()
            self.failed.emit(query, sentence)
            self._end_query()

        self._job.replace(self._jobs.read_twice(work, self._prepare, self._prepare, on_error))

    def _prepare(self, answer: Answer) -> None:
        self._arrived = answer
        self.arrived.emit(answer)
        self._next_turn.start()

    @Slot()
    def _show(self) -> None:
        answer, self._arrived = self._arrived, None
        if answer is None:
            return
        if answer.final:
            self._end_waiting()
        else:
            # Delayed until the keyword answer is painted: painting next to a search takes twice as long.
            self._resume_timer.start(SETTLE_MS if self._typing and answer.outcome.remote else 0)
        self.answered.emit(answer)
        if answer.final:
            self._shown = answer
            self._texts_pause.start()
            self._end_query()

    @Slot()
    def _complete(self) -> None:
        """Make the texts of later results, which scrolling would otherwise make on the GUI thread.

        If no result has a word of the query, the transcripts are read first: texts of tools may have them.
        """
        shown, manager = self._shown, self._manager
        if shown is None or manager is None:
            return

        def work(token: CancelToken) -> Answer:
            answer = shown
            if shown.outcome.similar_only and not (shown.outcome.remedies or shown.explained):
                outcome = run_query(manager, shown.query, explain="if weak", cancel=token, on_keywords=None)
                answer = replace(shown, outcome=outcome) if outcome.remedies else shown
            return answer.make_texts(token)

        self._texts_job.read(work, lambda answer: None if answer is shown else self._prepare(answer))

    def _end_query(self) -> None:
        self._plan_repeat()
        if not self.busy:
            self.idle.emit()

    @Slot()
    def _report_waiting(self) -> None:
        self._waited = True
        self.waiting.emit(True)

    def _end_waiting(self) -> None:
        self._notice_delay.stop()
        if self._waited:
            self._waited = False
            self.waiting.emit(False)
