"""Connects the view of facts with stored facts: no reading or writing on the GUI thread."""

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import Fact, Facts, MemorySearchManager
from gui.core.jobs import Job, Jobs

Act = Callable[[Facts], Any]
OnDone = Callable[[Any], None]
OnError = Callable[[str], None]

_LOOK_MS = 2000
"""Interval of checks for facts that agents have saved in other processes."""


class _Step(NamedTuple):
    act: Act
    on_done: OnDone
    on_error: OnError


def _nothing(_: object) -> None:
    """Ignores a result."""


class FactStore(QObject):
    """One job at a time, so that changes are written in order."""

    changed = Signal()
    """`facts` or `problem` are other ones now."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._kept: Facts | None = None
        self._steps: list[_Step] = []
        self._job: Job | None = None
        self._stamp: tuple[int, int] | None = None
        self.facts: tuple[Fact, ...] | None = None
        """The newest first; None before they were read."""
        self.problem = ""
        """Why nothing can be changed, or even read."""
        self._clock = QTimer(self, interval=_LOOK_MS)
        self._clock.timeout.connect(self.look)

    @property
    def busy(self) -> bool:
        return self._job is not None

    @property
    def kept(self) -> Facts | None:
        """Those of the open memory."""
        return self._kept

    def fact(self, id_: str) -> Fact | None:
        """As last read; None if there is none."""
        return next((fact for fact in self.facts or () if fact.id == id_), None)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Show the facts of this memory."""
        self._kept = None if manager is None else manager.facts
        self._job = None
        self._steps.clear()
        self._stamp, self.facts, self.problem = None, None, ""
        self.changed.emit()

    def watch(self, wanted: bool) -> None:
        """Whether the view is visible: then changes by other programs are followed, too."""
        if wanted:
            self.look()
            self._clock.start()
        else:
            self._clock.stop()

    @Slot()
    def look(self) -> None:
        """Read what there is, unless something is being done after which that happens anyway."""
        if not self.busy:
            self.do(_nothing)

    def do(self, act: Act, on_done: OnDone = _nothing, on_error: OnError = _nothing) -> None:
        """Change something; `on_done` gets what `act` returns, with the updated `facts`."""
        if self._kept is not None:
            self._steps.append(_Step(act, on_done, on_error))
            self._run()

    def _run(self) -> None:
        kept = self._kept
        if self._job is not None or not self._steps or kept is None:
            return
        step, known = self._steps.pop(0), self._stamp

        def work(_: object) -> tuple[Any, str, tuple[int, int], tuple[Fact, ...] | None]:
            result = step.act(kept)
            stamp = kept.stamp()
            return result, kept.problem, stamp, None if stamp == known else kept.all()

        def on_done(found: tuple[Any, str, tuple[int, int], tuple[Fact, ...] | None]) -> None:
            if self._job is job:
                self._job = None
                result, problem, stamp, facts = found
                self._show(problem, stamp, facts)
                step.on_done(result)
                self._run()

        def on_error(sentence: str) -> None:
            if self._job is job:
                self._job = None
                if self.facts is None:
                    self._show(sentence, (0, 0), ())
                step.on_error(sentence)
                self._run()

        job = self._job = self._jobs.write(work, on_done, on_error)

    def _show(self, problem: str, stamp: tuple[int, int], facts: tuple[Fact, ...] | None) -> None:
        new = facts is not None or problem != self.problem
        self.problem, self._stamp = problem, stamp
        if facts is not None:
            self.facts = facts
        if new:
            self.changed.emit()
