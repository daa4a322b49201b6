import msgspec
import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QFontMetrics, QImage, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QWidget

from engine import FoundMessage
from gui.search.result_rows import ResultModel, ResultRow, build_rows
from gui.search.row_delegate import BAR_GAP, BAR_WIDTH, ExcerptLayout, MarkedLine, ResultDelegate, _location
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, make_palette, theme_tokens
from gui.text.excerpt import Excerpt, make_excerpt
from gui.widgets.row_list import GUTTER

WIDTH = 400


def _layout(excerpt: Excerpt, width: int = 300) -> ExcerptLayout:
    font = font_at(13)
    mark_text = theme_tokens("light").mark_text
    return ExcerptLayout(excerpt, font, QFontMetrics(font), width=width, line_height=20, mark_text=mark_text)


@pytest.fixture
def paint(qtbot, make_outcome):
    """Paint one row and return the picture."""
    owner = QWidget()
    qtbot.addWidget(owner)
    model = ResultModel(owner)
    delegate = ResultDelegate(owner)

    def run(
        result,
        place: int,
        theme="light",
        state=QStyle.StateFlag.State_Enabled,
        direction=Qt.LayoutDirection.LeftToRight,
        **outcome,
    ) -> QImage:
        model.set_rows(build_rows(make_outcome(result, **outcome), "relevance"))
        option = QStyleOptionViewItem()
        option.initFrom(owner)
        option.palette = make_palette(theme)
        option.state, option.direction = state, direction
        index = model.index(place)
        option.rect = QRect(0, 0, WIDTH, delegate.sizeHint(option, index).height())
        image = QImage(option.rect.size(), QImage.Format.Format_RGB32)
        image.fill(theme_tokens(theme).base)
        painter = QPainter(image)
        delegate.paint(painter, option, index)
        painter.end()
        return image

    return run


def _colours(image: QImage, rect: QRect | None = None) -> set[str]:
    rect = rect or image.rect()
    columns = range(rect.left(), rect.right() + 1)
    return {image.pixelColor(x, y).name() for x in columns for y in range(rect.top(), rect.bottom() + 1)}


def _bar(image: QImage, colours: Tokens) -> tuple[int, int]:
    """Return the columns of the middle line of the score bar in the keyword colour and in the meaning colour."""
    best = (0, 0)
    for y in range(image.height()):
        names = [image.pixelColor(x, y).name() for x in range(GUTTER, GUTTER + BAR_WIDTH)]
        best = max(best, (names.count(colours.accent.name()), names.count(colours.meaning.name())))
    return best


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", [QStyle.StateFlag.State_Enabled, QStyle.StateFlag.State_Selected])
def test_rows_use_palette_colours(paint, make_result, theme, state):
    colours = theme_tokens(theme)
    result = make_result(heading=("a", "Watering"), snippet="words 😀 日本語 שלום and more " * 9)
    image = paint(result, 1, theme, QStyle.StateFlag.State_Enabled | state)
    seen = _colours(image)
    selected = state == QStyle.StateFlag.State_Selected
    assert {colours.mark.name(), colours.accent.name(), colours.meaning.name(), colours.line.name()} <= seen
    assert (colours.accent_ground.name() in seen) == selected
    assert (_colours(image, QRect(0, 0, 3, image.height())) == {colours.accent.name()}) == selected
    for place in (0, 2):
        assert len(_colours(paint(result, place, theme, total=9))) > 2


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_bar_splits_score_by_text_share(paint, make_result, share: float):
    words, meaning = _bar(paint(make_result(score=0.75, text_share=share), 1), theme_tokens("light"))
    assert abs(words - 48 * share) <= 4
    assert abs(meaning - 48 * (1 - share)) <= 4


def test_row_height_does_not_depend_on_text(paint, make_result):
    short, long = make_result(snippet="x"), make_result(snippet="words " * 90, heading=("a", "b" * 300))
    assert paint(short, 1).size() == paint(long, 1).size()


def test_marks_after_emoji_cover_their_word(qapp):
    """Positions in code points and in UTF-16 units differ by one for each preceding emoji."""
    plain = _layout(Excerpt("ab pump", ((3, 7),)))
    shifted = _layout(make_excerpt("😀😀 pump", ((3, 7),)))
    wide = QFontMetrics(font_at(13)).horizontalAdvance("😀😀 ")
    assert len(shifted.mark_boxes) == 1
    assert shifted.mark_boxes[0].width() == pytest.approx(plain.mark_boxes[0].width(), abs=1)
    assert shifted.mark_boxes[0].left() == pytest.approx(wide - 1.5, abs=2)


