"""The header above a file: its title, path, display mode and buttons.

In a narrow window the path is cut first, then the end of a long title, then the buttons move into the menu one by one;
the beginning of the title is cut last.
"""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QMouseEvent
from PySide6.QtWidgets import QApplication, QButtonGroup, QFrame, QMenu, QPushButton, QStyle, QWidget

from engine import marked, tr
from gui.commands.commands import show_key_in_tooltip
from gui.commands.keymap import command
from gui.style.stylesheet import scaled, set_role
from gui.style.typography import Resized
from gui.text.plain_text import set_tip, tip_of
from gui.widgets.buttons import ToggleButton
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel, line

# --- Buttons of a header that fold into its menu if there is no room for them ----------------------------------------


class FoldingActions:
    """Creates `buttons` for actions, and a menu button `more` with the actions whose buttons are hidden.

    The header places the buttons and hides those that don't fit.
    """

    def __init__(
        self,
        actions: Sequence[QAction],
        menu: Sequence[QAction | None],
        parent: QWidget,
        folded: Callable[[], Sequence[QAction]] = tuple,
    ) -> None:
        """`menu`: further menu entries, None for a separator. `folded`: returns actions that have no button now."""
        self.actions, self._menu_actions, self._folded = list(actions), list(menu), folded
        self._ready = True
        self.buttons = [self._button(action, parent) for action in actions]
        self.more = IconButton("more", tr("More actions"), parent=parent)
        self._menu = QMenu(self.more)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.more.setMenu(self._menu)

    def offer(self, actions: Sequence[QAction]) -> None:
        """Add these actions at the end of the menu."""
        self._menu_actions += [None, *actions]

    def set_ready(self, ready: bool) -> None:
        """Enable the buttons, or disable all if there is nothing to act on."""
        self._ready = ready
        for action, button in zip(self.actions, self.buttons, strict=True):
            button.setEnabled(ready and action.isEnabled())
        self.more.setEnabled(ready)

    def _button(self, action: QAction, parent: QWidget) -> QPushButton:
        button = QPushButton(action.text(), parent)
        set_tip(button, tip_of(action))
        button.clicked.connect(action.trigger)

        def follow() -> None:
            button.setText(action.text())
            button.setEnabled(self._ready and action.isEnabled())
            set_tip(button, tip_of(action))
            button.setAccessibleDescription(action.statusTip())

        action.changed.connect(follow)
        return button

    def _fill(self) -> None:
        """Fill the menu: the actions of hidden buttons first, then the other entries."""
        self._menu.clear()
        self._menu.addActions(self._folded())
        for action, button in zip(self.actions, self.buttons, strict=True):
            if button.isHidden() and action.isVisible():
                self._menu.addAction(action)
        if not self._menu.isEmpty():
            self._menu.addSeparator()
        for entry in self._menu_actions:
            if entry is None:
                self._menu.addSeparator()
            else:
                self._menu.addAction(entry)


# ---------------------------------------------------------------------------------------------------------------------

TURN = command("file.rendered", marked("Source or rendered"), "file", "Alt+R")
_SIDE = 16
_GAP = 8
_MIN_CRUMB = 112
_HEIGHT = 44
_MIN_TITLE = 60
_TITLE_CHARACTERS = 36
"""Characters of a title that have priority over the buttons."""


