import pytest
from PySide6.QtCore import QPoint, Qt

from gui.style.theme import theme_tokens
from gui.widgets.form_controls import CheckBox


@pytest.fixture
def box(qtbot, appearance) -> CheckBox:
    box = CheckBox("Claude Code & friends")
    qtbot.addWidget(box)
    box.resize(box.sizeHint())
    box.show()
    return box


def test_whole_check_box_is_clickable(qtbot, box):
    qtbot.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(box.width() - 2, 2))
    assert box.isChecked()
    qtbot.keyClick(box, Qt.Key.Key_Space)
    assert not box.isChecked()
    assert box.accessibleName() == "Claude Code & friends"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_tick_has_theme_colour(box, appearance, theme):
    appearance.set_theme(theme)
    ground = QPoint(8, box.height() // 2 - 5)
    assert box.grab().toImage().pixelColor(ground) == theme_tokens(theme).base
    box.setChecked(True)
    assert box.grab().toImage().pixelColor(ground) == theme_tokens(theme).accent


def test_check_box_grows_with_font_scale(box, appearance):
    before = box.sizeHint()
    appearance.set_font_scale(2.0)
    after = box.sizeHint()
    assert after.height() > 1.6 * before.height()
    assert after.width() > 1.6 * before.width()
    assert box.minimumSizeHint().width() < after.width()
