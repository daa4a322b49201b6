"""Maintains the index of `qmd` (configures, updates, embeds, cleans and deletes it), and reads its counts.

The counts come from the database of `qmd` itself: its `status` takes a third of a second and has no JSON.
"""

import contextlib
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

import apsw
import msgspec

from engine.backends.qmd.collections import Collection, SavedConfiguration, read_applied
from engine.backends.qmd.command import QmdCommand, QmdError, QmdFailed, QmdTooSlow
from engine.backends.qmd.query_runner import RetryPause
from engine.base import lazy_logger
from engine.base.cancellation import CancelToken, pause
from engine.base.language import tr
from engine.base.private_files import data_folder, write_aside
from engine.records import SyncReason
from engine.settings.backend_settings import QmdSettings

log = lazy_logger(__name__)

_SECONDS_PER_MINUTE = 60.0
_POLL = 0.25
_TRIES = 4
_FIRST_PAUSE = 0.5
_BUSY = ("database is locked", "sqlite_busy", "database is busy")
_DAMAGED = ("malformed", "not a database", "sqlite_corrupt")
_TANGLED = ("unique constraint failed",)
"""Error of an index with two rows for one document, as an older version could leave them."""
_embedding = threading.Lock()
"""Allows one embedding run at a time in this process, since each loads its own model."""

_BUSY_MS = 250


class QmdCounts(msgspec.Struct, frozen=True):
    documents: Mapping[str, int] = {}
    """Number of documents by collection."""
    vectors: int = 0
    """Number of vectors of all models, of existing texts."""
    pending: int = 0
    """Number of texts without a vector."""
    problem: str = ""
    """Why nothing could be counted; empty if it could."""

    @property
    def total(self) -> int:
        return sum(self.documents.values())


class QmdIndexFile:
    """Reads counts from qmd's index, again only when the file has changed. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._moment: object = None
        self._counts = QmdCounts()

    def moment(self) -> object:
        """A value that differs after any write to qmd's index; None if there is no index."""
        return tuple(map(_state, (self._path, self._path.with_name(f"{self._path.name}-wal"))))

    def size(self) -> int:
        """Size of qmd's index file in bytes."""
        return sum(state[1] for state in map(_state, (self._path,)) if state is not None)

    def counts(self) -> QmdCounts:
        """Return the current counts; the previous ones with the problem if it can't be read."""
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
            with connection:  # one transaction, so that all three counts are of the same moment
                grouped = "SELECT collection, count(*) FROM documents WHERE active = 1 GROUP BY collection"
                documents = {str(name): _number(count) for name, count in connection.execute(grouped)}
                texts = "SELECT DISTINCT hash FROM documents WHERE active = 1"
                vectors = f"SELECT count(*) FROM content_vectors WHERE hash IN ({texts})"
                pending = f"SELECT count(*) FROM ({texts}) WHERE hash NOT IN (SELECT hash FROM content_vectors)"
                counted = tuple(_number(connection.execute(query).get) for query in (vectors, pending))
            return QmdCounts(documents, counted[0], counted[1])
        finally:
            connection.close()


