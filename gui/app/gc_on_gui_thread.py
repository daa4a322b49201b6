"""Collects Python's garbage on the GUI thread alone.

By default the garbage collector runs on whichever thread allocates next: during indexing nearly always a pool thread.
There it may find a cycle with a `QObject` in it, and destroying that outside of its thread is undefined in Qt. A full
pass would also visit everything that was ever imported, some 30 ms with the interpreter lock held; objects created
before the window is shown are therefore frozen, and left out of every pass.
"""

import gc

from PySide6.QtCore import QObject, QTimer, Slot

_POLL_MS = 100
"""Pause between checks while objects are created. Indexing creates at most some 10,000 in this time; collecting them
takes 2 ms."""
_REST_MS = 800
"""Pause between checks while nothing is created, so that an idle program doesn't wake ten times a second. The first
look after such a rest may find 80,000 objects, which take 16 ms."""


def collect_due() -> bool:
    """Collect the oldest generation whose threshold is exceeded, like the automatic collector, if there is one."""
    for generation in (2, 1, 0):
        if gc.get_count()[generation] > gc.get_threshold()[generation]:
            gc.collect(generation)
            return True
    return False


class Collector(QObject):
    """Runs Python's garbage collection on the GUI thread alone, until `close`.

    Its timer needs the event loop; `close` only when no thread that may have held objects of Qt runs any more.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._automatic = gc.isenabled()
        gc.disable()
        self._timer = QTimer(self)
        self._timer.setInterval(_POLL_MS)
        self._timer.timeout.connect(self._poll)
        self._timer.start()

    def freeze(self) -> None:
        """Exclude all present objects from collection: they live until the end."""
        gc.freeze()

    def close(self) -> None:
        """Restore Python's automatic collection."""
        self._timer.stop()
        gc.unfreeze()
        if self._automatic:
            gc.enable()

    @Slot()
    def _poll(self) -> None:
        """Check less often the longer there is nothing to do."""
        due = collect_due()
        self._timer.setInterval(_POLL_MS if due else min(2 * self._timer.interval(), _REST_MS))
