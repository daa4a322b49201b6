"""The search panel: what the box, the filters and the index say becomes questions, and answers become results.

It owns two widgets that the window places apart: `header` for the top bar and `body` for the left column.
"""

from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from engine import AskedQuestion, Feature, MemoryProviderStatus, MemorySearchManager, MemorySearchResult, Passage
from gui.jobs import Jobs
from gui.lacking import Lacks, refuse
from gui.search.asking import permitted
from gui.search.completion import Completion
from gui.search.composer import Composer
from gui.search.filters import Filters
from gui.search.keeping import Keeping
from gui.search.kept_questions import asked, kept
from gui.search.narrowing import Narrowing, passage_of
from gui.search.preview import Preview
from gui.search.progress import AnswerProgress
from gui.search.query_box import QueryBox
from gui.search.query_help import QueryHelpButton
from gui.search.questions import Answer, Question, Scope, is_searchable
from gui.search.result_actions import ResultActions
from gui.search.results_view import ResultsView
from gui.search.returning import Returning, SearchStanding
from gui.search.rows import ResultRow
from gui.search.runner import SearchRunner
from gui.search.status_reader import StatusReader
from gui.search.variants import Variants
from gui.widgets.folding_row import FoldingRow

BOX_LETTERS = 56
"""Where the box cannot have that many, the filters go below it."""


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
    link_wanted = Signal(object)
    """Spot of a result to which a link is to be copied."""
    export_wanted = Signal()
    """The selected results, or all, are to be written to a file."""
    reveal_requested = Signal(object)
    """MemorySearchResult whose file to show in the file manager."""
    answer_changed = Signal(object)
    """Answer that is shown now, or None where nothing is asked any more."""
    result_current = Signal(object)
    """MemorySearchResult that the list stands on, or None: at once, where the preview waits a moment."""
    why_wanted = Signal()
    """The person wants to see where scores come from."""
    meant = Signal(object)
    """SearchStanding: what the person wanted to ask, and may want to come back to."""
    switch_wanted = Signal(object)
    """MemorySearchResult whose workspace is to be opened."""
    remedy_wanted = Signal(object)
    """SearchRemedy of an empty answer that is not a matter of the question."""
    passed_by = Signal()
    """Down in the box while something else has the room of the results."""
    settled = Signal()
    """Nothing is running or due: what is shown answers the box, and the preview was told."""

    def __init__(self, manager: MemorySearchManager | None, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._lacks: Lacks = {}
        self._status = StatusReader(jobs, self)
        self._runner = SearchRunner(jobs, self)
        self._box = QueryBox()
        self._completion = Completion(self._box.edit, jobs)
        self._help = QueryHelpButton(jobs)
        self._box.add_button(self._help)
        self._filters = Filters()
        self._view = ResultsView()
        self._progress = AnswerProgress(self._runner, self._box, self._view, self)
        self._preview = Preview(self._view, self)
        self._actions = ResultActions(self._view.list, self)
        self._narrowing = Narrowing(self._view.narrowing_bar, self._box, self)
        self._variants = Variants(self._runner, self._view, self)
        self.explain = self._variants.explain
        self.header: QWidget = FoldingRow(self._box, self._filters, BOX_LETTERS)
        self.body = self._view
        self.ranking = self._view.ranking
        self._composer = Composer(self._box, self._filters, self.ranking, self._narrowing, self)
        self._returning = Returning(self._composer, self._view)
        self.keeping = Keeping(self._box, self._completion, jobs, self._on_show, self)
        self._view.add_tool(self.keeping.star)
        self._connect()
        self.set_manager(manager)

    def _connect(self) -> None:
        self._runner.answered.connect(self._show_answer)
        self._runner.idle.connect(self._tell_settled)
        self._preview.selected.connect(self.result_selected)
        self._preview.idle.connect(self._tell_settled)
        self._composer.query_changed.connect(self.query_changed)
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
        self._view.why_wanted.connect(self.why_wanted)
        self._variants.remedy_wanted.connect(self.remedy_wanted)
        self._view.retry_wanted.connect(self._ask)
        self._variants.meant.connect(self._ask_what_was_meant)
        self._variants.other_wanted.connect(self._ask_other)
        results = self._view.list
        results.current_changed.connect(self.result_current)
        results.why_wanted.connect(self.why_wanted)
        self._actions.why_wanted.connect(self.why_wanted)
        results.opened.connect(self._open)
        results.left.connect(self._box.focus)
        results.typed.connect(self._box.type_key)
        self._actions.editor_requested.connect(self.editor_requested)
        self._actions.reveal_requested.connect(self.reveal_requested)
        self._actions.link_wanted.connect(self.link_wanted)
        self._actions.export_wanted.connect(self.export_wanted)
        self._actions.like_wanted.connect(self._look_for_like)
        self._actions.switch_wanted.connect(self.switch_wanted)
        self._actions.within_wanted.connect(self.search_within)
        self._view.within_wanted.connect(self.search_within)
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

    @Slot(object)
    def show_lacks(self, lacks: Lacks) -> None:
        """What this memory cannot do from now on: nobody can choose it, and what is asked is asked without it."""
        before, self._lacks = self._lacks, lacks
        for part in (self._filters, self._completion, self._help, self._view):
            part.show_lacks(lacks)
        self._actions.lacks = lacks
        if "narrowing" in lacks and self._narrowing.within is not None:
            self._narrowing.show(replace(self._composer.question(self._box.query), within=None))
        if before.keys() != lacks.keys() and self._view.answer is not None:
            self._ask()

    @Slot()
    def focus_box(self) -> None:
        """Go to the search box with its text selected."""
        self._box.focus_all()

    @Slot()
    def focus_results(self) -> None:
        """Go to the results or what can be done without them; else to the box."""
        if not self._view.isVisible():
            self.passed_by.emit()
        elif self._view.has_results:
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
        if self._refuses("alike"):
            return
        self._box.remember()
        before, standing = self._composer.question(self._box.query), self.standing
        asked = bool(before.text or before.like)
        way_back = partial(self.return_to, standing) if asked else partial(self.ask_again, before)
        self._narrowing.begin_like(passage, words, way_back)
        self._composer.put("")
        self._ask()
        self._note_shown()

    @Slot()
    def search_within(self) -> None:
        """Ask the next question among the results on show alone, until their line above the results is left."""
        if self._refuses("narrowing"):
            return
        answer = self._view.answer
        if answer is not None and self._view.has_results:
            self._box.remember()
            self._narrowing.begin_within(answer.question, answer.outcome)
            self._composer.put("")
        self.focus_box()

    def ask_again(self, question: Question) -> None:
        """Ask this, with all that it was asked with, as if a person had chosen it."""
        self._box.remember()
        self._show(question)

    def _show(self, question: Question) -> None:
        if question.like is not None and self._refuses("alike"):
            return
        question = permitted(question, self._lacks)
        self._composer.show(question)
        if question.text or question.like:
            self._ask_this(question)  # with weak matches, and as many results, as it had
        else:
            self._ask()

    def _refuses(self, feature: Feature) -> bool:
        """Whether this memory cannot do that; then the person is told why."""
        reason = self._lacks.get(feature, "")
        if reason:
            refuse(self._box, reason)
        return bool(reason)

    @property
    def everywhere(self) -> bool:
        """Whether all workspaces are searched, not only the one that is open."""
        return self._filters.everywhere

    def search_everywhere(self, wanted: bool) -> None:
        """Search all workspaces from now on, or only the one that is open."""
        if wanted != self._filters.everywhere:
            self._filters.choose_everywhere(wanted)
            self._ask()

    @property
    def standing(self) -> SearchStanding:
        """What is asked, and where in its answer the person is."""
        return self._returning.standing

    def return_to(self, standing: SearchStanding) -> None:
        """Ask the same again, and go where the person was."""
        question = standing.question and permitted(standing.question, self._lacks)
        if self._returning.go_to(standing):
            return
        self._view.show_order(standing.order)
        self._composer.show(question or Question(""))
        if question is None or self._manager is None:
            self._ask()
        else:
            self._runner.ask(question, at_once=True, whole=True)
            self.keeping.refresh()

    @Slot()
    def refresh(self) -> None:
        """The index changed: count again, and ask the same again without moving anything."""
        self._status.refresh()
        if self._view.answer is not None:
            self._runner.repeat(self._view.answer.question)
        elif self._composer.due() is not None and not self._runner.busy:
            self._ask()  # the last try failed

    # --- asking -----------------------------------------------------------------------------------------------------

    @Slot()
    def _typed(self) -> None:
        if self._composer.has_changed and not self.keeping.picker.is_open:
            if self._box.query and self._narrowing.like is not None:
                self._narrowing.end_like()
            self._ask(at_once=False)

    @Slot()
    def _ask(self, *, at_once: bool = True) -> None:
        self._ask_this(self._composer.take(), at_once=at_once)

    def _ask_this(self, question: Question | None, *, at_once: bool = True) -> None:
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
        question = self._composer.due()
        return None if question is None else kept(question, self._view.order)

    @Slot(str)
    def _note(self, text: str) -> None:
        """A question that was typed was meant."""
        if is_searchable(text) and not self.keeping.picker.is_open:
            self._mean(self._composer.question(text))

    def _note_shown(self) -> None:
        question = self._composer.due()
        if question is not None:
            self._mean(question)

    def _mean(self, question: Question) -> None:
        self.keeping.note(kept(question, self._view.order))
        self.meant.emit(self._returning.standing_of(question))

    @Slot(str)
    def _ask_what_was_meant(self, text: str) -> None:
        self._box.focus()
        self.search(text)

    @Slot(object)
    def _ask_other(self, question: Question) -> None:
        self.focus_box()
        self.ask_again(question)

    @Slot(object)
    def _look_for_like(self, result: MemorySearchResult) -> None:
        self.search_like(passage_of(result), ResultRow(result, 0, "").excerpt.text)

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
        self._progress.tell(answer)
        self._narrowing.hear(answer)
        self._view.show_answer(answer)
        self._returning.hear(answer)
        self.answer_changed.emit(answer)
        self._variants.hear(answer)

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
