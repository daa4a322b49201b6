"""Announces to screen readers when an index update begins and ends."""

from collections.abc import Callable
from time import monotonic

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from engine import MemoryProviderStatus, tr, tr_count
from gui.widgets.announcer import announce

_LONG_S = 2.0
"""A shorter sync isn't announced, unless the user started it."""


class SyncAnnouncer(QObject):
    """Announces each sync at its beginning and at its end; the banner reports failures."""

    def __init__(self, widget: QWidget, clock: Callable[[], float] = monotonic) -> None:
        super().__init__(widget)
        self._widget = widget
        self._clock = clock
        self._since: float | None = None
        self._begun = False

    def hear(self, status: MemoryProviderStatus | None) -> None:
        """Every record of the index that is open; None where none is."""
        if status is None:
            self._since, self._begun = None, False
        elif status.syncing is not None:
            self._go_on(by_hand=status.syncing.reason == "manual")
        elif self._since is not None:
            self._end(status)

    def _go_on(self, *, by_hand: bool) -> None:
        now = self._clock()
        self._since = now if self._since is None else self._since
        if not self._begun and (by_hand or now - self._since >= _LONG_S):
            self._begun = True
            announce(self._widget, tr("The index is being brought up to date."))

    def _end(self, status: MemoryProviderStatus) -> None:
        begun, self._begun, self._since = self._begun, False, None
        last = status.last_sync
        if not begun or last is None or last.error:
            return
        said = [
            tr_count(
                "The index is up to date: {count:,} file.", "The index is up to date: {count:,} files.", status.files
            )
        ]
        if failed := len(status.failed_files):
            said.append(tr_count("{count:,} file could not be read.", "{count:,} files could not be read.", failed))
        announce(self._widget, " ".join(said))
