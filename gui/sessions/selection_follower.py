"""Tells once, and after a pause, which session the conversation should show, while someone walks through the list."""

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import SessionSummary

PREVIEW_MS = 120


class SessionFollower(QObject):
    """Signals:
    selected: SessionSummary, or None: the conversation should follow.
    activated: SessionSummary: the person wants to go there.
    """

    selected = Signal(object)
    activated = Signal(object)

    def __init__(
        self,
        current: Callable[[], SessionSummary | None],
        place: Callable[[str], tuple[object, ...]],
        parent: QObject,
    ) -> None:
        """`current`: the session that is current in the list; `place`: where in it, by its path, a search leads."""
        super().__init__(parent)
        self._current = current
        self._place = place
        self._told: tuple[object, ...] = ()
        self._pause = QTimer(self, singleShot=True, interval=PREVIEW_MS)
        self._pause.timeout.connect(self._tell)

    @property
    def due(self) -> bool:
        """Something will be told in a moment."""
        return self._pause.isActive()

    @Slot(object)
    def follow(self, summary: SessionSummary | None) -> None:
        """Another session, or another place in it, is current."""
        if self._identity(summary) != self._told:
            self._pause.start()

    def forget(self) -> None:
        """Nothing is listed any more, and whoever shows a session knows it."""
        self._pause.stop()
        self._told = ()

    def activate(self, summary: SessionSummary) -> None:
        """Go there now."""
        self._pause.stop()
        self._told = self._identity(summary)
        self.activated.emit(summary)

    @Slot()
    def _tell(self) -> None:
        summary = self._current()
        self._told = self._identity(summary)
        self.selected.emit(summary)

    def _identity(self, summary: SessionSummary | None) -> tuple[object, ...]:
        return () if summary is None else (summary.path, *self._place(summary.path))
