"""The places where a person has been in this window, for going back and forth between them."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from gui.shell.views import ViewName

_MOST = 100


@dataclass(frozen=True)
class HistoryEntry:
    """A place: what was asked in which view, and what was opened of the answer."""

    view: ViewName
    asked: Hashable
    opened: Hashable = None
    """None while nothing was."""
    state: object = field(default=None, compare=False)
    """What the view needs to show it again."""

    def is_beginning_of(self, other: "HistoryEntry") -> bool:
        """The same before something was opened: nobody goes back to that."""
        return self.opened is None and (self.view, self.asked) == (other.view, other.asked)


class History:
    """Stops in the order of the visits; one of them is where the person is, or was a moment ago."""

    def __init__(self) -> None:
        self._stops: list[HistoryEntry] = []
        self._at = -1

    def visit(self, stop: HistoryEntry) -> None:
        """The person is there: what lay ahead of the stop before is forgotten, unless it is the same one."""
        if self._stops and (self._stops[self._at] == stop or self._stops[self._at].is_beginning_of(stop)):
            self._stops[self._at] = stop
            return
        del self._stops[self._at + 1 :]
        self._stops.append(stop)
        del self._stops[:-_MOST]
        self._at = len(self._stops) - 1

    def can_go_back(self, now: HistoryEntry) -> bool:
        """`now`: where the person is, whether it was visited or not."""
        return self._at > 0 or (self._at == 0 and self._has_left(now))

    def can_go_forward(self, now: HistoryEntry) -> bool:
        return self._at + 1 < len(self._stops) and not self._has_left(now)

    def back(self, now: HistoryEntry) -> HistoryEntry | None:
        """The stop before; None where there is none."""
        return self._step(-1, now) if self.can_go_back(now) else None

    def forward(self, now: HistoryEntry) -> HistoryEntry | None:
        """The stop after."""
        return self._step(1, now) if self.can_go_forward(now) else None

    def _step(self, by: int, now: HistoryEntry) -> HistoryEntry:
        self.visit(now)
        self._at += by
        return self._stops[self._at]

    def _has_left(self, now: HistoryEntry) -> bool:
        last = self._stops[self._at]
        return not (last == now or last.is_beginning_of(now) or now.is_beginning_of(last))
