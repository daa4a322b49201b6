"""The chips next to the search box: source, time and the workspace."""

from collections.abc import Set

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QMenu, QWidget

from engine import Source, folder_name, marked, shortened, tr, tr_count
from gui.core.capabilities import Gate, capabilities, why_missing
from gui.search.query import Scope
from gui.text.plain_text import set_tip
from gui.widgets.form_controls import Chip
from gui.widgets.layouts import row_of

SOURCES: tuple[tuple[str, str, tuple[Source, ...] | None], ...] = (
    (marked("All"), marked("Search all sources"), None),
    (marked("Notes"), marked("Search notes only"), ("memory",)),
    (marked("Sessions"), marked("Search sessions only"), ("sessions",)),
)
"""Label of the chip, and its filter."""
PERIODS: tuple[tuple[str, str, int | None], ...] = (
    (marked("Any time"), marked("any time"), None),
    (marked("Past week"), marked("past week"), 7),
    (marked("Past month"), marked("past month"), 30),
    (marked("Past year"), marked("past year"), 365),
)
"""Label of the chip, label within a sentence, and number of days."""
_NONE_INDEXED: dict[Source, str] = {
    "memory": marked("No notes are indexed."),
    "sessions": marked("No sessions are indexed."),
}
LONGEST_NAME = 24


def period(days: int | None) -> str:
    """Return the label of a time filter: 30 -> "Past month"."""
    known = next((words for words, _, known in PERIODS if known == days), "")
    return tr(known) or tr_count("Past {count} day", "Past {count} days", days or 0)


def period_within(days: int | None) -> str:
    """Return the label of a time filter within a sentence: 30 -> "past month"."""
    known = next((words for _, words, known in PERIODS if known == days), "")
    return tr(known) or tr_count("past {count} day", "past {count} days", days or 0)


def _changed(days: int | None) -> str:
    return tr("Changed: {period}", period=period_within(days))


