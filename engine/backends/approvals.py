"""What the person agreed to embed: kept until it is done, so that a program that starts again goes on with it."""

import logging
import threading

from engine.errors import MnemoscopeError
from engine.store.models import ModelName
from engine.store.user_data import UserData

log = logging.getLogger(__name__)


class Approvals:
    """Thread-safe. What cannot be written holds for as long as the program runs."""

    def __init__(self, user: UserData) -> None:
        self._user = user
        self._lock = threading.Lock()
        self._here: set[ModelName] = set()

    def give(self, name: ModelName) -> None:
        """Agree to embed with this model."""
        with self._lock:
            self._here.add(name)
            try:
                self._user.approve(name)
            except MnemoscopeError as error:
                log.warning("An approval could not be kept: %s", type(error).__name__)

    def holds(self, name: ModelName) -> bool:
        """Whether this model may be used."""
        with self._lock:
            return name in self._here or self._kept(name)

    def end(self, name: ModelName) -> None:
        """All is embedded."""
        with self._lock:
            self._here.discard(name)
            try:
                if self._user.approved(name):
                    self._user.end_approval(name)
            except MnemoscopeError as error:
                log.warning("An approval could not be ended: %s", type(error).__name__)

    def _kept(self, name: ModelName) -> bool:
        try:
            return self._user.approved(name)
        except MnemoscopeError as error:
            log.warning("The approvals could not be read: %s", type(error).__name__)
            return False


class AgreeingBeforehand:
    """The approvals as a sync sees them whose caller agreed to whatever it may have to embed."""

    def __init__(self, approvals: Approvals) -> None:
        self._approvals = approvals

    def holds(self, name: ModelName) -> bool:
        if not self._approvals.holds(name):
            self._approvals.give(name)
        return True

    def end(self, name: ModelName) -> None:
        self._approvals.end(name)
