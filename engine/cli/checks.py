"""One thing that `mnemoscope doctor` looked at."""

from typing import Literal

from engine.records import Record

INDEX = "Run mnemoscope index."
"""Advice where the index is not up to date."""


class Check(Record, frozen=True):
    """One thing that was looked at."""

    name: str
    state: Literal["fine", "degraded", "failed"]
    """`degraded`: searching works, but finds less than it could."""
    detail: str
    """What was found, one sentence; empty where there is nothing to say."""
    advice: str
    """What to do; empty where nothing is to be done."""


def fine(name: str, detail: str = "") -> Check:
    return Check(name=name, state="fine", detail=detail, advice="")


def degraded(name: str, detail: str, advice: str) -> Check:
    return Check(name=name, state="degraded", detail=detail, advice=advice)


def failed(name: str, detail: str, advice: str = "") -> Check:
    return Check(name=name, state="failed", detail=detail, advice=advice)
