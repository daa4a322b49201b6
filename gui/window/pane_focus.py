"""From part to part of the window by a key: its top bar, the list, what is read, the dock, the bar below."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import shiboken6
from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QWidget

from gui.widgets.tab_order import first_stop, takes_keys


class Part(NamedTuple):
    widget: QWidget
    enter: Callable[[], object] | None = None
    """How it is entered for the first time; None for its first control."""


class PaneFocus(QObject):
    """Passes over parts that are hidden or have nothing to go to, and returns in each to where the keys were there."""

    def __init__(self, parts: Sequence[Part], parent: QObject) -> None:
        """`parts` in the order of the walk."""
        super().__init__(parent)
        self._parts = tuple(parts)
        self._left: dict[QWidget, QWidget] = {}
        """What had the keys last in each part."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._note)

    @Slot(QWidget, QWidget)
    def _note(self, before: QWidget | None, now: QWidget | None) -> None:
        part = self._part_of(now)
        if part is not None and now is not None:
            self._left[part.widget] = now

    def _part_of(self, widget: QWidget | None) -> Part | None:
        if widget is None:
            return None
        return next((part for part in self._parts if part.widget is widget or part.widget.isAncestorOf(widget)), None)

    def next(self) -> None:
        self._walk(1)

    def previous(self) -> None:
        self._walk(-1)

    def _walk(self, step: int) -> None:
        """To the nearest part that way which takes the keys, round the ends if need be."""
        here = self._part_of(QApplication.focusWidget())
        count = len(self._parts)
        begin = self._parts.index(here) if here is not None else (-1 if step > 0 else count)
        for distance in range(1, count + 1):
            part = self._parts[(begin + step * distance) % count]
            if part is not here and part.widget.isVisible() and self._enter(part):
                return

    def _enter(self, part: Part) -> bool:
        left = self._left.get(part.widget)
        if left is not None and shiboken6.isValid(left) and takes_keys(left) and part.widget.isAncestorOf(left):
            left.setFocus(Qt.FocusReason.TabFocusReason)
        elif part.enter is not None:
            part.enter()
        if self._part_of(QApplication.focusWidget()) is not part:
            first = first_stop(part.widget)
            if first is not None:
                first.setFocus(Qt.FocusReason.TabFocusReason)
        return self._part_of(QApplication.focusWidget()) is part
