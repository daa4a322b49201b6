"""The window's top bar: the search box, or the program's name where there is nothing to search, and two buttons."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gui.widgets.icons import IconButton
from gui.widgets.labels import label

_BUTTONS_TOP = 19
_NAME_TOP = 23


class HeaderBar(QWidget):
    """`dock_button` is checkable and says whether the diagnostics are shown; `menu_button` waits for its menu."""

    def __init__(self, search: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.dock_button = IconButton("panel", "Show or hide the diagnostics (Ctrl+D)")
        self.dock_button.setCheckable(True)
        self.menu_button = IconButton("menu", "Menu")
        self._search = search
        self._name = label("Mnemoscope", "strong")
        self._name.setContentsMargins(16, _NAME_TOP, 0, 2 * _BUTTONS_TOP - _NAME_TOP)
        buttons = QHBoxLayout()
        buttons.setContentsMargins(0, _BUTTONS_TOP, 0, 0)
        for button in (self.dock_button, self.menu_button):
            buttons.addWidget(button, 0, Qt.AlignmentFlag.AlignTop)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 12, 0)
        row.setSpacing(2)
        row.addWidget(search, 1)
        row.addWidget(self._name, 1)
        row.addLayout(buttons)

    def show_search(self, shown: bool) -> None:
        self._search.setVisible(shown)
        self.dock_button.setVisible(shown)
        self._name.setVisible(not shown)
