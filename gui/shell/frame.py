"""The frame of the window, from top to bottom: top bar, banner, one of three pages, sync bar; next to them, the dock.

The top bar has the view switch, the box of the current view, and two buttons; without a workspace, the program's name
replaces the first two.
"""

from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QGridLayout,
    QMenu,
    QPushButton,
    QSplitter,
    QWidget,
)

from engine import tr
from gui.commands.commands import show_key_in_tooltip
from gui.commands.keymap import keymap
from gui.core.view_spec import view_specs
from gui.core.window_banner import WindowBanner
from gui.core.window_state import WindowState
from gui.shell.dock import Dock
from gui.shell.views import Views
from gui.sources.first_run_panel import FirstRunPanel
from gui.style.stylesheet import character_width
from gui.style.typography import FontSized
from gui.text.right_to_left import correct_margins, margins
from gui.widgets.accessibility import insert_after, mark_position, stops
from gui.widgets.buttons import ToggleButton
from gui.widgets.form_controls import Chip
from gui.widgets.icons import IconButton
from gui.widgets.labels import label, line
from gui.widgets.layouts import FoldingRow, PageStack, column_of, row_of
from gui.widgets.message_banner import MessagePage
from gui.widgets.sync_bar import SyncBar

_VIEWER_CHARACTERS = 62
_LIST_CHARACTERS = 36
_DOCK_CHARACTERS = 36
_MIN_CHARACTERS = 102
"""Minimum width of results, viewer and dock side by side, in characters."""
_WIDE_CHARACTERS = 200
"""A wider window gives a quarter of its further width to the results: the text would not use it."""
_MAX_RESULTS = 0.45
"""Maximum share of the width for the results if the window is too narrow for their chosen width."""
_BUTTONS_SIDE, _BUTTONS_GAP = 12, 2
_SWITCH_TOP, _SWITCH_GAP = 18, 4
_BUTTONS_TOP = 19
_NAME_TOP = 23
_SIDE = 16


class HeaderBar(FontSized, QWidget):
    """The top bar: the search box of the current view, the switch between views, and two buttons.

    `dock_button` is checkable and shows whether the diagnostics are open; `menu_button` needs a menu.
    """

    view_requested = Signal(str)
    """Name of a view, by its button."""

    def __init__(self, view: str, box: FoldingRow) -> None:
        """`view`, `box`: the first view and its row, see `show_view`."""
        super().__init__()
        self.dock_button = IconButton("panel", tr("Show or hide the diagnostics"))
        show_key_in_tooltip(self.dock_button, tr("Show or hide the diagnostics"), "view.diagnostics")
        self.dock_button.setCheckable(True)
        self.menu_button = IconButton("menu", tr("Menu"))
        self._box = box
        self._boxes = [box]
        """The rows of all views that were shown."""
        self._hidden = {spec.name for spec in view_specs() if spec.has_content is not None}
        """Views without a button, unless they are current."""
        self._working = True
        self._view = view
        self._name = label("Mnemoscope", "strong")
        self._name.setContentsMargins(margins(_SIDE, _NAME_TOP, 0, 2 * _BUTTONS_TOP - _NAME_TOP))
        self._switch = QWidget(self)
        self._switch_row = row_of(spacing=_SWITCH_GAP, margins=margins(_SIDE, _SWITCH_TOP, 0, 0), parent=self._switch)
        self._switch_buttons = self._make_switch()
        self._view_holder = QWidget(self)
        self._view_menu = self._make_view_menu()
        self._buttons = row_of(spacing=_BUTTONS_GAP, margins=(0, _BUTTONS_TOP, 0, 0))
        self._grid = grid = QGridLayout(self)
        grid.setContentsMargins(margins(0, 0, _BUTTONS_SIDE, 0))
        grid.setSpacing(_BUTTONS_GAP)
        grid.setColumnStretch(1, 1)
        for part in (self._switch, self._view_holder):
            grid.addWidget(part, 0, 0, Qt.AlignmentFlag.AlignTop)
        self._mark = mark_position(self)
        for part in (box, self._name):
            grid.addWidget(part, 0, 0, 1, 3)
        grid.addLayout(self._buttons, 0, 2, Qt.AlignmentFlag.AlignTop)
        for button in (self.dock_button, self.menu_button):
            self._buttons.addWidget(button)
            button.raise_()
        self.measure()

    def show_view(self, view: str, box: FoldingRow) -> None:
        """Show the row with search box and filters of a view, and mark the view in the switch; views may share one.

        A row has the whole width; switch and buttons are at the ends of its first line.
        """
        self.add(box)
        if box not in self._boxes:
            self._boxes.append(box)
        self._view, self._box = view, box
        self._switch_buttons[view].setChecked(True)
        self.measure()

    def add(self, box: FoldingRow) -> None:
        """Add the row of a view, hidden, unless it was added before."""
        if self._grid.indexOf(box) < 0:
            box.hide()
            self._grid.addWidget(box, 0, 0, 1, 3)
            box.stackUnder(self.dock_button)
            insert_after(self._mark, stops(box))

    def offer(self, view: str, offered: bool) -> None:
        """Show or hide the button of a view on demand."""
        if offered == (view in self._hidden):
            (self._hidden.discard if offered else self._hidden.add)(view)
            self.measure()

    @property
    def offered(self) -> list[str]:
        """The views on demand whose buttons are shown now."""
        return [spec.name for spec in view_specs() if spec.has_content is not None and spec.name not in self._hidden]

    def show_working(self, working: bool) -> None:
        """Show or hide the controls that need a workspace."""
        self._working = working
        self.measure()

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
        chip = Chip("", menu)
        row_of(chip, margins=margins(_SIDE, _SWITCH_TOP, 0, 0), parent=self._view_holder)
        menu.aboutToShow.connect(partial(self._fill_view_menu, menu))
        return chip

    def _fill_view_menu(self, menu: QMenu) -> None:
        menu.clear()
        for spec in view_specs():
            # The key is a part of the text: as a shortcut, it would be ambiguous.
            key = keymap().first_key(f"view.{spec.name}")
            action = menu.addAction(f"{tr(spec.label)}\t{key}")
            action.triggered.connect(lambda _=False, view=spec.name: self.view_requested.emit(view))

    def measure(self) -> None:
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
        box_width = max(box.least_width for box in self._boxes)
        fits = before + later + box_width + buttons_width + _BUTTONS_SIDE <= self.width()
        if not fits:
            before, later = self._view_holder.sizeHint().width(), 0
        self._switch.setVisible(self._working and fits)
        self._view_holder.setVisible(self._working and not fits)
        for box in self._boxes:
            box.reserve(buttons_width, before, later)
            box.setVisible(self._working and box is self._box)
        self._name.setVisible(not self._working)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():  # rows of views have different heights
            self.measure()


