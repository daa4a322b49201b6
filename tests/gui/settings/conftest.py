"""The settings of an empty folder."""

from collections.abc import Callable
from pathlib import Path

import pytest

from engine import Settings
from gui.settings.dialog import SettingsDialog


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def show_dialog(qtbot, appearance, jobs, memory, notes) -> Callable[[str], SettingsDialog]:
    """Return a function that shows a page of the settings in an active dialog, and waits until it is complete."""

    def run(page: str) -> SettingsDialog:
        dialog = SettingsDialog(jobs)
        qtbot.addWidget(dialog)
        with qtbot.waitActive(dialog):
            dialog.begin(notes, Settings(), memory, page)
            dialog.activateWindow()
        qtbot.waitUntil(lambda: dialog.ready)
        return dialog

    return run
