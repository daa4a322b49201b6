"""The list of health findings: those that need attention first, the rest in the order of the checks."""

from collections.abc import Iterable

from PySide6.QtCore import QEvent, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QWidget

from engine import HealthFinding, marked, tr, tr_count
from gui.style.stylesheet import font_at
from gui.style.typography import Resized
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.text.status_texts import State
from gui.widgets.accessibility import insert_after, stop_before
from gui.widgets.buttons import push_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, discard, row_of
from gui.widgets.state_dot import StateDot

_STATES: dict[str, tuple[State, str]] = {
    "fine": ("fine", marked("Fine")),
    "degraded": ("degraded", marked("Needs attention")),
    "failed": ("degraded", marked("Broken")),
}

_FOLD_SIDE = 7
"""Pixels next to the fold button, whose own padding makes up for the rest of a row's margin."""
_WIDE_CHARACTERS = 110
_NAME_CHARACTERS = 22
_NAME_SHARE = 0.2
"""Share of a wide row for the name, which may be the path of a file."""
_WORD_CHARACTERS = 15
_SCROLL_BAR = 16
"""Pixels that a row must be wider before it is one line again: a row whose height changed may hide or show the scroll
bar, whose width would change the row back, and the two would alternate without end.
"""


class FindingRow(Resized, QWidget):
    """One health finding on one line, or in a narrow window on two, with the detail below the name.

    Signals: repair_requested: id of the finding.
    """

    repair_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._id = ""
        self._dot = StateDot()
        self._name = label("", "strong", wrap=True)
        self._word = label("", "meta")
        self._detail = label("", "muted", wrap=True)
        for wrapped in (self._name, self._detail):  # a long one must not move the columns
            wrapped.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.button = push_button("", lambda: self.repair_requested.emit(self._id))
        self._wide: bool | None = None
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(14, 5, 14, 5)
        self._grid.setHorizontalSpacing(12)
        self._grid.setVerticalSpacing(2)
        self._grid.addWidget(self._dot, 0, 0)
        self.fit()

    def fit(self) -> None:
        """Place name, detail and state side by side if there is room, else in two lines."""
        letter = QFontMetrics(font_at(13)).averageCharWidth()
        wide = self.width() > _WIDE_CHARACTERS * letter + (0 if self._wide else _SCROLL_BAR)
        names = max(_NAME_CHARACTERS * letter, round(_NAME_SHARE * self.width()))
        self._grid.setColumnMinimumWidth(1, names if wide else 0)
        self._grid.setColumnMinimumWidth(2, _WORD_CHARACTERS * letter if wide else 0)
        if wide == self._wide:
            return
        self._wide = wide
        if wide:
            self._grid.addWidget(self._name, 0, 1)
            self._grid.addWidget(self._word, 0, 2)
            self._grid.addWidget(self._detail, 0, 3)
            self._grid.addWidget(self.button, 0, 4)
        else:
            self._grid.addWidget(self._name, 0, 1)
            self._grid.addWidget(self._word, 0, 2)
            self._grid.addWidget(self._detail, 1, 1, 1, 2)
            self._grid.addWidget(self.button, 0, 4, 2, 1)
        self._grid.setColumnStretch(1, 0 if wide else 1)
        self._grid.setColumnStretch(3, 1 if wide else 0)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:
            self.fit()

    def show_finding(self, finding: HealthFinding, *, repairable: bool, refusal: str = "") -> None:
        """Show a finding. `repairable`: whether a repair can be started now; `refusal`: why none can at all."""
        self._id = finding.id
        state, word = _STATES[finding.state]
        self._dot.set_state(state)
        self._word.setText(tr(word))
        self._name.setText(breakable(finding.name))
        detail = " ".join(part for part in (finding.detail, finding.advice) if part)
        self._detail.setText(breakable(detail))
        self.button.setText(finding.repair)
        self.button.setVisible(bool(finding.repair))
        self.button.setEnabled(repairable and not refusal)
        set_tip(self.button, refusal)
        self.button.setAccessibleName(f"{finding.repair}: {finding.name}")
        self.setAccessibleName(f"{finding.name}: {tr(word)}. {detail}")


