"""Announces messages to screen readers, makes self-painted widgets accessible, and orders widgets for Tab.

Qt doesn't know what such a widget paints, and exposes it without a role. A widget with `spoken_role` and
`spoken_parts()` is exposed as a chart, a list or a document whose children are those parts. Nothing is created before
an assistive technology requests it.

Qt appends each new widget to the tab order: widgets that are created late are inserted at their position.
"""

# mypy: disable-error-code="override"
# PySide's types don't know that Qt accepts null here.

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Protocol, cast

import shiboken6
from PySide6.QtCore import QObject, QPoint, QRect, Qt, QTimer
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QAccessibleInterface, QWindow
from PySide6.QtWidgets import QApplication, QWidget

from gui.text.plain_text import tip_of

_SETTLED_MS = 600
"""Milliseconds without another message before one is announced."""
_SECONDS_OF_PARTS = 0.1
"""Time for which the parts of a painted widget are reused: a screen reader asks for each of them several times."""


def announce(widget: QWidget, sentence: str) -> None:
    """Announce a message as if from `widget`; does nothing without a screen reader."""
    if QAccessible.isActive():
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))


class SettledAnnouncer(QObject):
    """Announces only the last of several messages in quick succession."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._sentence = ""
        self._wait = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._wait.timeout.connect(self._announce)

    def announce(self, sentence: str) -> None:
        """Announce a message after a short delay, unless another one follows."""
        if QAccessible.isActive():
            self._sentence = sentence
            self._wait.start()

    def _announce(self) -> None:
        announce(self._widget, self._sentence)


_PART_OF = {QAccessible.Role.Document: QAccessible.Role.Paragraph}
"""Role of the parts; rows of a list by default."""


@dataclass(frozen=True)
class Part:
    """A part of a painted widget, as exposed to screen readers."""

    words: str
    rect: QRect
    """Rectangle in the widget."""


class Painted(Protocol):
    """Protocol of a widget that paints its content and describes it for screen readers."""

    spoken_role: QAccessible.Role

    def spoken_parts(self) -> Sequence[Part]:
        """Return the visible parts in reading order."""


@cache
def describe_painted_widgets() -> None:
    """Install Qt's factory of accessible objects for painted widgets; call it once per program."""
    QAccessible.installFactory(_make)


_made: dict[int, "_PaintedWidget"] = {}
"""Accessible objects by the widget's id. Qt deletes them with the widget: without this, Python would do it earlier."""


def _make(_kind: str, thing: QObject | None) -> QAccessibleInterface | None:
    if not isinstance(thing, QWidget) or not hasattr(thing, "spoken_parts"):
        return None
    for key in [key for key, interface in _made.items() if not shiboken6.isValid(interface)]:
        del _made[key]
    return _made.setdefault(id(thing), _PaintedWidget(thing))


class _PaintedWidget(QAccessibleInterface):
    """The accessible object of a painted widget."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__()
        self._widget = widget
        self._parts: list[_Part] = []
        self._spoken: Sequence[Part] = ()
        self._due = 0.0
        """When the parts must be read again, on the monotonic clock."""

    def parts(self) -> Sequence[Part]:
        if not self.isValid():
            return ()
        if time.monotonic() >= self._due:
            self._spoken = cast(Painted, self._widget).spoken_parts()
            self._due = time.monotonic() + _SECONDS_OF_PARTS
        return self._spoken

    def isValid(self) -> bool:
        return shiboken6.isValid(self._widget)

    def object(self) -> QObject | None:
        return self._widget if self.isValid() else None

    def window(self) -> QWindow | None:
        return self._widget.window().windowHandle() if self.isValid() else None

    def parent(self) -> QAccessibleInterface | None:
        above = self._widget.parentWidget() or QApplication.instance()
        return QAccessible.queryAccessibleInterface(above) if above is not None else None

    def childCount(self) -> int:
        return len(self.parts())

    def child(self, index: int) -> QAccessibleInterface | None:
        if not 0 <= index < self.childCount():
            return None
        while len(self._parts) <= index:
            self._parts.append(_Part(self, len(self._parts)))
        return self._parts[index]

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return self._parts.index(child) if isinstance(child, _Part) and child in self._parts else -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:
        at = self._widget.mapFromGlobal(QPoint(x, y))
        hit = (number for number, part in enumerate(self.parts()) if part.rect.contains(at))
        return self.child(next(hit, -1))

    def focusChild(self) -> QAccessibleInterface | None:
        return self if self._widget.hasFocus() else None

    def text(self, kind: QAccessible.Text) -> str:
        match kind:
            case QAccessible.Text.Name:
                return self._widget.accessibleName()
            case QAccessible.Text.Description:
                return self._widget.accessibleDescription() or tip_of(self._widget)
            case _:
                return ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Do nothing: painted content is read-only."""

    def rect(self) -> QRect:
        return QRect(self._widget.mapToGlobal(QPoint(0, 0)), self._widget.size())

    def role(self) -> QAccessible.Role:
        return cast(Painted, self._widget).spoken_role

    def state(self) -> QAccessible.State:
        state, widget = QAccessible.State(), self._widget
        state.focusable = widget.isEnabled()
        state.focused = widget.hasFocus()
        state.disabled = not widget.isEnabled()
        state.invisible = not widget.isVisible()
        state.readOnly = True
        return state


