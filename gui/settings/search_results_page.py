"""The results of a search over all options, in rows in which they can be changed."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QSizePolicy, QWidget

from engine import marked, tr, tr_count
from gui.settings.edited_options import SettingsModel
from gui.settings.option_pages import (
    PAGES,
    WITHOUT_ROWS,
    OptionPlacement,
    SettingsPage,
    mark,
    match_rank,
    placed_options,
    whole_page,
    words_of,
)
from gui.settings.option_row import WIDTH, DialogPage, OptionFooter, OptionRow
from gui.settings.system_setting import SystemRow, SystemSwitch, with_switches
from gui.settings.value_formatting import value_text
from gui.widgets.accessibility import LastInTabOrder, announce
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import add_shown, clear_layout, column_of, lay_out_now, scrolling_column

_BATCH_SIZE = 4
NOTHING = marked("No setting matches.")
_WITH_BUTTONS = ("extra_paths", "sessions.folders")
"""Options that have buttons to choose folders on their page, which a plain text field would lack."""


class FormRow(QFrame):
    """A search result for an option that can only be changed on its own page.

    Signals: option_requested: key of the option to show on its page.
    """

    option_requested = Signal(str)

    def __init__(self, placed: OptionPlacement, model: SettingsModel, query: str) -> None:
        """`query`: the words to highlight."""
        super().__init__()
        self._placed = placed
        self._model = model
        title = label("", "strong", wrap=True)
        help_label = label("", "meta", wrap=True)
        self._value = label("", wrap=True)
        self._button = QPushButton(tr("Change on the page {page}", page=tr(PAGES[whole_page(placed.page)])))
        self._button.setProperty("role", "link")
        self._button.setProperty("flush", True)
        self._button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._button.clicked.connect(partial(self.option_requested.emit, placed.key))
        self._footer = OptionFooter(placed, model)
        widgets = title, self._value, help_label, self._button, self._footer
        column_of(*widgets, spacing=3, margins=(0, 6, 0, 8), parent=self)
        mark(title, placed.title, query)
        mark(help_label, placed.help, query)
        self._footer.mark(query)
        self.show_option()
        model.changed.connect(self._handle_change)
        model.loaded.connect(self.show_option)

    @Slot(str)
    def _handle_change(self, key: str) -> None:
        if key == self._placed.key:
            self.show_option()

    @Slot()
    def show_option(self) -> None:
        """Show the model's current value."""
        option = self._placed.option
        value = value_text(option, self._model.layers.effective(option.key))
        self._value.setText(breakable(value))
        self._footer.show_option()
        self._button.setAccessibleName(f"{self._placed.title}: {value}. {self._button.text()}")
        self._button.setAccessibleDescription(f"{self._placed.help} {self._footer.description}")

    def take_focus(self) -> None:
        self.show()  # now, instead of at the next layout
        self._button.setFocus()


class ResultsPage(DialogPage):
    """A page of search results, created for each search; the rows after the first screenful follow in short steps.

    Signals: option_requested: key of an option that can only be changed on its page.
    """

    option_requested = Signal(str)

    def __init__(self, model: SettingsModel, switches: Sequence[SystemSwitch] = ()) -> None:
        """`switches`: system settings, which are found among the options."""
        super().__init__()
        self.setProperty("role", "page")
        self._model = model
        self.query = ""
        """The latest query; empty before the first one."""
        self._switches = switches
        self._due: list[tuple[OptionPlacement, SystemSwitch | None]] = []
        self._page: SettingsPage | None = None
        self._count_label = label("", "muted", wrap=True)
        self._list = column_of(spacing=6)
        self._turn = QTimer(self, singleShot=True, interval=0)
        self._turn.timeout.connect(self._make_some)
        column = column_of(self._count_label, self._list, None, spacing=6, margins=(0, 20, 0, 16))
        self.scroller: QScrollArea = scrolling_column(column, WIDTH, self)
        column_of(self.scroller, parent=self)

    @property
    def ready(self) -> bool:
        """Whether all rows are created."""
        return not self._turn.isActive()

    def search(self, query: str, pages: Sequence[SettingsPage]) -> None:
        """Show the options of `pages` that contain all words of the query, matches of labels first."""
        self.clear()
        self.query = query
        words, layers = words_of(query), self._model.layers
        fits: list[tuple[int, OptionPlacement, SystemSwitch | None]] = []
        for placed, switch in with_switches(placed_options().values(), self._switches):
            value = switch.on if switch is not None else layers.effective(placed.key)
            if whole_page(placed.page) in pages and (rank := match_rank(placed, value, words)) is not None:
                fits.append((rank, placed, switch))
        fits.sort(key=lambda match: match[0])
        # The page with the best match comes first, and on each the best match.
        order = list(dict.fromkeys(whole_page(placed.page) for _, placed, _ in fits))
        fits.sort(key=lambda match: order.index(whole_page(match[1].page)))
        self._due = [(placed, switch) for _, placed, switch in fits]
        number = len(self._due)
        self._count_label.setText(
            tr_count("{count:,} matching setting", "{count:,} matching settings", number) if number else tr(NOTHING)
        )
        announce(self, self._count_label.text())
        self.scroller.verticalScrollBar().setValue(0)
        self._make_some()

    def clear(self) -> None:
        """Delete the rows."""
        self._turn.stop()
        self.query = ""
        self._due, self.rows, self._page = [], {}, None
        clear_layout(self._list)

    @Slot()
    def _make_some(self) -> None:
        now, self._due = self._due[:_BATCH_SIZE], self._due[_BATCH_SIZE:]
        end = LastInTabOrder(self)
        for placed, switch in now:
            page = whole_page(placed.page)
            if page != self._page:
                self._page = page
                if self._list.count():
                    add_shown(self._list, line())
                add_shown(self._list, label(tr(PAGES[page]), "group"))
            row = self._row(placed, switch)
            add_shown(self._list, row)
            end.append(row)
        lay_out_now(self.scroller)
        if now:
            self._turn.start()  # once more after the last ones, which the layout has shown by then

    def _row(self, placed: OptionPlacement, switch: SystemSwitch | None) -> QWidget:
        if switch is not None:
            of_system = SystemRow(switch)
            of_system.mark(self.query)
            return of_system
        if placed.page in WITHOUT_ROWS or placed.key in _WITH_BUTTONS:
            form = FormRow(placed, self._model, self.query)
            form.option_requested.connect(self.option_requested)
            return form
        row = self.rows[placed.key] = OptionRow(placed, self._model)
        row.mark(self.query)
        return row

    def take_focus(self) -> None:
        """Focus the first option that was found."""
        first = self._list.itemAt(1)
        row = first.widget() if first is not None else None
        if isinstance(row, OptionRow | FormRow | SystemRow):
            row.take_focus()

    def show_row(self, key: str) -> None:
        self.scroller.ensureWidgetVisible(self.rows[key])
