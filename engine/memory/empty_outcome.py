"""Empty search results with a notice."""

from engine.records import SearchOutcome, SearchTimings

_NO_TIME = SearchTimings(analysis=0.0, keyword=0.0, embed=0.0, vector=0.0, merge=0.0, total=0.0)


def unanswered(backend: str, notice: str) -> SearchOutcome:
    """An empty result; `notice` says in one sentence why no search was made."""
    return SearchOutcome(
        results=(),
        total=0,
        provider=backend,
        model=backend,
        mode="keyword",
        timings=_NO_TIME,
        notice=notice,
        explanation=None,
    )
