"""An option that is tried out and saved with others on a page of its own: its value, and the way there."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from engine import tr
from gui.settings.model import SettingsModel
from gui.settings.option_footer import OptionFooter
from gui.settings.option_search import mark
from gui.settings.page_layout import PAGES, OptionPlacement
from gui.settings.value_text import value_words
from gui.widgets.labels import breakable, label


class FormRow(QFrame):
    """In the results of a search.

    Signals:
        page_wanted: name of the page.
    """

    page_wanted = Signal(str)

    def __init__(
        self, placed: OptionPlacement, model: SettingsModel, query: str, parent: QWidget | None = None
    ) -> None:
        """`query`: its words are marked."""
        super().__init__(parent)
        self._placed = placed
        self._model = model
        title = label("", "strong", wrap=True)
        said = label("", "meta", wrap=True)
        self._value = label("", wrap=True)
        self._button = QPushButton(tr("Change on the page {page}", page=tr(PAGES[placed.page])))
        self._button.setProperty("role", "link")
        self._button.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self._button.setAutoDefault(True)  # Enter presses the one that has the keys, on every platform
        self._button.clicked.connect(partial(self.page_wanted.emit, placed.page))
        self._footer = OptionFooter(placed, model)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 8)
        column.setSpacing(3)
        for widget in (title, self._value, said, self._button, self._footer):
            column.addWidget(widget)
        mark(title, placed.title, query)
        mark(said, placed.help, query)
        self._footer.mark(query)
        self.show_option()
        model.changed.connect(self._hear)
        model.loaded.connect(self.show_option)

    @Slot(str)
    def _hear(self, key: str) -> None:
        if key == self._placed.key:
            self.show_option()

    @Slot()
    def show_option(self) -> None:
        """As the model has it now."""
        option = self._placed.option
        value = value_words(option, self._model.shown.in_force(option.key))
        self._value.setText(breakable(value))
        self._footer.show_option()
        self._button.setAccessibleName(f"{self._placed.title}: {value}. {self._button.text()}")
        self._button.setAccessibleDescription(f"{self._placed.help} {self._footer.description}")

    def take_focus(self) -> None:
        self.show()  # at once, not when the layout gets round to it
        self._button.setFocus()
