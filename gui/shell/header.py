"""The window's top bar: the view switch, the box of the current view, and two buttons.

Without a workspace, the program's name replaces the first two.
"""

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QPushButton, QWidget

from engine import marked, tr
from gui.commands.binding import tell_key
from gui.shell.views import ViewName
from gui.style.stylesheet import font_at
from gui.widgets.folding_row import FoldingRow
from gui.widgets.icons import IconButton
from gui.widgets.labels import label
from gui.widgets.mirrored import margins
from gui.widgets.toggle import ToggleButton

_BUTTONS_TOP = 19
_BUTTONS_SIDE, _BUTTONS_GAP = 12, 2
_NAME_TOP = 23
_SWITCH_TOP, _SWITCH_GAP = 18, 4
_STACK_TOP, _STACK_GAP = 9, 3
_SIDE = 16
_BOX_LETTERS, _BOX_AROUND = 51, 200
"""Characters needed by the box with its filters and the two buttons, and pixels of it that don't scale with the text.

In a narrower window, its buttons are in two rows. In an even narrower one, the switch is hidden; its keys and menu
entries remain.
"""
_VIEWS: tuple[tuple[ViewName, str, str], ...] = (
    ("search", marked("Search"), marked("Search notes and sessions")),
    ("sessions", marked("Sessions"), marked("Browse past sessions")),
    ("index", marked("Index"), marked("See inside the index")),
    ("facts", marked("Facts"), marked("What is to be remembered")),
)


class HeaderBar(QWidget):
    """`dock_button` is checkable and shows whether the diagnostics are open; `menu_button` needs a menu."""

    view_wanted = Signal(str)
    """ViewName, by its button."""

    def __init__(self, boxes: dict[ViewName, FoldingRow], parent: QWidget | None = None) -> None:
        """`boxes`: each view's widget in the top bar; views may share one.

        Folded parts continue below the two buttons.
        """
        super().__init__(parent)
        self.dock_button = IconButton("panel", tr("Show or hide the diagnostics"))
        tell_key(self.dock_button, tr("Show or hide the diagnostics"), "view.diagnostics")
        self.dock_button.setCheckable(True)
        self.menu_button = IconButton("menu", tr("Menu"))
        self._boxes = boxes
        self._working = True
        self._view: ViewName = "search"
        self._name = label("Mnemoscope", "strong")
        self._name.setContentsMargins(margins(_SIDE, _NAME_TOP, 0, 2 * _BUTTONS_TOP - _NAME_TOP))
        self._switch = QWidget(self)
        self._switch_grid = QGridLayout(self._switch)
        self._switch_buttons = self._make_switch()
        self._stacked: bool | None = None
        self._buttons = QHBoxLayout()
        self._buttons.setContentsMargins(0, _BUTTONS_TOP, 0, 0)
        self._buttons.setSpacing(_BUTTONS_GAP)
        grid = QGridLayout(self)
        grid.setContentsMargins(margins(0, 0, _BUTTONS_SIDE, 0))
        grid.setSpacing(_BUTTONS_GAP)
        grid.setColumnStretch(1, 1)
        grid.addWidget(self._switch, 0, 0, Qt.AlignmentFlag.AlignTop)
        for part in (*dict.fromkeys(boxes.values()), self._name):
            grid.addWidget(part, 0, 1, 1, 2)
        grid.addLayout(self._buttons, 0, 2, Qt.AlignmentFlag.AlignTop)
        for button in (self.dock_button, self.menu_button):
            self._buttons.addWidget(button)
            button.raise_()
        self._arrange()

    def show_view(self, view: ViewName) -> None:
        """Show the box of this view."""
        self._view = view
        self._switch_buttons[view].setChecked(True)
        self._arrange()

    def show_working(self, working: bool) -> None:
        """False without a workspace."""
        self._working = working
        self._arrange()

    def _make_switch(self) -> dict[ViewName, QPushButton]:
        group = QButtonGroup(self._switch)
        made: dict[ViewName, QPushButton] = {}
        for view, words, tip in _VIEWS:
            button = ToggleButton(tr(words), self._switch)
            tell_key(button, tr(tip), f"view.{view}")
            button.setAccessibleDescription(tr(tip))
            button.clicked.connect(lambda _=False, view=view: self.view_wanted.emit(view))
            group.addButton(button)
            made[view] = button
        made["search"].setChecked(True)
        return made

    def _arrange(self) -> None:
        needed = QFontMetrics(font_at(13)).averageCharWidth() * _BOX_LETTERS + _BOX_AROUND
        room = self.width() - needed - _SIDE
        stacked = self._switch_width(len(_VIEWS), _SWITCH_GAP) > room
        self._place_switch(stacked)
        self._switch.setVisible(self._working and (not stacked or self._switch_width(2, _STACK_GAP) <= room))
        for box in self._boxes.values():
            box.leave(self._buttons.sizeHint().width() + _BUTTONS_GAP)
            box.setVisible(self._working and box is self._boxes[self._view])
        self.dock_button.setVisible(self._working)
        self._name.setVisible(not self._working)

    def _switch_width(self, columns: int, gap: int) -> int:
        widths = [button.sizeHint().width() for button in self._switch_buttons.values()]
        return sum(max(widths[column::columns]) for column in range(columns)) + (columns - 1) * gap

    def _place_switch(self, stacked: bool) -> None:
        if stacked is self._stacked:
            return
        self._stacked = stacked
        grid, columns = self._switch_grid, 2 if stacked else len(_VIEWS)
        for place, button in enumerate(self._switch_buttons.values()):
            grid.addWidget(button, *divmod(place, columns))
        grid.setContentsMargins(margins(_SIDE, _STACK_TOP if stacked else _SWITCH_TOP, 0, 0))
        grid.setSpacing(_STACK_GAP if stacked else _SWITCH_GAP)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_stacked"):
            self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
