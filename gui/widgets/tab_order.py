"""The order of Tab: goes along it, and puts what is made late where it stands, since Qt takes the order of making."""

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def following(widget: QWidget) -> QWidget:
    """The next in the order, whether it takes the keys or not; the first of the window after its last."""
    return _own(widget.nextInFocusChain() or widget)


def preceding(widget: QWidget) -> QWidget:
    """The one before in the order, whether it takes the keys or not."""
    return _own(widget.previousInFocusChain() or widget)


def _own(found: QWidget) -> QWidget:
    """PySide takes what is found, which may be the window, for a child of the widget that was asked: with that one, all
    in the window that Qt itself has made would be gone for Python. For Qt nothing changes here."""
    parent = found.parentWidget()
    found.setParent(parent)
    if parent is not None and not shiboken6.createdByPython(parent):
        _own(parent)  # nobody else keeps its wrapper, with which that of its child would go
    return found


def takes_keys(widget: QWidget) -> bool:
    """Whether Tab stops there now."""
    return widget.isVisible() and widget.isEnabled() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def first_stop(part: QWidget) -> QWidget | None:
    """Where Tab stops first in a part of the window, now."""
    return next((widget for widget in _chain(part) if widget is not part and takes_keys(widget)), None)


def stop_before(widget: QWidget) -> QWidget:
    """Where Shift+Tab leads, whether that is shown or not: Qt puts nothing behind what never has the keys."""
    before = preceding(widget)
    while before is not widget and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
        before = preceding(before)
    return before


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
        widget = following(widget)
        if widget is part:
            return


class LastInTabOrder:
    """Takes widgets that are added to `within`, after all that is there already; made before the first is added."""

    def __init__(self, within: QWidget) -> None:
        self._before = (stops(within) or [stop_before(within)])[-1]

    def take(self, widget: QWidget) -> None:
        """It is in its place by now."""
        added = stops(widget)
        put_behind(self._before, added)
        self._before = (added or [self._before])[-1]
