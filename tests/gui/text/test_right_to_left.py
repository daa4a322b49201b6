"""Custom painting in right-to-left windows."""

import pytest
from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import QSplitter, QWidget

from gui.search.row_delegate import MarkedLine
from gui.text.plain_text import as_tip
from gui.text.right_to_left import (
    code,
    correct_margins,
    draw_pixmap,
    in_reading_order,
    line_direction,
    margins,
    mirror,
    range_edges,
    text_direction,
    upright,
    write,
)
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import AT_LEFT, AT_RIGHT, ElidedLabel, KeyCaps, label
from gui.widgets.sync_bar import ProgressLine

WIDTH, HEIGHT = 120, 20
LEFT, RIGHT = Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft
BOUNDS = QRect(0, 0, WIDTH, HEIGHT)


def columns(image: QImage) -> list[int]:
    """Return the columns with ink."""
    rows = range(image.height())
    return [x for x in range(image.width()) if any(image.pixelColor(x, y) != QColor("white") for y in rows)]


def painted(direction: Qt.LayoutDirection, draw) -> QImage:
    image = QImage(WIDTH, HEIGHT, QImage.Format.Format_RGB32)
    image.fill(QColor("white"))
    painter = QPainter(image)
    mirror(painter, BOUNDS, direction)
    draw(painter)
    painter.end()
    return image


def test_positions_are_mirrored_to_the_pixel(qapp):
    def draw(painter: QPainter) -> None:
        painter.fillRect(QRect(3, 0, 7, HEIGHT), QColor("black"))

    assert columns(painted(LEFT, draw)) == list(range(3, 10))
    assert columns(painted(RIGHT, draw)) == list(range(WIDTH - 10, WIDTH - 3))


@pytest.mark.parametrize("flags", [AT_LEFT, AT_RIGHT])
def test_text_is_aligned_to_other_side_and_not_mirrored(qapp, flags):
    other = AT_RIGHT if flags == AT_LEFT else AT_LEFT
    turned = painted(RIGHT, lambda painter: write(painter, QRect(4, 0, 60, HEIGHT), flags, "/a."))
    assert turned == painted(LEFT, lambda painter: write(painter, QRect(WIDTH - 64, 0, 60, HEIGHT), other, "/a."))
    assert columns(turned)


def test_pixmap_is_moved_but_not_mirrored(qapp):
    arrow = icon_pixmap("chevron-right", QColor("black"), 12)

    def draw(painter: QPainter) -> None:
        draw_pixmap(painter, 5, 2, arrow)

    plain, turned = painted(LEFT, draw), painted(RIGHT, draw)
    assert plain.copy(5, 2, 12, 12) == turned.copy(WIDTH - 17, 2, 12, 12)


@pytest.mark.usefixtures("right_to_left")
def test_directional_icon_is_mirrored(qapp):
    def tip(name: str) -> tuple[int, int]:
        """Return the position of ink at half the height: the tip of an arrow."""
        picture = icon_pixmap(name, QColor("black"), 32).toImage()
        inked = [x for x in range(32) if picture.pixelColor(x, 16).alpha() > 100]
        return inked[0], inked[-1]

    turned, search = tip("chevron-right"), tip("search")
    qapp.setLayoutDirection(LEFT)
    first, last = tip("chevron-right")
    assert turned == pytest.approx((31 - last, 31 - first), abs=1)
    assert turned[1] < 16 < first
    assert search == tip("search")


def test_upright_gives_mirrored_rectangle(qapp):
    places = []

    def draw(painter: QPainter) -> None:
        painter.translate(0, 3)
        with upright(painter, QRectF(10, 1, 30, 5)) as stands:
            places.append(stands)

    painted(LEFT, draw)
    painted(RIGHT, draw)
    assert places == [QRectF(10, 1, 30, 5), QRectF(WIDTH - 40, 4, 30, 5)]


@pytest.mark.parametrize("control", ["\u202a", "\u202b", "\u202d", "\u202e", "\u2066", "\u2067"])
def test_name_cannot_look_like_another_one(qtbot, appearance, control):
    name, expected = f"report{control}fdp.md", "report\ufffdfdp.md"
    for direction in (LEFT, RIGHT):
        as_named, as_shown = (
            painted(direction, lambda painter, text=text: write(painter, BOUNDS, AT_LEFT, text))
            for text in (name, expected)
        )
        assert as_named == as_shown
    assert as_tip(name) == expected
    made = ElidedLabel(name)
    qtbot.addWidget(made)
    assert (made.text(), made.accessibleName()) == (expected, expected)
    line = MarkedLine(name, name, [(0, 6)], made.font(), QColor("black"))
    assert (line.text, len(line.mark_boxes)) == (expected, 1)


