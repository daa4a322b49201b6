"""The user's position in the search panel, and returning to it."""

from dataclasses import dataclass, field, replace

from gui.core.workspace import FIRST_RESULTS
from gui.search.query import Answer, Query
from gui.search.query_composer import QueryComposer
from gui.search.results_view import ResultsView
from gui.search.rows import SortOrder
from gui.widgets.row_list import Place


@dataclass(frozen=True)
class SearchViewState:
    """Equal to another one with the same query, whatever is selected."""

    subject: Query | None
    """None without a query."""
    order: SortOrder
    max_results: int = field(compare=False)
    place: Place | None = field(compare=False)
    """In the list of results; None before there are any."""

    @property
    def question(self) -> Query | None:
        return None if self.subject is None else replace(self.subject, max_results=self.max_results)


class ViewStateRestorer:
    """Scrolls to a position once its answer has arrived."""

    def __init__(self, composer: QueryComposer, view: ResultsView) -> None:
        self._composer = composer
        self._view = view
        self._next: SearchViewState | None = None

    @property
    def view_state(self) -> SearchViewState:
        """The query, and the user's position in its answer."""
        return self.standing_of(self._composer.due())

    def standing_of(self, question: Query | None) -> SearchViewState:
        """The same for another query, whose answer may still be shown."""
        answer, order = self._view.answer, self._view.order
        if question is None or answer is None or answer.question.subject != question.subject:
            return SearchViewState(question and question.subject, order, FIRST_RESULTS, None)
        place = self._view.list.place if self._view.has_results else None
        return SearchViewState(question.subject, order, answer.question.max_results, place)

    def go_to(self, wanted: SearchViewState) -> bool:
        """Return whether the current answer sufficed; otherwise the position is restored when `hear` receives another
        one."""
        shown = self.view_state
        enough = shown == wanted and shown.max_results >= wanted.max_results and shown.place is not None
        if enough and wanted.place is not None:
            self._view.list.return_to(wanted.place)
        self._next = None if enough else wanted
        return enough

    def hear(self, answer: Answer) -> None:
        """An answer is shown."""
        wanted, results = self._next, self._view.list
        if wanted is None or wanted.place is None or answer.question.subject != wanted.subject:
            self._next = None
        elif results.chosen:
            self._next = None  # the user chose a row of the keyword answer
        elif answer.final or results.rows.place(wanted.place.current) >= 0:
            self._next = None
            results.return_to(wanted.place)
