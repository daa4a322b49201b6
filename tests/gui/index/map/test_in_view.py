"""The map in both positions: as a card on the overview, and as a page."""

import numpy as np
import pytest
from PySide6.QtCore import Qt

from gui.index.panel import IndexPanel
from tests.helpers import fake_map
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory


class BothInsights(FakeInsight):
    """Returns both chunks and a map."""

    def __init__(self, memory: FakeMemory) -> None:
        super().__init__(memory)
        self.maps = fake_map.FakeInsight()
        self.last_map, self.make_map = self.maps.last_map, self.maps.make_map
        self.map_details, self.map_answer = self.maps.map_details, self.maps.map_answer


@pytest.fixture
def panel(qtbot, jobs, memory: FakeMemory, appearance):
    memory.insight = BothInsights(memory)
    panel = IndexPanel(jobs)
    panel.resize(1200, 800)
    qtbot.addWidget(panel)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    panel.set_manager(memory)
    panel.show_status(memory.status())
    qtbot.waitUntil(lambda: not panel.busy and panel.overview.map.prepared is not None)
    yield panel
    panel.set_manager(None)


def test_overview_card_opens_map_page(qtbot, panel: IndexPanel) -> None:
    card = panel.overview.map
    assert card.canvas.isVisible()
    assert panel.map.prepared is None
    qtbot.mouseClick(card.header.enlarge, Qt.MouseButton.LeftButton)
    assert panel.page == "map"
    qtbot.waitUntil(lambda: not panel.busy and panel.map.prepared is not None)
    assert not panel.map.header.enlarge.isVisible()
    assert np.array_equal(panel.map.prepared.scene.ids, card.prepared.scene.ids)


def test_chunk_opens_from_card_and_page(qtbot, panel: IndexPanel) -> None:
    for name in ("overview", "map"):
        panel.show_page(name)
        map_panel = panel.overview.map if name == "overview" else panel.map
        qtbot.waitUntil(lambda: not panel.busy and map_panel.prepared is not None)  # noqa: B023  # of this turn
        with qtbot.waitSignal(panel.open_requested) as opened:
            place = map_panel.canvas.pixel_of(5).toPoint()
            qtbot.mouseClick(map_panel.canvas, Qt.MouseButton.LeftButton, pos=place)
        assert opened.args == ["topics/note.md", 105]


def test_escape_clears_selection_then_leaves_map(qtbot, panel: IndexPanel) -> None:
    panel.show_page("map")
    qtbot.waitUntil(lambda: not panel.busy and panel.map.prepared is not None)
    panel.focus_list()
    assert panel.map.canvas.hasFocus()
    qtbot.keyClick(panel.map.canvas, Qt.Key.Key_Right, Qt.KeyboardModifier.ControlModifier)
    with qtbot.assertNotEmitted(panel.left):
        qtbot.keyClick(panel.map.canvas, Qt.Key.Key_Escape)
    with qtbot.waitSignal(panel.left):
        qtbot.keyClick(panel.map.canvas, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not panel.busy)
