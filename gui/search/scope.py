"""The scope of queries: earlier results, or a passage to find similar ones for; and the way back from both."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot

from engine import EarlierAnswer, MemorySearchResult, Passage, SearchOutcome, tr
from gui.core.workspace import FIRST_RESULTS
from gui.search import scope_messages as texts
from gui.search.query import Answer, Query
from gui.search.scope_bar import ScopeBar
from gui.widgets.query_box import QueryBox

MOST_WITHIN = 1000
"""Number of best results within which the engine searches."""
_MOST_REMEMBERED = 100


@dataclass(frozen=True)
class _Origin:
    """The origin of a search for similar passages."""

    words: str
    """The beginning of the passage."""
    go_back: Callable[[], None]
    """Returns to the earlier query."""


def passage_of(result: MemorySearchResult) -> Passage:
    """The passage that a result cites."""
    return Passage(
        path=result.path,
        start_line=result.start_line,
        end_line=result.end_line,
        message=None if result.message is None else result.message.ordinal,
    )


class SearchScope(QObject):
    """The scope shown in the bar; the panel reads it for every query."""

    returned = Signal(object)
    """A scope was left: Query to show again, None if the earlier one is unknown."""

    def __init__(self, bar: ScopeBar, box: QueryBox, parent: QObject) -> None:
        super().__init__(parent)
        self._box = box
        self.like: Passage | None = None
        self.within: Query | None = None
        self._counts: tuple[EarlierAnswer, ...] = ()
        self._origins: dict[Passage, _Origin] = {}
        self._bar = bar
        bar.left.connect(self._leave)

    @property
    def active(self) -> bool:
        return self.like is not None or self.within is not None

    def begin_like(self, passage: Passage, words: str, go_back: Callable[[], None]) -> None:
        """Search for passages similar to this one; `words` are its beginning, `go_back` returns to the earlier
        query."""
        self._origins.pop(passage, None)
        self._origins[passage] = _Origin(words, go_back)
        if len(self._origins) > _MOST_REMEMBERED:
            del self._origins[next(iter(self._origins))]
        self.like = passage
        self._tell()

    def begin_within(self, question: Query, outcome: SearchOutcome) -> None:
        """Search within the results of this query from now on; `outcome` is its answer."""
        self.like = None
        self.within = replace(question, max_results=FIRST_RESULTS)
        self._counts = (*outcome.within, _count(outcome))
        self._tell()

    def end_like(self) -> None:
        """Another query replaces it."""
        self.like = None
        self._tell()

    def show(self, question: Query) -> None:
        """Set the scope of this query, without a signal."""
        if question.within != self.within:
            self._counts = ()
        self.like, self.within = question.like, question.within
        self._tell()

    def hear(self, answer: Answer) -> None:
        """Update the counts: the index may have changed."""
        if not answer.final or self.within is None:
            return
        if answer.question.within == self.within:
            self._counts = answer.outcome.within
        elif answer.question.subject == self.within.subject:
            self._counts = (*answer.outcome.within, _count(answer.outcome))
        self._tell()

    def back(self) -> bool:
        """Leave the innermost scope; False if there is none."""
        if not self.active:
            return False
        self._leave(len(self._levels()) - (self.like is None))
        return True

    # --- internals --------------------------------------------------------------------------------------------------

    def _levels(self) -> tuple[Query, ...]:
        return () if self.within is None else (*self.within.levels, self.within)

    @Slot(int)
    def _leave(self, number: int) -> None:
        levels = self._levels()
        if number < len(levels):
            self.returned.emit(levels[number])
        elif self.like is not None and self.like in self._origins:
            self._origins[self.like].go_back()
        elif self.like is not None:
            self.returned.emit(None)

    def _tell(self) -> None:
        levels = self._levels()
        counts: Sequence[EarlierAnswer | None] = (
            self._counts if len(self._counts) == len(levels) else [None] * len(levels)
        )
        crumbs = [
            texts.within(level, count, self._words(level.like)) for level, count in zip(levels, counts, strict=True)
        ]
        if self.like is not None:
            crumbs.append(texts.like(self.like, self._words(self.like)))
        self._bar.show_crumbs(crumbs)
        # Short, since the number of results is shown next to it.
        other = tr("Search for other words") if self.like is not None else ""
        self._box.set_hint(tr("Within these results") if self.within is not None else other)

    def _words(self, passage: Passage | None) -> str:
        if passage is None:
            return ""
        origin = self._origins.get(passage)
        return origin.words if origin is not None else passage.text


def _count(outcome: SearchOutcome) -> EarlierAnswer:
    return EarlierAnswer(
        passages=min(outcome.total, MOST_WITHIN), total=outcome.total, total_is_least=outcome.total_is_least
    )
