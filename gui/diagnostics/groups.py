"""The groups of readings below each other: made one by one, updated in place, their buttons in the order of Tab."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from gui.diagnostics.diagnostic import Group
from gui.diagnostics.group_view import GroupView, must_stack
from gui.widgets.tab_order import preceding, put_behind

GROUP_SPACING = 14


class GroupColumn(QWidget):
    """Shows what `show_groups` was given last.

    Signals:
        remedy_pressed: name of a remedy.
        built: all groups are there that were not when they were wanted; now they can be shown.
    """

    remedy_pressed = Signal(str)
    built = Signal()

    def __init__(self, follower: QWidget) -> None:
        """`follower` has the keys after the last button."""
        super().__init__()
        self._follower = follower
        self._views: dict[str, GroupView] = {}
        self._wanted: Sequence[Group] = ()
        self._answers: Mapping[str, str] = {}
        self._stacked = False
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(GROUP_SPACING)
        self._building = QTimer(self, singleShot=True, interval=0)
        self._building.timeout.connect(self._build_next)

    def show_groups(self, groups: Sequence[Group], answers: Mapping[str, str]) -> bool:
        """Whether all of them are there; else they are made, and `built` follows.

        `answers`: remedy name -> what it said when it was last tried.
        """
        self._wanted, self._answers = groups, answers
        if any(group.title not in self._views for group in groups):
            self._building.start()
            return False
        before = self._buttons()
        for group in groups:
            self._views[group.title].show_group(group, answers)
        if self._buttons() != before:
            self._order_tabs()
        return True

    def stop(self) -> None:
        """There is nothing to show."""
        self._building.stop()

    def fold(self, width: int) -> None:
        """Put values below their labels where `width` pixels are too few for both."""
        self._stacked = must_stack(width)
        self._column.setSpacing(GROUP_SPACING + 8 * self._stacked)
        for view in self._views.values():
            view.set_stacked(self._stacked)

    @Slot()
    def _build_next(self) -> None:
        """One group a turn of the event loop, unseen until all are there: at once they would hold it for some 50 ms."""
        for group in self._wanted:
            if group.title not in self._views:
                view = GroupView(group.title)
                view.remedy_pressed.connect(self.remedy_pressed)
                view.set_stacked(self._stacked)
                self._views[group.title] = view
                self._column.addWidget(view)
                view.show_group(group, self._answers)
                for part in view.findChildren(QWidget):
                    part.ensurePolished()
                self._building.start()
                return
        self._order_tabs()
        self.built.emit()

    def _buttons(self) -> list[QPushButton]:
        """The rows' buttons from top to bottom."""
        return [button for view in self._views.values() for button in view.buttons()]

    def _order_tabs(self) -> None:
        """Rows come and go, and Qt puts each new button last: they belong before what follows the column."""
        buttons = self._buttons()
        before = preceding(self._follower)
        while before in buttons or not before.focusPolicy() & Qt.FocusPolicy.TabFocus:
            before = preceding(before)  # at last the follower itself
        put_behind(before, buttons)
