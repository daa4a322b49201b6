"""Where a person stands in the search panel, and how they come to stand there again."""

from dataclasses import dataclass, field, replace

from gui.core.workspace import FIRST_RESULTS
from gui.search.query import Answer, Query
from gui.search.query_composer import QueryComposer
from gui.search.results_view import ResultsView
from gui.search.rows import SortOrder
from gui.widgets.row_list import Place


@dataclass(frozen=True)
class SearchViewState:
    """Equal to another one where the same is asked, whatever is looked at."""

    subject: Query | None
    """None where nothing is asked."""
    order: SortOrder
    max_results: int = field(compare=False)
    place: Place | None = field(compare=False)
    """In the list of results; None before there are any."""

    @property
    def question(self) -> Query | None:
        return None if self.subject is None else replace(self.subject, max_results=self.max_results)


class ViewStateRestorer:
    """Goes to a place in the list once its answer is there."""

    def __init__(self, composer: QueryComposer, view: ResultsView) -> None:
        self._composer = composer
        self._view = view
        self._next: SearchViewState | None = None

    @property
    def view_state(self) -> SearchViewState:
        """What is asked, and where in its answer the person is."""
        return self.standing_of(self._composer.due())

    def standing_of(self, question: Query | None) -> SearchViewState:
        """The same for another question, of which the answer may still be on show."""
        answer, order = self._view.answer, self._view.order
        if question is None or answer is None or answer.question.subject != question.subject:
            return SearchViewState(question and question.subject, order, FIRST_RESULTS, None)
        place = self._view.list.place if self._view.has_results else None
        return SearchViewState(question.subject, order, answer.question.max_results, place)

    def go_to(self, wanted: SearchViewState) -> bool:
        """Whether the answer on show was enough; else the place is gone to when `hear` brings another one."""
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
