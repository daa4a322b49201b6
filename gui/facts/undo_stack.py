"""What can be taken back in the view of facts, the last first."""

from typing import NamedTuple

from gui.facts.fact_store import Act

_MOST = 100


class UndoStep(NamedTuple):
    id: str
    """Of the fact that it is about."""
    back: Act
    """What makes all as it was."""
    taken_back: str
    """What is said then."""


class UndoStack:
    """Falsy where nothing is left to take back."""

    def __init__(self) -> None:
        self._steps: list[UndoStep] = []

    def __bool__(self) -> bool:
        return bool(self._steps)

    def add(self, id_: str, back: Act, taken_back: str) -> None:
        self._steps.append(UndoStep(id_, back, taken_back))
        del self._steps[:-_MOST]

    def pop(self) -> UndoStep | None:
        return self._steps.pop() if self._steps else None

    def forget(self, id_: str) -> None:
        """This fact is gone for good: nothing of it is kept here either."""
        self._steps = [step for step in self._steps if step.id != id_]

    def clear(self) -> None:
        self._steps.clear()
