"""The window's state that is saved between runs, apart from the settings, and a debounced writer for such files."""

import base64
import binascii
import logging
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec
import platformdirs
from PySide6.QtCore import QByteArray, QObject, QTimer, Slot

from engine import CancelToken, QueryRecord, decode_json, read_file, replace_file
from gui.core.jobs import Jobs, JobSlot
from gui.core.location import ReadingPosition
from gui.core.session_criteria import Criteria, Role
from gui.core.view_spec import view_specs

log = logging.getLogger(__name__)

_RECENT = 8
_writing = Lock()
"""Allows one write at a time, since all writes use the same temporary file."""


class LastView(msgspec.Struct, kw_only=True, frozen=True):
    """The view, query and location that the user had open in a folder, for the next start."""

    folder: str = ""
    view: str = "search"
    index_page: Literal["overview", "map", "duplicates", "health"] = "overview"
    query: QueryRecord | None = None
    max_results: int = 0
    row: tuple[str, str, int, int] | None = None
    """Key of the current row of the results."""
    top: int = 0
    """Position of that row, in pixels below the top of the list."""
    session: str = ""
    """The current session of the list."""
    criteria: Criteria = Criteria()
    """Filters and order of the session list."""
    role: Role = ""
    reading: ReadingPosition | None = None
    """Position in the session that is read."""
    file: str = ""
    """Stable name of the note that is read."""
    line: int = 0
    """Line at the top of its source; 0 if the source is not shown."""

    def __post_init__(self) -> None:
        if all(self.view != spec.name for spec in view_specs()):
            raise ValueError(f"there is no view {self.view!r}")


class WindowState(msgspec.Struct, kw_only=True):
    """The window's state between runs.

    Everything has a default: a missing, old or damaged file gives a fresh window, never an error.
    """

    last_view: LastView = LastView()

    geometry: str = ""
    """Qt's own record of position, size and screen, base64."""
    list_width: int = 400
    dock_width: int = 330
    dock_shown: bool = False
    """Whether the diagnostics are open."""
    wrap: bool = True
    rendered: bool = False
    """Whether notes are shown as pages instead of their source."""
    chunk_borders: bool = False
    calendar_hidden: bool = False
    offered_views: list[str] = []
    """Views on demand whose buttons were shown: they are shown from the start."""
    tray_notice_shown: bool = False
    """Whether the notice that the program stays in the tray was shown."""
    recent: list[str] = []
    """Folders that were opened, newest first."""
    recent_commands: list[str] = []
    """Commands run from the palette, newest first, each as often as it was run."""

    def remember(self, folder: Path) -> None:
        """Put a folder first in the list of recent folders."""
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
        state = decode_json(read_file(path or state_path()), WindowState)
        state.recent = [folder for folder in state.recent if "\0" not in folder]
        return state
    except FileNotFoundError:
        return WindowState()
    except OSError as error:
        log.warning("The window's state could not be read: %s", error)
    except ValueError as error:
        _set_aside(path or state_path(), error)
    return WindowState()


def _set_aside(path: Path, error: Exception) -> None:
    """Rename a damaged state file."""
    backup = path.with_name(f"{path.stem}-damaged{path.suffix}")
    try:
        path.replace(backup)
    except OSError as problem:
        log.warning("The damaged state of the window could not be renamed: %s", problem)
    else:
        log.warning("The window's state was damaged (%s) and was renamed to %s", type(error).__name__, backup.name)


def save_state(state: WindowState, path: Path | None = None, token: CancelToken | None = None) -> None:
    """Write the state to its file. A crash leaves either the old or the new file; a failure is only logged.

    Any thread; nothing is written once `token` was cancelled, so that an older state never replaces a newer one.
    """
    with _writing:
        if token is not None and token.cancelled:
            return
        try:
            content = msgspec.json.format(msgspec.json.encode(state))
            replace_file(path or state_path(), content)  # private: it contains the search history
        except OSError as error:
            log.warning("The window's state could not be saved: %s", error)


Writing = Callable[[CancelToken], None]


class DebouncedWrite(QObject):
    """Debounces writes of a value: one at a time, always of its newest state."""

    def __init__(self, jobs: Jobs, collect: Callable[[], Writing | None], pause_ms: int, parent: QObject) -> None:
        """`collect` runs on the GUI thread and returns a function that writes; None if there is nothing to write."""
        super().__init__(parent)
        self._collect = collect
        self._job = JobSlot(self, jobs)
        self._pause = QTimer(self, singleShot=True, interval=pause_ms)
        self._pause.timeout.connect(self._write)

    def schedule(self) -> None:
        """Schedule a write after the pause, because something has changed; further changes don't delay it."""
        if not self._pause.isActive():
            self._pause.start()

    def stop(self) -> None:
        """Cancel a pending write; call it before an immediate one, so that nothing older follows."""
        self._pause.stop()
        self._job.cancel()

    @Slot()
    def _write(self) -> None:
        if self._job.busy:
            self._pause.start()
            return
        writing = self._collect()
        if writing is not None:
            self._job.write(writing, lambda _: None)
