"""All findings, one below the other: what needs attention first, the rest in the order of the look."""

from collections.abc import Iterable
from itertools import pairwise

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from engine import HealthFinding
from gui.index.health.finding_row import FindingRow


class FindingsList(QFrame):
    """A row keeps its place while its state does.

    Signals:
        repair_wanted: id of a finding.
    """

    repair_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._rows: dict[str, FindingRow] = {}
        self._found: dict[str, HealthFinding] = {}
        self._repairable = True
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 4, 0, 4)
        self._column.setSpacing(0)
        self.hide()

    @property
    def findings(self) -> tuple[HealthFinding, ...]:
        """As they are shown, from the top."""
        return tuple(sorted(self._found.values(), key=self._place))

    def put(self, finding: HealthFinding) -> None:
        """Show it, in the place of what was found before of the same matter."""
        row = self._rows.get(finding.id)
        if row is None:
            row = self._rows[finding.id] = FindingRow()
            row.repair_wanted.connect(self.repair_wanted)
        self._found[finding.id] = finding
        row.show_finding(finding, repairable=self._repairable)
        place = self.findings.index(finding)
        if self._column.indexOf(row) != place:
            self._column.removeWidget(row)
            self._column.insertWidget(place, row)
            self._order_keys()
        row.show()
        self.show()

    def keep(self, ids: Iterable[str]) -> None:
        """Take away what was not found again."""
        for gone in self._rows.keys() - set(ids):
            row = self._rows.pop(gone)
            del self._found[gone]
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.setVisible(bool(self._rows))

    def set_repairable(self, repairable: bool) -> None:
        """Whether a repair can be begun now."""
        self._repairable = repairable
        for id_, row in self._rows.items():
            row.show_finding(self._found[id_], repairable=repairable)

    def _place(self, finding: HealthFinding) -> tuple[bool, int]:
        return finding.state == "fine", list(self._rows).index(finding.id)

    def _order_keys(self) -> None:
        """Tab goes from row to row as they stand."""
        buttons = [self._rows[finding.id].button for finding in self.findings]
        for first, second in pairwise(buttons):
            QWidget.setTabOrder(first, second)
