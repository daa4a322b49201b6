"""The scope of a query (results of earlier queries, or a passage to find similar ones for), and the bar that shows
it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QWidget

from engine import (
    EarlierResultCount,
    MemorySearchResult,
    Passage,
    SearchOutcome,
    Source,
    all_of,
    cite,
    in_quotes,
    marked,
    shortened,
    tr,
    tr_count,
)
from gui.core.workspace import FIRST_RESULTS
from gui.search.query import Answer, Query
from gui.style.theme import tokens
from gui.style.typography import Resized
from gui.text.excerpt import make_excerpt
from gui.text.right_to_left import margins
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel
from gui.widgets.layouts import column_of, discard, row_of
from gui.widgets.message_banner import paint_bar
from gui.widgets.query_box import QueryBox
from gui.widgets.row_list import GUTTER

_MIN_CHARACTERS = 44
"""Minimum number of characters of a line that shows the location after the text."""
_LOCATION_CHARACTERS = 16
"""Minimum number of characters that the location is cut to."""
_STEP = 12
"""Indent in pixels of a line relative to the scope around it."""


@dataclass(frozen=True)
class Crumb:
    """The contents of one line of the scope bar: text, tooltip and the label of its button."""

    text: str
    tip: str
    leave: str
    """Accessible name of the button that leaves this level of the scope."""
    location: str = ""
    """Location, shown after the text."""


class _Line(Resized, QWidget):
    """A line of the scope bar: text, shortened if there is no room, and a button that is always visible."""

    def __init__(self, depth: int, bar: "ScopeBar") -> None:
        super().__init__(bar)
        self._words = ElidedLabel()
        self._location = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._location.setProperty("role", "meta")
        self.button = IconButton("close", tr("Remove this search limit"))
        self.button.clicked.connect(lambda: bar.left.emit(depth))
        row_of(
            self._words,
            self._location,
            None,
            self.button,
            spacing=8,
            margins=margins(GUTTER + depth * _STEP, 2, GUTTER - 8, 2),
            parent=self,
        )

    def show_crumb(self, crumb: Crumb, *, last: bool) -> None:
        self._words.setText(crumb.text)
        self._location.setText(crumb.location)
        self.fit()
        for words in (self._words, self._location):
            words.set_tip(crumb.tip)
        self.setAccessibleName(crumb.tip)
        self.button.set_accessible(
            crumb.leave, tr("{leave} (Esc in the empty box)", leave=crumb.leave) if last else crumb.leave
        )

    def fit(self) -> None:
        """Hide the location if too little of it fits; the tooltip has it."""
        letter = self.fontMetrics().averageCharWidth()
        self._location.setMinimumWidth(min(self._location.sizeHint().width(), letter * _LOCATION_CHARACTERS))
        self._location.setVisible(bool(self._location.text()) and self.width() >= letter * _MIN_CHARACTERS)


class ScopeBar(QWidget):
    """One line for each level of the scope, with a button to leave it. Hidden while there is no scope."""

    left = Signal(int)
    """Number of the line whose button was pressed, from 0; the lines below it are left too."""

    def __init__(self) -> None:
        super().__init__()
        self._crumbs: tuple[Crumb, ...] = ()
        self._lines: list[_Line] = []
        self._column = column_of(spacing=0, margins=(0, 3, 0, 4), parent=self)
        self.setVisible(False)

    def show_crumbs(self, crumbs: Sequence[Crumb]) -> None:
        """Show these lines, widest scope first; none hides the bar. The button of an unchanged line keeps the focus."""
        if tuple(crumbs) == self._crumbs:
            return
        self._crumbs = tuple(crumbs)
        for line in self._lines[len(crumbs) :]:
            self._column.removeWidget(line)
            discard(line)
        del self._lines[len(crumbs) :]
        for depth in range(len(self._lines), len(crumbs)):
            self._lines.append(_Line(depth, self))
            self._column.addWidget(self._lines[-1])
        for number, (line, crumb) in enumerate(zip(self._lines, crumbs, strict=True), 1):
            line.show_crumb(crumb, last=number == len(crumbs))
        self.setAccessibleName(". ".join(crumb.tip for crumb in crumbs))
        self.setVisible(bool(crumbs))

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_bar(self, tokens(self.palette()).accent_ground)


_LONGEST_QUOTE = 60
_MAX_READ = 1000
_SOURCES: dict[Source, str] = {"memory": marked("notes"), "sessions": marked("sessions")}

_WITHIN = (
    marked("Within the results of “{asked}”"),
    marked("Within the best {count:,} of {total:,} results of “{asked}”"),
    marked("Within the best {count:,} of {total:,}+ results of “{asked}”"),
)
_WITHIN_LIKE = (
    marked("Within the results similar to {asked}"),
    marked("Within the best {count:,} of {total:,} results similar to {asked}"),
    marked("Within the best {count:,} of {total:,}+ results similar to {asked}"),
)
"""Texts for a scope of all results, of the best results, and of the best of an unknown number."""


def like(passage: Passage, words: str) -> Crumb:
    """Make the line for a search for similar passages: "Similar to “The irrigation timer opens…” greenhouse.md"."""
    cited = citation(passage)
    leave = tr("Stop finding similar passages")
    if not words.strip():
        return Crumb(tr("Similar to {passage}", passage=_file(cited)), tr("Similar to {passage}", passage=cited), leave)
    text = tr("Similar to {passage}", passage=quoted(words))
    return Crumb(text, f"{text} · {cited}", leave, _file(cited))


def within(query: Query, count: EarlierResultCount | None, words: str) -> Crumb:
    """Make the line for a search within the results of `query`: "Within 37 results of “irrigation timer”".

    `count`: the number of these results, None if unknown. `words`: the beginning of the passage if `query` searches
    for similar ones.
    """
    if query.like is None:
        text = tip = _within_results(query.text, count, similar=False)
    else:
        cited = citation(query.like)
        passage = quoted(words) if words.strip() else _file(cited)
        text = _within_results(passage, count, similar=True)
        tip = f"{text} · {cited}"
    limits = " · ".join(_limits(query))
    return Crumb(text, f"{tip} ({limits})" if limits else tip, tr("Stop searching within these results"))


def citation(passage: Passage) -> str:
    return cite(passage.path, passage.start_line, passage.end_line)


def quoted(words: str) -> str:
    """Return the beginning of a passage in quotation marks, without Markdown quotation marks (`>`)."""
    return in_quotes(shortened(make_excerpt(words[:_MAX_READ], ()).text, _LONGEST_QUOTE))


def source_names(sources: Iterable[Source] | None) -> str:
    """Return the names of sources, "notes and sessions"; empty if all are searched."""
    return all_of(tr(_SOURCES[source]) for source in sources or ())


def _file(cited: str) -> str:
    """Return the file name of a citation, without folders."""
    return cited.rpartition("/")[2]


def _within_results(query: str, count: EarlierResultCount | None, *, similar: bool) -> str:
    """Return "Within 37 results of …". `query`: a query or, with `similar`, the passage that the results are like."""
    all_of_them, best, best_at_least = _WITHIN_LIKE if similar else _WITHIN
    if count is None:
        return tr(all_of_them, asked=query)
    if count.total > count.passages:
        text = best_at_least if count.total_is_least else best
        return tr(text, count=count.passages, total=count.total, asked=query)
    if similar:
        return tr_count(
            "Within {count:,} result similar to {asked}",
            "Within {count:,} results similar to {asked}",
            count.passages,
            asked=query,
        )
    return tr_count(
        "Within {count:,} result of “{asked}”", "Within {count:,} results of “{asked}”", count.passages, asked=query
    )


def _limits(query: Query) -> tuple[str, ...]:
    limits = (
        source_names(query.sources),
        _changed(query.days) if query.days else "",
        tr("only in “{name}”", name=query.scope.name) if query.scope else "",
        tr("also below the minimum score") if query.min_score == 0 else "",
    )
    return tuple(limit for limit in limits if limit)


def _changed(days: int) -> str:
    return tr_count("changed in the past {count} day", "changed in the past {count} days", days)


MAX_WITHIN = 1000
"""Number of best results within which the engine searches."""
_MAX_ORIGINS = 100


@dataclass(frozen=True)
class _Origin:
    """The start of a search for similar passages: the passage's text, and a function to return."""

    words: str
    """The beginning of the passage."""
    go_back: Callable[[], None]
    """Returns to the earlier query."""


