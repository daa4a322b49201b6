import pytest

from gui.app.desktop_integration import SecondStart
from gui.app.single_instance import IpcMessage
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest


@pytest.fixture
def later(window, way, appearance) -> SecondStart:
    return SecondStart(window, way, appearance)


def _start(later, *arguments: str, directory: str = "/", token: str = "") -> None:
    later.serve(IpcMessage(directory, arguments, token))


def test_later_start_restores_window(qtbot, window, later):
    window.hide()
    _start(later)
    assert window.isVisible()
    window.showMinimized()
    _start(later)
    assert not window.isMinimized()


def test_toggle_affects_only_quick_search(qtbot, window, way, later):
    window.hide()
    _start(later, "--toggle")
    assert way.quick.isVisible()
    _start(later, "--toggle")
    assert not way.quick.isVisible()
    assert not window.isVisible()


def test_later_start_query_opens_in_quick_search(qtbot, window, way, later, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _start(later, "--view", "quick", "--query", "hose")
    qtbot.waitUntil(lambda: way.panel.list.current_result() is not None)
    assert way.panel.box.query == "hose"


def test_later_start_applies_query_view_and_size(qtbot, window, later, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _start(later, "--view", "viewer", "--query", "hose", "--theme", "dark", "--size", "900x600")
    qtbot.waitUntil(lambda: window.search.body.has_results)
    assert window.search.controller.view_state.subject.text == "hose"
    assert (window.width(), window.height()) == (900, 600)


def test_relative_workspace_resolves_from_later_start_directory(qtbot, window, later, monkeypatch):
    opened = []
    monkeypatch.setattr(window.folders, "open", opened.append)
    folder = FakeMemory().folder
    _start(later, "--workspace", folder.name, directory=str(folder.parent))
    _start(later, "--workspace", f"notes/../{folder.name}", directory=str(folder.parent))
    assert opened == [folder, folder.resolve()]


def test_open_folder_is_not_reopened(qtbot, window, later, memory, monkeypatch):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    monkeypatch.setattr(window.folders, "open", lambda _: pytest.fail("the workspace was opened again"))
    _start(later, "--workspace", str(memory.folder))


def test_background_start_shows_no_window(window, way, later):
    window.hide()
    _start(later, "--background")
    assert not window.isVisible()
    assert not way.quick.isVisible()


def test_unknown_option_shows_window(window, later, capsys):
    window.hide()
    _start(later, "--of-tomorrow")
    assert window.isVisible()


def test_activation_token_is_passed_on(window, later, monkeypatch):
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    _start(later, token="once")
    import os

    assert os.environ["XDG_ACTIVATION_TOKEN"] == "once"
