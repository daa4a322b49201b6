"""The results of a search over all options, in rows in which they can be changed."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QSizePolicy

from engine import marked, tr, tr_count
from gui.settings.edited_options import SettingsModel
from gui.settings.option_pages import (
    PAGES,
    WITHOUT_ROWS,
    OptionPlacement,
    SettingsPage,
    match_rank,
    placed_options,
    whole_page,
    words_of,
)
from gui.settings.option_row import OptionFooter, OptionRow, RowsPage
from gui.settings.system_setting import SettingRow, SystemRow, SystemSwitch, with_switches
from gui.settings.value_formatting import value_text
from gui.widgets.accessibility import announce
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import add_shown, clear_layout

NOTHING = marked("No setting matches.")
_WITH_BUTTONS = ("extra_paths", "sessions.folders")
"""Options that have buttons to choose folders on their page, which a plain text field would lack."""


class FormRow(SettingRow):
    """A search result for an option that can only be changed on its own page.

    Signals: option_requested: key of the option to show on its page.
    """

    option_requested = Signal(str)

    def __init__(self, placed: OptionPlacement, model: SettingsModel) -> None:
        super().__init__(placed)
        self._model = model
        self._value = label("", wrap=True)
        words = tr("Change on the page {page}", page=tr(PAGES[whole_page(placed.page)]))
        self._button = push_button(words, partial(self.option_requested.emit, placed.key), role="flush")
        self._button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._footer = OptionFooter(placed, model)
        column = self._arrange(self._value)
        for widget in (self._button, self._footer):
            column.addWidget(widget)
        self._control = self._button
        self.show_option()
        model.changed.connect(self._handle_change)
        model.loaded.connect(self.show_option)

    def mark(self, query: str) -> None:
        super().mark(query)
        self._footer.mark(query)

    @Slot(str)
    def _handle_change(self, key: str) -> None:
        if key == self.placed.key:
            self.show_option()

    @Slot()
    def show_option(self) -> None:
        """Show the model's current value."""
        option = self.placed.option
        value = value_text(option, self._model.layers.effective(option.key))
        self._value.setText(breakable(value))
        self._footer.show_option()
        self._button.setAccessibleName(f"{self.placed.title}: {value}. {self._button.text()}")
        self._button.setAccessibleDescription(f"{self.placed.help} {self._footer.description}")


class ResultsPage(RowsPage):
    """A page of search results, created for each search.

    Signals: option_requested: key of an option that can only be changed on its page.
    """

    option_requested = Signal(str)
    _BATCH_SIZE = 4

    def __init__(self, model: SettingsModel, switches: Sequence[SystemSwitch] = ()) -> None:
        """`switches`: system settings, which are found among the options."""
        super().__init__()
        self._model = model
        self.query = ""
        """The latest query; empty before the first one."""
        self._switches = switches
        self._page: SettingsPage | None = None
        self._count_label = label("", "muted", wrap=True)
        self.column.addWidget(self._count_label)
        self.column.addLayout(self._list)
        self.column.addStretch(1)

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
        number = len(fits)
        self._count_label.setText(
            tr_count("{count:,} matching setting", "{count:,} matching settings", number) if number else tr(NOTHING)
        )
        announce(self, self._count_label.text())
        self.scroller.verticalScrollBar().setValue(0)
        self._begin((placed, switch) for _, placed, switch in fits)

    def clear(self) -> None:
        """Delete the rows."""
        self._next_row_timer.stop()
        self.query = ""
        self._due, self.rows, self._page = [], {}, None
        clear_layout(self._list)

    def _add(self, placed: OptionPlacement, switch: SystemSwitch | None) -> None:
        page = whole_page(placed.page)
        if page != self._page:
            self._page = page
            if self._list.count():
                add_shown(self._list, line())
            add_shown(self._list, label(tr(PAGES[page]), "group"))
        row = self._row(placed, switch)
        row.mark(self.query)
        self.add_widget(row)

    def _row(self, placed: OptionPlacement, switch: SystemSwitch | None) -> SettingRow:
        if switch is not None:
            return SystemRow(switch)
        if placed.page in WITHOUT_ROWS or placed.key in _WITH_BUTTONS:
            form = FormRow(placed, self._model)
            form.option_requested.connect(self.option_requested)
            return form
        row = self.rows[placed.key] = OptionRow(placed, self._model)
        return row

    def take_focus(self) -> None:
        """Focus the first option that was found."""
        first = self._list.itemAt(1)
        row = first.widget() if first is not None else None
        if isinstance(row, SettingRow):
            row.take_focus()

    def show_row(self, key: str) -> None:
        self.scroller.ensureWidgetVisible(self.rows[key])
