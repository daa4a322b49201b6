import pytest

from gui.app.desktop_integration import SecondStart
from gui.app.single_instance import IpcMessage
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest


@pytest.fixture
def second_start(window, quick_search, appearance) -> SecondStart:
    return SecondStart(window, quick_search, appearance)


def _start(second_start, *arguments: str, directory: str = "/", token: str = "") -> None:
    second_start.serve(IpcMessage(directory, arguments, token))


def test_second_start_restores_window(qtbot, window, second_start):
    window.hide()
    _start(second_start)
    assert window.isVisible()
    window.showMinimized()
    _start(second_start)
    assert not window.isMinimized()


def test_toggle_affects_only_quick_search(qtbot, window, quick_search, second_start):
    window.hide()
    _start(second_start, "--toggle")
    assert quick_search.quick.isVisible()
    _start(second_start, "--toggle")
    assert not quick_search.quick.isVisible()
    assert not window.isVisible()


def test_second_start_query_opens_in_quick_search(qtbot, window, quick_search, second_start, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _start(second_start, "--view", "quick", "--query", "hose")
    qtbot.waitUntil(lambda: quick_search.quick.panel.list.current_result() is not None)
    assert quick_search.quick.panel.box.query == "hose"


def test_second_start_applies_query_view_and_size(qtbot, window, second_start, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _start(second_start, "--view", "viewer", "--query", "hose", "--theme", "dark", "--size", "900x600")
    qtbot.waitUntil(lambda: window.search.body.has_results)
    assert window.search.controller.view_state.subject.text == "hose"
    assert (window.width(), window.height()) == (900, 600)


def test_relative_workspace_resolves_from_second_start_directory(qtbot, window, second_start, monkeypatch):
    opened = []
    monkeypatch.setattr(window.folders, "open", opened.append)
    folder = FakeMemory().folder
    _start(second_start, "--workspace", folder.name, directory=str(folder.parent))
    _start(second_start, "--workspace", f"notes/../{folder.name}", directory=str(folder.parent))
    assert opened == [folder, folder.resolve()]


def test_open_folder_is_not_reopened(qtbot, window, second_start, memory, monkeypatch):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    monkeypatch.setattr(window.folders, "open", lambda _: pytest.fail("the workspace was opened again"))
    _start(second_start, "--workspace", str(memory.folder))


def test_background_start_shows_no_window(window, quick_search, second_start):
    window.hide()
    _start(second_start, "--background")
    assert not window.isVisible()
    assert not quick_search.quick.isVisible()


def test_unknown_option_shows_window(window, second_start, capsys):
    window.hide()
    _start(second_start, "--of-tomorrow")
    assert window.isVisible()


def test_activation_token_is_passed_on(window, second_start, monkeypatch):
    monkeypatch.setenv("XDG_ACTIVATION_TOKEN", "")
    _start(second_start, token="once")
    import os

    assert os.environ["XDG_ACTIVATION_TOKEN"] == "once"
