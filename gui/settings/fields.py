"""Fields that edit an option's value, including those with choices.

Every field has `entered`, with a final value, `typing`, with one that may still change, and `wrong`, with a sentence
about an invalid text or nothing; `show_value` never overwrites text being typed.
"""

from typing import Any

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from engine import Option
from gui.settings.value_text import choice_words
from gui.widgets.check_box import CheckBox
from gui.widgets.combo import ComboBox


class Field(QWidget):
    """One option's; `title` is what it is called."""

    entered = Signal(object)
    typing = Signal(object)
    wrong = Signal(str)

    def __init__(self, option: Option, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.option = option
        self.title = title
        self._value: Any = option.default
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(4)

    def show_value(self, value: Any) -> None:
        """Show what the option is now, unless that is shown already."""
        self._value = value

    def describe(self, words: str) -> None:
        """The option's accessible description."""
        target = self.focusProxy()
        if target is not None:
            target.setAccessibleDescription(words)

    def commit(self) -> None:
        """Save the typed text, if it is valid."""


class SwitchField(Field):
    """A box to tick, which bears the title itself."""

    def __init__(self, option: Option, title: str, parent: QWidget | None = None) -> None:
        super().__init__(option, title, parent)
        self.box = CheckBox(title)
        self.box.clicked.connect(self._tell)
        self.setFocusProxy(self.box)
        self._column.addWidget(self.box)

    @Slot()
    def _tell(self) -> None:
        self.entered.emit(self.box.isChecked())

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self.box.setChecked(bool(value))


class ChoiceField(Field):
    """One of several names."""

    def __init__(self, option: Option, title: str, parent: QWidget | None = None) -> None:
        super().__init__(option, title, parent)
        self.box = ComboBox(title)
        for choice in option.choices:
            self.box.addItem(choice_words(option.key, choice), choice)
        self.box.activated.connect(lambda _: self.entered.emit(self.box.currentData()))
        self.setFocusProxy(self.box)
        row = QHBoxLayout()
        row.addWidget(self.box, 2)
        row.addStretch(1)
        self._column.addLayout(row)

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self.box.choose(value)


class ChoicesField(Field):
    """Some of several names."""

    def __init__(self, option: Option, title: str, parent: QWidget | None = None) -> None:
        super().__init__(option, title, parent)
        self._boxes = {choice: CheckBox(choice_words(option.key, choice)) for choice in option.choices}
        for box in self._boxes.values():
            box.setAccessibleName(f"{title}: {box.words}")
            box.clicked.connect(self._tell)
            self._column.addWidget(box)
        self.setFocusProxy(next(iter(self._boxes.values())))

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        for choice, box in self._boxes.items():
            box.setChecked(choice in value)

    @Slot()
    def _tell(self) -> None:
        self.entered.emit(tuple(choice for choice, box in self._boxes.items() if box.isChecked()))
