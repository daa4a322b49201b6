"""Variants of the answered query: more results, weak matches, with explanation, or without its limits."""

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from engine import SearchRemedy
from gui.search.query import Answer
from gui.search.remedies import remedied
from gui.search.results_view import ResultsView
from gui.search.search_runner import SearchRunner

GROWTH = 4
"""Factor by which each "show more" increases the number of results."""


class QueryVariants(QObject):
    """Each runs in one step, without a keyword-only answer first."""

    meant = Signal(str)
    """Another text to ask in place of the one in the box."""
    other_wanted = Signal(object)
    """The query without its limits."""
    remedy_wanted = Signal(object)
    """SearchRemedy of an empty answer that another query can't provide."""

    def __init__(self, runner: SearchRunner, view: ResultsView, parent: QObject) -> None:
        super().__init__(parent)
        self._runner = runner
        self._view = view
        view.more_wanted.connect(self._ask_for_more)
        view.weak_wanted.connect(self._ask_for_weak)
        view.meant.connect(self.meant)
        view.literal_wanted.connect(self._ask_literally)
        view.remedy_chosen.connect(self._remedy)

    @Slot(bool)
    def explain(self, wanted: bool) -> None:
        """Request explanations from now on; the shown answer is requested again if it has none."""
        self._runner.explaining = wanted
        answer = self._view.answer
        if wanted and answer is not None and answer.final and answer.outcome.explanation is None:
            self._ask()

    def hear(self, answer: Answer) -> None:
        """An answer is shown; it may have been requested before explanations were."""
        if answer.final and self._runner.explaining and not (answer.explained or answer.outcome.explanation):
            self._ask()

    def _ask(self, **changes: Any) -> None:
        if self._view.answer is not None:
            self._runner.ask(replace(self._view.answer.question, **changes), at_once=True, whole=True)

    @Slot()
    def _ask_for_more(self) -> None:
        if self._view.answer is not None:
            self._ask(max_results=self._view.answer.question.max_results * GROWTH)

    @Slot(bool)
    def _ask_for_weak(self, wanted: bool) -> None:
        self._ask(min_score=0.0 if wanted else None)

    @Slot()
    def _ask_literally(self) -> None:
        self._ask(correct=False)

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
            self.other_wanted.emit(other)
