"""Combines the box, the chips and the header: which sessions to show, and in which order."""

from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot

from gui.core.session_criteria import Criteria, SessionOrder
from gui.sessions.filter_chips import FilterChips
from gui.sessions.listing_view import ListingView
from gui.sessions.view_state import SessionsViewState
from gui.widgets.query_box import QueryBox


class FilterController(QObject):
    """The criteria, as changed by the user."""

    narrowed = Signal()
    """Other sessions are requested."""
    arranged = Signal(bool)
    """The same in another order; with True, the list keeps its position."""

    def __init__(self, box: QueryBox, chips: FilterChips, view: ListingView, parent: QObject) -> None:
        super().__init__(parent)
        self.criteria = Criteria()
        self.box = box
        self.chips = chips
        self._sort_button = view.header.sort_button
        chips.changed.connect(self.read)
        box.left.connect(self._clear_chosen)
        view.order_chosen.connect(self._sort)
        view.parts_wanted.connect(self._show_parts)

    @Slot()
    def read(self) -> None:
        """Read the criteria from the box and the chips."""
        chips = self.chips
        self.criteria = replace(
            self.criteria, text=self.box.query, agent=chips.agent, project=chips.project, period=chips.period
        )
        self.narrowed.emit()

    @Slot()
    def clear(self) -> None:
        """Want all sessions."""
        self.chips.clear()
        self.box.edit.clear()
        self.read()
        self.box.focus()

    def stand(self, path: str) -> SessionsViewState:
        """The criteria, with the session of this path current."""
        return SessionsViewState(self.criteria, self.chips.role, path)

    def return_to(self, standing: SessionsViewState) -> None:
        """Restore these criteria."""
        wanted = standing.criteria
        self.chips.choose(wanted.agent, wanted.project, wanted.period, standing.role)
        self.criteria = replace(self.criteria, order=wanted.order, parts=wanted.parts)
        self._sort_button.show_order(wanted.order)
        self.box.show_text(wanted.text)
        self.read()

    @Slot()
    def _clear_chosen(self) -> None:
        """Esc in an empty box: remove the filters for agent, project, time and speaker."""
        if self.chips.narrows:
            self.chips.clear()
            self.read()

    @Slot(str)
    def _sort(self, order: SessionOrder) -> None:
        self.criteria = replace(self.criteria, order=order)
        self.arranged.emit(False)

    @Slot(bool)
    def _show_parts(self, shown: bool) -> None:
        self.criteria = replace(self.criteria, parts=shown)
        self.arranged.emit(True)
