"""A place for one job of an object: a newer job takes it over, and none outlives the object."""

from functools import partial

from PySide6.QtCore import QObject

from gui.core.jobs import Job


def _cancel_all(jobs: list[Job]) -> None:
    for job in jobs:
        job.cancel()


class JobSlot:
    """Holds the job that runs now. Cancelled jobs never report back, so that an answer is always the newest one's."""

    def __init__(self, owner: QObject) -> None:
        self._jobs: list[Job] = []  # a list, so that it can be cleared after its owner was deleted
        owner.destroyed.connect(partial(_cancel_all, self._jobs))

    @property
    def busy(self) -> bool:
        return bool(self._jobs)

    def put(self, job: Job) -> None:
        """Cancel the one before."""
        self.cancel()
        self._jobs.append(job)

    def cancel(self) -> None:
        _cancel_all(self._jobs)
        self._jobs.clear()

    def done(self) -> None:
        """The job has reported back."""
        self._jobs.clear()
