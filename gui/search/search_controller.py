"""Runs the query of the search box and its controls, shows the answer, and returns to earlier queries."""

from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import Feature, MemorySearchManager, MemorySearchResult, Passage, QueryRecord, SearchRemedy, tr
from gui.core.capabilities import capabilities, refuse, why_missing
from gui.core.jobs import Jobs
from gui.core.workspace import FIRST_RESULTS
from gui.search import messages
from gui.search.completion import Completion
from gui.search.filters import Filters
from gui.search.messages import remedied
from gui.search.query import Answer, Query, Scope, is_searchable, permitted
from gui.search.query_builder import QueryBuilder, SearchViewState, ViewStateRestorer
from gui.search.result_rows import MoreInFileRow, ResultRow
from gui.search.results_view import ResultsView
from gui.search.saved_search_cache import to_query, to_record
from gui.search.saved_searches import SavedSearchController
from gui.search.scope import SearchScope, passage_of
from gui.search.search_runner import SearchRunner
from gui.widgets.query_box import QueryBox

# --- Variants of the answered query: more results, weak matches, with explanation, or without its limits -------------

GROWTH = 4
"""Factor by which each "show more" increases the number of results."""


class QueryVariants(QObject):
    """Runs variants of the current query: not corrected, without filters, with weak matches, with an explanation.

    These searches run in one step, without a keyword-only answer first.
    """

    other_requested = Signal(object)
    """The query without its limits."""
    remedy_requested = Signal(object)
    """SearchRemedy of an empty answer that another query can't provide."""

    def __init__(self, runner: SearchRunner, view: ResultsView, parent: QObject) -> None:
        super().__init__(parent)
        self._runner = runner
        self._view = view
        view.list.more_requested.connect(self._request_more)
        view.weak_requested.connect(self.show_weak)
        view.suggestions.literal_requested.connect(self._request_literal)
        view.remedy_chosen.connect(self._run_remedy)

    @Slot(bool)
    def explain(self, on: bool) -> None:
        """Turn explanations of answers on or off; if the shown answer has none, its query runs again."""
        self._runner.explaining = on
        answer = self._view.answer
        if on and answer is not None and answer.final and answer.outcome.explanation is None:
            self._rerun()

    def handle_answer(self, answer: Answer) -> None:
        """Run the query again if its answer, now shown, was requested before explanations were turned on."""
        if answer.final and self._runner.explaining and not (answer.explained or answer.outcome.explanation):
            self._rerun()

    def _rerun(self, **changes: Any) -> None:
        if self._view.answer is not None:
            self._runner.run_query(replace(self._view.answer.query, **changes), immediately=True, complete_only=True)

    @Slot()
    def _request_more(self) -> None:
        if self._view.answer is not None:
            self._rerun(max_results=self._view.answer.query.max_results * GROWTH)

    @Slot(bool)
    def show_weak(self, on: bool) -> None:
        """Show results below the minimum score, too, or hide them again."""
        self._rerun(min_score=0.0 if on else None)

    @Slot()
    def _request_literal(self) -> None:
        self._rerun(correct=False)

    @Slot(object)
    def _run_remedy(self, remedy: SearchRemedy) -> None:
        """Run the query of a remedy for an empty answer, or emit the remedy if it is not another query."""
        answer = self._view.answer
        other = None if answer is None else remedied(answer.query, remedy)
        if other is None:
            self.remedy_requested.emit(remedy)
        elif other.min_score is not None:
            self.show_weak(True)
        else:
            self.other_requested.emit(other)


# ---------------------------------------------------------------------------------------------------------------------