def test_mark_across_line_end_has_box_per_line(qapp):
    text = "日" * 30
    width = QFontMetrics(font_at(13)).horizontalAdvance(text) * 2 // 3  # whichever font there is for it
    assert len(_layout(Excerpt(text, ((0, 30),)), width).mark_boxes) == 2


def test_long_text_shows_two_lines_and_ellipsis(qapp):
    long, short = _layout(Excerpt("pump timer " * 60, ())), _layout(Excerpt("pump timer", ()))
    assert short.ellipsis is None
    assert short.drawn_length == len("pump timer")
    assert long.ellipsis is not None
    assert 250 < long.ellipsis.x() <= 300
    assert 20 < long.ellipsis.y() < 40
    assert 0 < long.drawn_length < 200


def test_right_to_left_text_ends_at_left(qapp):
    layout = _layout(Excerpt("שלום עולם " * 60, ()))
    assert layout.ellipsis is not None
    assert layout.ellipsis.x() < 50


def test_empty_text_has_no_marks(qapp):
    assert _layout(Excerpt("", ())).mark_boxes == []


@pytest.mark.parametrize("leg", [{}, {"text_score": 0.0}, {"text_score": 0.0, "source": "sessions"}])
def test_narrow_row_keeps_file_name_and_drops_short_fragments(qtbot, make_result, leg):
    owner = QWidget()
    qtbot.addWidget(owner)
    delegate = ResultDelegate(owner)
    result = make_result("projects/garden/greenhouse.md", heading=("a", "Watering the beds"), **leg)
    row = ResultRow(result, 0, "meaning" if leg else "")
    meta = delegate.metrics.meta_metrics
    for width in range(150, 700, 7):
        drawing = delegate._lay_out(width, row, theme_tokens("light"))
        assert meta.horizontalAdvance(drawing.location.text + drawing.note.text) + BAR_WIDTH <= width
        assert not drawing.location.text.startswith(" ")
        assert "·  ·" not in drawing.location.text
        assert drawing.location.text.endswith("1\N{EN DASH}5")
        room = width - BAR_WIDTH - 3 * BAR_GAP - meta.horizontalAdvance(" · 1\N{EN DASH}5")
        if meta.horizontalAdvance("…/greenhouse.md") <= room:
            assert "greenhouse.md" in drawing.location.text
        if leg and meta.horizontalAdvance("…/garden/greenhouse.md") + meta.horizontalAdvance("meaning") <= room:
            assert "garden/greenhouse.md" in drawing.location.text
        if leg:
            assert drawing.note.text in {"", "meaning", "meaning only"}
        else:
            assert not drawing.note.text or len(drawing.note.text) > 4
    assert "projects/garden" in drawing.location.text
    assert drawing.note.text == ("meaning only" if leg else "Watering the beds")


def test_session_row_shows_agent_project_and_speaker(make_result, make_outcome):
    message = FoundMessage(ordinal=1204, id="", role="user", agent="claude-code", project="/home/ines/src/greenhouse")
    row = build_rows(make_outcome(make_result("sessions/x.jsonl", message=message)), "relevance")[1]
    assert _location(row) == ("Claude Code · greenhouse", "you")
    elsewhere = msgspec.structs.replace(message, machine="laptop")
    row = build_rows(make_outcome(make_result("sessions/x.jsonl", message=elsewhere)), "relevance")[1]
    assert _location(row) == ("Claude Code · greenhouse · laptop", "you")
    nameless = FoundMessage(ordinal=2, id="", role="user")
    row = build_rows(make_outcome(make_result("sessions/x.jsonl", message=nameless)), "relevance")[1]
    assert _location(row) == ("Session", "you")
    left = FoundMessage(ordinal=2, id="", role="user", rewound=True)
    row = build_rows(make_outcome(make_result("sessions/x.jsonl", message=left)), "relevance")[1]
    assert _location(row) == ("Session", "you (abandoned branch)")


