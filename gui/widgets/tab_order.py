"""Reads the tab order, and inserts widgets that are created late: Qt appends them in the order of creation."""

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def following(widget: QWidget) -> QWidget:
    """Return the next widget in tab order, focusable or not; after the window's last one, the first."""
    return _own(widget.nextInFocusChain() or widget)


def preceding(widget: QWidget) -> QWidget:
    """Return the previous widget in tab order, focusable or not."""
    return _own(widget.previousInFocusChain() or widget)


def _own(found: QWidget) -> QWidget:
    """Correct PySide's ownership of a widget that Qt returned, and of its parents; returns the widget.

    PySide treats the result as a child of the given widget: when that is deleted, everything in the window created by
    Qt would be lost for Python. For Qt nothing changes.
    """
    parent = found.parentWidget()
    found.setParent(parent)
    if parent is not None and not shiboken6.createdByPython(parent):
        _own(parent)  # otherwise its wrapper would be deleted, and that of its child with it
    return found


def takes_keys(widget: QWidget) -> bool:
    """Return whether Tab currently stops at the widget."""
    return widget.isVisible() and widget.isEnabled() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def first_stop(part: QWidget) -> QWidget | None:
    """Return the widget at which Tab currently stops first in a part of the window."""
    return next((widget for widget in _chain(part) if widget is not part and takes_keys(widget)), None)


def stop_before(widget: QWidget) -> QWidget:
    """Return the previous focusable widget, visible or not: Qt inserts nothing after widgets without focus."""
    before = preceding(widget)
    while before is not widget and before.focusPolicy() == Qt.FocusPolicy.NoFocus:
        before = preceding(before)
    return before


def stops(part: QWidget) -> list[QWidget]:
    """Return the focusable widgets of `part` and `part` itself if focusable, in tab order."""
    return [widget for widget in _chain(part) if widget.focusPolicy() & Qt.FocusPolicy.TabFocus]


def insert_after(before: QWidget, widgets: Iterable[QWidget]) -> None:
    """Insert the widgets in this order after `before`."""
    for widget in widgets:
        QWidget.setTabOrder(before, widget)
        before = widget


def mark_place(within: QWidget) -> QWidget:
    """Add a hidden child to `within`: widgets created later are inserted after it in the tab order."""
    mark = QWidget(within)
    mark.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    mark.hide()
    return mark


def _chain(part: QWidget) -> Iterator[QWidget]:
    """Yield `part` and all widgets in it, in tab order."""
    yield part
    left = len(part.findChildren(QWidget))  # with those in windows of their own, which are in another tab order
    widget = part
    # They usually follow each other directly, among the thousand widgets of the window.
    while left and (widget := following(widget)) is not part:
        if part.isAncestorOf(widget):
            left -= 1
            yield widget


class LastInTabOrder:
    """Puts widgets that are added to `within` at the end of its tab order; create it before the first is added."""

    def __init__(self, within: QWidget) -> None:
        self._before = (stops(within) or [stop_before(within)])[-1]

    def take(self, widget: QWidget) -> None:
        """Put a widget that was just added to the layout at the end of the tab order of `within`."""
        added = stops(widget)
        insert_after(self._before, added)
        self._before = (added or [self._before])[-1]