class Panes(QSplitter):
    """The panes of the window side by side: results, viewer, dock; or a page that replaces results and viewer.

    Widths are in logical pixels; the viewer takes the rest.

    Signals: dock_shown: whether the dock is visible now.
    """

    dock_shown = Signal(bool)

    def __init__(self, results: QWidget, viewer: QWidget, full_width: QWidget, dock: QWidget) -> None:
        """`full_width`: the widget that replaces results and viewer after `show_full_width(True)`."""
        super().__init__(Qt.Orientation.Horizontal)
        self._viewer, self._full_width, self._dock = viewer, full_width, dock
        self.dock_requested = False
        """Whether the user opened the dock, even if there is no room for it now."""
        self._forced = self._covered = False
        self.widths = (400, 330)
        """The widths of results and dock that the user chose."""
        self._side_by_side = QSplitter(Qt.Orientation.Horizontal)
        self._content = PageStack()  # not a further pane: a splitter shows one at no width, and lays it out twice
        for page in (self._side_by_side, full_width):
            self._content.addWidget(page)
        for splitter, panes in ((self._side_by_side, (results, viewer)), (self, (self._content, dock))):
            for pane in panes:
                splitter.addWidget(pane)
            splitter.setHandleWidth(1)
            correct_margins(splitter)
            splitter.setChildrenCollapsible(False)
        self._side_by_side.setStretchFactor(1, 1)
        self.setStretchFactor(0, 1)
        self._side_by_side.splitterMoved.connect(self.splitterMoved)
        self.splitterMoved.connect(self._remember)

    def restore(self, results_width: int, dock_width: int, *, dock_requested: bool) -> None:
        """Restore the pane widths of an earlier run."""
        self.widths = (max(results_width, 120), max(dock_width, 120))
        self.dock_requested = dock_requested
        self._fold()
        self._distribute_width()

    @Slot()
    def toggle_dock(self) -> None:
        self.show_dock(self._dock.isHidden())

    def show_dock(self, on: bool) -> None:
        """Show or hide the dock at the user's request; it then stays even in a narrow window."""
        self.dock_requested = self._forced = on
        self._fold()

    def show_full_width(self, on: bool) -> None:
        """Show the widget that replaces results and viewer, or these again."""
        self._content.setCurrentWidget(self._full_width if on else self._side_by_side)

    @property
    def pane_widths(self) -> list[int]:
        """The widths of results, viewer and dock now."""
        return [*self._side_by_side.sizes(), self.sizes()[1]]

    def _fold(self) -> None:
        letter = character_width()
        fits_dock = self.width() >= letter * (_LIST_CHARACTERS + _VIEWER_CHARACTERS + _DOCK_CHARACTERS)
        shown = self.dock_requested and (fits_dock or self._forced)
        self._covered = shown and self.width() < letter * _MIN_CHARACTERS
        moved = shown == self._dock.isHidden()
        if moved or self._viewer.isHidden() != self._covered:
            self._viewer.setVisible(not self._covered)
            self._dock.setVisible(shown)
            self._distribute_width()
        if moved:
            self.dock_shown.emit(shown)

    def show_viewer(self) -> None:
        """Close the dock if it covers the viewer, in a narrow window."""
        if self._covered:
            self.show_dock(False)

    def _distribute_width(self) -> None:
        results, dock = self.widths[0] + self._growth, self.widths[1]
        if self._dock.isHidden():
            dock = 0
        elif self._covered:
            dock = self.width() // 2
            results = self.width() - dock
        results = min(results, int((self.width() - dock) * (1 if self._covered else _MAX_RESULTS)))
        rest = max(1, self.width() - results - dock)
        self.setSizes([results + rest, dock])
        self._side_by_side.setSizes([results, rest])

    @property
    def _growth(self) -> int:
        """Pixels added to the width of the results that the user chose, in a wide window."""
        return max(0, self.width() - character_width() * _WIDE_CHARACTERS) // 4

    @Slot()
    def _remember(self) -> None:
        if self._covered:
            return  # while a page covers the panes, their widths are not the user's
        results, _, dock = self.pane_widths
        self.widths = max(120, results - self._growth), self.widths[1] if self._dock.isHidden() else dock

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
        self._distribute_width()