class Maintenance:
    """Maintains one workspace's index; for one thread at a time, except `collections` and `restore`."""

    def __init__(self, settings: QmdSettings, command: QmdCommand, index: QmdIndexFile) -> None:
        self._settings = settings
        self._command = command
        self._index = index
        self._noted = command.folder / "collections.json"
        self._embedded_at = command.folder / "embedded"
        self._pause = RetryPause()

    @property
    def collections(self) -> tuple[Collection, ...]:
        """The collections that `qmd` has now, whichever process configured them."""
        return read_applied(self._noted).collections

    def restore(self) -> bool:
        """Restore qmd's collections; False if it never had any."""
        applied = read_applied(self._noted)
        if applied.collections:
            write_aside(self._command.config_file, applied.text())
        return bool(applied.collections)

    def apply(self, collections: Sequence[Collection], token: CancelToken) -> None:
        """Apply the collections; removed ones leave the index. Raises `QmdError`, `Cancelled`."""
        before, applied = read_applied(self._noted), SavedConfiguration(tuple(collections), self._models())
        self._remove(
            {collection.name for collection in before.collections} - {collection.name for collection in collections},
            token,
        )
        if applied != before or not self._command.config_file.exists():
            write_aside(self._command.config_file, applied.text())
            write_aside(self._noted, msgspec.json.encode(applied).decode())

    def _models(self) -> dict[str, str]:
        """The models in the settings, else in qmd's own variables.

        qmd writes the models in use into its file, which has priority over its variables.
        """
        chosen = self._settings.models
        named = (("embed", chosen.embed), ("generate", chosen.generate), ("rerank", chosen.rerank))
        models = {use: name or os.environ.get(f"QMD_{use.upper()}_MODEL", "") for use, name in named}
        return {use: name for use, name in models.items() if name}

    def share_models(self) -> None:
        """Let all workspaces use the same downloaded models, which take gigabytes."""
        folder = self._command.cache / "qmd" / "models"
        if folder.exists() or folder.is_symlink() or self._settings.search_mode == "search":
            return
        theirs = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "qmd", "models")
        shared = theirs if theirs.is_dir() else data_folder() / "qmd-models"
        try:
            shared.mkdir(parents=True, exist_ok=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.symlink_to(shared, target_is_directory=True)
        except OSError as error:  # on Windows, few users may create links
            log.info("qmd keeps its models for itself: %s", type(error).__name__)

    def update(self, token: CancelToken, on_line: Callable[[str], None], meanwhile: Callable[[], None]) -> None:
        """Run `qmd update`, and repeat it if another process was writing.

        A damaged index is rebuilt; if only its list of documents is damaged, the vectors stay. After a timeout it runs
        again as long as each run added documents. Raises `QmdError`, `Cancelled`.
        """
        seconds = self._settings.update_timeout_seconds
        attempt, stored = 0, self._index.counts().total
        while True:
            try:
                self._command.run(["update"], seconds=seconds, cancel=token, on_line=on_line, meanwhile=meanwhile)
                return
            except QmdTooSlow:
                before, stored = stored, self._index.counts().total
                if stored <= before:
                    raise
            except QmdFailed as failure:
                errors = failure.errors.lower()
                if any(sign in errors for sign in _DAMAGED) and attempt == 0:
                    log.warning("The index of qmd is damaged and is being rebuilt")
                    self.discard()
                elif any(sign in errors for sign in _TANGLED) and attempt == 0:
                    log.warning("The list of qmd's documents is being rebuilt")
                    self.clear(token)
                    self.restore()
                elif not any(sign in errors for sign in _BUSY) or attempt == _TRIES - 1:
                    raise
                else:
                    pause(_FIRST_PAUSE * 2**attempt, token)
                attempt += 1

    def discard(self) -> None:
        """Delete the index of `qmd`; it is rebuilt from the notes."""
        for ending in ("", "-wal", "-shm"):
            self._command.database.with_name(self._command.database.name + ending).unlink(missing_ok=True)

    def clear(self, token: CancelToken) -> None:
        """Make `qmd` read every file again; vectors of unchanged texts stay."""
        self._remove({collection.name for collection in self.collections}, token)
        self._reset_configuration(token)

    def apply_skipped(self, collections: Sequence[Collection], token: CancelToken) -> None:
        """Apply the collections again if `qmd` has skipped some."""
        self._reset_configuration(token)
        self.apply(collections, token)

    def _reset_configuration(self, token: CancelToken) -> None:
        """Apply an empty list first: `qmd` reads a list only if it differs from the last one."""
        write_aside(self._command.config_file, SavedConfiguration().text())
        self._command.run(["collection", "list"], seconds=self._settings.command_timeout_seconds, cancel=token)
        self._command.config_file.unlink()

    def clean(self, token: CancelToken) -> None:
        """Remove deleted text from the file, where it could still be read."""
        self._command.run(["cleanup"], seconds=self._settings.update_timeout_seconds, cancel=token)

    def embed_due(self, reason: SyncReason, force: bool) -> bool:
        """Return whether a sync should also embed."""
        if self._settings.search_mode == "search" or not self._index.counts().pending:
            return False
        if force or reason in ("manual", "cli"):
            return True
        try:
            since = time.time() - self._embedded_at.stat().st_mtime
        except OSError:
            since = float("inf")
        return not self._pause.active and not 0 <= since < self._settings.embed_minutes * _SECONDS_PER_MINUTE

    def embed(self, token: CancelToken, meanwhile: Callable[[], None]) -> int:
        """Embed new texts; those left after the time limit are for the next run.

        Raises `QmdError`, also if none was embedded in that time, `Cancelled`.
        """
        while not _embedding.acquire(timeout=_POLL):
            token.checkpoint()
        before = self._index.counts().vectors
        try:
            seconds = self._settings.embed_timeout_seconds
            self._command.run(["embed"], seconds=seconds, cancel=token, meanwhile=meanwhile)
            self._embedded_at.touch()
        except QmdError as error:
            if not isinstance(error, QmdTooSlow) or self._index.counts().vectors <= before:
                self._pause.begin()
                raise
        finally:
            _embedding.release()
        self._pause.end()
        return max(0, self._index.counts().vectors - before)

    def _remove(self, names: set[str], token: CancelToken) -> None:
        if names and not self._command.config_file.exists():
            self.restore()  # otherwise qmd would not know what to remove
        for name in sorted(names):
            with contextlib.suppress(QmdFailed):  # it has been removed before
                seconds = self._settings.command_timeout_seconds
                self._command.run(["collection", "remove"], operand=name, seconds=seconds, cancel=token)


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _state(path: Path) -> tuple[int, int] | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return state.st_mtime_ns, state.st_size
