"""The margin with the borders of chunks, and the card that describes a chunk."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLabel, QLineEdit, QPushButton, QScrollArea, QToolTip

from engine import ChunkRow, MnemoscopeError, Passage
from gui.viewer.chunks.view import LANES, ChunkLanes
from gui.viewer.panel import ViewerPanel
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory

GREENHOUSE = "projects/greenhouse.md"


@pytest.fixture
def insight(memory: FakeMemory) -> FakeInsight:
    memory.insight = FakeInsight(memory)
    return memory.insight


@pytest.fixture
def chunked(qtbot, memory: FakeMemory, insight: FakeInsight, panel: ViewerPanel, show):
    """The greenhouse note with chunk borders shown."""
    panel.set_manager(memory)
    show(GREENHOUSE)
    panel.chunks_action.trigger()
    qtbot.waitUntil(lambda: panel.source.borders is not None)
    return panel


def point_of(panel: ViewerPanel, line: int, lane: int = 0) -> QPoint:
    """The middle of the margin next to a line."""
    view = panel.source
    top = view.scroll_position.top_of(line)
    assert top is not None
    x = view.gutter.margin + lane * view.gutter.lane_width + view.gutter.lane_width // 2
    return QPoint(x, top + view.row_height // 2)


def words(panel: ViewerPanel) -> str:
    """Return all texts of the card."""
    return "\n".join(part.text().replace("\u200b", "") for part in panel.card.findChildren(QLabel))


def copy_button(panel: ViewerPanel) -> QAbstractButton:
    buttons = panel.card.findChildren(QAbstractButton)
    return next(button for button in buttons if button.accessibleName().startswith("Copy all"))


def hint(panel: ViewerPanel) -> str:
    return panel.hint.findChild(QLabel).text() if panel.hint.isVisible() else ""


def row(id_: int, start: int, end: int) -> ChunkRow:
    return ChunkRow(id=id_, start_line=start, end_line=end, heading=(), characters=9, tokens=3, vector="ready")


# --- lanes ------------------------------------------------------------------------------------------------------------


def test_overlapping_chunks_use_separate_lanes() -> None:
    lanes = ChunkLanes([row(1, 1, 10), row(2, 8, 20), row(3, 18, 30), row(4, 32, 40)])
    assert lanes.lanes == [0, 1, 0, 0]
    assert lanes.at(9) == [0, 1]
    assert lanes.at(9, 1) == [1]
    assert lanes.at(5, 1) == [0], "a click next to the border selects that line's chunk"
    assert lanes.at(31) == []
    assert lanes.next(18, forward=True) == 2
    assert lanes.next(31, forward=True) == 3
    assert lanes.next(31, forward=False) == 2
    assert lanes.next(41, forward=True) is None
    assert list(lanes.between(19, 33)) == [1, 2, 3]


def test_many_chunks_on_one_line_share_last_lane() -> None:
    lanes = ChunkLanes([row(number, 7, 7) for number in range(5)])
    assert lanes.lanes == [0, 1, 1, 1, 1]
    assert lanes.at(7, 1) == [1, 2, 3, 4]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20)), max_size=30), st.integers(1, 200))
def test_chunk_lanes_find_the_chunks_on_any_line(steps: list[tuple[int, int]], line: int) -> None:
    chunks, start = [], 1
    for number, (step, length) in enumerate(steps):
        start += step
        chunks.append(row(number, start, start + length))
    lanes = ChunkLanes(chunks)
    assert all(0 <= lane < LANES for lane in lanes.lanes)
    assert lanes.at(line) == [n for n, chunk in enumerate(chunks) if chunk.start_line <= line <= chunk.end_line]
    assert {n for n, chunk in enumerate(chunks) if chunk.start_line <= line + 5 and chunk.end_line >= line} <= set(
        lanes.between(line, line + 5)
    )


# --- the margin -------------------------------------------------------------------------------------------------------


def test_hidden_margin_requests_no_chunks(panel: ViewerPanel, memory: FakeMemory, insight: FakeInsight, show) -> None:
    panel.set_manager(memory)
    show(GREENHOUSE)
    assert insight.requests == []
    without, width = panel.source.gutter.text_left, panel.source.gutter.lane_width
    panel.chunks_action.trigger()
    assert panel.source.gutter.text_left == without + LANES * width


def test_hidden_chunk_margin_gives_its_width_to_the_text(qtbot, chunked: ViewerPanel) -> None:
    with_borders = chunked.source.gutter.text_left
    chunked.chunks_action.trigger()
    assert chunked.source.gutter.text_left == with_borders - LANES * chunked.source.gutter.lane_width
    assert chunked.source.borders is None


def test_border_is_drawn_at_chunk_lines(qtbot, chunked: ViewerPanel) -> None:
    picture = chunked.source.viewport().grab().toImage()
    view = chunked.source
    column = {
        line: {
            picture.pixelColor(x, point_of(chunked, line).y()).name()
            for x in range(view.gutter.margin, view.gutter.margin + view.gutter.lane_width)
        }
        for line in (4, 10)
    }
    assert all(len(colours) > 1 for colours in column.values())


@pytest.mark.usefixtures("right_to_left")
def test_right_to_left_border_is_drawn_and_clicked_on_right(qtbot, chunked: ViewerPanel) -> None:
    viewport = chunked.source.viewport()
    usual = point_of(chunked, 9)
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=usual)
    assert not chunked.card.isVisible()
    lane = chunked.source.gutter.lane_width
    left = viewport.width() - usual.x() - lane // 2
    picture = viewport.grab().toImage()
    assert len({picture.pixelColor(x, usual.y()).name() for x in range(left, left + lane)}) > 1
    QTest.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=QPoint(viewport.width() - 1 - usual.x(), usual.y()))
    qtbot.waitUntil(chunked.card.isVisible)


def test_click_on_border_shows_chunk_card(qtbot, chunked: ViewerPanel) -> None:
    QTest.mouseClick(chunked.source.viewport(), Qt.MouseButton.LeftButton, pos=point_of(chunked, 9))
    qtbot.waitUntil(chunked.card.isVisible)
    text = words(chunked)
    for part in (
        "Passage 3 of 4 · lines 7–17",
        "passage has its vector",
        "Greenhouse › Watering",
        "Built-in model · use-multilingual-v3, 512 dimensions",
        "projects/greenhouse.md (notes, English)",
        "garden",
        "the same text as in the file",
    ):
        assert part in text
    assert chunked.source.chosen == 2
    assert chunked.card.accessibleName() == "Passage 3 of 4 · lines 7–17"


def test_click_next_to_line_number_selects_line(qtbot, chunked: ViewerPanel) -> None:
    view = chunked.source
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(4, point_of(chunked, 9).y()))
    assert view.selected_lines() == (9, 9)
    assert chunked.card.isHidden()


def test_alt_arrow_keys_step_through_chunks(qtbot, chunked: ViewerPanel) -> None:
    view = chunked.source
    with qtbot.waitActive(chunked):
        chunked.activateWindow()
    view.setFocus()
    for key, chosen in ((Qt.Key.Key_Down, 0), (Qt.Key.Key_Down, 1), (Qt.Key.Key_Down, 2), (Qt.Key.Key_Up, 1)):
        QTest.keyClick(view, key, Qt.KeyboardModifier.AltModifier)
        assert view.chosen == chosen
        qtbot.waitUntil(lambda chosen=chosen: f"Passage {chosen + 1} of 4" in chunked.card.accessibleName())
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    QTest.keyClick(view, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert hint(chunked) == "That was the first passage."
    assert view.current_line() == 1


def test_stepping_through_chunks_shows_margin_and_source(
    qtbot, memory: FakeMemory, insight: FakeInsight, panel: ViewerPanel, show
) -> None:
    panel.set_manager(memory)
    show(GREENHOUSE)
    with qtbot.waitSignal(panel.rendered.rendered):
        panel.header.toggle_mode()
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.rendered.setFocus()
    QTest.keyClick(panel.rendered, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(panel.card.isVisible)
    assert panel.chunks_action.isChecked()
    assert panel.page is panel.source


def test_escape_closes_card_before_leaving_file(qtbot, chunked: ViewerPanel) -> None:
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    with qtbot.assertNotEmitted(chunked.escape_pressed):
        QTest.keyClick(chunked.source, Qt.Key.Key_Escape)
    assert chunked.card.isHidden()
    assert chunked.source.chosen is None
    with qtbot.waitSignal(chunked.escape_pressed):
        QTest.keyClick(chunked.source, Qt.Key.Key_Escape)


def test_border_tooltip_describes_chunk(qtbot, chunked: ViewerPanel, monkeypatch) -> None:
    view = chunked.source
    tooltips = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, _over: tooltips.append(text))
    at = point_of(chunked, 9)
    event = QHelpEvent(QEvent.Type.ToolTip, at, view.viewport().mapToGlobal(at))
    assert QApplication.sendEvent(view.viewport(), event)
    size = "351 characters, about 88 tokens"
    assert tooltips == [f"Passage 3 of 4, lines 7–17\nGreenhouse › Watering\n{size} · passage has its vector"]


def test_vector_states_differ_in_words_and_shape(qtbot, insight: FakeInsight, chunked: ViewerPanel) -> None:
    pictures = set()
    for state, label in (
        ("ready", "passage has its vector"),
        ("pending", "passage waits for its vector"),
        ("refused", "too long"),
        ("none", "no model"),
    ):
        insight.vectors = {1: state}
        chunked.refresh()
        qtbot.waitUntil(lambda: not chunked.busy)
        chunked.show_chunk()
        qtbot.waitUntil(lambda label=label: label in words(chunked))
        grey = chunked.source.viewport().grab().toImage().convertToFormat(chunked.grab().toImage().Format.Format_Mono)
        pictures.add(bytes(grey.constBits()))
        chunked.card.close_card()
    assert len(pictures) > 2


def test_changed_file_marks_borders_outdated(qtbot, insight, chunked: ViewerPanel) -> None:
    insight.changed = True
    chunked.refresh()
    qtbot.waitUntil(lambda: "has changed since it was indexed" in hint(chunked))
    chunked.show_chunk()
    qtbot.waitUntil(lambda: "; the file has changed since" in words(chunked))


def test_card_shows_stored_text_when_file_differs(qtbot, memory: FakeMemory, chunked: ViewerPanel) -> None:
    memory.files[GREENHOUSE] = memory.files[GREENHOUSE].replace("skipped Tuesday", "skipped Wednesday")
    chunked.show_chunk()
    chunked.show_chunk()
    chunked.show_chunk()
    qtbot.waitUntil(lambda: "skipped Wednesday again; the valve" in words(chunked))


def test_unindexed_file_has_no_borders(qtbot, memory: FakeMemory, chunked: ViewerPanel) -> None:
    del memory.files[GREENHOUSE]
    chunked.refresh()
    qtbot.waitUntil(lambda: hint(chunked) == "This file is not in the index, so it has no passages.")
    assert chunked.source.borders is None


def test_failed_chunk_listing_shows_error(qtbot, insight: FakeInsight, chunked: ViewerPanel) -> None:
    insight.problem = MnemoscopeError("The index cannot be read.")
    chunked.refresh()
    qtbot.waitUntil(lambda: hint(chunked) == "The index cannot be read.")


def test_chosen_chunk_survives_index_change(qtbot, memory, chunked: ViewerPanel) -> None:
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    chunked.show_chunk()
    qtbot.waitUntil(lambda: "Passage 2 of 4" in chunked.card.accessibleName())
    memory.files[GREENHOUSE] += "\n## Winter\n\nDrain the pipes.\n"
    chunked.refresh()
    qtbot.waitUntil(lambda: "Passage 2 of 5" in chunked.card.accessibleName())


def test_card_scroll_position_survives_index_change(qtbot, insight, chunked: ViewerPanel) -> None:
    QTest.mouseClick(chunked.source.viewport(), Qt.MouseButton.LeftButton, pos=point_of(chunked, 9))
    qtbot.waitUntil(chunked.card.isVisible)
    bar = chunked.card.findChild(
        QScrollArea
    ).verticalScrollBar  # fetched each time: its wrapper doesn't outlive this test's changes
    qtbot.waitUntil(lambda: bar().maximum() > 100)
    bar().setValue(30)
    labels = chunked.card.findChildren(QLabel)
    chunked.refresh()
    qtbot.waitUntil(lambda: not chunked.busy)
    assert chunked.card.findChildren(QLabel) == labels
    insight.vectors = {7: "pending"}
    chunked.refresh()
    qtbot.waitUntil(lambda: "passage waits for its vector" in words(chunked))
    qtbot.waitUntil(lambda: bar().value() == 30)


def test_card_rows_fit_text_of_next_chunk(qtbot, chunked: ViewerPanel) -> None:
    chunked.resize(430, 700)
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)

    def are_fitted() -> bool:
        values = [part for part in chunked.card.findChild(QScrollArea).findChildren(QLabel) if part.wordWrap()]
        return bool(values) and all(part.height() == part.heightForWidth(part.width()) for part in values)

    for number in (2, 3, 4):
        chunked.show_chunk()
        qtbot.waitUntil(lambda number=number: f"Passage {number} of 4" in chunked.card.accessibleName())
        qtbot.waitUntil(are_fitted)


def test_narrow_card_stacks_names_and_values(qtbot, chunked: ViewerPanel) -> None:
    chunked.resize(300, 700)
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    rows, body = chunked.card._rows, chunked.card.findChild(QScrollArea)

    def stand_above() -> bool:
        return all(value.y() >= name.y() + name.height() for name, value in rows if name.text())

    qtbot.waitUntil(stand_above)
    qtbot.waitUntil(lambda: body.widget().width() <= body.viewport().width())
    chunked.resize(900, 700)
    qtbot.waitUntil(lambda: all(name.y() == value.y() for name, value in rows))


def test_another_file_closes_card_and_loads_its_borders(qtbot, chunked: ViewerPanel, show) -> None:
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    show("topics/shopping.md")
    assert chunked.card.isHidden()
    chunked.show_chunk()
    qtbot.waitUntil(lambda: "topics/shopping.md" in words(chunked))


def test_closing_card_moves_focus_only_if_it_had_it(qtbot, chunked: ViewerPanel, show) -> None:
    elsewhere = QLineEdit()
    qtbot.addWidget(elsewhere)
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    with qtbot.waitActive(elsewhere):
        elsewhere.show()
        elsewhere.activateWindow()
    elsewhere.setFocus()
    show("topics/shopping.md")
    assert elsewhere.hasFocus()
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    with qtbot.waitActive(chunked):
        chunked.activateWindow()
    button = copy_button(chunked)
    button.setFocus()
    QTest.keyClick(button, Qt.Key.Key_Escape)
    assert chunked.source.hasFocus()


def test_card_copies_chunk_and_requests_similar(qtbot, chunked: ViewerPanel) -> None:
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    copy_button(chunked).click()
    copied = QGuiApplication.clipboard().text()
    assert copied.startswith("Passage 1 of 4 · lines 1–2\nHeading: Greenhouse\n")
    more = next(button for button in chunked.card.findChildren(QPushButton) if button.text() == "More like this")
    with qtbot.waitSignal(chunked.more_requested) as signal:
        more.click()
    assert signal.args == [Passage(path=GREENHOUSE, start_line=1, end_line=2), "# Greenhouse\n"]


def test_painting_reads_only_visible_chunks(qtbot, memory, insight, panel: ViewerPanel, show) -> None:
    memory.files["long.md"] = "".join(f"## Part {number}\n\nWords of part {number}.\n\n" for number in range(5000))
    panel.set_manager(memory)
    show("long.md")
    panel.chunks_action.trigger()
    qtbot.waitUntil(lambda: panel.source.borders is not None)

    class Counted(list):
        read = 0

        def __getitem__(self, place):
            Counted.read += 1
            return super().__getitem__(place)

    lanes = panel.source.borders
    lanes.chunks = Counted(lanes.chunks)
    panel.source.viewport().repaint()
    assert 0 < Counted.read < 50


def test_card_scrolled_by_keys_shows_the_focus(qtbot, chunked: ViewerPanel) -> None:
    chunked.show_chunk()
    qtbot.waitUntil(chunked.card.isVisible)
    chunked.activateWindow()
    details = chunked.card.findChild(QScrollArea)
    chunked.source.setFocus()
    before = details.grab().toImage()
    details.setFocus()
    assert details.grab().toImage() != before
