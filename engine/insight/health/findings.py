"""Helpers to create findings of checks that are more than a count."""

from engine.base.language import marked
from engine.records import HealthFinding

UPDATE = marked("Update")
"""Label of the repair that updates the index; translated on use."""


def fine(id_: str, name: str, detail: str) -> HealthFinding:
    return HealthFinding(id=id_, name=name, state="fine", detail=detail)


def degraded(id_: str, name: str, detail: str, *, repair: str = "", advice: str = "", count: int = 1) -> HealthFinding:
    return HealthFinding(id=id_, name=name, state="degraded", detail=detail, repair=repair, advice=advice, count=count)


def failed(id_: str, name: str, detail: str, *, repair: str = "", advice: str = "") -> HealthFinding:
    return HealthFinding(id=id_, name=name, state="failed", detail=detail, repair=repair, advice=advice, count=1)
