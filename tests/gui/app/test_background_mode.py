import msgspec
import pytest

from engine import Settings
from gui.app.desktop_integration import DesktopIntegration
from gui.app.single_instance import IpcAddress, IpcMessage, encode, send_message
from gui.settings.system_setting import SystemRow
from tests.helpers.windows import at_rest


@pytest.fixture
def staying(window, way, appearance, tray_there, tmp_path) -> DesktopIntegration:
    return DesktopIntegration(window, appearance, way, Settings(), IpcAddress(str(tmp_path / "s"), ""))


def _want(window, **wanted: bool) -> None:
    settings = window.workspace.current.settings
    window.workspace.take_settings(
        msgspec.structs.replace(settings, window=msgspec.structs.replace(settings.window, **wanted)),
        window.workspace.current.folder,
    )


def test_settings_apply_immediately(qtbot, window, staying, memory):
    assert staying.tray.is_shown
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    _want(window, tray=False)
    assert not staying.tray.is_shown
    _want(window, tray=True, close_to_tray=True)
    window.state.tray_notice_shown = True
    window.close()
    assert staying.tray.is_shown
    assert not window.isVisible()
    staying.tray.window_requested.emit()
    assert window.isVisible()


def test_later_start_is_served_until_window_closes(qtbot, jobs, window, way, staying, tmp_path):
    outcomes = []
    line = encode(IpcMessage("/", ("--toggle",), ""))
    qtbot.waitUntil((tmp_path / "s").exists)
    jobs.read(lambda _: send_message(str(tmp_path / "s"), line, timeout=10), outcomes.append)
    qtbot.waitUntil(lambda: outcomes == ["taken"] and way.quick.isVisible())
    staying.tray.quit_requested.emit()
    assert send_message(str(tmp_path / "s"), line) == "not running"


def test_settings_have_start_at_login_row(qtbot, window, staying, memory):
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    window.settings.show_page("general")
    dialog = window.settings.dialog
    dialog.search("startup login")
    qtbot.waitUntil(lambda: dialog.ready)
    row = dialog.findChild(SystemRow)
    assert row.field.box.words == "Start at login"
    dialog.leave()
