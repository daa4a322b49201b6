"""Combines the search box, filter chips and sort button into criteria: which sessions to list, in which order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial

from PySide6.QtCore import QDate, QObject, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QDateEdit, QDialog, QDialogButtonBox, QFormLayout, QHBoxLayout, QMenu, QWidget

from engine import folder_name, marked, number, shortened, tr
from gui.core.capabilities import Gate
from gui.core.session_criteria import ANY_TIME, PERIODS, Criteria, Period, Role, SessionOrder, day_period, month_period
from gui.sessions.listing_view import ListingView
from gui.sessions.session_catalog import Choice, SessionCatalog
from gui.text.formatting import short_days
from gui.text.plain_text import set_tip
from gui.text.session_texts import agent_name
from gui.widgets.form_controls import Chip
from gui.widgets.labels import label
from gui.widgets.layouts import row_of
from gui.widgets.query_box import QueryBox

# --- The user's position in the sessions panel -----------------------------------------------------------------------


@dataclass(frozen=True)
class SessionsViewState:
    """The criteria of the list and its current session.

    Two states are equal if their criteria are, whichever session is selected.
    """

    criteria: Criteria
    role: Role
    path: str = field(compare=False)
    """Path of the current session; empty for none."""


# --- The chips next to the sessions' box: agent, project, time, and speaker of the matching messages -----------------

_ROLE_TEXTS: dict[Role, tuple[str, str]] = {
    "": (marked("Anyone"), marked("Said by anyone")),
    "user": (marked("Me"), marked("Said by me")),
    "assistant": (marked("The agent"), marked("Said by the agent")),
}
"""Each role in the menu and on the chip."""
MAX_PROJECTS = 40
"""A longer menu would leave the screen; a project beyond is found by typing its name."""
LONGEST_NAME = 24


class FilterChips(QWidget):
    """The chips that filter sessions; `changed` is emitted when the user changes one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.agent = ""
        self.project = ""
        self.machine = ""
        self.period = ANY_TIME
        self.role: Role = ""
        self._catalogue: SessionCatalog | None = None
        row = row_of(spacing=8, parent=self)
        self._agent_chip = self._add(row, self._fill_agents)
        self._project_chip = self._add(row, self._fill_projects, yields=True)
        self._machine_chip = self._add(row, self._fill_machines)
        self._machine_chip.hide()
        self._period_chip = self._add(row, self._fill_periods)
        self._role_chip = self._add(row, self._fill_roles)
        set_tip(self._role_chip, tr("Speaker of the words found in a session"))
        for chip in (self._agent_chip, self._project_chip, self._machine_chip, self._period_chip, self._role_chip):
            Gate(chip, "sessions")
        self._show()

    def show_catalogue(self, catalogue: SessionCatalog) -> None:
        """Fill the menus with the agents, projects and months of these sessions."""
        self._catalogue = catalogue
        self._machine_chip.setVisible(bool(catalogue.machines or self.machine))

    @property
    def narrows(self) -> bool:
        """Whether a filter is selected."""
        return bool(self.agent or self.project or self.machine or self.role or self.period.narrows)

    def clear(self) -> None:
        """Remove all filters, without a signal."""
        self.choose(Criteria(), "")

    def choose(self, criteria: Criteria, role: Role) -> None:
        """Set all chips to these filters, without a signal."""
        self.agent, self.project, self.machine = criteria.agent, criteria.project, criteria.machine
        self.period, self.role = criteria.period, role
        self._show()

    def _add(self, row: QHBoxLayout, fill: Callable[[QMenu], None], *, yields: bool = False) -> Chip:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        menu.aboutToShow.connect(partial(self._open, menu, fill))
        chip = Chip("", menu, yields=yields)
        row.addWidget(chip)
        return chip

    @staticmethod
    def _open(menu: QMenu, fill: Callable[[QMenu], None]) -> None:
        for inside in menu.findChildren(QMenu):
            inside.deleteLater()  # `clear` keeps it
        menu.clear()
        fill(menu)

    # --- menus ------------------------------------------------------------------------------------------------------

    def _fill_agents(self, menu: QMenu) -> None:
        self._fill(menu, tr("All agents"), self._catalogue.agents if self._catalogue else (), "agent")

    def _fill_projects(self, menu: QMenu) -> None:
        projects = self._catalogue.projects if self._catalogue else ()
        self._fill(menu, tr("All projects"), projects[:MAX_PROJECTS], "project")

    def _fill_machines(self, menu: QMenu) -> None:
        self._fill(menu, tr("All machines"), self._catalogue.machines if self._catalogue else (), "machine")

    def _fill(self, menu: QMenu, everything: str, choices: Sequence[Choice], attribute: str) -> None:
        chosen = getattr(self, attribute)
        self._offer(menu, everything, not chosen, partial(self._choose, attribute, ""))
        menu.addSeparator()
        for choice in choices:
            words = f"{choice.label.replace('&', '&&')}\t{number(choice.sessions)}"
            tip = choice.value if attribute == "project" else ""
            self._offer(menu, words, chosen == choice.value, partial(self._choose, attribute, choice.value), tip)

    def _fill_periods(self, menu: QMenu) -> None:
        for period in PERIODS:
            self._offer(menu, period.title, period == self.period, partial(self._choose, "period", period))
        months = menu.addMenu(tr("Month"))
        for month, sessions in self._catalogue.months if self._catalogue else ():
            period = month_period(month)
            words = f"{period.title}\t{number(sessions)}"
            self._offer(months, words, period == self.period, partial(self._choose, "period", period))
        months.setEnabled(not months.isEmpty())
        menu.addAction(tr("Between two days…")).triggered.connect(self._choose_days)

    def _fill_roles(self, menu: QMenu) -> None:
        for role, (words, _) in _ROLE_TEXTS.items():
            self._offer(menu, tr(words), role == self.role, partial(self._choose, "role", role))

    @staticmethod
    def _offer(menu: QMenu, words: str, chosen: bool, choose: Callable[[], None], tip: str = "") -> None:
        action = menu.addAction(words)
        action.setCheckable(True)
        action.setChecked(chosen)
        set_tip(action, tip)
        action.triggered.connect(lambda _checked: choose())

    # --- selection --------------------------------------------------------------------------------------------------

    def _choose(self, attribute: str, value: object) -> None:
        if getattr(self, attribute) != value:
            setattr(self, attribute, value)
            self._show()
            self.changed.emit()

    @Slot()
    def _choose_days(self) -> None:
        first, last = self.period.bounds(date.today()) if self.period.narrows else (None, None)
        dialog = DaysDialog(first, None if last == date.max else last, self)
        dialog.accepted.connect(lambda: self._choose("period", dialog.period()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _show(self) -> None:
        agent = agent_name(self.agent) if self.agent else tr("All agents")
        project = folder_name(self.project) or tr("All projects")
        machine = self.machine or tr("All machines")
        role, chip_text = (tr(words) for words in _ROLE_TEXTS[self.role])
        for chip, words, narrows, accessible_name in (
            (self._agent_chip, agent, self.agent, tr("Agent: {name}", name=agent)),
            (self._project_chip, project, self.project, tr("Project: {name}", name=project)),
            (self._machine_chip, machine, self.machine, tr("Machine: {name}", name=machine)),
            (self._period_chip, self.period.title, self.period.narrows, tr("Time: {period}", period=self.period.title)),
            (self._role_chip, chip_text, self.role, tr("Said by: {role}", role=role)),
        ):
            chip.setText(shortened(words, LONGEST_NAME))
            chip.setShortcut(QKeySequence())  # an ampersand in a folder's name isn't a mnemonic
            chip.setAccessibleName(accessible_name)
            chip.set_narrows(bool(narrows))
            chip.updateGeometry()
        set_tip(self._project_chip, self.project)


class DaysDialog(QDialog):
    """A dialog that asks for the first and the last day of a period, in any order."""

    def __init__(self, first: date | None, last: date | None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Between two days"))
        today = date.today()
        self._first = self._edit(first or today.replace(day=1), tr("First day"))
        self._last = self._edit(last or today, tr("Last day"))
        form = QFormLayout(self)
        form.setContentsMargins(16, 16, 16, 16)
        for name, edit in ((tr("From"), self._first), (tr("To"), self._last)):
            named = label(name)
            named.setBuddy(edit)
            form.addRow(named, edit)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        form.addRow(buttons)

    def period(self) -> Period:
        """The period of days that the user selected."""
        first, last = sorted((self._day(self._first), self._day(self._last)))
        return Period(short_days(first, last), first=first, last=last)

    @staticmethod
    def _edit(day: date, name: str) -> QDateEdit:
        edit = QDateEdit(QDate(day.year, day.month, day.day))
        edit.setCalendarPopup(True)
        edit.setDisplayFormat(tr("d MMM yyyy"))
        edit.setAccessibleName(name)
        return edit

    @staticmethod
    def _day(edit: QDateEdit) -> date:
        chosen = edit.date()
        return date(chosen.year(), chosen.month(), chosen.day())


# ---------------------------------------------------------------------------------------------------------------------


class FilterController(QObject):
    """Stores the criteria of the session list, and changes them when the user edits the box or a chip."""

    narrowed = Signal()
    """The criteria have changed."""
    order_changed = Signal(bool)
    """The order has changed, or which sub-agents are listed; True if the list should keep its position."""

    def __init__(self, box: QueryBox, chips: FilterChips, view: ListingView, parent: QObject) -> None:
        super().__init__(parent)
        self.criteria = Criteria()
        self.box = box
        self.chips = chips
        self._sort_button = view.header.sort_button
        self._sub_agents_action = view.show_sub_agents
        chips.changed.connect(self.read)
        box.edit.left.connect(self._clear_chosen)
        view.header.sort_button.order_chosen.connect(self._sort)
        view.sub_agents_requested.connect(self._show_sub_agents)
        view.calendar.day_chosen.connect(self._choose_day)
        self._show_order()

    @Slot()
    def read(self) -> None:
        """Read the criteria from the box and the chips."""
        chips = self.chips
        self.criteria = replace(
            self.criteria,
            text=self.box.query,
            agent=chips.agent,
            project=chips.project,
            machine=chips.machine,
            period=chips.period,
        )
        self._show_order()
        self.narrowed.emit()

    @Slot()
    def clear(self) -> None:
        """Reset search text and filters of the session list."""
        self.chips.clear()
        self.box.edit.clear()
        self.read()
        self.box.focus()

    def search(self, query: str) -> None:
        """Replace the text in the search box, and list the sessions that match."""
        self.box.show_text(query)
        self.read()
        self.box.focus()

    def make_view_state(self, path: str) -> SessionsViewState:
        """Return the view state of the current criteria, with the session `path` as the current one."""
        return SessionsViewState(self.criteria, self.chips.role, path)

    def return_to(self, target: SessionsViewState) -> None:
        """Restore the criteria of a view state."""
        criteria = target.criteria
        self.chips.choose(criteria, target.role)
        self.criteria = replace(
            self.criteria,
            order=criteria.order,
            found_order=criteria.found_order,
            show_sub_agents=criteria.show_sub_agents,
        )
        self._sub_agents_action.setChecked(criteria.show_sub_agents)
        self.box.show_text(criteria.text)
        self.read()

    @Slot()
    def _clear_chosen(self) -> None:
        """Handle Esc in an empty box: remove the filters for agent, project, machine, time and speaker."""
        if self.chips.narrows:
            self.chips.clear()
            self.read()

    @Slot(object)
    def _choose_day(self, day: date) -> None:
        """List only the sessions of this day; called again for the same day, list all days."""
        period = ANY_TIME if self.chips.period.only_day == day else day_period(day)
        self.chips.choose(replace(self.criteria, period=period), self.chips.role)
        self.read()

    def choose(self, name: str, value: str) -> None:
        """Set the filter for agent, project, machine or day (2026-02-11), or add one for a model to the search text."""
        if name == "model":
            named = f'model:"{value}"'
            self.search(self.box.query if named in self.box.query else f"{self.box.query} {named}".strip())
            return
        changed = {"period": day_period(date.fromisoformat(value))} if name == "day" else {name: value}
        self.chips.choose(replace(self.criteria, **changed), self.chips.role)
        self.read()

    @Slot(str)
    def _sort(self, order: SessionOrder) -> None:
        if self.criteria.ranked:
            self.criteria = replace(self.criteria, found_order=order)
        else:
            self.criteria = replace(self.criteria, order=order)
        self.order_changed.emit(False)

    def _show_order(self) -> None:
        self._sort_button.offer("relevance", self.criteria.ranked)
        self._sort_button.show_order(self.criteria.effective_order)

    @Slot(bool)
    def _show_sub_agents(self, shown: bool) -> None:
        self.criteria = replace(self.criteria, show_sub_agents=shown)
        self.order_changed.emit(True)
