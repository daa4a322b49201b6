"""With reduced motion on the desktop, nothing is animated: only figures and progress lines change.

The map fades to its final layout where the style animates widgets; the tests of the map cover that.
"""

import re
from pathlib import Path

import pytest

import gui
from gui.widgets.sync_bar import ProgressLine

MOVES = re.compile(
    r"Q\w*Animation\b|QTimeLine|QMovie|QScroller\b|QGraphics\w+Effect|setAnimated|setCursorFlashTime\((?!0\))|setEffectEnabled"
)
SOURCES = sorted(Path(gui.__file__).parent.rglob("*.py"))


def test_gui_code_contains_no_animation():
    assert len(SOURCES) > 100
    assert [path.name for path in SOURCES if MOVES.search(path.read_text("utf-8"))] == []


@pytest.mark.parametrize("value", [0, 500, 1000])
def test_progress_line_does_not_animate(qtbot, value):
    line = ProgressLine()
    qtbot.addWidget(line)
    line.setValue(value)
    line.show()
    before = line.grab().toImage()
    qtbot.wait(120)
    assert line.grab().toImage() == before