def passage_of(result: MemorySearchResult) -> Passage:
    """Return the passage (path, lines, message) that a result cites."""
    return Passage(
        path=result.path,
        start_line=result.start_line,
        end_line=result.end_line,
        message=None if result.message is None else result.message.ordinal,
    )


class SearchScope(QObject):
    """Holds the current scope of searches and shows it in the bar; the panel reads it for every query."""

    returned = Signal(object)
    """A scope was left: Query to show again, None if the earlier one is unknown."""

    def __init__(self, bar: ScopeBar, box: QueryBox, parent: QObject) -> None:
        super().__init__(parent)
        self._box = box
        self.like: Passage | None = None
        self.within: Query | None = None
        self._counts: tuple[EarlierResultCount, ...] = ()
        self._origins: dict[Passage, _Origin] = {}
        self._bar = bar
        bar.left.connect(self._leave)

    @property
    def active(self) -> bool:
        return self.like is not None or self.within is not None

    def begin_like(self, passage: Passage, words: str, go_back: Callable[[], None]) -> None:
        """Search for passages similar to `passage`; `words` are its beginning, `go_back` runs the earlier query."""
        self._origins.pop(passage, None)
        self._origins[passage] = _Origin(words, go_back)
        if len(self._origins) > _MAX_ORIGINS:
            del self._origins[next(iter(self._origins))]
        self.like = passage
        self._show_crumbs()

    def begin_within(self, query: Query, outcome: SearchOutcome) -> None:
        """Limit further searches to the results of this query; `outcome` is its answer."""
        self.like = None
        self.within = replace(query, max_results=FIRST_RESULTS)
        self._counts = (*outcome.within, _count(outcome))
        self._show_crumbs()

    def end_like(self) -> None:
        """End the search for similar passages without returning to the earlier query."""
        self.like = None
        self._show_crumbs()

    def show(self, query: Query) -> None:
        """Show the scope of a query, without a signal."""
        if query.within != self.within:
            self._counts = ()
        self.like, self.within = query.like, query.within
        self._show_crumbs()

    def handle_answer(self, answer: Answer) -> None:
        """Update the numbers of results in the bar after a new answer, since the index may have changed."""
        if not answer.final or self.within is None:
            return
        if answer.query.within == self.within:
            self._counts = answer.outcome.within
        elif answer.query.subject == self.within.subject:
            self._counts = (*answer.outcome.within, _count(answer.outcome))
        self._show_crumbs()

    def back(self) -> bool:
        """Leave the innermost scope; False if there is none."""
        if not self.active:
            return False
        self._leave(len(self._levels()) - (self.like is None))
        return True

    # --- levels -----------------------------------------------------------------------------------------------------

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

    def _show_crumbs(self) -> None:
        levels = self._levels()
        counts: Sequence[EarlierResultCount | None] = (
            self._counts if len(self._counts) == len(levels) else [None] * len(levels)
        )
        crumbs = [within(level, count, self._words(level.like)) for level, count in zip(levels, counts, strict=True)]
        if self.like is not None:
            crumbs.append(like(self.like, self._words(self.like)))
        self._bar.show_crumbs(crumbs)
        # Short, since the number of results is shown next to it.
        other = tr("Search for other words") if self.like is not None else ""
        self._box.set_hint(tr("Within these results") if self.within is not None else other)

    def _words(self, passage: Passage | None) -> str:
        if passage is None:
            return ""
        origin = self._origins.get(passage)
        return origin.words if origin is not None else passage.text


def _count(outcome: SearchOutcome) -> EarlierResultCount:
    return EarlierResultCount(
        passages=min(outcome.total, MAX_WITHIN), total=outcome.total, total_is_least=outcome.total_is_least
    )