class _Part(QAccessibleInterface):
    """The accessible object of a part of a painted widget, by number: its content changes when the view scrolls."""

    def __init__(self, whole: _PaintedWidget, number: int) -> None:
        super().__init__()
        self._whole = whole
        self._number = number

    def _part(self) -> Part | None:
        parts = self._whole.parts() if shiboken6.isValid(self._whole) else ()
        return parts[self._number] if self._number < len(parts) else None

    def isValid(self) -> bool:
        return self._part() is not None

    def object(self) -> QObject | None:
        return None

    def window(self) -> QWindow | None:
        return self._whole.window()

    def parent(self) -> QAccessibleInterface | None:
        return self._whole

    def childCount(self) -> int:
        return 0

    def child(self, index: int) -> QAccessibleInterface | None:
        return None

    def indexOfChild(self, child: QAccessibleInterface) -> int:
        return -1

    def childAt(self, x: int, y: int) -> QAccessibleInterface | None:
        return None

    def text(self, kind: QAccessible.Text) -> str:
        part = self._part()
        return part.words if part is not None and kind == QAccessible.Text.Name else ""

    def setText(self, kind: QAccessible.Text, text: str) -> None:
        """Delegate to the accessible object of the widget."""

    def rect(self) -> QRect:
        part = self._part()
        return QRect() if part is None else part.rect.translated(self._whole.rect().topLeft())

    def role(self) -> QAccessible.Role:
        return _PART_OF.get(self._whole.role(), QAccessible.Role.ListItem)

    def state(self) -> QAccessible.State:
        state = QAccessible.State()
        state.readOnly = True
        state.invisible = self._part() is None
        return state


def following(widget: QWidget) -> QWidget:
    """Return the next widget in tab order, focusable or not; after the window's last one, the first."""
    return _take_ownership(widget.nextInFocusChain() or widget)


def preceding(widget: QWidget) -> QWidget:
    """Return the previous widget in tab order, focusable or not."""
    return _take_ownership(widget.previousInFocusChain() or widget)


def _take_ownership(found: QWidget) -> QWidget:
    """Correct PySide's ownership of a widget that Qt returned, and of its parents; returns the widget.

    PySide treats the result as a child of the given widget: when that is deleted, everything in the window created by
    Qt would be lost for Python. For Qt nothing changes.
    """
    parent = found.parentWidget()
    found.setParent(parent)
    if parent is not None and not shiboken6.createdByPython(parent):
        _take_ownership(parent)  # otherwise its wrapper would be deleted, and its child's wrapper with it
    return found


def is_tab_stop(widget: QWidget) -> bool:
    """Return whether Tab currently stops at the widget."""
    return widget.isVisible() and widget.isEnabled() and bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)


def first_stop(part: QWidget) -> QWidget | None:
    """Return the widget at which Tab currently stops first in a part of the window."""
    return next((widget for widget in _chain(part) if widget is not part and is_tab_stop(widget)), None)


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


def mark_position(within: QWidget) -> QWidget:
    """Add a hidden child to `within`: widgets created later are inserted after it in the tab order."""
    mark = QWidget(within)
    mark.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    mark.hide()
    return mark


def _chain(part: QWidget) -> Iterator[QWidget]:
    """Yield `part` and all widgets in it, in tab order."""
    yield part
    window = part.window()  # windows in it, such as a drop-down list, have their own tab order
    remaining = sum(widget.window() is window for widget in part.findChildren(QWidget))
    widget = part
    # They usually follow each other directly, among the thousand widgets of the window.
    while remaining and (widget := following(widget)) is not part:
        if part.isAncestorOf(widget):
            remaining -= 1
            yield widget


class LastInTabOrder:
    """Puts widgets that are added to `within` at the end of its tab order; create it before the first is added."""

    def __init__(self, within: QWidget) -> None:
        self._before = (stops(within) or [stop_before(within)])[-1]

    def append(self, widget: QWidget) -> None:
        """Put a widget that was just added to the layout at the end of the tab order of `within`."""
        added = stops(widget)
        insert_after(self._before, added)
        self._before = (added or [self._before])[-1]
