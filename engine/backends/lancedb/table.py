"""The table itself: opening it, and reading one version."""

import asyncio
import concurrent.futures
import contextlib
import logging
import math
import os
import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from engine.backends.lancedb import columns
from engine.backends.lancedb.failures import (
    Conflict,
    NotIndexed,
    TableExists,
    TableMissing,
    TableReplaced,
    TableTooNew,
    told,
)
from engine.backends.lancedb.table_location import TableLocation
from engine.backends.lancedb.view import TableView
from engine.base.cancellation import CancelToken
from engine.base.errors import BackendError, Cancelled, Closed
from engine.base.language import tr

if TYPE_CHECKING:
    import pyarrow as pa

# --- Runs LanceDB's coroutines on a separate event loop, so that every call has a time limit and can be cancelled.
# LanceDB's blocking functions wait indefinitely, and can't be stopped from outside.

Answer = TypeVar("Answer")

_CLOSE_SECONDS = 5.0


def load_lancedb() -> Any:
    """The module `lancedb`, which takes a second or two to import. Raises `BackendError` if it isn't installed."""
    # Its native half prints warnings about itself into the terminal.
    os.environ.setdefault("LANCEDB_LOG", "error")
    try:
        import lancedb
    except ImportError as error:
        missing = tr(
            'The LanceDB backend is not installed: run pipx install --force ".[lancedb]" in the folder of the source, '
            'or set backend = "builtin".'
        )
        raise BackendError(missing) from error
    return lancedb


class AsyncBridge:
    """Thread-safe. Its thread begins with the first call and ends with `close`."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._closed = False

    def run(
        self, work: Coroutine[Any, Any, Answer], *, seconds: float | None, cancel: CancelToken | None = None
    ) -> Answer:
        """The coroutine's answer. Raises its error, `TimeoutError`, `Cancelled`, `Closed`."""
        try:
            future = asyncio.run_coroutine_threadsafe(work, self._running())
        except Closed:
            work.close()
            raise
        forget = cancel.on_cancel(lambda: _stop(future)) if cancel is not None else lambda: None
        try:
            return future.result(seconds)
        except concurrent.futures.CancelledError:
            if cancel is not None and cancel.cancelled:
                raise Cancelled from None
            raise Closed from None
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise
        finally:
            forget()

    def close(self) -> None:
        """Cancel what runs and end the thread. Twice is fine."""
        with self._lock:
            self._closed = True
            loop, thread = self._loop, self._thread
            self._loop = self._thread = None
        if loop is None or thread is None:
            return
        ended = asyncio.run_coroutine_threadsafe(_end(), loop)
        with contextlib.suppress(concurrent.futures.TimeoutError, concurrent.futures.CancelledError):
            ended.result(_CLOSE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_CLOSE_SECONDS)
        if not thread.is_alive():
            loop.close()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._closed:
                raise Closed
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="mnemoscope-lancedb", daemon=True)
                self._thread.start()
            return self._loop


def _stop(future: "concurrent.futures.Future[Any]") -> None:
    future.cancel()


async def _end() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


# ---------------------------------------------------------------------------------------------------------------------

log = logging.getLogger(__name__)

_REFRESH_SECONDS = 1.0
_MOST_DIGITS = 9
"""How far an answer may be behind commits of other machines."""
_NO_PROBLEM = (TableMissing, TableReplaced, TableExists, NotIndexed, Conflict)
"""Errors that the caller handles."""


