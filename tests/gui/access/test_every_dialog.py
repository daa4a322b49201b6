"""Every dialog by keyboard alone: Enter, Esc, mnemonics, the tab order and a focus that can be seen."""

from collections import Counter
from collections.abc import Iterator
from datetime import date

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QImage, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QPushButton, QWidget

from gui.app.crash_controller import CrashDialog
from gui.sessions.filter_controller import DaysDialog
from tests.helpers.spoken import faults, windows

VIEWS = ("remember", "settings-general", "settings-search", "settings-keyboard", "settings-sources", "engine")
VIEWS = (*VIEWS, "workspaces", "about", "guide", "licences", "keys", "crash", "days")
HARMLESS = {"Save", "Open", "Close", "OK", "Copy report"}
"""Buttons that Enter may press without another choice of the user."""
_MAX_STOPS = 90
_MAX_ESCAPES = 3
"""Esc goes from the guide's text to the contents, then to the box, then closes the window."""


@pytest.mark.qt_log_ignore("propagateSizeHints", extend=True)
@pytest.mark.parametrize("views", [VIEWS[:7], VIEWS[7:]], ids=["settings", "others"])
def test_dialogs_can_be_used_by_keyboard(qtbot, program, views):
    for view in views:
        _use_by_keyboard(qtbot, _open(program, view), view)


def _use_by_keyboard(qtbot, dialog: QDialog, view: str) -> None:
    with qtbot.waitActive(dialog):
        dialog.activateWindow()
    assert dialog.windowTitle(), view
    assert faults(dialog) == []
    qtbot.waitUntil(lambda: dialog.isAncestorOf(QApplication.focusWidget()))
    buttons = [one for one in dialog.findChildren(QPushButton) if one.isVisible() and not one.hasFocus()]
    assert {one.text() for one in buttons if one.isDefault()} <= HARMLESS, view
    assert _repeated_mnemonics(dialog) == [], view
    stops = list(_stops(qtbot, dialog))
    assert 1 <= len(stops) < _MAX_STOPS, view  # Tab returns to the first one
    assert [_named(stop) for stop, seen in stops if not seen] == [], view
    gone = []
    dialog.finished.connect(gone.append)
    for _ in range(_MAX_ESCAPES):
        if not gone:
            qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert gone, view


@pytest.mark.usefixtures("german")
def test_german_dialogs_have_no_repeated_mnemonics(program):
    for view in VIEWS:
        assert _repeated_mnemonics(_open(program, view)) == [], view


def _open(program, view: str) -> QDialog:
    """Open the dialog of a view."""
    parent = program.window
    program.go("search" if view in ("crash", "days") else view)
    if view == "crash":
        return CrashDialog("It broke", "A sentence.", "A report", None, parent, restart=True)
    if view == "days":
        dialog = DaysDialog(date(2026, 1, 1), date(2026, 2, 1), parent)
        dialog.open()
        return dialog
    return next(one for one in windows() if isinstance(one, QDialog))


def _repeated_mnemonics(dialog: QDialog) -> list[str]:
    buttons = [one for one in dialog.findChildren(QAbstractButton) if one.isVisible()]
    keys = Counter(QKeySequence.mnemonic(one.text()).toString() for one in buttons)
    return [key for key, count in keys.items() if key and count > 1]


def _stops(qtbot, dialog: QDialog) -> Iterator[tuple[QWidget, bool]]:
    """Yield each widget that Tab reaches, and whether it is in view and shows its focus."""
    first = at = QApplication.focusWidget()
    for _ in range(_MAX_STOPS):
        rect = QRect(at.mapTo(dialog, QPoint()), at.size()).adjusted(-6, -6, 6, 6)
        focused, in_sight = _picture(dialog, rect), not at.visibleRegion().isEmpty()
        at.clearFocus()
        seen = in_sight and _picture(dialog, rect) != focused
        at.setFocus(Qt.FocusReason.TabFocusReason)
        yield at, seen
        qtbot.keyClick(at, Qt.Key.Key_Tab, Qt.KeyboardModifier.ControlModifier if _keeps_tab(at) else NO_KEYS)
        at = QApplication.focusWidget()
        if at is first:
            return


NO_KEYS = Qt.KeyboardModifier.NoModifier


def _keeps_tab(widget: QWidget) -> bool:
    return hasattr(widget, "tabChangesFocus") and not widget.tabChangesFocus() and not widget.isReadOnly()


def _picture(dialog: QDialog, rect: QRect) -> QImage:
    QApplication.processEvents()
    return dialog.grab(rect).toImage()


def _named(widget: QWidget) -> str:
    return f"{type(widget).__name__} {widget.accessibleName() or getattr(widget, 'text', str)()!r}"
