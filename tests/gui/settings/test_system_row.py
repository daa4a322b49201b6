"""A switch in the settings that is stored by the system."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel

from engine import Option, Settings, settings_path
from gui.settings.dialog import SettingsDialog
from gui.settings.option_pages import OptionPlacement
from gui.settings.system_setting import SystemRow, SystemSwitch


class Entry:
    """A file that exists or not, like the one that a desktop reads when it starts."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def is_on(self) -> bool:
        return self.file.exists()

    def set_on(self, on: bool) -> None:
        if on:
            self.file.touch()
        else:
            self.file.unlink(missing_ok=True)


@pytest.fixture
def entry(tmp_path) -> Entry:
    return Entry(tmp_path / "start" / "entry")


@pytest.fixture
def switch(jobs, entry) -> SystemSwitch:
    entry.file.parent.mkdir()
    option = Option(key="program.begin", kind="switch", help="Begins with the desktop.", default=False)
    placed = OptionPlacement(option, "general", "", "Begin early")
    return SystemSwitch(placed, "workspace", "Nothing was changed. {reason}", entry, jobs, jobs)


@pytest.fixture
def dialog(qtbot, appearance, jobs, tmp_path, user_home, switch) -> SettingsDialog:
    dialog = SettingsDialog(jobs, switches=(switch,))

    def finish(_) -> None:
        qtbot.waitUntil(lambda: dialog.ready and not switch.busy)
        dialog.close_without_saving()

    qtbot.addWidget(dialog, before_close_func=finish)  # a fixture's own end runs after qtbot has deleted the dialog
    dialog.begin(tmp_path, Settings(), None, "general")
    qtbot.waitUntil(lambda: dialog.ready and not switch.busy)
    return dialog


def _row(dialog) -> SystemRow:
    return next(row for row in dialog.findChildren(SystemRow) if row.isVisible())


def _shown_text(row) -> str:
    return " | ".join(found.text().replace("\u200b", "") for found in row.findChildren(QLabel) if found.isVisible())


def _settle(qtbot, dialog, switch) -> None:
    qtbot.waitUntil(lambda: dialog.ready and not switch.busy)


def test_origin_label_has_its_margin_at_the_start_of_lines(right_to_left, dialog):
    [origin] = [found for found in _row(dialog).findChildren(QLabel) if found.text() == "Default"]
    inset = origin.contentsMargins()
    assert (inset.right(), inset.left()) == (1, 4)


def test_system_row_is_in_place_with_description(qtbot, dialog):
    row = _row(dialog)
    page = dialog.pages.page("general")
    tops = [
        widget.mapTo(page, widget.pos()).y() for widget in (page.rows["workspace"], row, page.rows["window.editor"])
    ]
    assert tops == sorted(tops)
    assert not row.field.box.isChecked()
    assert "Begins with the desktop." in _shown_text(row)
    assert "stored by the system" in _shown_text(row)
    assert "program.begin" not in _shown_text(row), "the key is not in the settings file"
    assert row.field.box.accessibleName() == "Begin early"
    assert row.field.box.accessibleDescription() == "Begins with the desktop. Default. Default: off."


def test_tab_reaches_system_row_in_place_and_space_toggles(qtbot, dialog, entry):
    row, rows = _row(dialog), dialog.pages.page("general").rows
    rows["workspace"].take_focus()
    reached = []
    for _ in range(8):
        focus = QApplication.focusWidget()
        reached += [name for name, one in (*rows.items(), ("begin", row)) if one.isAncestorOf(focus)]
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert list(dict.fromkeys(reached))[:3] == ["workspace", "begin", "window.editor"]
    row.take_focus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Space)
    qtbot.waitUntil(entry.is_on)
    qtbot.waitUntil(row.reset.isVisible)


def test_system_row_toggles_and_resets_without_file(qtbot, dialog, entry):
    row = _row(dialog)
    row.field.box.click()
    qtbot.waitUntil(row.reset.isVisible)
    assert entry.is_on()
    assert "Set on this machine" in _shown_text(row)
    assert not settings_path().exists()
    assert dialog.model.pending == 0
    row.reset.click()
    qtbot.waitUntil(lambda: not row.reset.isVisible())
    assert not entry.is_on()
    assert QApplication.focusWidget() is row.field.box


def test_external_change_is_shown_on_return(qtbot, dialog, entry):
    entry.set_on(True)
    dialog.show_page("sync")
    dialog.show_page("general")
    qtbot.waitUntil(_row(dialog).field.box.isChecked)


def test_failed_switch_is_shown_and_box_reverts(qtbot, dialog, entry, switch):
    entry.file.parent.rmdir()
    row = _row(dialog)
    row.field.box.click()
    qtbot.waitUntil(lambda: "Nothing was changed. No such file or directory" in _shown_text(row))
    _settle(qtbot, dialog, switch)
    assert not row.field.box.isChecked()
    entry.file.parent.mkdir()
    row.field.box.click()
    qtbot.waitUntil(row.reset.isVisible)
    assert "Nothing was changed" not in _shown_text(row)


@pytest.mark.parametrize("query", ["begin early", "program.begin", "desktop", "begin off"])
def test_system_row_is_found_by_search_and_toggled_there(qtbot, dialog, entry, query, switch):
    dialog.search(query)
    qtbot.waitUntil(lambda: dialog.ready)
    _settle(qtbot, dialog, switch)
    row = _row(dialog)
    assert dialog.results.isVisible()
    dialog.results.take_focus()
    row.field.box.click()
    qtbot.waitUntil(lambda: row.field.box.isChecked() and entry.is_on())
    dialog.show_page("general")
    qtbot.waitUntil(_row(dialog).field.box.isChecked)
