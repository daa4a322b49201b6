"""Moving along the tab order is fast."""

import shiboken6
from PySide6.QtWidgets import QApplication, QLineEdit, QMainWindow, QMenu, QPushButton, QScrollArea, QWidget

from gui.widgets.accessibility import first_stop, following, preceding


def _window(qtbot) -> tuple[QMainWindow, QScrollArea]:
    window = QMainWindow()
    qtbot.addWidget(window)
    room = QScrollArea(window)
    room.setWidget(QPushButton("Stop"))
    QLineEdit(window)
    return window, room


def test_tab_order_cycles_in_both_directions(qtbot):
    window, room = _window(qtbot)
    there, widget = [], following(window)
    while widget is not window:
        there.append(widget)
        widget = following(widget)
    assert {room, room.widget(), *window.findChildren(QLineEdit)} <= set(there)
    back = preceding(window)
    for expected in reversed(there):
        assert back is expected
        back = preceding(back)


def test_qt_objects_outlive_widget_passed_to_tab_order(qtbot):
    """PySide treats the result of Qt's own tab chain as a child of the widget, and deletes it along with the widget."""
    window, room = _window(qtbot)
    action = QMenu("Menu", window).addAction("Entry")
    for step in (following, preceding):
        first = room.widget()
        widget = step(first)
        while widget is not first:
            widget = step(widget)
        del first, widget
        room.setWidget(QPushButton("Go on"))
        QApplication.processEvents()
        assert shiboken6.isValid(action)
        assert action.text() == "Entry"


def test_first_stop_is_first_focusable_widget(qtbot):
    window, room = _window(qtbot)
    window.show()
    room.hide()
    hidden: QWidget = room.widget()
    assert first_stop(window) is window.findChild(QLineEdit)
    room.show()
    assert first_stop(room) is hidden