class SharedTable:
    """Thread-safe. Connects when it is first needed."""

    def __init__(self, find: Callable[[CancelToken | None], TableLocation]) -> None:
        """`find` returns its location; it may read the keychain."""
        self._find = find
        self._bridge = AsyncBridge()
        self._lock = threading.Lock()
        self._connecting = threading.Lock()
        self._place: TableLocation | None = None
        self._database: Any = None
        self._view: TableView | None = None
        self._looked = -math.inf
        self.problem: str | None = None
        """Why it could last not be used, one sentence; None after it could."""

    def place(self, cancel: CancelToken | None = None) -> TableLocation:
        """Raises as `find_place`."""
        if self._place is None:
            self._place = self._find(cancel)
        return self._place

    # --- reading --------------------------------------------------------------------------------------------------

    def view(self, cancel: CancelToken | None = None, *, fresh: bool = False) -> TableView:
        """The current table, or that of a second ago unless `fresh`; a new object only if it has changed.

        Raises `TableMissing`, `TableUnavailable`, `TableTooNew`, `Cancelled`, `Closed`.
        """
        with self._lock:
            if self._view is not None and not fresh and time.monotonic() - self._looked < _REFRESH_SECONDS:
                return self._view
            try:
                return self._look(cancel)
            except TableReplaced:
                self._reconnect()
                return self._look(cancel)
            except TableMissing:
                self._view = None
                raise

    def read(self, work: Callable[[TableView], Answer], cancel: CancelToken | None = None) -> Answer:
        """Return the result of `work` for the current table, or that of a second ago. Raises as `view`."""
        return self.with_one_more_try(lambda: work(self.view(cancel)))

    def with_one_more_try(self, work: Callable[[], Answer]) -> Answer:
        """Retry if another machine has deleted what it reads.

        That machine may have recreated the table, or have a fast clock and cleaned up data in use.
        """
        try:
            return work()
        except TableReplaced:
            self.reconnect()
            return work()

    def reconnect(self) -> None:
        """Open everything again."""
        with self._lock:
            self._reconnect()

    def _reconnect(self) -> None:
        self._database = self._view = None

    def changed(self) -> None:
        """This machine has just committed: the next view sees it."""
        self._looked = -math.inf

    def known(self) -> TableView | None:
        """The last version seen; reads nothing."""
        return self._view

    def _look(self, cancel: CancelToken | None) -> TableView:
        database, name = self.connected(cancel), self.place().table
        # Reopened, which costs no more: an open one doesn't notice that a new table counts its versions from 1.
        table = self.ask(database.open_table(name), cancel)
        version, schema = self.ask(table.version(), cancel), self.checked(self.ask(table.schema(), cancel))
        if self._view is None or (self._view.version, self._view.number) != (version, columns.number_of(schema)):
            self.ask(table.checkout(version), cancel)
            self._view = TableView(version, table, schema, self.ask)
        self._looked = time.monotonic()
        return self._view

    @staticmethod
    def checked(schema: "pa.Schema") -> "pa.Schema":
        """The same; raises `TableTooNew` for that of a table which is not for this program."""
        version = (schema.metadata or {}).get(columns.VERSION_KEY)
        if version is None:
            raise TableTooNew(
                tr("The LanceDB table was not made by Mnemoscope: choose another name for lancedb.table.")
            )
        if not version.isdigit() or len(version) > _MOST_DIGITS or int(version) > columns.SCHEMA_VERSION:
            raise TableTooNew(
                tr(
                    "The LanceDB table was made by a newer version of Mnemoscope: update it here, or choose another "
                    "name for lancedb.table."
                )
            )
        return schema

    def ask(
        self, work: Coroutine[Any, Any, Answer], cancel: CancelToken | None = None, *, seconds: float | None = None
    ) -> Answer:
        """One answer of LanceDB within the limit. Raises its failures as sentences, `Cancelled`, `Closed`."""
        try:
            answer = self._bridge.run(work, seconds=seconds or self.place().seconds, cancel=cancel)
        except (Cancelled, Closed):
            raise
        except Exception as error:
            problem = told(error, self.place().shown)
            if not isinstance(problem, _NO_PROBLEM):
                self.problem = str(problem)
                log.warning("The LanceDB table cannot be used: %s (%s)", type(problem).__name__, type(error).__name__)
            raise problem from None  # its text may hold what must not reach a log
        self.problem = None
        return answer

    def connected(self, cancel: CancelToken | None) -> Any:
        """The database that the table is in. Raises as `view`."""
        with self._connecting:
            if self._database is None:
                self._database = self._connect(cancel)
            return self._database

    def _connect(self, cancel: CancelToken | None) -> Any:
        lancedb, place = load_lancedb(), self.place(cancel)
        options: dict[str, Any] = {"storage_options": dict(place.options)} if place.options else {}
        if place.api_key:
            options["api_key"] = place.api_key
        return self.ask(lancedb.connect_async(place.uri, **options), cancel)

    def close(self) -> None:
        """Cancel what runs and let go of everything. Twice is fine."""
        self._bridge.close()
        self._database = self._view = None
