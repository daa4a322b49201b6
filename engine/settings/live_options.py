"""The options that only decide how a query is answered: an open memory applies changes of them at any time."""

import msgspec

from engine.settings.options import Settings

ANSWERING = ("query.", "qmd.min_score", "qmd.limits.")
"""The keys of these options begin so."""


def answering_as(own: Settings, wanted: Settings) -> Settings:
    """`own` with these options from `wanted`."""
    qmd = msgspec.structs.replace(own.qmd, min_score=wanted.qmd.min_score, limits=wanted.qmd.limits)
    return msgspec.structs.replace(own, query=wanted.query, qmd=qmd)
