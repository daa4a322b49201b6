"""The way between the search, its explanation, and what would change an answer."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from engine import SearchRemedy
from gui.explanation.panel import ExplanationPanel
from gui.search.panel import SearchPanel
from gui.shell.dock import Dock


class ExplanationController(QObject):
    """Connects them by their signals; none of them knows another."""

    def __init__(
        self, search: SearchPanel, explanation: ExplanationPanel, dock: Dock, do: Callable[[SearchRemedy], None]
    ) -> None:
        """`do` is what the window can do about an empty answer."""
        super().__init__(explanation)
        search.answer_changed.connect(explanation.show_answer)
        search.result_current.connect(explanation.show_result)
        search.why_wanted.connect(dock.show_explanation)
        search.controller.remedy_wanted.connect(do)
        explanation.wanted.connect(search.controller.explain)
        explanation.left.connect(search.focus_results)
        explanation.close_wanted.connect(search.focus_results)
