"""What `qmd` has indexed, read from its own database: its `status` takes a third of a second and has no JSON.

The database is opened for reading only, for a moment, and by nothing else in this program.
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

import apsw
import msgspec

from engine.base.language import tr

_BUSY_MS = 250


class QmdCounts(msgspec.Struct, frozen=True):
    documents: Mapping[str, int] = {}
    """By collection."""
    vectors: int = 0
    """Of all models, of texts that are still there."""
    pending: int = 0
    """Texts that have none."""
    problem: str = ""
    """Why nothing could be counted; empty if it could."""

    @property
    def total(self) -> int:
        return sum(self.documents.values())


class QmdIndexFile:
    """Counts again only when the file has changed. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._moment: object = None
        self._counts = QmdCounts()

    def moment(self) -> object:
        """A value that differs after any write; None if there is no index."""
        return tuple(map(_state, (self._path, self._path.with_name(f"{self._path.name}-wal"))))

    def size(self) -> int:
        """Bytes."""
        return sum(state[1] for state in map(_state, (self._path,)) if state is not None)

    def counts(self) -> QmdCounts:
        """As they are now; those from before, with the problem, where it cannot be read."""
        with self._lock:
            moment = self.moment()
            if not self._path.exists():
                self._moment, self._counts = None, QmdCounts()
            elif moment != self._moment:
                try:
                    self._counts, self._moment = self._count(), moment
                except apsw.Error as error:
                    problem = tr("The index of qmd cannot be read: {reason}.", reason=str(error))
                    return msgspec.structs.replace(self._counts, problem=problem)
            return self._counts

    def _count(self) -> QmdCounts:
        address = f"file:{quote(str(self._path))}?mode=ro"
        connection = apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            connection.set_busy_timeout(_BUSY_MS)
            with connection:  # one moment for all three
                grouped = "SELECT collection, count(*) FROM documents WHERE active = 1 GROUP BY collection"
                documents = {str(name): _number(count) for name, count in connection.execute(grouped)}
                texts = "SELECT DISTINCT hash FROM documents WHERE active = 1"
                vectors = f"SELECT count(*) FROM content_vectors WHERE hash IN ({texts})"
                pending = f"SELECT count(*) FROM ({texts}) WHERE hash NOT IN (SELECT hash FROM content_vectors)"
                counted = tuple(_number(connection.execute(query).get) for query in (vectors, pending))
            return QmdCounts(documents, counted[0], counted[1])
        finally:
            connection.close()


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _state(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
