"""Buttons of a header that fold into its menu if there is no room for them."""

from collections.abc import Callable, Sequence

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QPushButton, QWidget

from engine import tr
from gui.widgets.icons import IconButton
from gui.widgets.plain_text import set_tip, tip_of


class FoldingActions:
    """`buttons` for actions, placed and hidden by the header, and `more`, whose menu has all hidden ones."""

    def __init__(
        self,
        actions: Sequence[QAction],
        menu: Sequence[QAction | None],
        parent: QWidget,
        folded: Callable[[], Sequence[QAction]] = tuple,
    ) -> None:
        """`folded`: what else has folded away by now; a None in `menu` is a line between groups."""
        self._actions, self._menu_actions, self._folded = list(actions), list(menu), folded
        self._ready = True
        self.buttons = [self._button(action, parent) for action in actions]
        self.more = IconButton("more", tr("More actions"), parent=parent)
        self._menu = QMenu(self.more)
        self._menu.setToolTipsVisible(True)
        self._menu.aboutToShow.connect(self._fill)
        self.more.setMenu(self._menu)

    def offer(self, actions: Sequence[QAction]) -> None:
        """Have these at the end of the menu, too."""
        self._menu_actions += [None, *actions]

    def set_ready(self, ready: bool) -> None:
        """Whether there is something to act on."""
        self._ready = ready
        for action, button in zip(self._actions, self.buttons, strict=True):
            button.setEnabled(ready and action.isEnabled())
        self.more.setEnabled(ready)

    def _button(self, action: QAction, parent: QWidget) -> QPushButton:
        made = QPushButton(action.text(), parent)
        set_tip(made, tip_of(action))
        made.clicked.connect(action.trigger)

        def follow() -> None:
            made.setText(action.text())
            made.setEnabled(self._ready and action.isEnabled())
            set_tip(made, tip_of(action))
            made.setAccessibleDescription(action.statusTip())

        action.changed.connect(follow)
        return made

    def _fill(self) -> None:
        """First the folded buttons, then the rest."""
        self._menu.clear()
        self._menu.addActions(self._folded())
        for action, button in zip(self._actions, self.buttons, strict=True):
            if button.isHidden():
                self._menu.addAction(action)
        if not self._menu.isEmpty():
            self._menu.addSeparator()
        for entry in self._menu_actions:
            if entry is None:
                self._menu.addSeparator()
            else:
                self._menu.addAction(entry)
