"""The window's top bar: the view switch, the box of the current view, and two buttons.

Without a workspace, the program's name replaces the first two.
"""

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QMenu, QPushButton, QWidget

from engine import tr
from gui.commands.commands import show_key_in_tooltip
from gui.commands.keymap import keymap
from gui.core.view_spec import view_specs
from gui.widgets.buttons import ToggleButton
from gui.widgets.form_controls import Chip
from gui.widgets.icons import IconButton
from gui.widgets.labels import label
from gui.widgets.layouts import FoldingRow
from gui.widgets.right_to_left import margins

_BUTTONS_SIDE, _BUTTONS_GAP = 12, 2
_SWITCH_TOP, _SWITCH_GAP = 18, 4
_BUTTONS_TOP = 19
_NAME_TOP = 23
_SIDE = 16


class HeaderBar(QWidget):
    """The top bar: the search box of the current view, the switch between views, and two buttons.

    `dock_button` is checkable and shows whether the diagnostics are open; `menu_button` needs a menu.
    """

    view_requested = Signal(str)
    """Name of a view, by its button."""

    def __init__(self, boxes: dict[str, FoldingRow]) -> None:
        """`boxes`: the row with search box and filters that the top bar shows for each view; views may share one.

        A row has the whole width; switch and buttons are at the ends of its first line.
        """
        super().__init__()
        self.dock_button = IconButton("panel", tr("Show or hide the diagnostics"))
        show_key_in_tooltip(self.dock_button, tr("Show or hide the diagnostics"), "view.diagnostics")
        self.dock_button.setCheckable(True)
        self.menu_button = IconButton("menu", tr("Menu"))
        self._boxes = boxes
        self._hidden = {spec.name for spec in view_specs() if spec.on_demand}
        """Views without a button, unless they are current."""
        self._working = True
        self._view = next(iter(boxes))
        self._name = label("Mnemoscope", "strong")
        self._name.setContentsMargins(margins(_SIDE, _NAME_TOP, 0, 2 * _BUTTONS_TOP - _NAME_TOP))
        self._switch = QWidget(self)
        self._switch_row = QHBoxLayout(self._switch)
        self._switch_row.setContentsMargins(margins(_SIDE, _SWITCH_TOP, 0, 0))
        self._switch_row.setSpacing(_SWITCH_GAP)
        self._switch_buttons = self._make_switch()
        self._view_holder = QWidget(self)
        self._view_menu = self._make_view_menu()
        self._buttons = QHBoxLayout()
        self._buttons.setContentsMargins(0, _BUTTONS_TOP, 0, 0)
        self._buttons.setSpacing(_BUTTONS_GAP)
        grid = QGridLayout(self)
        grid.setContentsMargins(margins(0, 0, _BUTTONS_SIDE, 0))
        grid.setSpacing(_BUTTONS_GAP)
        grid.setColumnStretch(1, 1)
        for part in (self._switch, self._view_holder):
            grid.addWidget(part, 0, 0, Qt.AlignmentFlag.AlignTop)
        for part in (*dict.fromkeys(boxes.values()), self._name):
            grid.addWidget(part, 0, 0, 1, 3)
        grid.addLayout(self._buttons, 0, 2, Qt.AlignmentFlag.AlignTop)
        for button in (self.dock_button, self.menu_button):
            self._buttons.addWidget(button)
            button.raise_()
        self._arrange()

    def show_view(self, view: str) -> None:
        """Show the box of a view, and mark the view in the switch."""
        self._view = view
        self._switch_buttons[view].setChecked(True)
        self._arrange()

    def offer(self, view: str, offered: bool) -> None:
        """Show or hide the button of a view on demand."""
        if offered == (view in self._hidden):
            (self._hidden.discard if offered else self._hidden.add)(view)
            self._arrange()

    @property
    def offered(self) -> list[str]:
        """The views on demand whose buttons are shown now."""
        return [spec.name for spec in view_specs() if spec.on_demand and spec.name not in self._hidden]

    def show_working(self, working: bool) -> None:
        """Show or hide the controls that need a workspace."""
        self._working = working
        self._arrange()

    def _make_switch(self) -> dict[str, QPushButton]:
        group = QButtonGroup(self._switch)
        made: dict[str, QPushButton] = {}
        for spec in view_specs():
            button = ToggleButton(tr(spec.label), self._switch)
            show_key_in_tooltip(button, tr(spec.tip), f"view.{spec.name}")
            button.setAccessibleDescription(tr(spec.tip))
            button.clicked.connect(lambda _=False, view=spec.name: self.view_requested.emit(view))
            group.addButton(button)
            self._switch_row.addWidget(button)
            made[spec.name] = button
        made[self._view].setChecked(True)
        return made

    def _make_view_menu(self) -> Chip:
        """Make the menu of all views for a narrow window; its chip shows the current view."""
        menu = QMenu(self)
        row = QHBoxLayout(self._view_holder)
        row.setContentsMargins(margins(_SIDE, _SWITCH_TOP, 0, 0))
        chip = Chip("", menu)
        row.addWidget(chip)
        menu.aboutToShow.connect(partial(self._fill_view_menu, menu))
        return chip

    def _fill_view_menu(self, menu: QMenu) -> None:
        menu.clear()
        for spec in view_specs():
            # The key is a part of the text: as a shortcut, it would be ambiguous.
            key = keymap().first_key(f"view.{spec.name}")
            action = menu.addAction(f"{tr(spec.label)}\t{key}")
            action.triggered.connect(lambda _=False, view=spec.name: self.view_requested.emit(view))

    def _arrange(self) -> None:
        """Show the switch, or its menu if a search box would become too narrow for its placeholder."""
        for name, button in self._switch_buttons.items():
            button.setVisible(name not in self._hidden or name == self._view)
        current = self._switch_buttons[self._view].text()
        names = [button.text() for button in self._switch_buttons.values() if not button.isHidden()]
        self._view_menu.setMinimumWidth(max(map(self._view_menu.width_of, names)))  # the box keeps its place
        self._view_menu.setText(current)
        self._view_menu.setAccessibleName(tr("View: {name}", name=current))
        self.dock_button.setVisible(self._working)
        buttons = [button for button in (self.dock_button, self.menu_button) if not button.isHidden()]
        buttons_width = sum(button.sizeHint().width() + _BUTTONS_GAP for button in buttons)
        before = self._switch_row.sizeHint().width()
        on_demand = [button for button in self._switch_buttons.values() if button.isHidden()]
        later = sum(button.sizeHint().width() + _SWITCH_GAP for button in on_demand)
        box_width = max(box.least_width for box in self._boxes.values())
        fits = before + later + box_width + buttons_width + _BUTTONS_SIDE <= self.width()
        if not fits:
            before, later = self._view_holder.sizeHint().width(), 0
        self._switch.setVisible(self._working and fits)
        self._view_holder.setVisible(self._working and not fits)
        for box in self._boxes.values():
            box.leave(buttons_width, before, later)
            box.setVisible(self._working and box is self._boxes[self._view])
        self._name.setVisible(not self._working)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange) and hasattr(self, "_buttons"):
            self._arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()