class Filters(QWidget):
    """The filter chips of a search (source, time, scope, workspace); `changed` is emitted when the user changes one."""

    changed = Signal()
    everywhere_chosen = Signal(bool)
    """Whether all workspaces are searched from now on, or only the open one."""
    workspace_menu_requested = Signal(QMenu)
    """The workspace's menu is about to open, empty: the owner of the workspace fills it."""

    def __init__(self) -> None:
        super().__init__()
        self.sources: tuple[Source, ...] | None = None
        self.days: int | None = None
        self.scope: Scope | None = None
        self.everywhere = False
        self._folder = ""
        row = row_of(spacing=8, parent=self)
        self._scope_chip = Chip("", yields=True)
        self._scope_chip.clicked.connect(self._leave_scope)
        row.addWidget(self._scope_chip)
        self._source_chips = self._make_source_chips(row)
        self._period_chip = self._make_period_chip(row)
        menu = QMenu(self)
        menu.aboutToShow.connect(self._open_workspace_menu)
        self._workspace_chip = Chip(tr("Workspace"), menu, yields=True, symbol="folder")
        self._workspace_menu = menu
        row.addWidget(self._workspace_chip)
        for chip in (self._scope_chip, self._source_chips[0], self._period_chip):
            Gate(chip, "filters")
        self._source_gates = [Gate(chip, "filters") for chip in self._source_chips[1:]]
        capabilities().changed.connect(self._follow_features)
        self.show_workspace("")
        self.show_indexed(frozenset())
        self.set_scope(None)

    def set_scope(self, scope: Scope | None) -> None:
        """Limit the search to one file or session, None for no limit, without a signal; its chip removes the limit."""
        self.scope = scope
        name = scope.name if scope else ""
        short = shortened(name, LONGEST_NAME)
        self._scope_chip.setText(tr("Only in “{name}” ×", name=short))
        self._scope_chip.setShortcut(QKeySequence())
        tip = tr("Only {path} is searched: press to search everything", path=scope.path) if scope else ""
        set_tip(self._scope_chip, tip)
        self._scope_chip.setAccessibleName(tr("Searching only in {name}. Activate to search everything.", name=name))
        self._scope_chip.setChecked(True)
        self._scope_chip.setVisible(scope is not None)
        self._scope_chip.updateGeometry()

    @Slot()
    def _follow_features(self) -> None:
        """Remove all filters if the memory cannot filter at all."""
        if why_missing("filters"):
            self.choose(None, None, None)

    def choose(self, sources: tuple[Source, ...] | None, days: int | None, scope: Scope | None) -> None:
        """Select filters of the search without emitting a signal."""
        self.sources = sources
        number = next((number for number, (_, _, known) in enumerate(SOURCES) if known == sources), 0)
        if number:
            self._source_gates[number - 1].allow(True)  # enabled even without files, since the user chose it
        self._source_chips[number].setChecked(True)
        for action in self._periods.actions():
            action.setChecked(action.data() == days)
        self._show_period(days)
        self.set_scope(scope)

    def choose_everywhere(self, everywhere: bool) -> None:
        """Search all workspaces, or only the open one; doesn't emit `changed`."""
        self.everywhere = everywhere
        self.show_workspace(self._folder)
        self.everywhere_chosen.emit(everywhere)

    def show_workspace(self, folder: str) -> None:
        """Show the name of the open workspace in the chip; an empty `folder` means that none is open."""
        self._folder = folder
        if self.everywhere and folder:
            self._workspace_chip.setText(tr("All workspaces"))
            set_tip(self._workspace_chip, tr("All workspaces are searched; {folder} is open", folder=folder))
            self._workspace_chip.setAccessibleName(tr("All workspaces are searched"))
            return
        name = folder_name(folder)
        short = shortened(name, LONGEST_NAME)
        self._workspace_chip.setText(short or tr("No workspace"))
        self._workspace_chip.setShortcut(QKeySequence())  # an ampersand in a folder's name isn't a mnemonic
        set_tip(self._workspace_chip, folder)
        self._workspace_chip.setAccessibleName(tr("Workspace: {name}", name=name) if name else tr("Workspace: none"))

    def show_indexed(self, indexed: Set[Source]) -> None:
        """Disable the chips of sources without indexed files; the chip of notes only if there are sessions."""
        for gate, chip, (source, reason) in zip(
            self._source_gates, self._source_chips[1:], _NONE_INDEXED.items(), strict=True
        ):
            gate.allow(source in (indexed or {"memory"}) or chip.isChecked(), tr(reason))

    def _make_source_chips(self, row: QHBoxLayout) -> list[Chip]:
        group = QButtonGroup(self)
        chips = []
        for number, (name, does, _) in enumerate(SOURCES):
            chip = Chip(tr(name))
            chip.setAccessibleName(tr(does))
            group.addButton(chip, number)
            row.addWidget(chip)
            chips.append(chip)
        chips[0].setChecked(True)
        group.idClicked.connect(self._choose_source)
        return chips

    def _make_period_chip(self, row: QHBoxLayout) -> Chip:
        menu = QMenu(self)
        group = self._periods = QActionGroup(menu)
        for name, _, days in PERIODS:
            action = menu.addAction(tr(name))
            action.setCheckable(True)
            action.setChecked(days is None)
            action.setData(days)
            group.addAction(action)
        group.triggered.connect(self._choose_period)
        chip = Chip(period(None), menu)
        chip.setAccessibleName(_changed(None))
        row.addWidget(chip)
        return chip

    @Slot()
    def _leave_scope(self) -> None:
        self.set_scope(None)
        self.changed.emit()

    @Slot(int)
    def _choose_source(self, number: int) -> None:
        chosen = SOURCES[number][2]
        if chosen != self.sources:
            self.sources = chosen
            self.changed.emit()

    @Slot(QAction)
    def _choose_period(self, action: QAction) -> None:
        if action.data() != self.days:
            self._show_period(action.data())
            self.changed.emit()

    def _show_period(self, days: int | None) -> None:
        self.days = days
        self._period_chip.setText(period(days))
        self._period_chip.setAccessibleName(_changed(days))
        self._period_chip.set_narrows(days is not None)
        self._period_chip.updateGeometry()

    @Slot()
    def _open_workspace_menu(self) -> None:
        self._workspace_menu.clear()
        self.workspace_menu_requested.emit(self._workspace_menu)
