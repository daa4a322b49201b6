"""Settings of a program that stays: read again when their file has changed."""

import os
import threading
from collections.abc import Callable
from pathlib import Path

from engine.settings.options import Settings


class RereadSettings:
    """Thread-safe."""

    def __init__(self, path: Path, load: Callable[[], Settings]) -> None:
        """`load` reads the file at `path`, which need not exist. Raises what it raises."""
        self._path = path
        self._load = load
        self._lock = threading.Lock()
        self._state = self._look()
        self._settings = load()

    def now(self) -> Settings:
        """The settings in force. Raises `SettingsError` as long as the file cannot be used."""
        with self._lock:
            state = self._look()
            if state != self._state:
                self._settings = self._load()
                self._state = state
            return self._settings

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino
