"""The search panel: what the box, the filters and the index say becomes questions, and answers become results.

It owns two widgets that the window places apart: `header` for the top bar and `body` for the left column.
"""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from engine import (
    AskedQuestion,
    MemoryProviderStatus,
    MemorySearchManager,
    MemorySearchResult,
    Passage,
    SearchRemedy,
)
from gui.jobs import Jobs
from gui.search import texts
from gui.search.completion import Completion
from gui.search.filters import Filters
from gui.search.keeping import Keeping
from gui.search.kept_questions import asked, kept
from gui.search.narrowing import Narrowing, passage_of
from gui.search.preview import Preview
from gui.search.query_box import QueryBox
from gui.search.query_help import QueryHelpButton
from gui.search.ranking import Ranking
from gui.search.remedies import remedied
from gui.search.result_actions import ResultActions
from gui.search.results_view import ResultsView
from gui.search.runner import Answer, Question, Scope, SearchRunner, is_searchable
from gui.search.status_reader import StatusReader
from gui.widgets.folding_row import FoldingRow

BOX_LETTERS = 56
"""Where the box cannot have that many, the filters go below it."""
GROWTH = 4
"""Each "show more" asks for so many times the results."""


class SearchPanel(QObject):
    """Everything between a key in the search box and a result for the viewer."""

    result_activated = Signal(object, object)
    """MemorySearchResult and the query: the person wants to go there."""
    result_selected = Signal(object, object)
    """MemorySearchResult and the query: the preview should follow."""
    query_changed = Signal(str)
    workspace_menu_requested = Signal(QMenu)
    """The workspace chip's menu is about to open, empty: fill it."""
    editor_requested = Signal(object)
    """MemorySearchResult to open in the external editor."""
    reveal_requested = Signal(object)
    """MemorySearchResult whose file to show in the file manager."""
    answer_changed = Signal(object)
    """Answer that is shown now, or None where nothing is asked any more."""
    result_current = Signal(object)
    """MemorySearchResult that the list stands on, or None: at once, where the preview waits a moment."""
    why_wanted = Signal()
    """The person wants to see where scores come from."""
    remedy_wanted = Signal(object)
    """SearchRemedy of an empty answer that is not a matter of the question."""
    settled = Signal()
    """Nothing is running or due: what is shown answers the box, and the preview was told."""

    def __init__(self, manager: MemorySearchManager | None, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._status = StatusReader(jobs, self)
        self._late = False
        self._asked = ""
        self._runner = SearchRunner(jobs, self)
        self._box = QueryBox()
        self._completion = Completion(self._box.edit, jobs)
        self._help = QueryHelpButton(jobs)
        self._box.add_button(self._help)
        self._filters = Filters()
        self._view = ResultsView()
        self._preview = Preview(self._view, self)
        self._actions = ResultActions(self._view.list, self)
        self._narrowing = Narrowing(self._view.narrowing_bar, self)
        self.header: QWidget = FoldingRow(self._box, self._filters, BOX_LETTERS)
        self.body = self._view
        self.ranking = self._view.ranking
        self.keeping = Keeping(self._box, self._completion, jobs, self._on_show, self)
        self._view.add_tool(self.keeping.star)
        self._connect()
        self.set_manager(manager)

    def _connect(self) -> None:
        self._runner.answered.connect(self._show_answer)
        self._runner.failed.connect(self._show_failure)
        self._runner.waiting.connect(self._show_waiting)
        self._runner.idle.connect(self._tell_settled)
        self._preview.selected.connect(self.result_selected)
        self._preview.idle.connect(self._tell_settled)
        self._box.text_changed.connect(self._typed)
        self._box.into_list.connect(self.focus_results)
        self._box.accepted.connect(self._accept)
        self._box.meant.connect(self._note)
        self.keeping.wanted.connect(self.show_question)
        self.keeping.picker.closed.connect(self._typed)
        self._help.example_chosen.connect(self._box.insert)
        self._filters.changed.connect(self._ask)
        self._filters.workspace_menu_requested.connect(self.workspace_menu_requested)
        self.ranking.changed.connect(self._ask)
        self._view.order_chosen.connect(self.keeping.refresh)
        self._view.more_wanted.connect(self._ask_for_more)
        self._view.weak_wanted.connect(self._ask_for_weak)
        self._view.why_wanted.connect(self.why_wanted)
        self._view.remedy_chosen.connect(self._remedy)
        self._view.retry_wanted.connect(self._ask)
        self._view.meant.connect(self._ask_what_was_meant)
        results = self._view.list
        results.current_changed.connect(self.result_current)
        results.why_wanted.connect(self.why_wanted)
        self._actions.why_wanted.connect(self.why_wanted)
        results.opened.connect(self._open)
        results.left.connect(self._box.focus)
        results.typed.connect(self._box.type_key)
        self._actions.editor_requested.connect(self.editor_requested)
        self._actions.reveal_requested.connect(self.reveal_requested)
        self._actions.like_wanted.connect(self._look_for_like)
        self._actions.within_wanted.connect(self.search_within)
        self._narrowing.returned.connect(self._return)
        self._box.left.connect(self._narrowing.back)
        self._status.read.connect(self._take_status)
        self._status.idle.connect(self._tell_settled)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """False once `settled` was emitted, until something else is asked."""
        return self._runner.busy or self._preview.busy or self._status.busy

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Search this memory from now on; what is in the box is asked again."""
        self._manager = manager
        self._runner.set_manager(manager)
        self._completion.set_manager(manager)
        self.keeping.set_manager(manager)
        self._box.setEnabled(manager is not None)
        self._view.show_hint(None)
        self._filters.show_workspace("")
        self._filters.set_scope(None)
        self._narrowing.show(Question(""))
        self._status.set_manager(manager)
        self._ask()

    @Slot()
    def focus_box(self) -> None:
        """Go to the search box with its text selected."""
        self._box.focus_all()

    @Slot()
    def focus_results(self) -> None:
        """Go to the results or what can be done without them; else to the box."""
        if self._view.has_results:
            self._view.list.take_focus()
        elif not (self._view.suggestions.take_focus() or self._view.page.take_focus()):
            self._box.focus()

    def search(self, text: str) -> None:
        """Put `text` into the box and search for it at once."""
        self._box.edit.setText(text)
        self._box.remember()
        self._ask()

    @Slot(object)
    def show_question(self, question: AskedQuestion) -> None:
        """Ask one that was kept, with all that was chosen around it."""
        self._box.remember()
        self._view.show_order(question.order)
        self._show(asked(question))
        self._note_shown()

    def search_in(self, scope: Scope, text: str) -> None:
        """Search one file or session alone until its chip is pressed; an empty text leaves the box as it is."""
        self._filters.set_scope(scope)
        if text:
            self.search(text)
        else:
            self._ask()
        self.focus_box()

    def search_like(self, passage: Passage, words: str) -> None:
        """Find what is like this passage, which begins with these words, until its line above the results is left."""
        self._box.remember()
        self._narrowing.begin_like(passage, words, self._question(self._box.query))
        self._put("")
        self._ask()
        self._note_shown()

    @Slot()
    def search_within(self) -> None:
        """Ask the next question among the results on show alone, until their line above the results is left."""
        answer = self._view.answer
        if answer is not None and self._view.has_results:
            self._box.remember()
            self._narrowing.begin_within(answer.question, answer.outcome)
            self._put("")
        self.focus_box()

    def ask_again(self, question: Question) -> None:
        """Ask this, with all that it was asked with, as if a person had chosen it."""
        self._box.remember()
        self._show(question)

    def _show(self, question: Question) -> None:
        self._filters.choose(question.sources, question.days, question.scope)
        if question.half_life_days is not None and question.diverse is not None:
            self.ranking.show(Ranking(question.half_life_days, question.diverse))
        self._narrowing.show(question)
        self._put(question.text)
        self._ask()

    @Slot()
    def refresh(self) -> None:
        """The index changed: count again, and ask the same again without moving anything."""
        self._status.refresh()
        if self._view.answer is not None:
            self._runner.repeat(self._view.answer.question)
        elif self._due() is not None and not self._runner.busy:
            self._ask()  # the last try failed

    # --- asking -----------------------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        if self._box.query != self._asked and not self.keeping.picker.is_open:
            if self._box.query and self._narrowing.like is not None:
                self._narrowing.end_like()
            self._ask(at_once=False)

    @Slot()
    def _ask(self, *, at_once: bool = True) -> None:
        query = self._box.query
        if query != self._asked:
            self._asked = query
            self.query_changed.emit(query)
        question = self._due()
        if self._manager is not None and question is not None:
            self._runner.ask(question, at_once=at_once)
        else:
            self._runner.stop()
            self._box.set_state("")
            self._view.show_hint(self._status.status)
            self.answer_changed.emit(None)
        self.keeping.refresh()

    def _on_show(self) -> AskedQuestion | None:
        """What is asked now, as it is kept."""
        question = self._due()
        return None if question is None else kept(question, self._view.order)

    @Slot(str)
    def _note(self, text: str) -> None:
        """A question that was typed was meant."""
        if is_searchable(text) and not self.keeping.picker.is_open:
            self.keeping.note(kept(self._question(text), self._view.order))

    def _note_shown(self) -> None:
        question = self._on_show()
        if question is not None:
            self.keeping.note(question)

    def _due(self) -> Question | None:
        """What the box and all around it ask; in an empty box it is what the next question is asked within."""
        question = self._question(self._box.query)
        if is_searchable(question.text) or question.like is not None:
            return question
        return None if question.within is None or question.text else question.within

    def _put(self, text: str) -> None:
        """Have this text in the box without asking."""
        if text != self._box.query:
            self._asked = text
            self._box.show_text(text)
            self.query_changed.emit(text)

    def _question(self, text: str) -> Question:
        """This text with all that is chosen around it."""
        chosen, ranking = self._filters, self.ranking.ranking
        return Question(
            text,
            chosen.sources,
            chosen.days,
            chosen.scope,
            like=self._narrowing.like,
            within=self._narrowing.within,
            half_life_days=ranking.half_life_days,
            diverse=ranking.diverse,
        )

    def _ask_variant(self, **changes: Any) -> None:
        """The answered question again with other limits, in one step."""
        if self._view.answer is not None:
            self._runner.ask(replace(self._view.answer.question, **changes), at_once=True, whole=True)

    @Slot()
    def _ask_for_more(self) -> None:
        if self._view.answer is not None:
            self._ask_variant(max_results=self._view.answer.question.max_results * GROWTH)

    @Slot(bool)
    def _ask_for_weak(self, wanted: bool) -> None:
        self._ask_variant(min_score=0.0 if wanted else None)

    @Slot(str)
    def _ask_what_was_meant(self, text: str) -> None:
        self._box.focus()
        self.search(text)

    @Slot(bool)
    def explain(self, wanted: bool) -> None:
        """Let answers come with their explanation from now on; the one on show is asked for again where it has none."""
        self._runner.explaining = wanted
        answer = self._view.answer
        if wanted and answer is not None and answer.final and answer.outcome.explanation is None:
            self._ask_variant()

    @Slot(object)
    def _remedy(self, remedy: SearchRemedy) -> None:
        """Do what would change an empty answer."""
        answer = self._view.answer
        other = None if answer is None else remedied(answer.question, remedy)
        if other is None:
            self.remedy_wanted.emit(remedy)
        elif other.min_score is not None:
            self._ask_for_weak(True)
        else:
            self.focus_box()
            self.ask_again(other)

    @Slot(object)
    def _look_for_like(self, result: MemorySearchResult) -> None:
        self.search_like(passage_of(result), result.snippet)

    @Slot(object)
    def _return(self, question: Question | None) -> None:
        """A line above the results was left."""
        if question is not None:
            self.ask_again(question)
        else:
            self._narrowing.end_like()
            self._ask()

    @Slot()
    def _accept(self) -> None:
        """Enter in the box: open the best result if it answers what stands there, else hurry."""
        answer = self._view.answer
        if answer is not None and answer.question.text == self._box.query and self._view.has_results:
            self._view.list.open_current()
        else:
            self._ask()

    # --- answers ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _show_answer(self, answer: Answer) -> None:
        if not answer.outcome.results and not answer.final:
            return  # the meaning may still find something
        partial = self._late and not answer.final
        self._box.set_state(texts.partial_state(answer.outcome) if partial else texts.box_state(answer.outcome))
        self._narrowing.hear(answer)
        self._view.show_answer(answer)
        self.answer_changed.emit(answer)
        if answer.final and self._runner.explaining and not (answer.explained or answer.outcome.explanation):
            self._ask_variant()  # it was under way when explanations came to be wanted

    @Slot(object, str)
    def _show_failure(self, question: Question, sentence: str) -> None:
        answer = self._view.answer
        if answer is not None and answer.question.subject == question.subject:
            self._box.set_state(texts.box_state(answer.outcome))
            self._view.show_error(sentence, beside_results=True)
        else:
            self._box.set_state("")
            self._view.show_error(sentence, beside_results=False)

    @Slot(bool)
    def _show_waiting(self, waiting: bool) -> None:
        self._late = waiting
        if not waiting:
            return  # what ends the waiting says so itself
        answer = self._view.answer
        partial = answer is not None and not answer.final and answer.question.text == self._box.query
        self._box.set_state(texts.partial_state(answer.outcome) if answer and partial else texts.SEARCHING)
        self._view.show_searching()

    @Slot()
    def _tell_settled(self) -> None:
        if not self.busy:
            self.settled.emit()

    @Slot(object)
    def _open(self, result: MemorySearchResult) -> None:
        self._box.remember()
        self.result_activated.emit(result, self._preview.query)

    # --- the index --------------------------------------------------------------------------------------------------

    @Slot(object)
    def _take_status(self, status: MemoryProviderStatus) -> None:
        self._filters.show_workspace(status.workspace_dir)
        self._filters.show_sessions(available=any(c.source == "sessions" and c.files for c in status.source_counts))
        if self._view.answer is None and not self._runner.busy:
            self._view.show_hint(status)
