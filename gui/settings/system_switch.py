"""A setting outside of the settings file: stored by the system, and possibly changed by others."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from PySide6.QtCore import QObject, Signal

from engine import tr
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.settings.page_layout import OptionPlacement


class SystemState(Protocol):
    """Raises OSError where it cannot be read or written."""

    def is_on(self) -> bool: ...

    def set_on(self, on: bool) -> None: ...


class SystemSwitch(QObject):
    """Shows the last value read; reads and writes off the window's thread.

    Signals: changed: it was read again. refused: one sentence, on a read or write error.
    """

    changed = Signal()
    refused = Signal(str)

    def __init__(
        self, placed: OptionPlacement, after: str, refusal: str, state: SystemState, jobs: Jobs, parent: QObject
    ) -> None:
        """`placed`: its place among the settings, after the option with the key `after`.

        `refusal`: a marked sentence with {reason}, for a failed change.
        """
        super().__init__(parent)
        self.placed = placed
        self.after = after
        self.on = False
        self._refusal = refusal
        self._state = state
        self._jobs = jobs
        self._slot = JobSlot(self)

    @property
    def busy(self) -> bool:
        return self._slot.busy

    def look(self) -> None:
        """Read how it is now, unless that is being done or it is being switched."""
        if not self._slot.busy:
            self._slot.put(self._jobs.read(lambda _: self._state.is_on(), self._show, self._unreadable))

    def switch(self, on: bool) -> None:
        def work(_: object) -> bool:
            self._state.set_on(on)
            return self._state.is_on()

        self._slot.put(self._jobs.write(work, self._show, self._refused))

    def _show(self, on: bool) -> None:
        self._slot.done()
        self.on = on
        self.changed.emit()

    def _unreadable(self, sentence: str) -> None:
        self.refused.emit(sentence)
        self._show(False)

    def _refused(self, sentence: str) -> None:
        """Show the actual value; if that can't be read either, one message is enough."""
        self._slot.put(self._jobs.read(lambda _: self._state.is_on(), self._show, lambda _: self._show(False)))
        self.refused.emit(tr(self._refusal, reason=sentence))


def with_switches(
    options: Iterable[OptionPlacement], switches: Sequence[SystemSwitch]
) -> Iterator[tuple[OptionPlacement, SystemSwitch | None]]:
    """The options, and each switch in its place among them."""
    for placed in options:
        yield placed, None
        yield from ((switch.placed, switch) for switch in switches if switch.after == placed.key)
