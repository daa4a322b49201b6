"""One field of a section makes an option known everywhere: settings file, page, search, and when it is applied."""

from typing import Annotated

import pytest

from engine import Settings, all_options, load_settings, settings_path
from engine.settings import catalog, checking, loading, saving
from engine.settings.settings_section import Group, Section, option, with_query_settings
from gui.settings.dialog import SettingsDialog
from gui.settings.edited_options import applies_immediately
from gui.settings.option_pages import placed_options


class RulerSettings(Section, frozen=True):
    GROUP = Group.WINDOW_CLOSED
    APPLIES = "immediately"

    width: Annotated[int, option("Ruler width", "Width of the ruler.", 1, 9, also="yardstick, metre")] = 3
    curve: Annotated[float, option("Curve", "Bend of scores.", group=Group.ORDER, applies="answering")] = 0.5


class InventedSettings(Settings, frozen=True):
    ruler: RulerSettings = RulerSettings()


@pytest.fixture(autouse=True)
def _declared(monkeypatch):
    caches = (all_options, placed_options)
    for module in (catalog, checking, saving, loading, saving):
        monkeypatch.setattr(module, "Settings", InventedSettings)
    for cached in caches:
        cached.cache_clear()
    yield
    monkeypatch.undo()
    for cached in caches:
        cached.cache_clear()


def test_declared_option_is_in_the_catalogue_with_its_page():
    placed = placed_options()["ruler.width"]
    assert (placed.page, placed.group, placed.title) == ("general", "While the window is closed", "Ruler width")
    assert (placed.option.low, placed.option.high, placed.help) == (1, 9, "Width of the ruler.")
    assert placed_options()["ruler.curve"].page == "search"
    assert applies_immediately("ruler.width")
    assert applies_immediately("ruler.curve")


def test_answering_option_alone_changes_an_open_memory():
    wanted = InventedSettings(ruler=RulerSettings(width=5, curve=0.9))
    assert with_query_settings(InventedSettings(), wanted).ruler == RulerSettings(width=3, curve=0.9)


def test_declared_option_is_shown_searched_and_saved(qtbot, appearance, jobs, memory, tmp_path, user_home):
    dialog = SettingsDialog(jobs)
    qtbot.addWidget(dialog)
    with qtbot.waitActive(dialog):
        dialog.begin(tmp_path, InventedSettings(), memory, "general")
        dialog.activateWindow()
    qtbot.waitUntil(lambda: dialog.ready)
    qtbot.keyClicks(dialog.query_field, "yardstick")
    qtbot.waitUntil(lambda: dialog.ready)
    assert list(dialog.results.rows) == ["ruler.width"]
    dialog.model.set("ruler.width", 7, "defaults")
    qtbot.waitUntil(lambda: settings_path().exists() and dialog.ready)
    assert load_settings().ruler.width == 7