class SearchProgress(QObject):
    """Shows in the search box whether a query is waiting, partly answered, answered or has failed."""

    def __init__(self, runner: SearchRunner, box: QueryBox, view: ResultsView, parent: QObject) -> None:
        super().__init__(parent)
        self._box = box
        self._view = view
        self._is_waiting = False
        runner.failed.connect(self._show_failure)
        runner.waiting.connect(self._show_waiting)

    def announce_progress(self, answer: Answer) -> None:
        """Update the state in the box for an answer that is about to be shown."""
        partial = self._is_waiting and not answer.final
        self._box.set_state(messages.partial_state(answer.outcome) if partial else messages.box_state(answer.outcome))

    @Slot(object, str)
    def _show_failure(self, query: Query, sentence: str) -> None:
        answer = self._view.answer
        if answer is not None and answer.query.subject == query.subject:
            self._box.set_state(messages.box_state(answer.outcome))
            self._view.show_error(sentence, above_results=True)
        else:
            self._box.set_state("")
            self._view.show_error(sentence, above_results=False)

    @Slot(bool)
    def _show_waiting(self, waiting: bool) -> None:
        self._is_waiting = waiting
        if not waiting:
            return  # the end of waiting shows another message
        answer = self._view.answer
        partial = answer is not None and not answer.final and answer.query.text == self._box.query
        self._box.set_state(messages.partial_state(answer.outcome) if answer and partial else tr(messages.SEARCHING))
        self._view.show_searching()