@pytest.mark.parametrize(
    "name", ["\u200f\u05d3\u05d5\u05d7 (3).md", "\u0645\u0644\u0641 \u2068a/b.md\u2069", "Größe 日本.md"]
)
def test_real_name_is_shown_unchanged(name):
    assert in_reading_order(name) == name
    assert as_tip(name) == name


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("plain", LEFT),
        ("12 %", LEFT),
        ("", LEFT),
        ("\u05e9\u05dc\u05d5\u05dd a", RIGHT),
        ("3 \u0645\u0644\u0641", RIGHT),
        ("\u2068/a/path\u2069 \u05e9\u05dc\u05d5\u05dd", RIGHT),
        ("\u2068\u05e9\u05dc\u05d5\u05dd\u2069 is open", LEFT),
    ],
)
def test_text_direction_follows_text(text, direction):
    assert text_direction(text) == direction


@pytest.mark.usefixtures("right_to_left")
def test_labels_and_margins_start_at_right(qtbot, appearance):
    made = label("English words")
    qtbot.addWidget(made)
    made.resize(300, 20)
    assert columns(made.grab().toImage().convertToFormat(QImage.Format.Format_RGB32))  # it is drawn at all
    picture = made.grab().toImage()
    ground = picture.pixelColor(0, 0)
    inked = [x for x in range(300) if any(picture.pixelColor(x, y) != ground for y in range(20))]
    assert inked[0] > 150
    assert margins(16, 1, 4, 2).left() == 4
    assert margins(16, 1, 4, 2).right() == 16


@pytest.mark.usefixtures("right_to_left")
def test_progress_starts_at_right(qtbot, appearance):
    owner = QWidget()
    qtbot.addWidget(owner)
    bar = ProgressLine(owner)
    bar.resize(100, 6)
    bar.setValue(250)
    picture = bar.grab().toImage()
    assert picture.pixelColor(90, 3) != picture.pixelColor(40, 3)
    assert picture.pixelColor(10, 3) == picture.pixelColor(40, 3)


@pytest.mark.usefixtures("right_to_left")
def test_splitter_parts_stay_inside(qtbot):
    splitter = QSplitter()
    qtbot.addWidget(splitter)
    splitter.setHandleWidth(1)
    correct_margins(splitter)
    parts = [QWidget(), QWidget()]
    for part in parts:
        splitter.addWidget(part)
    splitter.resize(400, 50)
    splitter.show()
    assert parts[0].geometry().left() > parts[1].geometry().right()
    assert parts[0].geometry().right() == 399
    assert parts[1].geometry().left() == 0


@pytest.mark.usefixtures("right_to_left")
def test_joined_parts_follow_layout_direction(qapp):
    parts = "Codex · 3 \u05d4\u05d5\u05d3\u05e2\u05d5\u05ea"
    assert line_direction(parts) == RIGHT
    assert line_direction("notes/a.md · 1–29") == LEFT
    qapp.setLayoutDirection(LEFT)
    assert line_direction(parts) == LEFT
    assert line_direction("…ית.md · 1–5") == LEFT
    assert line_direction("הערות על גיבויים") == RIGHT


@pytest.mark.parametrize(
    ("direction", "text", "found"),
    [
        (RIGHT, "quokka מים", "quokka"),
        (RIGHT, "מים quokka", "quokka"),
        (LEFT, "עברית.md · 1–5", "עברית"),
        (LEFT, "the quokka", "quokka"),
        (RIGHT, "עברית -a /home/quokka. מים", "quokka"),
        (RIGHT, "עברית quokka.md מים", "quokka"),
        (LEFT, "in עברית שלום: text", "שלום"),
        (LEFT, "in עברית שלום: text", "עברית"),
    ],
)
def test_range_in_mixed_line_is_around_its_letters(qapp, direction, text, found):
    layout = QTextLayout(text, qapp.font())
    option = QTextOption()
    option.setTextDirection(direction)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    layout.endLayout()
    start = text.index(found)
    left, right = range_edges(layout, line, start, start + len(found))
    assert right - left == pytest.approx(QFontMetrics(qapp.font()).horizontalAdvance(found), abs=1.5)
    [letters] = line.glyphRuns(start, len(found))
    assert letters.boundingRect().center().x() == pytest.approx((left + right) / 2, abs=3)


def test_key_caps_read_left_to_right(qtbot, request):
    caps = KeyCaps("Ctrl and comma", ["Ctrl+,"])
    qtbot.addWidget(caps)
    caps.resize(caps.sizeHint())
    before = caps.grab().toImage()
    request.getfixturevalue("right_to_left")
    assert caps.layoutDirection() == RIGHT
    assert caps.grab().toImage() == before


@pytest.mark.parametrize("example", ["-hose", "irrig*", '"left valve"', "path:daily/*"])
def test_code_keeps_its_order_in_other_direction(right_to_left, example):
    text = code(example)
    layout = QTextLayout(text)
    option = QTextOption()
    option.setTextDirection(RIGHT)
    layout.setTextOption(option)
    layout.beginLayout()
    line = layout.createLine()
    line.setLineWidth(WIDTH * 10)
    layout.endLayout()
    begin = text.index(example)
    letters = [line.glyphRuns(at, 1)[0] for at in range(begin, begin + len(example))]
    edges = [run.positions()[0].x() for run in letters]
    assert edges == sorted(edges)
