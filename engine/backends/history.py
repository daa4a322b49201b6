"""The last syncs: in memory for the status, and kept for the next start."""

import logging

from engine.errors import MnemoscopeError
from engine.records import SyncReport, SyncSummary
from engine.store.user_data import UserData

log = logging.getLogger(__name__)

_SHOWN = 30


class SyncHistory:
    def __init__(self, user: UserData) -> None:
        self._user = user
        self.recent = user.recent_syncs(_SHOWN)
        """Newest last."""

    def add(self, report: SyncReport) -> None:
        """Note a sync. A full disk must not turn a sync that did its work into a failure."""
        summary = SyncSummary(**{name: getattr(report, name) for name in SyncSummary.__struct_fields__})
        self.recent = (*self.recent, summary)[-_SHOWN:]
        try:
            self._user.add_sync(summary)
        except MnemoscopeError as error:
            log.warning("The sync could not be noted in the history: %s", type(error).__name__)
