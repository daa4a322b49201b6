"""A screen reader can toggle a button by the first of its actions."""

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QButtonGroup

from gui.widgets.buttons import ToggleButton
from gui.widgets.form_controls import CheckBox, Chip
from gui.widgets.icons import IconButton


def star() -> IconButton:
    button = IconButton("star", "Words")
    button.setCheckable(True)
    return button


@pytest.mark.parametrize(
    "make", [lambda: ToggleButton("Words"), lambda: Chip("Words"), lambda: CheckBox("Words"), star]
)
def test_accessible_toggle_counts_as_click(qtbot, make):
    button, clicks = make(), []
    qtbot.addWidget(button)
    button.clicked.connect(lambda on: clicks.append(on))  # noqa: PLW0108
    button.setChecked(True)
    assert clicks == []
    button.click()
    assert clicks == [False]
    tools = QAccessible.queryAccessibleInterface(button).actionInterface()
    tools.doAction(tools.actionNames()[0])
    assert clicks == [False, True]


def test_button_unchecked_by_group_is_not_clicked(qtbot):
    group, clicks = QButtonGroup(), []
    first, second = ToggleButton("first"), ToggleButton("second")
    for button in (first, second):
        qtbot.addWidget(button)
        group.addButton(button)
        button.clicked.connect(lambda on, button=button: clicks.append((button.text(), on)))
    first.setChecked(True)
    QAccessible.queryAccessibleInterface(second).actionInterface().doAction("Toggle")
    assert clicks == [("second", True)]
