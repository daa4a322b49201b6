"""Input and result types of health checks."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.base.cancellation import CancelToken
from engine.base.errors import StoreError
from engine.base.language import marked, tr
from engine.records import HealthFinding, HealthProgress
from engine.settings import Settings
from engine.store.index import IndexStore
from engine.store.stored_models import ModelName
from engine.store.vector_encoding import StoredModel
from engine.store.vectors import VectorIndex

NOTHING = marked("Nothing is indexed yet.")

Report = Callable[[HealthProgress], None]


@dataclass(frozen=True)
class Subject:
    """The index that is checked: store, settings, model, cancel token and progress listener."""

    workspace: Path
    settings: Settings
    store: IndexStore
    vectors: VectorIndex
    name: ModelName | None
    """The model that searches use; None for keyword search only."""
    cancel: CancelToken
    report: Report

    def model(self) -> StoredModel | None:
        """Return the stored model that searches use; None if nothing was embedded with it yet."""
        if self.name is None:
            return None
        with self.store.read(self.cancel) as snapshot:
            return snapshot.stored_model(*self.name)

    def prefers_table(self) -> bool:
        """Whether searches of this index use, or should use, the sqlite-vec table."""
        try:
            if (model := self.model()) is not None:
                with self.store.read(self.cancel) as snapshot:
                    return self.vectors.prefers_table(snapshot, model)
        except StoreError:
            pass  # reported elsewhere
        return self.settings.store.vector.engine == "sqlite-vec"

    def step(self, step: str, done: int, total: int) -> None:
        """Report progress. Raises `Cancelled`."""
        self.cancel.checkpoint()
        self.report(HealthProgress(step=step, done=done, total=total))


@dataclass(frozen=True)
class HealthCheck:
    """One check of the index's health, with the function that repairs what it finds."""

    id: str
    name: str
    progress_text: str
    """Progress text of the check."""
    inspect: Callable[[Subject], "Observation"]
    repair_label: str = ""
    """Button label of the repair; translated on display, like `name` and `progress_text`."""
    repair: Callable[[Subject], str] | None = None
    """Function that repairs and returns a message about the result; "" if there was nothing to repair. The caller must
    hold the writer lock.
    """

    def finding(self, subject: Subject) -> HealthFinding:
        observation = self.inspect(subject)
        return HealthFinding(
            id=self.id,
            name=tr(self.name),
            state="degraded" if observation.count else "fine",
            detail=observation.detail,
            repair=tr(self.repair_label) if observation.count else "",
            count=observation.count,
        )


@dataclass(frozen=True)
class Observation:
    """Result of one check: a message, and the number of problems."""

    detail: str
    count: int = 0
    """Number of problems found."""


# --- Helpers to create findings of checks that are more than a count -------------------------------------------------

UPDATE = marked("Update")
"""Label of the repair that updates the index; translated on use."""


def fine(id_: str, name: str, detail: str) -> HealthFinding:
    """Return the finding that all is well; `name` and `detail` are translated texts."""
    return HealthFinding(id=id_, name=name, state="fine", detail=detail)


def degraded(id_: str, name: str, detail: str, *, repair: str = "", advice: str = "", count: int = 1) -> HealthFinding:
    """Return the finding of a defect that costs quality or speed; `count` is the number of its cases."""
    return HealthFinding(id=id_, name=name, state="degraded", detail=detail, repair=repair, advice=advice, count=count)


def failed(id_: str, name: str, detail: str, *, repair: str = "") -> HealthFinding:
    """Return the finding of a defect that makes a part of the program fail."""
    return HealthFinding(id=id_, name=name, state="failed", detail=detail, repair=repair, count=1)
