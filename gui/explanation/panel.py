"""The explanation next to the results: why the selected result was found, and how the search worked."""

from functools import cached_property

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QWidget

from engine import MemorySearchResult, SearchExplanation, marked, tr
from gui.commands.commands import EXPLAIN, show_key_in_tooltip
from gui.core.capabilities import capabilities, why_missing
from gui.explanation import wording
from gui.explanation.result_view import ResultView
from gui.explanation.tables import StageTable
from gui.search.query import Answer
from gui.text.right_to_left import margins
from gui.widgets.accessibility import insert_after, mark_position, stops
from gui.widgets.buttons import CopyJsonButton
from gui.widgets.icons import IconButton
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import VerticalScrollArea, column_of, row_of
from gui.widgets.placeholder_page import ElidedButton

_GUTTER = 16
_SPACING = 16
_TITLE, _EMPTY_TITLE = marked("Why this result"), marked("Why nothing was found")
_NOTHING = marked("Search for something to see where each score comes from and what each stage of the search did.")
_SEARCHING = marked("Searching…")
_UNEXPLAINED = marked("This answer has no explanation.")


class _Content(QWidget):
    """The title with a close button, and below it the explanation."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._answer: Answer | None = None
        self.close_button = IconButton("close", tr("Close the explanation"))
        show_key_in_tooltip(self.close_button, tr("Close the explanation"), EXPLAIN.name)
        self._title = label(tr(_TITLE), "section")
        # From the outermost inwards: Qt applies the style sheet again to all widgets inside one that gets a parent.
        outer = column_of(self._make_head(), spacing=0, parent=self)
        self._scroll = VerticalScrollArea()
        outer.addWidget(self._scroll, 1)
        self._page = QFrame()
        self._page.setProperty("role", "side")
        self._scroll.setWidget(self._page)
        column = column_of(spacing=_SPACING, margins=(_GUTTER, 0, _GUTTER, 14), parent=self._page)
        self._hint = label(tr(_NOTHING), "meta", wrap=True)
        self._of_result = ResultView(self._page)
        self._stages_title = label(tr("How this search worked"), "section", wrap=True)
        self._total = label(role="meta", wrap=True)
        self._stages = StageTable()
        self._note = label(role="meta", wrap=True)
        self.weak = ElidedButton(tr("Show results below the minimum score"))
        self._copy = CopyJsonButton(lambda: self._explanation, tr("Copy the whole explanation of this answer"))
        self._note.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._stages.chosen.connect(lambda row: self._note.setText(breakable(row.description) if row else ""))
        column.addWidget(self._hint)
        column.addWidget(self._of_result)
        self._of_answer = QWidget(self._page)
        column_of(self._stages_title, self._total, self._stages, self._note, spacing=6, parent=self._of_answer)
        column.addWidget(self._of_answer)
        column.addWidget(self.weak, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._copy, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(1)

    def _make_head(self) -> QWidget:
        head = QFrame()
        head.setProperty("role", "side")
        row_of((self._title, 1), self.close_button, margins=margins(_GUTTER, 10, 8, 10), parent=head)
        return head

    @property
    def _explanation(self) -> SearchExplanation | None:
        return None if self._answer is None else self._answer.outcome.explanation

    def show_explanation(self, answer: Answer | None, result: MemorySearchResult | None, unsupported: str) -> None:
        """Explain a result of an answer; `unsupported` says why explanations aren't supported, empty if they are."""
        self._answer = answer
        explanation = self._explanation
        self._copy.setVisible(explanation is not None)
        self.weak.setVisible(
            answer is not None and answer.query.min_score is None and wording.below_minimum(explanation)
        )
        self._of_answer.setVisible(explanation is not None)
        if answer is None or explanation is None:
            self._show_hint(unsupported or self._why_nothing(answer))
            return
        self._title.setText(tr(_TITLE if answer.outcome.results else _EMPTY_TITLE))
        self._show_result(answer, explanation, result)
        outcome = answer.outcome
        self._total.setText(wording.total(explanation, outcome.timings.total, outcome.age))
        self._stages.show_stages(explanation)

    @staticmethod
    def _why_nothing(answer: Answer | None) -> str:
        """Return why there is nothing to explain yet."""
        return tr(_NOTHING if answer is None else _UNEXPLAINED if answer.explained else _SEARCHING)

    def _show_result(self, answer: Answer, explanation: SearchExplanation, target: MemorySearchResult | None) -> None:
        index = self._index(answer, target)
        if index is None:
            self._show_hint("")
            return
        self._hint.hide()
        self._of_result.show()
        self._of_result.show_reason(answer.outcome.results[index], explanation.results[index], answer.outcome)

    @staticmethod
    def _index(answer: Answer, target: MemorySearchResult | None) -> int | None:
        """Return the rank of the selected result, found by its location: its score may have changed."""
        if target is None:
            return None
        lines = (target.path, target.start_line, target.end_line)
        indexes = [
            index
            for index, result in enumerate(answer.outcome.results)
            if (result.path, result.start_line, result.end_line) == lines
        ]
        # A long line is cut into several that share its number.
        same = (index for index in indexes if answer.outcome.results[index].snippet == target.snippet)
        return next(same, indexes[0] if indexes else None)

    def _show_hint(self, hint: str) -> None:
        self._of_result.hide()
        self._hint.setText(hint)
        self._hint.setVisible(bool(hint))


class ExplanationPanel(QWidget):
    """Explains the selected result and the search. Requests explanations only while visible, since they take time."""

    requested = Signal(bool)
    """Whether answers should include an explanation."""
    weak_requested = Signal(bool)
    """Show results below the minimum score."""
    close_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._answer: Answer | None = None
        self._result: MemorySearchResult | None = None
        self._column = column_of(parent=self)
        self._mark = mark_position(self)
        self.setAccessibleName(tr("Why this result"))
        capabilities().changed.connect(self._render)

    @cached_property
    def _content(self) -> _Content:
        content = _Content(self)
        content.close_button.clicked.connect(self.close_requested)
        content.weak.clicked.connect(lambda: self.weak_requested.emit(True))
        self._column.addWidget(content)
        insert_after(self._mark, stops(content))
        content.show()  # the layout would show it only in the next turn of the event loop
        return content

    # --- display ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def show_answer(self, answer: Answer | None) -> None:
        """Show the explanation of an answer; a keyword-only answer is ignored until the complete one arrives."""
        if answer is not None and not answer.final:
            return
        self._answer = answer
        self._render()

    @Slot(object)
    def show_result(self, result: MemorySearchResult | None) -> None:
        """Show the explanation of the selected result."""
        self._result = result
        self._render()

    @Slot()
    def _render(self) -> None:
        if self.isVisible():
            self._content.show_explanation(self._answer, self._result, why_missing("explanation"))

    # --- events -----------------------------------------------------------------------------------------------------

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.requested.emit(True)
        self._render()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self.requested.emit(False)
