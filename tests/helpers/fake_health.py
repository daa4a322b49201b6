"""Health checks without an index: given findings, and repairs that fix them."""

from collections.abc import Callable, Collection, Iterator
from types import SimpleNamespace
from typing import Any

import msgspec

from engine import CancelToken, HealthFinding, HealthProgress, HealthRepair, MnemoscopeError

FINE = HealthFinding(id="database", name="Database file", state="fine", detail="SQLite read all of it.")
KEYWORDS = HealthFinding(
    id="keywords",
    name="Keyword index",
    state="degraded",
    detail="3 passages can't be found by words. Rows without a passage: 0.",
    repair="Repair the keyword index",
    count=3,
)
NOTES = HealthFinding(
    id="notes", name="Notes", state="degraded", detail="1 new since the last update.", repair="Update", count=1
)
USER = HealthFinding(
    id="user-data", name="Facts and saved searches", state="failed", detail="Damaged.", advice="Move it away.", count=1
)


class FakeHealth:
    """Attributes may be set at any time.

    Attributes:
        findings: results of the next check.
        checks: for each check so far, whether it was deep. quick_checks: number of quick checks.
        repaired: requested repairs, in order.
        during: called before the end of a check or a repair. problem: raised in place of a repair.
    """

    def __init__(self, *findings: HealthFinding) -> None:
        self.findings = findings
        self.checks: list[bool] = []
        self.quick_checks = 0
        self.repaired: list[Collection[str] | None] = []
        self.during: Callable[[CancelToken], None] = lambda _: None
        self.problem: MnemoscopeError | None = None

    @property
    def manager(self) -> Any:
        return SimpleNamespace(insight=self)

    def quick_check(self, cancel: CancelToken) -> tuple[HealthFinding, ...]:
        self.quick_checks += 1
        return self.findings

    def health(
        self, cancel: CancelToken, *, probe: bool, deep: bool, progress: Callable[[HealthProgress], None]
    ) -> Iterator[HealthFinding]:
        self.checks.append(deep)
        assert probe == deep
        for done, finding in enumerate(self.findings):
            progress(HealthProgress(step="Looking", done=done, total=len(self.findings)))
            yield finding
        self.during(cancel)

    def repair(
        self, ids: Collection[str] | None, cancel: CancelToken, *, progress: Callable[[HealthProgress], None]
    ) -> HealthRepair:
        self.repaired.append(ids)
        progress(HealthProgress(step="Writing the keyword index", done=1, total=3))
        self.during(cancel)
        if self.problem is not None:
            raise self.problem
        self.findings = tuple(
            msgspec.structs.replace(finding, state="fine", repair="", count=0)
            if ids is None or finding.id in ids
            else finding
            for finding in self.findings
        )
        return HealthRepair(done=("Three rows were made again.",))
