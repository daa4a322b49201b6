"""Tests of sessions against the filters of the list."""

from collections.abc import Callable, Container
from datetime import date

from gui.core.session_criteria import Criteria
from gui.sessions.catalog import Entry

Test = Callable[[Entry], bool]


def filter_test(criteria: Criteria, today: date) -> Test | None:
    """Test for agent, project and period; None where all sessions pass."""
    if not (criteria.agent or criteria.project or criteria.period.narrows):
        return None
    agent, project = criteria.agent, criteria.project
    first, last = criteria.period.bounds(today)
    timed = criteria.period.narrows

    def test(entry: Entry) -> bool:
        return (
            (not agent or entry.summary.agent == agent)
            and (not project or entry.summary.project == project)
            and (not timed or _touches(entry, first, last))
        )

    return test


def text_test(criteria: Criteria, found: Container[str]) -> Test | None:
    """Test for the typed words: in the entry's text, or its path in `found`; None without words."""
    words = criteria.words
    if not words:
        return None
    if len(words) == 1:  # the usual case, in half the time
        only = words[0]
        return lambda entry: only in entry.haystack or entry.summary.path in found
    return lambda entry: all(word in entry.haystack for word in words) or entry.summary.path in found


def _touches(entry: Entry, first: date, last: date) -> bool:
    return (
        entry.first_day is not None
        and entry.last_day is not None
        and entry.first_day <= last
        and entry.last_day >= first
    )
