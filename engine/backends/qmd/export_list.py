"""The list of exports for `qmd`: the transcripts that were read, and the sessions of each."""

import threading
from pathlib import Path

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.private_files import read_file, write_aside
from engine.store.sessions import StoredSession

_MOST_BYTES = 1024**3


class KnownTranscript(msgspec.Struct, frozen=True, array_like=True):
    mtime_ns: int
    size: int
    sessions: tuple[str, ...] = ()
    """Their stable names."""
    rule: str = ""
    """Why the rest of it is missing; empty if it is complete."""
    detail: str = ""


class ExportedSession(msgspec.Struct, frozen=True, array_like=True):
    known: StoredSession
    mtime_ns: int
    """Of its last message."""
    written: bool
    """False for one that is too old to be searched."""


class ExportList(msgspec.Struct):
    """All known exports."""

    fingerprint: str = ""
    transcripts: dict[str, KnownTranscript] = {}
    sessions: dict[str, ExportedSession] = {}


class StoredExportList:
    """The list in its file, which other processes write too. Thread-safe."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._read_as: tuple[int, int] = (0, 0)
        """Time and size of the file when it was last read."""
        self._list = ExportList()

    def now(self) -> ExportList:
        """The list as it was last written, by whatever process."""
        with self._lock:
            try:
                state = self._file.stat()
                if (state.st_mtime_ns, state.st_size) != self._read_as:
                    self._list = decode_json(read_file(self._file, _MOST_BYTES), ExportList)
                    self._read_as = state.st_mtime_ns, state.st_size
            except FileNotFoundError:
                self._list, self._read_as = ExportList(), (0, 0)
            except (OSError, ValueError):
                self._list = ExportList()  # of another version, or damaged: everything is exported again
            return self._list

    def keep(self, fresh: ExportList) -> None:
        """Write the file as a whole. Raises OSError."""
        write_aside(self._file, msgspec.json.encode(fresh).decode())