class ViewerHeader(Resized, QFrame):
    """Title, breadcrumb, Source | Rendered, buttons, and a menu with the actions of hidden buttons.

    Signals:
        rendered_chosen: the user chose the rendered page (True) or the source (False).
        drag_requested: the title or the path is being dragged away; `button_down` stays true as long as the button is
            down.
    """

    rendered_chosen = Signal(bool)
    drag_requested = Signal()

    def __init__(self, buttons: Sequence[QAction], menu: Sequence[QAction | None], parent: QWidget) -> None:
        """`buttons` are hidden from the last to the first without room; `menu`: other entries, None for a separator."""
        super().__init__(parent)
        self.setProperty("role", "side")
        self._named = ("", "")
        self._has_page = True
        self.button_down = False
        self._pressed: QPoint | None = None
        """Where the title was pressed, until it is dragged."""
        self.title = ElidedLabel(parent=self)
        self.title.setProperty("role", "strong")
        self.crumb = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle, parent=self, fewest=8)
        self.crumb.setProperty("role", "meta")
        self.source_button, self.rendered_button = self._mode_button(tr("Source")), self._mode_button(tr("Rendered"))
        show_key_in_tooltip(self.source_button, tr("The raw file"), TURN.name)
        show_key_in_tooltip(self.rendered_button, tr("The file as a page"), TURN.name)
        self.source_button.setChecked(True)
        modes = QButtonGroup(self)
        modes.addButton(self.source_button)
        modes.addButton(self.rendered_button)
        modes.buttonClicked.connect(lambda: self._choose(self.rendered_button.isChecked()))
        self._see_source = self._mode_action(tr("Show source"), rendered=False)
        self._see_rendered = self._mode_action(tr("Show rendered"), rendered=True)
        self.folding = FoldingActions(buttons, menu, self, self._folded_mode)
        self.separator = line()
        self.separator.setParent(self)
        self.installEventFilter(self)

    def show_title(self, title: str, breadcrumb: str) -> None:
        if (title, breadcrumb) == self._named:
            return
        self._named = title, breadcrumb
        self.title.setText(title)
        self.crumb.setText(breadcrumb)
        self.fit()

    def toggle_mode(self) -> None:
        """Switch between source and rendered page, as if the user had pressed the other button."""
        if self.source_button.isEnabled() and self._has_page:
            self._choose(not self.rendered_button.isChecked())

    def show_mode(self, *, rendered: bool) -> None:
        """Show in the buttons which mode is active, source or rendered."""
        (self.rendered_button if rendered else self.source_button).setChecked(True)

    def offer_modes(self, offered: bool) -> None:
        """Whether the file can be shown as a page; documents, Org, reStructuredText and AsciiDoc cannot."""
        if offered != self._has_page:
            self._has_page = offered
            self.fit()

    def show_active(self, active: bool) -> None:
        """Show by the separator's colour whether the text below has the keyboard focus."""
        set_role(self.separator, "line-active" if active else "line")
        self.separator.setFixedHeight(2 if active else 1)
        self.fit()

    def offer(self, actions: Sequence[QAction]) -> None:
        """Add these actions at the end of the menu."""
        self.folding.offer(actions)

    def set_ready(self, ready: bool) -> None:
        """Enable the actions if a file is open."""
        for button in (self.source_button, self.rendered_button):
            button.setEnabled(ready)
        self.folding.set_ready(ready)

    def sizeHint(self) -> QSize:
        return QSize(520, max(scaled(_HEIGHT), self.source_button.sizeHint().height() + 2 * _GAP))

    def minimumSizeHint(self) -> QSize:
        return QSize(2 * _SIDE + _MIN_TITLE + _GAP + self.folding.more.sizeHint().width(), self.sizeHint().height())

    def _mode_button(self, text: str) -> QPushButton:
        return ToggleButton(text, self)

    def _mode_action(self, text: str, *, rendered: bool) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(lambda: self._choose(rendered))
        return action

    def _choose(self, rendered: bool) -> None:
        self.show_mode(rendered=rendered)
        self.rendered_chosen.emit(rendered)

    def _folded_mode(self) -> list[QAction]:
        """Return the actions that switch between source and page, if their buttons are hidden."""
        if not self.source_button.isHidden() or not self._has_page:
            return []
        return [self._see_source if self.rendered_button.isChecked() else self._see_rendered]

    def fit(self) -> None:
        """Place everything on one line, hiding buttons until the beginning of the title fits."""
        title, crumb = self.title.sizeHint().width(), self.crumb.sizeHint().width()
        beginning = min(title, _TITLE_CHARACTERS * self.title.fontMetrics().averageCharWidth())
        needed = beginning + (_GAP + min(crumb, scaled(_MIN_CRUMB)) if crumb else 0)
        right = self.width() - _SIDE
        modes: list[QPushButton] = [self.source_button, self.rendered_button]
        groups = [modes] if self._has_page else []
        for button in [] if self._has_page else modes:  # not shown for a moment: each change requests a new layout
            button.hide()
        groups += [[button] for button in self.folding.buttons]
        groups.append([self.folding.more])
        folding = groups[-2::-1]
        available = right - _SIDE - sum(_GAP + button.sizeHint().width() for group in groups for button in group)
        for group in folding:
            folded = available < needed
            for button in group:
                button.setHidden(folded)
                available += (button.sizeHint().width() + _GAP) * folded
        for group in reversed(groups):
            for button in reversed(group):
                if not button.isHidden():
                    size = button.sizeHint()
                    right -= size.width()
                    top = (self.height() - size.height()) // 2
                    self._place(button, QRect(right, top, size.width(), size.height()))
                    right -= _GAP
        free = max(0, right - _SIDE)
        title = min(title, free if free < needed else max(beginning, free - (needed - beginning)))
        self._place(self.title, QRect(_SIDE, 0, title, self.height() - 1))
        left = _SIDE + title + _GAP
        self._place(self.crumb, QRect(left, 0, max(0, min(crumb, right - left)), self.height() - 1))
        self.separator.setGeometry(0, self.height() - self.separator.height(), self.width(), self.separator.height())

    def _place(self, part: QWidget, rect: QRect) -> None:
        """Place a widget at a rectangle, which is mirrored in right-to-left layouts."""
        part.setGeometry(QStyle.visualRect(self.layoutDirection(), self.rect(), rect))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        self.button_down = event.button() == Qt.MouseButton.LeftButton
        named = self.title.geometry().united(self.crumb.geometry())
        self._pressed = at if self.button_down and named.contains(at) else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        far = QApplication.startDragDistance()
        if self._pressed is not None and (event.position().toPoint() - self._pressed).manhattanLength() >= far:
            self._pressed = None
            self.drag_requested.emit()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.button_down, self._pressed = False, None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.updateGeometry()
            self.fit()
        return False
