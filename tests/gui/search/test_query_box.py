from PySide6.QtWidgets import QLabel, QPushButton

from gui.widgets.query_box import QueryBox


def test_narrow_box_hides_result_count(qtbot, appearance):
    box = QueryBox()
    qtbot.addWidget(box)
    state = next(label for label in box.findChildren(QLabel) if label.accessibleName() == "Search: state")
    box.set_state("50 of 107 results · 1.5 s")
    box.resize(600, box.height())
    with qtbot.waitExposed(box):
        box.show()
    assert state.isVisible()
    box.resize(200, box.height())
    assert not state.isVisible()
    box.set_state("1")
    assert state.isVisible()


def test_long_query_hides_result_count(qtbot, appearance):
    box = QueryBox()
    qtbot.addWidget(box)
    state = next(label for label in box.findChildren(QLabel) if label.accessibleName() == "Search: state")
    box.resize(600, box.height())
    with qtbot.waitExposed(box):
        box.show()
    box.set_state("50 of 107 results · 1.5 s")
    box.edit.setText("watering")
    assert state.isVisible()
    box.edit.setText("why does the irrigation timer skip some mornings in winter")
    assert not state.isVisible()
    box.edit.setText("watering")
    assert state.isVisible()


def test_hint_that_does_not_fit_becomes_shorter(qtbot, appearance):
    box = QueryBox("By title, project or words", short="By title or words")
    qtbot.addWidget(box)
    box.resize(600, box.height())
    with qtbot.waitExposed(box):
        box.show()
    whole = box.sizeHint().width()
    box.resize(whole, box.height())
    assert box.edit.placeholderText() == "By title, project or words"
    box.resize(whole - 20, box.height())
    assert box.edit.placeholderText() == "By title or words"
    box.resize(whole - 120, box.height())
    assert box.edit.placeholderText() == "Search"
    box.set_hint("Why?")
    assert box.edit.placeholderText() == "Why?"
    box.set_hint("")
    assert box.edit.placeholderText() == "Search"
    box.resize(600, box.height())
    assert box.edit.placeholderText() == "By title, project or words"


def test_typing_moves_no_button(qtbot, appearance):
    box, button = QueryBox(), QPushButton("?")
    qtbot.addWidget(box)
    box.add_button(button)
    box.resize(600, box.height())
    with qtbot.waitExposed(box):
        box.show()
    left = button.x()
    box.edit.setText("watering")
    clear = next(part for part in box.findChildren(QPushButton) if part.accessibleName() == "Search: clear")
    qtbot.waitUntil(lambda: clear.isVisible() and clear.geometry().right() < left)
    assert button.x() == left
