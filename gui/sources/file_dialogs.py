"""Asks for sessions with the desktop's own dialogs."""

from pathlib import Path

from PySide6.QtWidgets import QFileDialog, QWidget

from engine import tr
from gui.widgets.drop_target import EXPORTS


def ask_for_folder(parent: QWidget) -> list[str]:
    """One folder; none if the user cancelled."""
    name = QFileDialog.getExistingDirectory(parent, tr("Add a folder with sessions"), str(Path.home()))
    return [name] if name else []


def ask_for_exports(parent: QWidget) -> list[str]:
    """Files that services let one download."""
    kinds = " ".join(f"*{ending}" for ending in EXPORTS)
    names, _ = QFileDialog.getOpenFileNames(
        parent, tr("Add exports"), str(Path.home()), tr("Exports ({endings})", endings=kinds)
    )
    return names
