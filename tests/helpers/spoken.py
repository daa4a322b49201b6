"""Check a window's `QAccessible` tree as an assistive tool sees it."""

from collections.abc import Iterator
from itertools import pairwise

from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible, QAccessibleInterface
from PySide6.QtWidgets import QApplication, QMenu, QPushButton, QScrollArea, QToolButton, QWidget

from gui.widgets.accessibility import following

Text, Role = QAccessible.Text, QAccessible.Role

_SAYS_NOTHING = {Role.NoRole, Role.Client, Role.Pane, Role.Border, Role.Grouping, Role.LayeredPane, Role.Window}
"""Roles that do not describe an object's purpose."""
_ITEMS = {Role.ListItem, Role.Cell, Role.TreeItem}
_MAX_ITEMS = 40
"""Limit for each list; further items are created by the same code."""
_FEW = 5


def name(found: QAccessibleInterface) -> str:
    return found.text(Text.Name).strip()


def walk(found: QAccessibleInterface) -> Iterator[QAccessibleInterface]:
    """Yield this object and all visible descendants, parents first."""
    yield found
    items = 0
    for number in range(found.childCount()):
        child = found.child(number)
        if child is None or not child.isValid() or child.state().invisible:
            continue
        items += child.role() in _ITEMS
        if items <= _MAX_ITEMS:
            yield from walk(child)


def of(widget: QWidget) -> QAccessibleInterface:
    found = QAccessible.queryAccessibleInterface(widget)
    assert found is not None
    return found


def faults(widget: QWidget) -> list[str]:
    """Return a sentence for each fault of the widget and its visible descendants."""
    found, seen = [], set[tuple[object, str, str]]()
    for one in walk(of(widget)):
        found += _faults_of(one)
        found += _repeated(one, seen)
    return [*found, *_menu_faults(widget)]


def _faults_of(one: QAccessibleInterface) -> Iterator[str]:
    state, role = one.state(), one.role()
    if state.focusable and role not in _ITEMS:
        if not name(one) and role != Role.StaticText:  # a text of no words
            yield f"{_described(one)} takes the focus and has no name."
        if role in _SAYS_NOTHING and not isinstance(
            one.object(), QScrollArea
        ):  # scrolled by keys, and what it holds speaks
            yield f"{_described(one)} takes the focus and has no role."
    elif role in (Role.Button, Role.CheckBox, Role.RadioButton, Role.ComboBox, Role.Link) and not name(one):
        yield f"{_described(one)} can be pressed and has no name."
    if role == Role.ListItem and not name(one):
        yield f"A row of {_described(one.parent())} has no words."
    if role in (Role.Button, Role.ListItem) and "object at 0x" in name(one):
        yield f"{_described(one)} is named by Python."


def _repeated(one: QAccessibleInterface, seen: set[tuple[object, str, str]]) -> Iterator[str]:
    """Report an object with the role, name and description of one in `seen`, and add it there."""
    state = one.state()
    if state.focusable and not state.invisible and one.role() not in _ITEMS:
        announced = one.role(), name(one), one.text(Text.Description)
        if announced in seen:
            yield f"{_described(one)} is there twice with one name."
        seen.add(announced)


def _menu_faults(widget: QWidget) -> Iterator[str]:
    for button in widget.findChildren(QWidget):
        if isinstance(button, QPushButton | QToolButton) and button.isVisible() and button.menu() is not None:
            yield from menu_faults(button.menu())


def menu_faults(menu: QMenu) -> Iterator[str]:
    """Return the faults of a menu in its current state, and of its submenus."""
    menu.aboutToShow.emit()
    for action in menu.actions():
        if not action.isSeparator() and not action.text().strip():
            yield f"The menu {menu.title()!r} has an entry without words ({type(action).__name__})."
        if action.menu() is not None:
            yield from menu_faults(action.menu())


def _described(one: QAccessibleInterface) -> str:
    """Describe an object well enough to find it in the code."""
    path, at = [], one
    while at is not None and at.isValid() and len(path) < _FEW:
        thing = at.object()
        path.append(f"{type(thing).__name__ if thing else at.role().name} {name(at)[:30]!r}")
        at = at.parent()
    return " in ".join(path)


def windows() -> list[QWidget]:
    """Return the visible windows, including popups."""
    return [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]


def disorder(window: QWidget) -> list[str]:
    """Return a sentence for each step of the tab order that goes against the reading order."""
    chain = []
    widget = following(window)
    while widget is not window:
        if widget.isVisibleTo(window) and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
            chain.append(widget)
        widget = following(widget)
    found = []
    for one, other in pairwise(chain):
        if one.focusProxy() is other or one.isAncestorOf(other) or other.isAncestorOf(one):
            continue
        first, second = _beside_each_other(one, other, window)
        if _reads_before(second, first):
            found.append(f"Tab goes from {_described(of(one))} back to {_described(of(other))}.")
    return found


def _beside_each_other(one: QWidget, other: QWidget, window: QWidget) -> tuple[QRect, QRect]:
    """Return the positions of the largest ancestors that contain only one of the two."""
    above = one
    while not above.isAncestorOf(other):
        one, above = above, above.parentWidget() or window
    while other.parentWidget() is not above:
        other = other.parentWidget()
    return tuple(QRect(each.mapTo(window, QPoint(0, 0)), each.size()) for each in (one, other))


def _reads_before(one: QRect, other: QRect) -> bool:
    """Return whether the first is above the second, or left of it in the same line."""
    if one.bottom() <= other.top():
        return min(one.right(), other.right()) > max(one.left(), other.left())
    return one.right() <= other.left() and one.center().y() < other.bottom() and other.center().y() < one.bottom()
