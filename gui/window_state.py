"""What the window remembers between runs, apart from the settings that a person writes."""

import base64
import binascii
import logging
from pathlib import Path

import msgspec
import platformdirs
from PySide6.QtCore import QByteArray

from gui.writing import replace_file

log = logging.getLogger(__name__)

_RECENT = 8


class WindowState(msgspec.Struct, kw_only=True):
    """Everything has a default: a missing, old or damaged file gives a fresh window, never an error."""

    geometry: str = ""
    """Qt's own record of place, size and screen, base64."""
    list_width: int = 400
    dock_width: int = 330
    dock_shown: bool = True
    wrap: bool = True
    chunk_borders: bool = False
    told_of_tray: bool = False
    """Whether it was explained once that the program stays in the tray."""
    recent: list[str] = []
    """Folders that were opened, newest first."""
    recent_commands: list[str] = []
    """What was run from the palette, newest first."""

    def remember(self, folder: Path) -> None:
        """Put a folder at the head of the recent ones."""
        name = str(folder)
        self.recent = [name, *(other for other in self.recent if other != name)][:_RECENT]

    def geometry_bytes(self) -> QByteArray:
        try:
            return QByteArray(base64.b64decode(self.geometry, validate=True))
        except (binascii.Error, ValueError):
            return QByteArray()

    def set_geometry(self, geometry: QByteArray) -> None:
        self.geometry = base64.b64encode(geometry.data()).decode("ascii")


def state_path() -> Path:
    return Path(platformdirs.user_config_dir("mnemoscope", appauthor=False)) / "window.json"


def load_state(path: Path | None = None) -> WindowState:
    try:
        return msgspec.json.decode((path or state_path()).read_bytes(), type=WindowState)
    except FileNotFoundError:
        return WindowState()
    except (OSError, msgspec.DecodeError) as error:
        log.warning("The window's state was not read: %s", error)
        return WindowState()


def save_state(state: WindowState, path: Path | None = None) -> None:
    """A failure is only logged."""
    try:
        replace_file(path or state_path(), msgspec.json.format(msgspec.json.encode(state)))
    except OSError as error:
        log.warning("The window's state was not saved: %s", error)
