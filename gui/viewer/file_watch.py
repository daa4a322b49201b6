"""Detects that the shown file has changed, was replaced or deleted."""

from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

_DEBOUNCE_MS = 200
_ABSENCES = 5
"""Failed checks before a file counts as deleted: editors that replace a file leave a gap."""

Stamp = tuple[int, int, int]


class FileWatch(QObject):
    """Watches one file.

    Signals: changed: it has other content now, or exists again. vanished: it was deleted.
    """

    changed = Signal()
    vanished = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._stir)
        self._watcher.directoryChanged.connect(self._stir)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DEBOUNCE_MS)
        self._timer.timeout.connect(self._look)
        self._path: Path | None = None
        self._stamp: Stamp | None = None
        self._absences = 0

    def follow(self, path: Path | None) -> None:
        """Watch this file in its present state; None stops."""
        self._timer.stop()
        for watched in (self._watcher.files(), self._watcher.directories()):
            if watched:
                self._watcher.removePaths(watched)
        self._path = path
        self._absences = 0
        self._stamp = self._read_stamp()
        if path is not None:
            self._watch()

    def _stir(self) -> None:
        if self._path is not None:
            self._timer.start()

    def _look(self) -> None:
        """The file has been quiet for a moment: see what became of it."""
        stamp = self._read_stamp()
        if stamp is None:
            self._absences += 1
            if self._absences < _ABSENCES:
                self._timer.start()
            elif self._absences == _ABSENCES:
                self._stamp = None
                self.vanished.emit()
            self._watch()
            return
        self._absences = 0
        self._watch()
        if stamp != self._stamp:
            self._stamp = stamp
            self.changed.emit()

    def _watch(self) -> None:
        """A replaced file is another file to the system, and needs a new watch; a missing one is watched by its
        folder."""
        if self._path is None:
            return
        if self._path.exists():
            self._watcher.addPath(str(self._path))
            if self._watcher.directories():
                self._watcher.removePaths(self._watcher.directories())
        elif self._path.parent.is_dir():
            self._watcher.addPath(str(self._path.parent))

    def _read_stamp(self) -> Stamp | None:
        if self._path is None:
            return None
        try:
            state = self._path.stat()
        except OSError:
            return None
        return state.st_mtime_ns, state.st_size, state.st_ino