def test_right_to_left_row_is_mirrored_with_its_bar(qtbot, paint, make_result):
    colours, selected = theme_tokens("light"), QStyle.StateFlag.State_Enabled | QStyle.StateFlag.State_Selected
    result = make_result(snippet="A plain sentence, in English.", score=0.8, text_share=0.5)
    plain = paint(result, 1, state=selected)
    turned = paint(result, 1, state=selected, direction=Qt.LayoutDirection.RightToLeft)
    words = colours.accent.name()

    def edge(image: QImage) -> list[int]:
        return [x for x in range(WIDTH) if image.pixelColor(x, 2).name() == words]

    def bar(image: QImage) -> list[QPoint]:
        inner = range(4, WIDTH - 4)
        return [QPoint(x, y) for x in inner for y in range(image.height()) if image.pixelColor(x, y).name() == words]

    assert [WIDTH - 1 - x for x in reversed(edge(turned))] == edge(plain)
    assert {(WIDTH - 1 - at.x(), at.y()) for at in bar(turned)} == {at.toTuple() for at in bar(plain)}
    owner = QWidget()
    qtbot.addWidget(owner)
    delegate = ResultDelegate(owner)
    for image, direction in ((plain, Qt.LayoutDirection.LeftToRight), (turned, Qt.LayoutDirection.RightToLeft)):
        assert all(delegate.is_on_bar(image.rect(), at, direction) for at in bar(image))
        assert not any(delegate.is_on_bar(image.rect(), QPoint(WIDTH - at.x(), at.y()), direction) for at in bar(image))
    english = QRect(GUTTER, 6, WIDTH - 2 * GUTTER, 18)
    assert plain.copy(english) == turned.copy(english)  # left-to-right text stays unchanged


def _marked_parts(image: QImage, rect: QRect) -> int:
    """Return the pixels in the colour of highlights."""
    mark = theme_tokens("light").mark.name()
    columns, lines = range(rect.left(), rect.right() + 1), range(rect.top(), rect.bottom() + 1)
    return sum(image.pixelColor(x, y).name() == mark for x in columns for y in lines)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
@pytest.mark.parametrize("text", ["Watering", "עברית מים", "日本 😀"])
def test_row_marks_match_in_title_heading_and_path(paint, make_result, direction, text):
    whole = ((0, len(text)),)
    plain = {"title": "Other", "heading": ("a", text), "path": f"{text}.md", "snippet": "nothing", "match_ranges": ()}
    for place, ranges in (
        (0, {"title": text, "title_ranges": whole}),
        (1, {"heading_ranges": ((), whole)}),
        (1, {"path_ranges": whole}),
    ):
        unmarked = paint(make_result(**plain), place, direction=direction)
        marked = paint(make_result(**{**plain, **ranges}), place, direction=direction)
        assert _marked_parts(unmarked, unmarked.rect()) == 0
        left, right = QRect(0, 0, WIDTH // 2, marked.height()), QRect(WIDTH // 2, 0, WIDTH // 2, marked.height())
        begins_left = (direction == Qt.LayoutDirection.LeftToRight) != ("heading_ranges" in ranges)
        here, there = (left, right) if begins_left else (right, left)
        assert _marked_parts(marked, here) > 100
        assert _marked_parts(marked, there) == 0


def test_marked_line_cut_at_either_end_keeps_marks_on_words(qtbot):
    font, ink = font_at(12), theme_tokens("light").mark_text
    whole = "garden/beds/watering.md"
    ranges = ((0, 6), (12, 20))
    assert len(MarkedLine(whole, whole, ranges, font, ink).mark_boxes) == 2
    assert len(MarkedLine(whole, "…watering.md", ranges, font, ink).mark_boxes) == 1
    assert len(MarkedLine(whole, "garden/b…", ranges, font, ink).mark_boxes) == 1
    cut = MarkedLine(whole, "…ering.md", ranges, font, ink)
    metrics = QFontMetrics(font)
    assert cut.mark_boxes[0].left() == pytest.approx(metrics.horizontalAdvance("…"), abs=3)
    assert cut.mark_boxes[0].right() == pytest.approx(metrics.horizontalAdvance("…ering"), abs=3)
    assert MarkedLine(whole, "something else", ranges, font, ink).mark_boxes == []
    assert MarkedLine(whole, "", ranges, font, ink).mark_boxes == []


def test_paint_row_of_next_answer_lays_out_only_changes(qtbot, make_result, make_outcome, monkeypatch):
    laid_out: list[ResultRow] = []
    excerpt_of = ResultRow.excerpt.fget
    monkeypatch.setattr(ResultRow, "excerpt", property(lambda row: laid_out.append(row) or excerpt_of(row)))
    owner = QWidget()
    qtbot.addWidget(owner)
    model, delegate = ResultModel(owner), ResultDelegate(owner)
    image = QImage(WIDTH, 200, QImage.Format.Format_RGB32)
    option = QStyleOptionViewItem()
    option.initFrom(owner)
    option.rect = image.rect()

    def is_laid_out(result) -> bool:
        rows = build_rows(make_outcome(result), "relevance")
        model.set_rows(rows)
        painter = QPainter(image)
        delegate.paint(painter, option, model.index(1))
        painter.end()
        return rows[1] in laid_out

    assert is_laid_out(make_result(score=0.9))
    assert not is_laid_out(make_result(score=0.4))
    assert is_laid_out(make_result(score=0.4, snippet="other words"))
    assert is_laid_out(make_result(score=0.4, match_ranges=((1, 2),)))
