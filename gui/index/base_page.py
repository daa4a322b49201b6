"""Base class of the pages of the index view: a page reads its data when visible, and again after a change."""

import time
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from engine import CancelToken, IndexInsight, MemoryProviderStatus, MemorySearchManager
from gui.core.jobs import Jobs, JobSlot
from gui.search.query import Answer
from gui.widgets.accessibility import first_stop

_REST = 4
"""Pause between readings, as a multiple of the last one's duration."""
_LONGEST_REST = 10.0


class IndexPage(QWidget):
    """A page of the index view. It reads its data in a job, once for several changes, and not while hidden.

    A subclass implements `read` (on a pool thread), `show_read`, `show_problem` and `clear`.

    Signals:
        action_requested: the action of an attention item or a button, such as `sync`, which the panel runs.
        open_requested: open a file or session (stable name) at a line or None.
        attention_changed: the page's Attention items, replacing the previous ones.
        left: the user pressed Escape; move the focus to the search box.
    """

    action_requested = Signal(str)
    open_requested = Signal(str, object)
    attention_changed = Signal(tuple)
    left = Signal()
    ends_when_hidden = False
    """Whether reading uses a core for so long that it ends when the page is hidden, and begins again when shown."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.jobs = jobs
        self.insight: IndexInsight | None = None
        self._read_job = JobSlot(self, jobs)
        self._stale = False
        self._began = 0.0
        self._pause = QTimer(self, singleShot=True)
        self._pause.timeout.connect(self._read_if_due)

    def complete(self) -> bool:
        """Make the rest of a large page, in a turn of the event loop of its own; returns False if there is none."""
        return False

    @property
    def busy(self) -> bool:
        """Whether the page is still reading its data."""
        return self._read_job.busy or self._stale

    @property
    def is_shown(self) -> bool:
        """Whether the contents of the page are visible."""
        return self.isVisible()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory whose index is shown; None for none."""
        self._read_job.cancel()
        self._pause.stop()
        self.insight = None if manager is None else manager.insight
        self._stale = self.insight is not None
        self.clear()
        self._read_if_due()

    @Slot()
    def refresh(self) -> None:
        """Read the data again after a change of the index."""
        self._stale = self.insight is not None
        self._read_if_due()

    def take_focus(self) -> None:
        """Focus the first control of the page."""
        first = first_stop(self)
        if first is not None:
            first.setFocus(Qt.FocusReason.TabFocusReason)

    def show_answer(self, answer: Answer | None) -> None:
        """Show the answer of the current query, None without a query; only some pages use it."""

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Show values of a new status record; only some pages use it."""

    def show_overview(self, shown: bool) -> None:
        """Set whether the overview is visible, which includes attention items of some pages."""

    def read(self, insight: IndexInsight, cancel: CancelToken) -> Any:
        """Read the data for `show_read`. Runs on a pool thread."""
        raise NotImplementedError

    def show_read(self, found: Any) -> None:
        """Show the new data, replacing the previous contents."""
        raise NotImplementedError

    def show_problem(self, sentence: str) -> None:
        """Show why nothing could be read."""
        raise NotImplementedError

    def clear(self) -> None:
        """Show the page without data."""
        raise NotImplementedError

    @Slot()
    def _read_if_due(self) -> None:
        insight = self.insight
        if insight is None or not self._stale or not self.is_shown or self._read_job.busy or self._pause.isActive():
            return
        self._stale = False
        self._began = time.monotonic()
        self._read_job.read(lambda token: self.read(insight, token), self._done, self._failed)

    def _done(self, found: Any) -> None:
        # During a sync the index changes all the time: whatever takes long is read less often.
        self._pause.start(round(1000 * min(_LONGEST_REST, _REST * (time.monotonic() - self._began))))
        self.show_read(found)

    def _failed(self, sentence: str) -> None:
        self.show_problem(sentence)
        self._read_if_due()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._read_if_due()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self.ends_when_hidden and self._read_job.busy and not self.is_shown:
            self._read_job.cancel()
            self._stale = True
