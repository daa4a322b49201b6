"""The filters and the order of the session list as one value."""

from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property
from typing import Literal

from engine import marked, tr
from gui.text.formatting import month_and_year, short_date

SessionOrder = Literal["relevance", "newest", "oldest", "longest", "project"]

Role = Literal["", "user", "assistant"]
"""Speaker of the matching words; empty for any."""


@dataclass(frozen=True)
class Period:
    """A range of local days, both included; None leaves a side open.

    `words` is its label, in English if it is one of PERIODS.
    """

    words: str
    days: int | None = None
    """Number of days up to today, instead of the two ends."""
    first: date | None = None
    last: date | None = None

    @property
    def title(self) -> str:
        """The label of the period, translated."""
        return tr(self.words) if self.first is None and self.last is None else self.words

    @property
    def narrows(self) -> bool:
        return any(part is not None for part in (self.days, self.first, self.last))

    @property
    def only_day(self) -> date | None:
        """The day if the period is a single day, else None."""
        return self.first if self.first == self.last else None

    def bounds(self, today: date) -> tuple[date, date]:
        """Return the first and the last day of the period, both inclusive."""
        first = self.first if self.days is None else today - timedelta(days=self.days - 1)
        return first or date.min, self.last or date.max


ANY_TIME = Period(marked("Any time"))
PERIODS = (
    ANY_TIME,
    Period(marked("Today"), days=1),
    Period(marked("Past week"), days=7),
    Period(marked("Past month"), days=30),
    Period(marked("Past year"), days=365),
)


def day_period(day: date) -> Period:
    return Period(short_date(day), first=day, last=day)


def month_period(month: date) -> Period:
    """Return the period of the month that begins with this day."""
    following = (month + timedelta(days=31)).replace(day=1)
    return Period(month_and_year(month), first=month, last=following - timedelta(days=1))


@dataclass(frozen=True)
class Criteria:
    """The filters and the sort order of the session list."""

    text: str = ""
    agent: str = ""
    project: str = ""
    """Full path of the project."""
    machine: str = ""
    """Name of another machine that sessions were synchronised from."""
    period: Period = ANY_TIME
    order: SessionOrder = "newest"
    """The order without words to search for."""
    found_order: SessionOrder = "relevance"
    """The order while there are such words."""
    show_sub_agents: bool = False
    """Show the sessions of sub-agents below their sessions."""

    @cached_property
    def ranked(self) -> bool:
        """Whether the text has words by which results are ranked, not only operators such as `model:opus`."""
        if not self.text.strip():
            return False
        from engine import parse_query  # brings the analysis, which an empty window does not need

        return bool(parse_query(self.text).free_text.strip())

    @property
    def arrangement(self) -> "Criteria":
        """The sort orders and the listing of sub-agents, without filters."""
        return Criteria(order=self.order, found_order=self.found_order, show_sub_agents=self.show_sub_agents)

    @property
    def effective_order(self) -> SessionOrder:
        return self.found_order if self.ranked else self.order

    @property
    def words(self) -> list[str]:
        return self.text.casefold().split()

    @property
    def narrows(self) -> bool:
        """Whether a filter is set that may exclude sessions."""
        return bool(self.text or self.agent or self.project or self.machine or self.period.narrows)
