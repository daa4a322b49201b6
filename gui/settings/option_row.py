"""One option as a row: its name, its field, its description, and its status."""

from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

from engine import Option, spoken, system_language, tr
from gui.settings.fields import ChoiceField, ChoicesField, Field, SwitchField
from gui.settings.model import SettingsModel
from gui.settings.option_footer import OptionFooter, value_of
from gui.settings.option_search import mark
from gui.settings.page_layout import OptionPlacement
from gui.settings.typed_fields import LineField, LinesField
from gui.widgets.announcer import announce
from gui.widgets.labels import breakable, label


class LanguageField(ChoiceField):
    """The language applies after a restart, since widgets are translated once."""

    def __init__(self, option: Option, title: str, parent: QWidget | None = None) -> None:
        super().__init__(option, title, parent)
        self.later = label(tr("The window changes its language with the next start of the program."), wrap=True)
        self._column.addWidget(self.later)
        self.entered.connect(self._announce)

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self.later.setVisible(self._is_other(value))

    def _is_other(self, language: str) -> bool:
        return (system_language() if language == "system" else language) != spoken()

    @Slot(object)
    def _announce(self, language: str) -> None:
        if self._is_other(language):
            announce(self, self.later.text())


class OptionRow(QFrame):
    """Shows the model's value, and passes on what the user enters.

    Signals: typing: a value that may still change, for a preview of its effect.
    """

    typing = Signal(object)

    def __init__(
        self, placed: OptionPlacement, model: SettingsModel, field: Field | None = None, parent: QWidget | None = None
    ) -> None:
        """`field` in place of the one that the option's kind has."""
        super().__init__(parent)
        self.placed = placed
        self._model = model
        self._words = self._said = ""
        self.field = field or field_for(placed.option, placed.title)
        self.field.entered.connect(self._entered)
        self.field.typing.connect(self.typing)
        self.field.wrong.connect(self.complain)
        if isinstance(self.field, LinesField):
            self.field.undo_wanted.connect(model.undo)
        self._title = label(placed.title, "strong", wrap=True)
        self._help = label(placed.help, "meta", wrap=True)
        self._problem = label("", "degraded", wrap=True)
        self._problem.hide()
        self.footer = OptionFooter(placed, model)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 6, 0, 8)
        column.setSpacing(3)
        if placed.option.kind == "switch":
            self._title.hide()  # its box bears it
        for widget in (self._title, self.field, self._problem, self._help, self.footer):
            column.addWidget(widget)
        self.show_option()
        model.changed.connect(self._hear)
        model.loaded.connect(self.show_option)

    # --- display ----------------------------------------------------------------------------------------------------

    @Slot(str)
    def _hear(self, key: str) -> None:
        if key == self.placed.key:
            self.show_option()

    @Slot()
    def show_option(self) -> None:
        """As the model has it now."""
        self.field.show_value(value_of(self.placed, self._model))
        self.footer.show_option()
        self.field.describe(f"{self.placed.help} {self.footer.description}")

    @Slot(str)
    def complain(self, sentence: str) -> None:
        """Show an error about the entered text, without changing it."""
        if sentence and sentence != self._said:
            announce(self, sentence)
        self._said = sentence
        self._problem.setText(breakable(sentence))
        self._problem.setVisible(bool(sentence))

    def mark(self, words: str) -> None:
        """Show where these words of a search are; none takes that back."""
        self._words = words
        mark(self._title, self.placed.title, words)
        mark(self._help, self.placed.help, words)
        self.footer.mark(words)

    def take_focus(self) -> None:
        self.show()  # immediately, not at the next layout
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- changes ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _entered(self, value: Any) -> None:
        layer = self._model.shown.layer_of(self.placed.key)
        usual = "workspace" if self.placed.page == "sources" else "defaults"
        self._model.set(self.placed.key, value, usual if layer == "built-in" else layer)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._words:
            with QSignalBlocker(self):
                self.mark(self._words)


def field_for(option: Option, title: str) -> Field:
    """The field for an option of this kind."""
    match option.kind:
        case "switch":
            return SwitchField(option, title)
        case "choice" if option.key == "window.language":
            return LanguageField(option, title)
        case "choice":
            return ChoiceField(option, title)
        case "choices":
            return ChoicesField(option, title)
        case "list" | "texts" | "numbers" | "lists":
            return LinesField(option, title)
        case _:
            return LineField(option, title)