def _is_enter(event: QKeyEvent) -> bool:
    """Whether Enter was pressed alone, and not only held."""
    modifiers = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
    return event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not event.isAutoRepeat() and not modifiers


class Frame(QWidget):
    """The window's content: creates header, panes, message page and sync bar, and lays them out."""

    def __init__(self, views: Views, dock: Dock, first_run: FirstRunPanel, banner: WindowBanner) -> None:
        super().__init__()
        self.header = HeaderBar(views.current, views.panel.header)
        self.panes = Panes(views.lists, views.readers, views.full_width_bodies, dock)
        self.message = MessagePage()
        self.sync_bar = SyncBar()
        self.views, self.dock = views, dock
        self._first_run = first_run
        self.pages = PageStack()
        for page in (self.panes, first_run, self.message):
            self.pages.addWidget(page)
        self.pages.setMinimumHeight(1)  # in a low window a long message in the banner has priority over them
        self._footer = line()
        column_of(self.header, line(), banner, (self.pages, 1), self._footer, self.sync_bar, spacing=0, parent=self)
        self.header.dock_button.clicked.connect(self.panes.toggle_dock)
        self.panes.dock_shown.connect(self.header.dock_button.setChecked)
        self.panes.dock_shown.connect(dock.note_shown)
        dock.requested.connect(self.panes.show_dock)
        dock.left.connect(views.focus_list)
        self.sync_bar.diagnostics_requested.connect(dock.toggle_diagnostics)
        self.header.view_requested.connect(views.switch)
        views.switching.connect(self._show_box)
        views.switched.connect(self._show_view)
        views.content_known.connect(self.header.offer)

    def make_view(self, view: str) -> None:
        """Make a view's panel and place its box, before the view is shown."""
        self.views.panel_of(view)
        self.header.add(self.views.with_box(view).header)

    @Slot(str)
    def _show_box(self, view: str) -> None:
        self.header.show_view(view, self.views.panel.header)

    @Slot(str)
    def _show_view(self, view: str) -> None:
        if self.dock.explains and view != "search":
            self.panes.show_dock(False)
        self.panes.show_full_width(self.views.specs[view].full_width)

    def show_page(self, page: QWidget) -> None:
        """Show the panes, the message page or the first start."""
        self.header.show_working(page is self.panes)
        self.pages.setCurrentWidget(page)
        for part in (self._footer, self.sync_bar):
            part.setVisible(page is not self._first_run)
        if page is self.message:
            self.message.take_focus()

    def restore(self, state: WindowState) -> None:
        """Restore the widths and buttons of an earlier run."""
        self.panes.restore(state.list_width, state.dock_width, dock_requested=state.dock_shown)
        self.header.dock_button.setChecked(not self.dock.isHidden())
        for view in state.offered_views:
            self.header.offer(view, True)

    def update_state(self, state: WindowState) -> None:
        """Put the widths of list and dock, whether the dock is shown, and the views with a button into the state."""
        state.offered_views = self.header.offered
        state.list_width, state.dock_width = self.panes.widths
        state.dock_shown = self.panes.dock_requested and not self.dock.explains

    def keyPressEvent(self, event: QKeyEvent) -> None:
        focused = QApplication.focusWidget()
        if event.key() == Qt.Key.Key_Escape and self.pages.currentWidget() is self.panes:
            self.views.focus_box()  # from a filter, a message, the bar below: widgets without their own way back
        elif _is_enter(event) and isinstance(focused, QPushButton):
            focused.click()  # outside of dialogs, Qt lets only Space press buttons
        else:
            super().keyPressEvent(event)
