import msgspec
import pytest

from engine import Settings
from gui.app.desktop_integration import DesktopIntegration
from gui.app.single_instance import IpcAddress, IpcMessage, encode, send_message
from gui.settings.system_setting import SystemRow
from tests.helpers.windows import at_rest


@pytest.fixture
def integration(window, quick_search, appearance, tray_there, tmp_path) -> DesktopIntegration:
    return DesktopIntegration(window, appearance, quick_search, Settings(), IpcAddress(str(tmp_path / "s"), ""))


def _want(window, **wanted: bool) -> None:
    settings = window.workspace.current.settings
    window.workspace.apply_settings(
        msgspec.structs.replace(settings, window=msgspec.structs.replace(settings.window, **wanted)),
        window.workspace.current.folder,
    )


def test_tray_settings_apply_immediately(qtbot, window, integration, memory):
    assert integration.tray.is_shown
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _want(window, tray=False)
    assert not integration.tray.is_shown
    _want(window, tray=True, close_to_tray=True)
    window.state.tray_notice_shown = True
    window.close()
    assert integration.tray.is_shown
    assert not window.isVisible()
    integration.tray.window_requested.emit()
    assert window.isVisible()


def test_second_start_is_served_until_window_closes(qtbot, jobs, window, quick_search, integration, tmp_path):
    outcomes = []
    line = encode(IpcMessage("/", ("--toggle",), ""))
    qtbot.waitUntil((tmp_path / "s").exists)
    jobs.read(lambda _: send_message(str(tmp_path / "s"), line, timeout=60), outcomes.append)
    qtbot.waitUntil(lambda: outcomes == ["taken"] and quick_search.quick.isVisible())
    integration.tray.quit_requested.emit()
    assert send_message(str(tmp_path / "s"), line) == "not running"


def test_settings_have_start_at_login_row(qtbot, window, integration, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    window.settings.show_page("general")
    dialog = window.settings.dialog
    dialog.search("startup login")
    qtbot.waitUntil(lambda: dialog.ready)
    row = dialog.findChild(SystemRow)
    assert row.field.box.label == "Start at login"
    dialog.close_without_saving()
