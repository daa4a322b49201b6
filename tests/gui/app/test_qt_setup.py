"""Text in scripts without a font, laid out on a pool thread during the window's own layout, once caused a deadlock."""

import subprocess
import sys

from tests.helpers.background import LONGEST_WAIT

LAY_OUT = """
import threading
from PySide6.QtCore import QLoggingCategory
from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication, QTextDocument
from gui.app.qt_setup import install_message_handler

install_message_handler()
assert not QLoggingCategory("qt.text.font.db").isWarningEnabled(), "a deadlock needs scripts without a font"
app = QGuiApplication([])
TEXT = "\u0928\u092e\u0938\u094d\u0924\u0947 \u0e44\u0e17\u0e22 \u09ac\u09be\u0982\u09b2\u09be"

def font(size):
    font = QFont("DejaVu Sans")
    font.setPointSizeF(size)
    return font

def lay_out():
    for number in range(40):
        document = QTextDocument()
        document.setDefaultFont(font(8 + number / 100))
        document.setPlainText(TEXT)
        document.size()

thread = threading.Thread(target=lay_out)
thread.start()
number = 0
while thread.is_alive():
    number += 1
    QFontMetrics(font(8 + number / 77)).horizontalAdvance(TEXT)
"""


def test_two_threads_may_lay_out_missing_fonts_concurrently():
    done = subprocess.run(
        [sys.executable, "-c", LAY_OUT], capture_output=True, text=True, check=False, timeout=LONGEST_WAIT
    )
    assert done.returncode == 0, done.stderr
