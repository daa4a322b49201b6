"""Says how a question is getting on, in the box and in the list's place: late, half answered, answered, failed."""

from PySide6.QtCore import QObject, Slot

from engine import tr
from gui.search import messages
from gui.search.query import Answer, Query
from gui.search.results_view import ResultsView
from gui.search.search_runner import SearchRunner
from gui.widgets.query_box import QueryBox


class SearchProgress(QObject):
    """Hears the runner; whoever shows an answer tells it here."""

    def __init__(self, runner: SearchRunner, box: QueryBox, view: ResultsView, parent: QObject) -> None:
        super().__init__(parent)
        self._box = box
        self._view = view
        self._late = False
        runner.failed.connect(self._show_failure)
        runner.waiting.connect(self._show_waiting)

    def tell(self, answer: Answer) -> None:
        """This answer is about to be shown."""
        partial = self._late and not answer.final
        self._box.set_state(messages.partial_state(answer.outcome) if partial else messages.box_state(answer.outcome))

    @Slot(object, str)
    def _show_failure(self, question: Query, sentence: str) -> None:
        answer = self._view.answer
        if answer is not None and answer.question.subject == question.subject:
            self._box.set_state(messages.box_state(answer.outcome))
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
        self._box.set_state(messages.partial_state(answer.outcome) if answer and partial else tr(messages.SEARCHING))
        self._view.show_searching()
