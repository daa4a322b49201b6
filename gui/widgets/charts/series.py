"""The content of a chart, independent of its picture: marks that are also the rows of its table."""

from collections.abc import Sequence
from dataclasses import dataclass

from gui.widgets.formatting import grouped

Cell = tuple[str, str | int | float]
"""What a table shows, and what it sorts by."""


@dataclass(frozen=True)
class Mark:
    """One bar, piece or point."""

    parts: tuple[float, ...]
    """Its height, or the heights of its parts from the lowest up; of a piece, its share."""
    caption: str
    """Names it in a few words."""
    row: tuple[Cell, ...]
    failed: bool = False
    """Drawn so that it differs by more than its colour."""
    detail: str = ""
    """Longer than the caption, for the tooltip."""

    @property
    def key(self) -> str:
        """Identifies it across updates."""
        return self.row[0][0]

    @property
    def height(self) -> float:
        return sum(self.parts)


@dataclass(frozen=True)
class Series:
    marks: tuple[Mark, ...] = ()
    gist: str = ""
    """A summary in a sentence, for screen readers."""
    ends: tuple[str, str] = ("", "")
    """Labels below the first and the last mark."""
    resting: str = ""
    """Label instead of these while no mark is selected."""
    legend: tuple[str, ...] = ()
    """Names of a mark's parts, if there are several."""


def figure_cell(count: int | None) -> Cell:
    """A count; None for one that is not known."""
    return ("–", -1) if count is None else (grouped(count), count)


def tab_separated(titles: Sequence[str], series: Series) -> str:
    """The table as text that a spreadsheet takes; no cell can break it."""
    rows = (titles, *((" ".join(text.split()) for text, _ in mark.row) for mark in series.marks))
    return "\n".join("\t".join(row) for row in rows)
