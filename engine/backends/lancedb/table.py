"""The table itself: opening it, and reading one version."""

import logging
import math
import threading
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar

from engine.backends.lancedb import columns
from engine.backends.lancedb.async_bridge import AsyncBridge, load_lancedb
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
from engine.base.errors import Cancelled, Closed
from engine.base.language import tr

if TYPE_CHECKING:
    import pyarrow as pa

log = logging.getLogger(__name__)

Answer = TypeVar("Answer")

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
