"""A page of options: one row each, below the names of their groups."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from engine import tr
from gui.settings.edited_options import SettingsModel
from gui.settings.option_pages import PAGES, OptionPlacement, SettingsPage, options_on
from gui.settings.option_row import OptionRow
from gui.settings.system_setting import SystemRow, SystemSwitch, with_switches
from gui.widgets.labels import label, line
from gui.widgets.scrolling import scrolling_column
from gui.widgets.tab_order import LastInTabOrder

WIDTH = 620
_AT_ONCE = 4


class OptionsPage(QFrame):
    """One page of options, created when first shown; the rows after the first screenful follow in short steps."""

    def __init__(
        self,
        page: SettingsPage,
        model: SettingsModel,
        *,
        above: Sequence[QWidget] = (),
        switches: Sequence[SystemSwitch] = (),
        parent: QWidget | None = None,
    ) -> None:
        """`above`: widgets between title and rows. `switches`: system settings; this page adds its own."""
        super().__init__(parent)
        self.setProperty("role", "page")
        self.model = model
        self._due: list[tuple[OptionPlacement, SystemSwitch | None]] = []
        self._group = ""
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._make_some)
        self.rows: dict[str, OptionRow] = {}
        self.column = QVBoxLayout()
        self.column.setContentsMargins(0, 20, 0, 16)
        self.column.setSpacing(6)
        for widget in (label(tr(PAGES[page]), "title", wrap=True), *above):
            self.column.addWidget(widget)
        self._list = QVBoxLayout()
        self._list.setSpacing(6)
        self.column.addLayout(self._list)
        self.column.addStretch(1)
        self.scroller: QScrollArea = scrolling_column(self.column, WIDTH)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(self.scroller)
        self._due = list(with_switches(options_on(page), switches))
        self._make_some()

    @Slot()
    def _make_some(self) -> None:
        if self._due:
            self._make(_AT_ONCE)
            self._turn.start()  # once more after the last ones, which the layout has shown by then

    def _make(self, number: int) -> None:
        """Create the next `number` rows."""
        now, self._due = self._due[:number], self._due[number:]
        self._end = LastInTabOrder(self)
        for placed, switch in now:
            if placed.group != self._group:
                self._group = placed.group
                self.add_section(self._group)
            if switch is not None:
                self.add_widget(SystemRow(switch))
            else:
                self.add_row(self.make_row(placed))

    def add_row(self, row: OptionRow) -> None:
        """Add a row below the other options."""
        self.rows[row.placed.key] = row
        self.add_widget(row)

    def add_widget(self, widget: QWidget) -> None:
        self._list.addWidget(widget)
        self._end.take(widget)

    def make_row(self, placed: OptionPlacement) -> OptionRow:
        return OptionRow(placed, self.model)

    def add_section(self, title: str) -> None:
        self._list.addSpacing(8)
        self._list.addWidget(line())
        self._list.addWidget(label(tr(title), "section", wrap=True))

    @property
    def ready(self) -> bool:
        """Whether all rows are created and shown."""
        return not self._due and not self._turn.isActive()

    def take_focus(self) -> None:
        """Give the keyboard focus to the first option."""
        next(iter(self.rows.values())).take_focus()

    def show_row(self, key: str) -> None:
        """Scroll to an option and focus its field."""
        self._make(len(self._due))
        row = self.rows[key]
        row.take_focus()
        self.scroller.ensureWidgetVisible(row)

    def complain(self, key: str, sentence: str) -> None:
        row = self.rows.get(key)
        if row is not None:
            row.complain(sentence)

    def stop(self) -> None:
        """Cancel running requests, since the dialog was closed."""

    def save_typed(self) -> None:
        """Save text that is being typed in a field, if it is valid."""
        for row in self.rows.values():
            row.field.commit()
