"""The language of the window: a choice that holds from the next start on, which is said once it is another one."""

from typing import Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget

from engine import Option, spoken, system_language, tr
from gui.settings.fields import ChoiceField
from gui.widgets.announcer import announce
from gui.widgets.labels import label


class LanguageField(ChoiceField):
    """What is on the screen took its words when it was made."""

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
