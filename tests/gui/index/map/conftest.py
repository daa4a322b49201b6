"""A panel with a made-up map in an active window."""

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QVBoxLayout, QWidget

from gui.index.map.panel import MapPanel
from tests.helpers.fake_map import FakeInsight
from tests.helpers.fake_memory import FakeMemory


@pytest.fixture
def insight(memory: FakeMemory) -> FakeInsight:
    memory.insight = FakeInsight()
    return memory.insight


@pytest.fixture
def panel(qtbot, jobs, memory, insight, appearance) -> Iterator[MapPanel]:
    """Return the map panel; no map is open yet."""
    window = QWidget()
    column = QVBoxLayout(window)
    column.setContentsMargins(0, 0, 0, 0)
    panel = MapPanel(jobs, whole=False)
    column.addWidget(panel)
    window.resize(900, 600)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield panel
    insight.released.set()
    panel.set_manager(None)


@pytest.fixture
def map_panel(qtbot, panel: MapPanel, memory: FakeMemory) -> MapPanel:
    """Return the map panel with its map visible."""
    panel.set_manager(memory)
    qtbot.waitUntil(lambda: not panel.busy and panel.prepared is not None)
    return panel
