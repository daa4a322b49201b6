"""Errors of C code in overrides of Qt's functions, which may end a process of Python 3.11 within another override."""

import ast
import subprocess
import sys
from pathlib import Path

from tests.helpers.sources import syntax_trees

ROOT = Path(__file__).resolve().parents[3]
FAIL_TO_PAINT = """
import os, sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QLabel
from gui.core.jobs import Jobs
from gui.index.health_findings import FindingRow
from gui.index.map.interactive_map import InteractiveMap
from gui.viewer.chunks.view import ChunkedSource
from gui.viewer.header import ViewerHeader
from gui.widgets.charts.bars import BarChart
from gui.widgets.form_controls import CheckBox, Chip
from gui.widgets.layouts import FoldingRow
from gui.widgets.placeholder_page import ElidedButton

reported = []
sys.excepthook = lambda kind, error, trace: reported.append(kind)
app = QApplication([])
painted = set()

def made(kind, *values):
    def fail(self, event):
        painted.add(kind.__name__)
        [][1]
    widget = type(kind.__name__, (kind,), {"paintEvent": fail})(*values)
    widget.resize(200, 100)
    widget.show()
    return widget

parts = QLabel("a"), QLabel("b")
shown = [
    made(ChunkedSource, Jobs()), made(ViewerHeader, (), (), None), made(FoldingRow, *parts, 1), made(FindingRow),
    made(BarChart, "a", 40), made(InteractiveMap, Jobs()), made(Chip, "a"), made(CheckBox, "a"), made(ElidedButton, "a")
]
QTimer.singleShot(200, app.quit)
app.exec()
print(len(shown) - len(painted), set(reported) == {IndexError}, len(reported) >= len(shown), flush=True)
os._exit(0)
"""


def test_error_of_c_code_in_paint_event_is_reported():
    done = subprocess.run(
        [sys.executable, "-c", FAIL_TO_PAINT], cwd=ROOT, capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.stdout, done.returncode) == ("0 True True\n", 0), done.stderr[-2000:]


def test_no_class_delivers_paint_events_in_an_override():
    """Checks that the class handles events in a filter or a specific handler, since `event` delivers all others."""
    places = [
        f"{path}:{node.lineno}"
        for path, tree in syntax_trees("gui")
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.name in ("event", "viewportEvent")
    ]
    assert places == []
