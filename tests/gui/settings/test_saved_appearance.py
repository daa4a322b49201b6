from pathlib import Path

import msgspec
import pytest
from PySide6.QtWidgets import QMainWindow

import engine
from engine import Settings, load_settings
from gui.controllers.settings import AppearanceController
from gui.core.workspace import OpenWorkspace, Workspace
from tests.helpers.windows import make_context


@pytest.fixture
def workspace(qtbot, jobs, memory, tmp_path) -> Workspace:
    workspace = Workspace(jobs)
    workspace.current = OpenWorkspace(tmp_path, Settings(), memory, {}, memory)
    yield workspace
    workspace.feed.set_manager(None)


@pytest.fixture
def window(qtbot) -> QMainWindow:
    window = QMainWindow()
    qtbot.addWidget(window)
    return window


@pytest.fixture
def make(workspace, appearance, jobs, window, user_home):
    def run(
        *, remembers: bool = True, theme_given: bool = False, settings: Settings | None = None
    ) -> AppearanceController:
        context = make_context(window, workspace, jobs, remembers=remembers)
        run.banner = context.banner
        controller = AppearanceController(context, appearance)
        controller.begin(settings or Settings(), theme_given=theme_given)
        return controller

    return run


def _with(**window: object) -> Settings:
    return Settings(window=msgspec.structs.replace(Settings().window, **window))


def test_settings_are_applied_at_start(make, appearance):
    make(settings=_with(theme="dark", font_scale=1.5))
    assert (appearance.theme, appearance.font_scale) == ("dark", 1.5)


def test_changes_are_saved_after_a_pause(qtbot, make, appearance):
    make()
    appearance.enlarge(1)
    appearance.enlarge(1)
    appearance.set_theme("dark")
    qtbot.waitUntil(lambda: load_settings().window.theme == "dark")
    assert load_settings().window.font_scale == 1.3


def test_workspace_theme_is_saved_in_workspace(qtbot, make, appearance, workspace, tmp_path):
    engine.save_setting("window.theme", "light", tmp_path)
    make()
    appearance.set_theme("dark")
    qtbot.waitUntil(lambda: load_settings(tmp_path).window.theme == "dark")
    assert load_settings().window.theme == "system"
    qtbot.waitUntil(lambda: workspace.current.settings.window.theme == "dark")


def test_external_settings_change_applies_immediately(make, appearance, workspace):
    make()
    workspace.apply_settings(_with(theme="dark", font_scale=1.15), workspace.current.folder)
    assert (appearance.theme, appearance.font_scale) == ("dark", 1.15)


def test_command_line_theme_stays_and_is_not_saved(qtbot, make, appearance, workspace):
    appearance.set_theme("dark")
    controller = make(theme_given=True)
    workspace.apply_settings(_with(editor="vim"), workspace.current.folder)
    controller.save()
    assert appearance.theme == "dark"
    assert load_settings().window.theme == "system"


def test_command_line_theme_stays_after_a_larger_text(qtbot, make, appearance, workspace):
    settings = _with(theme="dark")
    engine.save_setting("window.theme", "dark")
    controller = make(theme_given=True, settings=settings)
    workspace.apply_settings(settings, workspace.current.folder)
    appearance.enlarge(1)
    controller.save()
    qtbot.waitUntil(lambda: workspace.current.settings.window.font_scale == appearance.font_scale)
    assert appearance.theme == "light"
    assert load_settings().window.theme == "dark"


def test_without_persistence_nothing_is_written(qtbot, make, appearance):
    controller = make(remembers=False)
    appearance.set_theme("dark")
    controller.save()
    assert not engine.settings_path().exists()


def test_failed_write_is_reported(qtbot, make, appearance):
    controller = make()
    path: Path = engine.settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("[broken")
    appearance.set_theme("dark")
    controller.save()
    qtbot.waitUntil(lambda: "settings.toml, line 1" in make.banner.text)
    assert path.read_text() == "[broken"
