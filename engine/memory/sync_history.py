"""The last syncs: in memory for the status, and kept for the next start."""

import logging

from engine.base.errors import MnemoscopeError
from engine.records import KeptSync, SyncReport, SyncSummary
from engine.store.user_data import UserData

log = logging.getLogger(__name__)

_SHOWN = 30
_NAMED_FAILURES = 10
_REPORTED = frozenset(SyncSummary.__struct_fields__) & frozenset(SyncReport.__struct_fields__)


class SyncHistory:
    """Of one backend: each has an index of its own, and says of it alone when it was brought up to date."""

    def __init__(self, user: UserData, backend: str) -> None:
        self._user = user
        self._backend = backend
        self.recent = tuple(sync for sync in user.recent_syncs(_SHOWN) if sync.backend == backend)
        """Newest last."""

    def add(self, report: SyncReport) -> None:
        """Note a sync. A full disk must not turn a sync that did its work into a failure."""
        facts = {name: getattr(report, name) for name in _REPORTED}
        facts |= {"files_failed": len(report.failed), "backend": self._backend}
        self.recent = (*self.recent, SyncSummary(**facts))[-_SHOWN:]
        try:
            self._user.add_sync(KeptSync(**facts, failed=report.failed[:_NAMED_FAILURES]))
        except MnemoscopeError as error:
            log.warning("The sync could not be noted in the history: %s", type(error).__name__)
