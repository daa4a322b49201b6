"""The two ranking options in the menu of the sort order: prefer newer results, and diversity."""

from collections.abc import Set
from dataclasses import dataclass, replace

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu

from engine import Feature, tr
from gui.core.capabilities import Gate, capabilities, why_missing
from gui.text.plain_text import set_tip
from gui.widgets.list_header import SortButton

HALF_LIVES = (7.0, 30.0, 90.0, 365.0)
"""Half-lives to choose from, in days; the one of the settings is added."""
USUAL_DAYS = 30.0


@dataclass(frozen=True)
class Ranking:
    """The ranking options of a query: age decay, which can also remove results, and diversity."""

    half_life_days: float = 0.0
    """Days in which dated results lose half of their score; 0 if scores don't depend on age."""
    diverse: bool = False
    """Whether to rank results that repeat others lower."""

    @property
    def words(self) -> tuple[str, ...]:
        """One word for each option that is on."""
        return (*((tr("newer"),) if self.half_life_days else ()), *((tr("varied"),) if self.diverse else ()))

    @property
    def sentences(self) -> tuple[str, ...]:
        """One sentence for each option that is on."""
        days = self.half_life_days
        ages = tr("Dated results lose half of their score every {days:,g} days.", days=days)
        if days == 1:
            ages = tr("Dated results lose half of their score every day.")
        variety = tr("Similar results move down.")
        return (*((ages,) if days else ()), *((variety,) if self.diverse else ()))


def days_text(days: float) -> str:
    """Format a number of days: 30.0 -> "30 days"."""
    return tr("1 day") if days == 1 else tr("{days:,g} days", days=days)


class RankingMenu(QObject):
    """Adds the ranking options to the menu of a sort button, whose label names the active ones."""

    changed = Signal()
    """The user has changed the ranking."""
    default_requested = Signal(object)
    """Ranking to save as the default of this workspace."""

    def __init__(self, button: SortButton) -> None:
        super().__init__(button)
        self._button = button
        self._days = USUAL_DAYS
        self._default = self.ranking = Ranking()
        menu = button.menu()
        menu.addSeparator()
        self._newer = self._option(menu, tr("Prefer newer"), tr("Dated results lose score with their age."))
        self._half_lives = QMenu(menu)
        half_lives = QAction(tr("Half-life"), self)  # a menu's own action loses its wrapper while others list it
        half_lives.setMenu(self._half_lives)
        menu.addAction(half_lives)
        self._group = QActionGroup(self)
        for days in HALF_LIVES:
            self._offer(days)
        self._diverse = self._option(menu, tr("More variety"), tr("Similar results move down."))
        menu.addSeparator()
        self._save_default = QAction(tr("Use this order for all searches"), self)
        menu.addAction(self._save_default)
        set_tip(self._save_default, tr("Saves “Prefer newer” and “More variety” in the settings of this workspace."))
        menu.setToolTipsVisible(True)
        for action in (self._newer, half_lives, self._diverse):
            Gate(action, "ordering")
        self._save_gate = Gate(self._save_default, "ordering")
        capabilities().changed.connect(self._follow_features)
        self._newer.triggered.connect(self._choose_newer)
        self._group.triggered.connect(self._choose_days)
        self._diverse.triggered.connect(self._choose_diverse)
        self._save_default.triggered.connect(lambda: self.default_requested.emit(self.ranking))
        self._show()

    def set_default(self, ranking: Ranking, *, reset: bool) -> None:
        """Set the ranking of the settings; select it if `reset`, or if the user has not chosen another one."""
        untouched = self.ranking == self._default
        self._default = ranking
        self.show(ranking if reset or untouched else self.ranking)

    @Slot(object)
    def _follow_features(self, features: Set[Feature]) -> None:
        """Select the default ranking, or plain relevance if the memory doesn't support ranking options."""
        if "ordering" in features:
            self.show(self._default)

    def show(self, ranking: Ranking) -> None:
        """Select this ranking without a signal, or the default one if ranking options are not supported."""
        self.ranking = Ranking() if why_missing("ordering") else ranking
        self._show()

    def _option(self, menu: QMenu, words: str, tip: str) -> QAction:
        action = QAction(words, self)
        menu.addAction(action)
        action.setCheckable(True)
        set_tip(action, tip)
        return action

    def _show(self) -> None:
        ranking = self.ranking
        self._days = ranking.half_life_days or self._days
        self._newer.setChecked(bool(ranking.half_life_days))
        self._diverse.setChecked(ranking.diverse)
        self._save_gate.allow(ranking != self._default)
        self._offer(self._days)
        for action in self._group.actions():
            action.setChecked(action.data() == ranking.half_life_days)
        self._button.set_extras(ranking.words, " ".join(ranking.sentences))

    def _offer(self, days: float) -> None:
        """Add a half-life in days to the menu, in ascending order, unless the menu has it."""
        known = [action.data() for action in self._half_lives.actions()]
        if days in known:
            return
        action = QAction(days_text(days), self._half_lives)
        action.setCheckable(True)
        action.setData(days)
        self._group.addAction(action)
        behind = [after for after in self._half_lives.actions() if after.data() > days]
        if behind:
            self._half_lives.insertAction(behind[0], action)
        else:
            self._half_lives.addAction(action)

    def _choose(self, ranking: Ranking) -> None:
        if ranking != self.ranking:
            self.show(ranking)
            self.changed.emit()

    @Slot(bool)
    def _choose_newer(self, checked: bool) -> None:
        self._choose(replace(self.ranking, half_life_days=self._days if checked else 0.0))

    @Slot(QAction)
    def _choose_days(self, action: QAction) -> None:
        self._choose(replace(self.ranking, half_life_days=action.data()))

    @Slot(bool)
    def _choose_diverse(self, checked: bool) -> None:
        self._choose(replace(self.ranking, diverse=checked))
