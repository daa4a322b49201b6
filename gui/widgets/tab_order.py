"""Puts what is made late where it stands in the order of Tab: Qt takes the order of making."""

from collections.abc import Iterable, Iterator

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def stop_before(widget: QWidget) -> QWidget:
    """Where Shift+Tab leads, whether that is shown or not: Qt puts nothing behind what never has the keys."""
    before = widget.previousInFocusChain()
    while before is not None and before is not widget and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
        before = before.previousInFocusChain()
    return before or widget


def stops(part: QWidget) -> list[QWidget]:
    """What takes the focus in a part of the window, and the part if it does itself, in the order that it has now."""
    return [widget for widget in _chain(part) if widget.focusPolicy() & Qt.FocusPolicy.TabFocus]


def put_behind(before: QWidget, widgets: Iterable[QWidget]) -> None:
    """One after the other behind `before`."""
    for widget in widgets:
        QWidget.setTabOrder(before, widget)
        before = widget


def _chain(part: QWidget) -> Iterator[QWidget]:
    widget = part
    while True:
        if widget is part or part.isAncestorOf(widget):
            yield widget
        following = widget.nextInFocusChain()
        if following is None or following is part:
            return
        widget = following


class ComingLast:
    """Takes widgets that are added to `within`, after all that is there already; made before the first is added."""

    def __init__(self, within: QWidget) -> None:
        self._before = (stops(within) or [stop_before(within)])[-1]

    def take(self, widget: QWidget) -> None:
        """It is in its place by now."""
        added = stops(widget)
        put_behind(self._before, added)
        self._before = (added or [self._before])[-1]