class FindingsList(QFrame):
    """The list of findings; a row keeps its position while its state is unchanged. Checks that passed are folded.

    Signals: repair_requested: id of a finding.
    """

    repair_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._rows: dict[str, FindingRow] = {}
        self._found: dict[str, HealthFinding] = {}
        self._repairable = self._complete = True
        self._refusal = ""
        self.fold = IconButton("chevron-right", tr("Show passed checks"))
        self.fold.setCheckable(True)
        self.fold.toggled.connect(self._show_fine)
        self._column = column_of(spacing=0)
        folded = row_of(margins=margins(_FOLD_SIDE, 0, 0, 0))
        folded.addWidget(self.fold, 0, Qt.AlignmentFlag.AlignLeft)
        column_of(self._column, folded, spacing=0, margins=(0, 4, 0, 4), parent=self)
        self.hide()

    @property
    def findings(self) -> tuple[HealthFinding, ...]:
        """The findings in the order shown."""
        return tuple(sorted(self._found.values(), key=self._sort_key))

    def show_finding(self, finding: HealthFinding) -> None:
        """Add a finding, replacing the earlier one of the same check."""
        row = self._rows.get(finding.id)
        if row is None:
            row = self._rows[finding.id] = FindingRow()
            row.repair_requested.connect(self.repair_requested)
        self._found[finding.id] = finding
        row.show_finding(finding, repairable=self._repairable, refusal=self._refusal)
        index = self.findings.index(finding)
        if self._column.indexOf(row) != index:
            self._column.removeWidget(row)
            self._column.insertWidget(index, row)
            self._order_keys()
        self._show_fine()
        self.show()

    def retain(self, ids: Iterable[str]) -> None:
        """Remove all findings except those with these ids."""
        for removed in self._rows.keys() - set(ids):
            row = self._rows.pop(removed)
            del self._found[removed]
            self._column.removeWidget(row)
            discard(row)
        self._show_fine()
        self.setVisible(bool(self._rows))

    @Slot()
    def _show_fine(self) -> None:
        """Show the rows of checks that passed, or only their number."""
        passed = [id_ for id_, finding in self._found.items() if finding.state == "fine"]
        for id_, row in self._rows.items():
            row.setVisible(id_ not in passed or self.fold.isChecked())
        shown = self.fold.isChecked()
        action = tr("Hide passed checks") if shown else tr("Show passed checks")
        words = tr_count("{count:,} check passed", "{count:,} checks passed", len(passed))
        repeated = self._complete and len(passed) == len(self._found)  # the summary above shows the same number
        self.fold.setText(action if repeated else words)
        self.fold.set_icon("chevron-down" if shown else "chevron-right")
        self.fold.set_accessible(action if repeated else f"{words}: {action}", action)
        self.fold.setVisible(bool(passed))

    def set_complete(self, complete: bool) -> None:
        """Set whether all checks have ended, so that the summary above names their number."""
        self._complete = complete
        self._show_fine()

    def set_repairable(self, repairable: bool, refusal: str) -> None:
        """Enable or disable the repair buttons. `refusal`: why nothing can be repaired; empty if it can."""
        self._repairable, self._refusal = repairable, refusal
        for id_, row in self._rows.items():
            row.show_finding(self._found[id_], repairable=repairable, refusal=refusal)

    def _sort_key(self, finding: HealthFinding) -> tuple[bool, int]:
        return finding.state == "fine", list(self._rows).index(finding.id)

    def _order_keys(self) -> None:
        """Set the tab order of the buttons to the order of the rows."""
        buttons = [self._rows[finding.id].button for finding in self.findings]
        before = stop_before(self.fold)
        while before in buttons:
            before = stop_before(before)
        insert_after(before, buttons)
