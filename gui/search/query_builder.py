"""Composes a query from the search box and the controls around it; restores a query and the position in its results."""

from dataclasses import dataclass, field, replace

from PySide6.QtCore import QObject, Signal

from gui.core.workspace import FIRST_RESULTS
from gui.search.filters import Filters
from gui.search.query import Answer, Query, is_searchable
from gui.search.ranking_menu import Ranking, RankingMenu
from gui.search.result_rows import SortOrder
from gui.search.results_view import ResultsView
from gui.search.scope import SearchScope
from gui.widgets.query_box import QueryBox
from gui.widgets.row_list import ListPosition


class QueryBuilder(QObject):
    """Builds a query from the search box, the filters, the scope and the ranking options."""

    query_changed = Signal(str)
    """Another query was entered; empty if there is none."""

    def __init__(
        self, box: QueryBox, filters: Filters, ranking: RankingMenu, scope: SearchScope, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._box = box
        self._filters = filters
        self._ranking = ranking
        self._scope = scope
        self._last_text = ""

    @property
    def has_changed(self) -> bool:
        """Whether the text of the box differs from the last query."""
        return self._box.query != self._last_text

    def query(self, text: str) -> Query:
        """Return a query for this text with all options that are selected."""
        chosen, ranking = self._filters, self._ranking.ranking
        return Query(
            text,
            chosen.sources,
            chosen.days,
            chosen.scope,
            like=self._scope.like,
            within=self._scope.within,
            half_life_days=ranking.half_life_days,
            diverse=ranking.diverse,
            all_workspaces=chosen.everywhere,
        )

    def due(self) -> Query | None:
        """Return the current query; without searchable text in the box, the query that the scope bar shows, or None."""
        query = self.query(self._box.query)
        if is_searchable(query.text) or query.like is not None:
            return query
        return query.within

    def take_due(self) -> Query | None:
        """Return the query of `due` to run it, and remember its text as the last one that was run."""
        self._note(self._box.query)
        return self.due()

    def set_text(self, text: str) -> None:
        """Set the text of the box without starting a search."""
        if text != self._box.query:
            self._last_text = text
            self._box.show_text(text)
            self.query_changed.emit(text)

    def show(self, query: Query) -> None:
        """Set all controls to the options of a query, without searching."""
        self._filters.choose(query.sources, query.days, query.scope)
        self._filters.choose_everywhere(query.all_workspaces)
        if query.half_life_days is not None and query.diverse is not None:
            self._ranking.show(Ranking(query.half_life_days, query.diverse))
        self._scope.show(query)
        self.set_text(query.text)

    def _note(self, text: str) -> None:
        if text != self._last_text:
            self._last_text = text
            self.query_changed.emit(text)


# --- The user's position in the search panel, and returning to it ----------------------------------------------------


@dataclass(frozen=True)
class SearchViewState:
    """A query and the position in its results. Two states are equal if their queries are, whatever is selected."""

    subject: Query | None
    """The query, with the default number of results; None without a query."""
    order: SortOrder
    max_results: int = field(compare=False)
    position: ListPosition | None = field(compare=False)
    """Position in the list of results; None before there are any."""

    @property
    def query(self) -> Query | None:
        return None if self.subject is None else replace(self.subject, max_results=self.max_results)


class ViewStateRestorer:
    """Restores the selected row and scroll position of a query's results once its answer has arrived."""

    def __init__(self, builder: QueryBuilder, view: ResultsView) -> None:
        self._builder = builder
        self._view = view
        self._next: SearchViewState | None = None

    @property
    def view_state(self) -> SearchViewState:
        """The current query, and the user's position in its results."""
        return self.view_state_of(self._builder.due())

    def view_state_of(self, query: Query | None) -> SearchViewState:
        """Return the view state of another query, whose answer may still be shown."""
        answer, order = self._view.answer, self._view.order
        if query is None or answer is None or answer.query.subject != query.subject:
            return SearchViewState(query and query.subject, order, FIRST_RESULTS, None)
        position = self._view.list.position if self._view.has_results else None
        return SearchViewState(query.subject, order, answer.query.max_results, position)

    def go_to(self, target: SearchViewState) -> bool:
        """Restore a position if the shown answer has it, and return True; otherwise the next answer restores it."""
        current = self.view_state
        enough = current == target and current.max_results >= target.max_results and current.position is not None
        if enough and target.position is not None:
            self._view.list.return_to(target.position)
        self._next = None if enough else target
        return enough

    def handle_answer(self, answer: Answer) -> None:
        """Restore the pending position in an answer that is now shown."""
        target, results = self._next, self._view.list
        if target is None or target.position is None or answer.query.subject != target.subject:
            self._next = None
        elif results.chosen:
            self._next = None  # the user chose a row of the keyword-only answer
        elif answer.final or results.rows.position(target.position.current) >= 0:
            self._next = None
            results.return_to(target.position)
