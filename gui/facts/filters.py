"""The chips next to the box of facts: state and category."""

from collections.abc import Iterable
from functools import partial
from typing import Literal

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QMenu, QWidget

from engine import Fact, FactCategory, marked, tr
from gui.facts.wording import CATEGORIES
from gui.widgets.chip import Chip
from gui.widgets.plain_text import set_tip

FactState = Literal["remembered", "waiting", "forgotten"]

_STATES: tuple[tuple[FactState, str, str], ...] = (
    ("remembered", marked("Kept"), marked("Facts for agents")),
    ("waiting", marked("To approve"), marked("Facts that await your approval")),
    ("forgotten", marked("Forgotten"), marked("What can still be put back")),
)
_ANY = marked("Any kind")


def state_of(fact: Fact) -> FactState:
    if fact.forgotten is not None:
        return "forgotten"
    return "waiting" if fact.waiting else "remembered"


class FactFilters(QWidget):
    """The selected filters; `changed` follows each choice of the user."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.state: FactState = "remembered"
        self.category: FactCategory | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        group = QButtonGroup(self)
        self._chips: dict[FactState, Chip] = {}
        for state, words, tip in _STATES:
            chip = Chip(tr(words))
            set_tip(chip, tr(tip))
            chip.setChecked(state == self.state)
            chip.clicked.connect(partial(self._choose_state, state))
            group.addButton(chip)
            row.addWidget(chip)
            self._chips[state] = chip
        menu = QMenu(self)
        menu.aboutToShow.connect(partial(self._fill, menu))
        self._kind = Chip(tr(_ANY), menu, yields=True)
        row.addWidget(self._kind)

    @property
    def narrows(self) -> bool:
        """Whether a kind is chosen."""
        return self.category is not None

    def fits(self, fact: Fact) -> bool:
        return state_of(fact) == self.state and self.category in (None, fact.category)

    def show_counts(self, facts: Iterable[Fact]) -> None:
        """Say how many wait."""
        waiting = sum(state_of(fact) == "waiting" for fact in facts)
        chip = self._chips["waiting"]
        words = tr("To approve ({count:,})", count=waiting) if waiting else tr("To approve")
        if chip.text() != words:
            chip.setText(words)
            chip.updateGeometry()

    def choose(self, state: FactState, category: FactCategory | None) -> None:
        """Select these, without a signal."""
        self.state, self.category = state, category
        self._chips[state].setChecked(True)
        self._kind.setText(tr(_ANY if category is None else CATEGORIES[category]))
        self._kind.set_narrows(category is not None)
        self._kind.updateGeometry()

    @Slot()
    def _choose_state(self, state: FactState) -> None:
        self._choose(state, self.category)

    def _choose(self, state: FactState, category: FactCategory | None) -> None:
        if (state, category) != (self.state, self.category):
            self.choose(state, category)
            self.changed.emit()

    @Slot()
    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        choices: list[tuple[FactCategory | None, str]] = [(None, _ANY), *CATEGORIES.items()]
        for category, words in choices:
            action = menu.addAction(tr(words))
            action.setCheckable(True)
            action.setChecked(category == self.category)
            action.triggered.connect(lambda _=False, category=category: self._choose(self.state, category))