class SearchController(QObject):
    """Composes and runs all queries of the search panel; `saved_searches` has the saved and earlier ones."""

    answer_changed = Signal(object)
    """Current Answer, or None without a query."""
    query_visited = Signal(object)
    """SearchViewState: a query to return to."""
    idle = Signal()
    """No query is running or due any more."""

    def __init__(
        self, box: QueryBox, completion: Completion, filters: Filters, view: ResultsView, jobs: Jobs, parent: QObject
    ) -> None:
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._box = box
        self._completion = completion
        self._filters = filters
        self._view = view
        self._runner = SearchRunner(jobs, self)
        self._progress = SearchProgress(self._runner, box, view, self)
        self._scope = SearchScope(view.scope_bar, box, self)
        self.variants = QueryVariants(self._runner, view, self)
        self.builder = QueryBuilder(box, filters, view.ranking, self._scope, self)
        self._view_state = ViewStateRestorer(self.builder, view)
        self._unanswered: QueryRecord | None = None
        """A submitted query, until its answer shows whether it belongs in the history."""
        self.explain = self.variants.explain
        self.saved_searches = SavedSearchController(box, completion, jobs, self._current_record, self)
        self._emptied = QTimer(self, singleShot=True, interval=0)
        """Shows the start page after keys have emptied the box: showing it would make the key's turn too long."""
        self._connect()

    def _connect(self) -> None:
        capabilities().changed.connect(self._follow_features)
        self._emptied.timeout.connect(self._show_no_query)
        self._runner.arrived.connect(self._view.prepare)
        self._runner.answered.connect(self._show_answer)
        self._runner.idle.connect(self.idle)
        self._box.text_changed.connect(self._typed)
        self._completion.changed.connect(self._completed)
        self._box.submitted.connect(self._note)
        self._box.edit.left.connect(self._scope.back)
        self.saved_searches.requested.connect(self.show_query)
        self.saved_searches.picker.closed.connect(self._typed)
        self._filters.changed.connect(self.run_query)
        self._view.ranking.changed.connect(self.run_query)
        self._view.order_chosen.connect(self.saved_searches.refresh)
        self._view.retry_requested.connect(self.run_query)
        self._view.within_button.clicked.connect(self.search_within)
        self._view.suggestions.chosen.connect(self._search_suggestion)
        self._view.start_lists.example_chosen.connect(self._search_suggestion)
        self.variants.other_requested.connect(self._run_variant)
        self._scope.returned.connect(self._go_to_query)

    @property
    def busy(self) -> bool:
        """Whether a query is due or running."""
        return self._runner.busy or self._emptied.isActive() or (self._completion.busy and self.builder.has_changed)

    # --- memory -----------------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory for the next queries and clear the scope; no query is started.

        `reopening`: it belongs to the same folder; the scope stays, and the query is repeated.
        """
        self._manager = manager
        self._runner.set_manager(manager)
        self.saved_searches.set_manager(manager)
        if not reopening:
            self._emptied.stop()
            self._scope.show(Query(""))
        elif manager is not None:
            self._repeat_query()

    def _repeat_query(self) -> None:
        due, answer = self.builder.due(), self._view.answer
        if due is not None and answer is not None and answer.query.subject == due.subject:
            self._runner.repeat(answer.query)
            self.saved_searches.refresh()
        else:
            self.run_query()

    @Slot()
    def _follow_features(self) -> None:
        """Repeat the current query without the features that the memory doesn't support."""
        if why_missing("within") and self._scope.within is not None:
            self._scope.show(replace(self.builder.query(self._box.query), within=None))
        if self._view.answer is not None:
            self.run_query()

    def _refuses(self, feature: Feature) -> bool:
        """Return whether a feature is unsupported, after showing the reason."""
        reason = why_missing(feature)
        if reason:
            refuse(self._box, reason)
        return bool(reason)

    # --- queries ----------------------------------------------------------------------------------------------------

    @Slot()
    def run_query(self, *, immediately: bool = True) -> None:
        """Run the current query of the search box and its controls; `immediately`: without a pause for more typing."""
        self._run(self.builder.take_due(), immediately=immediately)

    def search(self, text: str) -> None:
        """Enter `text` in the box and search for it."""
        self._box.edit.setText(text)
        self._box.remember()
        self.run_query()

    @Slot(object)
    def show_query(self, query: QueryRecord) -> None:
        """Run a saved query with all its options."""
        self._box.remember()
        self._view.show_order(query.order)
        self._show(to_query(query))
        self._note_shown()

    def search_in(self, scope: Scope, text: str) -> None:
        """Search in one file or session until its chip is pressed; an empty text leaves the box unchanged."""
        self._filters.set_scope(scope)
        if text:
            self.search(text)
        else:
            self.run_query()
        self._box.focus_all()

    def search_like(self, passage: Passage, words: str) -> None:
        """Find passages similar to `passage`, which begins with `words`, until the line above the results is closed."""
        if self._refuses("similar"):
            return
        self._box.remember()
        before, target = self.builder.query(self._box.query), self.view_state
        has_query = bool(before.text or before.like)
        go_back = partial(self.return_to, target) if has_query else partial(self.run_again, before)
        self._scope.begin_like(passage, words, go_back)
        self.builder.set_text("")
        self.run_query()
        self._note_shown()

    @Slot(object)
    def search_like_result(self, result: MemorySearchResult) -> None:
        """Find passages similar to the passage of a result."""
        self.search_like(passage_of(result), ResultRow(result, 0, "").excerpt.text)

    @Slot(object)
    def search_file(self, row: MoreInFileRow) -> None:
        """Repeat the query in one file only, until the chip of the file is pressed."""
        answer = self._view.answer
        if answer is not None and not self._refuses("filters"):
            self._box.remember()
            scope = Scope(row.path, row.title)
            self._show(replace(answer.query, scope=scope, max_results=FIRST_RESULTS))
            self._note_shown()

    @Slot()
    def search_within(self) -> None:
        """Limit further queries to the current results, until the line above the results is closed."""
        if self._refuses("within"):
            return
        answer = self._view.answer
        if answer is not None and self._view.has_results:
            self._box.remember()
            self._scope.begin_within(answer.query, answer.outcome)
            self.builder.set_text("")
        self._box.focus_all()

    def run_again(self, query: Query) -> None:
        """Run a query with all its options, as if the user had entered it."""
        self._box.remember()
        self._show(query)

    @property
    def everywhere(self) -> bool:
        """Whether all workspaces are searched, or only the open one."""
        return self._filters.everywhere

    def search_everywhere(self, on: bool) -> None:
        """Search all workspaces or, if not `on`, only the open one."""
        if on != self._filters.everywhere:
            self._filters.choose_everywhere(on)
            self.run_query()

    @property
    def view_state(self) -> SearchViewState:
        """The current query, and the user's position in its results."""
        return self._view_state.view_state

    def return_to(self, target: SearchViewState) -> None:
        """Run the query of a view state again, and restore the position in its results."""
        self._emptied.stop()
        query = target.query and permitted(target.query, capabilities().unsupported)
        if self._view_state.go_to(target):
            return
        self._view.show_order(target.order)
        self.builder.show(query or Query(""))
        if query is None or self._manager is None:
            self.run_query()
        else:
            # A keyword-only answer is only useful if no answer is shown yet.
            self._runner.run_query(query, immediately=True, complete_only=self._view.answer is not None)
            self.saved_searches.refresh()

    def repeat(self) -> None:
        """Repeat the query after a change of the index, without moving the list."""
        query = self.builder.due() if self._view.answer is None else self._view.answer.query
        if query is None:
            return
        if self._view.answer is None and not self._runner.busy:
            self.run_query()  # the last attempt failed
        else:
            self._runner.repeat(query)

    def _show(self, query: Query) -> None:
        if query.like is not None and self._refuses("similar"):
            return
        query = permitted(query, capabilities().unsupported)
        self.builder.show(query)
        if query.text or query.like:
            self._run(query)  # keeps the query's minimum score and number of results
        else:
            self.run_query()

    def _run(self, query: Query | None, *, immediately: bool = True) -> None:
        self._emptied.stop()
        if self._manager is not None and query is not None:
            self._runner.run_query(query, immediately=immediately)
        elif immediately:
            self._show_no_query()
        else:
            self._emptied.start()  # first: the panel is busy until the start page is shown
            self._runner.stop()
        self.saved_searches.refresh()

    @Slot()
    def _show_no_query(self) -> None:
        self._runner.stop()
        self._box.set_state("")
        self.answer_changed.emit(None)

    @Slot()
    def _completed(self) -> None:
        """Search when the completion of an operator has opened or closed."""
        self._typed()
        if not self.busy:
            self.idle.emit()

    @Slot()
    def _typed(self) -> None:
        """Search for the edited text, unless the completion of an operator is open: then the results stay."""
        list_open = self.saved_searches.picker.is_open or self._completion.is_open
        if self.builder.has_changed and not list_open:
            if self._box.query and self._scope.like is not None:
                self._scope.end_like()
            self.run_query(immediately=False)

    @Slot(str)
    def _search_suggestion(self, text: str) -> None:
        self._box.focus()
        self.search(text)

    @Slot(object)
    def _run_variant(self, query: Query) -> None:
        self._box.focus_all()
        self.run_again(query)

    @Slot(object)
    def _go_to_query(self, query: Query | None) -> None:
        """Run the earlier query after a line of the scope bar was closed; `query`: None if it is unknown."""
        if query is not None:
            self.run_again(query)
        else:
            self._scope.end_like()
            self.run_query()

    # --- saved queries ----------------------------------------------------------------------------------------------

    def _current_record(self) -> QueryRecord | None:
        """Return the current query in its saved form; None without one."""
        query = self.builder.due()
        return None if query is None else to_record(query, self._view.order)

    @Slot(str)
    def _note(self, text: str) -> None:
        """Remember a query that the user submitted, for the history."""
        if is_searchable(text) and not self.saved_searches.picker.is_open:
            self._record_visit(self.builder.query(text))

    def _note_shown(self) -> None:
        query = self.builder.due()
        if query is not None:
            self._record_visit(query)

    def _record_visit(self, query: Query) -> None:
        self._unanswered = to_record(query, self._view.order)
        if self._view.answer is not None:
            self._record(self._view.answer)
        self.query_visited.emit(self._view_state.view_state_of(query))

    def _record(self, answer: Answer) -> None:
        """Add a submitted query to the history, as it was corrected, once its answer has results."""
        query = self._unanswered
        if query is not None and query == to_record(answer.query, self._view.order):
            if answer.outcome.results:
                self.saved_searches.add_recent(to_record(answer.searched, self._view.order))
            if answer.outcome.results or answer.final:
                self._unanswered = None

    # --- answers ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _show_answer(self, answer: Answer) -> None:
        if not answer.outcome.results and not answer.final:
            return  # the vector search may still find something
        self._progress.announce_progress(answer)
        self._scope.handle_answer(answer)
        self._view.show_answer(answer)
        self._view_state.handle_answer(answer)
        self._record(answer)
        self.answer_changed.emit(answer)
        self.variants.handle_answer(answer)
