"""Every row of a line is painted, whatever its length and script."""

import math

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from gui.index.duplicates.diff_view import SideBySide
from gui.index.duplicates.line_comparison import Row, Side
from gui.style.theme import tokens
from gui.style.typography import Typography
from gui.viewer.line_layout import LineLayout, LineStyle
from gui.viewer.line_painter import Decoration, Gutter, LinePainter

SCRIPTS = {
    "ASCII": "valve opens at noon; ",
    "Latin": "Jörg notes: the valve – open – stays so. ",
    "Cyrillic": "Сегодня полив не включился. ",
    "Chinese": "灌溉定时器又跳过了星期二北边的菜地",
    "Thai": "สวัสดีชาวสวน รดน้ำต้นไม้ ",
    "Hindi": "नमस्ते बगीचे का टाइमर ",
    "Hebrew": "שלום גן ירק ",
    "Arabic": "مؤقت الري تخطى ",
    "emoji": "🌱👩🏽‍🌾🇨🇭 grows ",
    "tabs": "ä\tvalve\topen\t",
    "one word": "Ventilöffnung",
}
LENGTHS = (10, 199, 401, 801, 5_000, 20_000)
WIDTH = 600
"""Width of the picture, in pixels, and of wrapped lines."""
MAX_PICTURES = 60


def painted(laid: LineLayout, left: int, top: int, height: int) -> list[int]:
    """Count the painted pixels of each row in a part of the line that is `WIDTH` pixels wide."""
    typography, colours = Typography.current(), tokens(QApplication.palette())
    gutter = Gutter(0, 0, 0, 0, 0, 0)
    image = QImage(WIDTH, height, QImage.Format.Format_Grayscale8)
    image.fill(Qt.GlobalColor.white)
    painter = QPainter(image)
    pen = LinePainter(painter, colours, typography, gutter, WIDTH)
    pen.visible = QRectF(0, 0, WIDTH, height)
    pen.shift = left
    assert pen.text(-top, laid, Decoration())
    painter.end()
    row, pixels = laid.row_height * image.bytesPerLine(), bytes(image.constBits())
    return [row - pixels.count(b"\xff", start, start + row) for start in range(0, len(pixels), row)]


def evenly(places: range) -> list[int]:
    """Return at most `MAX_PICTURES` of the positions, including the first and the last."""
    step = math.ceil(len(places) / MAX_PICTURES)
    return [*places[:: max(1, step)], places[-1]]


def unpainted_rows(text: str, cut_mark: str = "") -> list[int]:
    """Return the tops of rows of a wrapped line that have fewer painted pixels than characters."""
    style = LineStyle(Typography.current(), WIDTH)
    laid = LineLayout(text, cut_mark, style)
    rows = laid.rows_within(math.inf)
    starts = [laid.row_start(row) for row in range(rows)]
    ends = [*starts[1:], laid.length]
    tall = 40
    empty: list[int] = []
    for first in evenly(range(0, rows, tall)):
        found = painted(laid, 0, first * laid.row_height, tall * laid.row_height)
        visible = range(first, min(rows, first + tall))
        empty += [row for row in visible if found[row - first] < max(1, (ends[row] - starts[row]) // 2)]
    return empty


def unpainted_columns(text: str, cut_mark: str = "") -> list[int]:
    """Return the left edges of parts of an unwrapped line that have no painted pixels."""
    laid = LineLayout(text, cut_mark, LineStyle(Typography.current(), None))
    laid.lay_out_area(QRectF(0, 0, 1e7, 1), math.inf)
    lefts = evenly(range(0, max(1, math.ceil(laid.width) - WIDTH // 2), WIDTH))
    return [left for left in lefts if painted(laid, left, 0, laid.row_height)[0] < WIDTH // 20]


def line_of(script: str, length: int) -> str:
    sample = SCRIPTS[script]
    return (sample * (length // len(sample) + 1))[:length]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_line_wrapped_paints_every_row(qtbot, appearance, script: str, length: int) -> None:
    assert not unpainted_rows(line_of(script, length), " … cut")


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("script", SCRIPTS)
def test_line_unwrapped_paints_all_its_width(qtbot, appearance, script: str, length: int) -> None:
    assert not unpainted_columns(line_of(script, length), " … cut")


@pytest.mark.parametrize("script", ["ASCII", "Latin", "Chinese", "Arabic"])
def test_line_of_200000_characters_is_painted(qtbot, appearance, script: str) -> None:
    text = line_of(script, 200_000)
    assert not unpainted_rows(text)
    assert not unpainted_columns(text)


def test_side_by_side_paints_every_row(qtbot, appearance) -> None:
    view = SideBySide()
    qtbot.addWidget(view)
    view.resize(2 * WIDTH, 600)
    text = line_of("Latin", 1_500)
    view.set_rows([Row("changed", Side(1, text), Side(1, text))])
    image = view.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    height = view.spoken_parts()[0].rect.height()
    row_height = Typography.current().row_height
    assert height > 10 * row_height
    for left in (WIDTH // 2, WIDTH + WIDTH // 2):
        for top in range(0, height - row_height, row_height):
            row = image.copy(left, top, 200, row_height)
            assert len({row.pixel(x, y) for x in range(200) for y in range(row_height)}) > 10
