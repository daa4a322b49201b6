"""The rows of the result list: results grouped by file, as frozen values, and the Qt model of them."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Any, Literal

from PySide6.QtCore import QObject, Qt

from engine import (
    EXCERPT_LENGTH,
    MemorySearchResult,
    MessageContext,
    SearchOutcome,
    has_pages,
    marked,
    page_of,
    split_name,
    tr,
    tr_count,
)
from gui.commands.commands import EXPLAIN, with_key
from gui.text.excerpt import ELLIPSIS, LEAD, SEPARATOR, Excerpt, Range, make_excerpt, strip_markup
from gui.text.formatting import ago, exact, short_date
from gui.widgets.rows import Index, RowModel

SortOrder = Literal["relevance", "date"]
RowKey = tuple[str, str, int, int]
Leg = Literal["", "words", "meaning", "filters", "gone"]
LEGS: dict[Leg, tuple[str, str]] = {
    "words": (marked("words only"), marked("words")),
    "meaning": (marked("meaning only"), marked("meaning")),
    "filters": (marked("filters only"), marked("filters")),
    "gone": (marked("no longer found"), marked("earlier result")),
}
"""Long and short description of a result that only one search found, or that is no longer found."""
_NAMES = {"User": marked("You"), "Assistant": marked("Assistant"), "Tool": marked("Tool"), "System": marked("System")}
"""Names in the index -> displayed names."""
_MAX_EXCERPTS = 400
_MAX_PATHS = 12
"""Maximum number of lines with paths in a tooltip."""
_LABEL = re.compile(rf"(?:\A|(?<=\n\n))(?:{'|'.join(_NAMES)})(?=: )")


def name_speakers(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """Replace speaker labels in a session's snippet by their displayed names; returns the text and the mapped ranges.

    Ranges inside the labels are dropped.
    """
    translations = {name: tr(other) for name, other in _NAMES.items()}
    labels = [match for match in _LABEL.finditer(snippet) if translations[match[0]] != match[0]]
    ends = [found.end() for found in labels]
    names = {found.span() for found in labels}
    shifts = [0, *accumulate(len(translations[found[0]]) - len(found[0]) for found in labels)]

    def moved(number: int) -> int:
        return number + shifts[bisect_right(ends, number)]

    moved_ranges = [(moved(start), moved(end)) for start, end in ranges if (start, end) not in names]
    return _LABEL.sub(lambda match: translations[match[0]], snippet), moved_ranges


_CONTEXT_CHARACTERS = 60
"""Maximum number of characters of context before an excerpt; the rest of the two lines is for the excerpt itself."""


def _with_context(excerpt: Excerpt, context: MessageContext) -> Excerpt:
    """Put the question before an answer's excerpt, or the answer after a question's, unless the excerpt contains it."""
    text = strip_markup(context.text, ())[0]
    if text[:LEAD].casefold() in excerpt.text[:EXCERPT_LENGTH].casefold():
        return excerpt
    name = "User" if context.role == "user" else "Assistant"
    speaker = tr(_NAMES[name])
    if context.role == "assistant":
        return Excerpt(f"{excerpt.text}{SEPARATOR}{speaker}: {text}", excerpt.marks)
    if len(text) > _CONTEXT_CHARACTERS:
        text = f"{text[:_CONTEXT_CHARACTERS].rpartition(' ')[0] or text[:_CONTEXT_CHARACTERS]}{ELLIPSIS}"
    front = f"{speaker}: {text}{SEPARATOR}"
    shift = len(front)
    return Excerpt(f"{front}{excerpt.text}", tuple((start + shift, end + shift) for start, end in excerpt.marks))


@lru_cache(_MAX_EXCERPTS)
def _excerpt_of(
    snippet: str, ranges: tuple[Range, ...], above: str, title: str | None, context: MessageContext | None
) -> Excerpt:
    """Return the excerpt of a result; `title`: None in a session. Cached, since answers while typing repeat results."""
    if title is not None:
        return make_excerpt(snippet, ranges, above, title)
    excerpt = make_excerpt(*name_speakers(snippet, ranges), above)
    return excerpt if context is None else _with_context(excerpt, context)


@dataclass(frozen=True)
class FileRow:
    """The heading row above the results of one file."""

    best: MemorySearchResult
    """The first result of the file."""
    results: int

    @property
    def path(self) -> str:
        return self.best.path

    @property
    def title(self) -> str:
        return self.best.title

    @property
    def when(self) -> str:
        """The latest of the note's dates within the query's period, else the time of the file's last change."""
        dates = self.best.dates
        return short_date(date.fromisoformat(dates[-1])) if dates else ago(self.best.modified)

    @property
    def key(self) -> RowKey:
        return ("file", self.path, 0, 0)

    @property
    def workspace(self) -> str:
        """The name of the workspace that contains the file; empty for the open workspace."""
        return split_name(self.path)[0]


@dataclass(frozen=True)
class ResultRow:
    """A row with one result, below the row of its file."""

    result: MemorySearchResult
    occurrence: int
    """Number among the chunks of one long line, which share their start line; else 0."""
    leg: Leg
    """The only search that found it, or the filters; empty if both searches did, or if only one ran.

    "gone": the latest answer doesn't contain it, and it stays since the user has selected it.
    """

    @property
    def key(self) -> RowKey:
        return ("result", self.result.path, self.result.start_line, self.occurrence)

    @property
    def heading(self) -> str:
        """The innermost heading above the result; empty if it equals the title, or is a page, which `where` shows."""
        inner = self.headings[-1] if self.headings else ""
        return "" if inner == self.result.title else inner

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings above the result, without the page of a document."""
        return tuple(self.result.heading[1:] if self._page else self.result.heading)

    @property
    def heading_marks(self) -> tuple[Range, ...]:
        """The ranges of matched words in the innermost heading."""
        return self.result.heading_ranges[-1] if self.result.heading_ranges and self.headings else ()

    @property
    def _page(self) -> int:
        """The page of a document that the result is on; 0 for other files."""
        heading = self.result.heading
        return page_of(heading[0]) if heading and has_pages(self.result.path) else 0

    @property
    def where(self) -> str:
        """The page of a document that has pages, else the lines."""
        return tr("Page {page}", page=self._page) if self._page else self.lines

    @property
    def lines(self) -> str:
        first, last = self.result.start_line, self.result.end_line
        return f"{first}\N{EN DASH}{last}" if last > first else str(first)

    @cached_property
    def drawn(self) -> tuple[object, ...]:
        """A cache key of the row's layout: rows with equal keys look the same except for the score."""
        result = self.result
        return result.path, self.lines, self.leg, result.title, result.shown

    @property
    def excerpt(self) -> Excerpt:
        """The excerpt of the result; computed when first needed, since most rows of a long list are never painted."""
        result, shown = self.result, self.result.shown
        above = shown.heading[-1] if shown.heading else result.title
        title = result.title if shown.message is None else None
        return _excerpt_of(shown.snippet, shown.match_ranges, above, title, shown.context)


@dataclass(frozen=True)
class MoreRow:
    """The last row of a list that doesn't show all results; pressing it loads more."""

    hidden: int
    at_least: bool = False
    """Whether there may be more than this number."""

    @property
    def key(self) -> RowKey:
        return ("more", "", 0, 0)


@dataclass(frozen=True)
class CopiesRow:
    """The row below a result whose text is also in other files; pressing it lists these."""

    result: MemorySearchResult
    leg: Leg

    @property
    def key(self) -> RowKey:
        return ("copies", self.result.path, self.result.start_line, 0)


@dataclass(frozen=True)
class MoreInFileRow:
    """The row below a file's results if the file has more results than shown."""

    path: str
    title: str
    hidden: int
    at_least: bool = False
    """Whether there may be more than this number."""

    @property
    def key(self) -> RowKey:
        return ("more", self.path, 0, 0)


Row = FileRow | ResultRow | CopiesRow | MoreInFileRow | MoreRow
ButtonRow = CopiesRow | MoreInFileRow | MoreRow
"""Rows that act when pressed."""


def _moment(result: MemorySearchResult) -> float:
    """Return the time that the row of a result's file shows, in seconds since the epoch."""
    if not result.dates:
        return result.modified
    return (date.fromisoformat(result.dates[-1]) - date(1970, 1, 1)).total_seconds()


def build_rows(outcome: SearchOutcome, order: SortOrder) -> list[Row]:
    """Group results by file, each group best first; files are sorted by their best result or, by date, newest first."""
    groups: dict[str, list[MemorySearchResult]] = {}
    for result in outcome.results:
        groups.setdefault(result.path, []).append(result)
    files = list(groups.values())
    if order == "date":
        files.sort(key=lambda results: -_moment(results[0]))
    rows: list[Row] = []
    for results in files:
        best, more = results[0], _more_in_files(results)
        rows.append(FileRow(best, len(results) + more))
        rows.extend(_result_rows(results, hybrid=outcome.mode == "hybrid"))
        if more:
            rows.append(MoreInFileRow(best.path, best.title, more, outcome.total_is_least))
    hidden = outcome.total - len(outcome.results) - _more_in_files(outcome.results)
    if hidden > 0:
        rows.append(MoreRow(hidden, outcome.total_is_least))
    return rows


def _more_in_files(results: Sequence[MemorySearchResult]) -> int:
    return sum(result.more_in_file for result in results)


def _result_rows(results: Sequence[MemorySearchResult], *, hybrid: bool) -> list[ResultRow | CopiesRow]:
    seen: Counter[int] = Counter()
    rows: list[ResultRow | CopiesRow] = []
    for result in results:
        leg = leg_of(result) if hybrid else ""
        rows.append(ResultRow(result, seen[result.start_line], leg))
        if result.copies:
            rows.append(CopiesRow(result, leg))
        seen[result.start_line] += 1
    return rows


def list_copies(rows: Sequence[Row], listed: Collection[RowKey]) -> list[Row]:
    """Return the rows with the copies of results in place of the rows whose keys are in `listed`."""
    unfolded: list[Row] = []
    for row in rows:
        if isinstance(row, CopiesRow) and row.key in listed:
            unfolded.extend(ResultRow(row.result.in_copy(copy), 0, row.leg) for copy in row.result.copies)
        else:
            unfolded.append(row)
    return unfolded


def with_selected(rows: Sequence[Row], selected: ResultRow, before: Sequence[Row]) -> tuple[Sequence[Row], RowKey]:
    """Return the rows of an answer including the result that was selected in the rows `before`, and the key of its row.

    If the answer doesn't contain it, the same passage at other lines or in a renamed file replaces it; if none does,
    its old row stays, marked as no longer found.
    """
    if any(row.key == selected.key for row in rows):
        return rows, selected.key
    known = {row.path for row in before if isinstance(row, FileRow)}
    for row in rows:
        if isinstance(row, ResultRow) and _continues(row.result, selected.result, known):
            return rows, row.key
    above = before[: before.index(selected)]
    heading = next(row for row in reversed(above) if isinstance(row, FileRow))
    unmatched = replace(selected, leg="gone")
    keys = {row.key for row in above}
    last = max((number for number, row in enumerate(rows) if row.key in keys), default=-1)
    own = next((number for number, row in enumerate(rows) if row.key == heading.key), -1)
    if own >= 0:
        within = own + 1
        while within < len(rows) and rows[within].key in keys:
            within += 1
        return [*rows[:within], unmatched, *rows[within:]], unmatched.key
    end = last + 1
    while end < len(rows) and not isinstance(rows[end], FileRow | MoreRow):  # no group of another file is divided
        end += 1
    return [*rows[:end], replace(heading, results=1), unmatched, *rows[end:]], unmatched.key


def _continues(found: MemorySearchResult, selected: MemorySearchResult, known: Collection[str]) -> bool:
    """Return whether a result is the selected passage at other lines of its file, or in a file that is not known."""
    if found.path == selected.path:
        return found.start_line <= selected.end_line and selected.start_line <= found.end_line
    same_line = found.start_line == selected.start_line and found.path not in known
    return same_line and found.snippet == selected.snippet  # last, since making a snippet takes time


def leg_of(result: MemorySearchResult) -> Leg:
    """Return the only search that found a result, or "filters"; empty if both searches found it."""
    if not result.is_scored:
        return "filters"
    if result.text_score <= 0:
        return "meaning" if result.vector_score else ""
    return "" if result.vector_score else "words"


class ResultModel(RowModel):
    """Qt model of the result rows."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(FileRow, parent)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row(index.row())
        if role == Qt.ItemDataRole.AccessibleDescriptionRole and isinstance(row, ResultRow):
            return f"{spoken_score(row)}. {with_key(EXPLAIN.label, EXPLAIN.name)}"
        return super().data(index, role)

    def spoken(self, row: Row) -> str:
        match row:
            case FileRow():
                return tr_count(
                    "{title}, {count:,} result, {when}",
                    "{title}, {count:,} results, {when}",
                    row.results,
                    title=row.title,
                    when=row.when,
                )
            case ResultRow():
                note = tr(LEGS[row.leg][0]) if row.leg else row.heading
                about = (row.excerpt.text, _cited(row), note)
                return ". ".join(part for part in about if part)
            case CopiesRow() | MoreInFileRow() | MoreRow():
                return button_text(row)

    def tip(self, row: Row) -> str:
        match row:
            case FileRow():
                about = tr("{path}\nChanged {when}", path=row.path, when=exact(row.best.modified))
                if row.best.dates:
                    days = ", ".join(short_date(date.fromisoformat(day)) for day in row.best.dates)
                    about += "\n" + tr("Dated {dates}", dates=days)
                return f"{row.title}\n{about}" if row.title else about
            case ResultRow():
                return "\n".join(filter(None, (_cited(row), " › ".join(row.headings), spoken_score(row))))
            case CopiesRow():
                return "\n".join((tr("List the other files (Enter)"), *_some_paths(row.result)))
            case MoreInFileRow():
                return tr("Search only {path} (Enter)", path=row.path)
            case MoreRow():
                return tr("Search again for more results (Enter)")


def _some_paths(result: MemorySearchResult) -> list[str]:
    paths = [copy.path for copy in result.copies]
    return paths if len(paths) <= _MAX_PATHS else [*paths[: _MAX_PATHS - 1], ELLIPSIS]


def button_text(row: ButtonRow) -> str:
    if isinstance(row, CopiesRow):
        count = len(row.result.copies)
        return tr_count("Also in {count:,} other file", "Also in {count:,} other files", count)
    if isinstance(row, MoreInFileRow) and row.at_least:
        return tr("+{count:,} or more in this file", count=row.hidden)
    if isinstance(row, MoreInFileRow):
        return tr_count("+{count:,} more in this file", "+{count:,} more in this file", row.hidden)
    if row.at_least:
        return tr("At least {count:,} more results – show more", count=row.hidden)
    return tr("{count:,} more results – show more", count=row.hidden)


def spoken_score(row: ResultRow) -> str:
    """Describe a result's score bar in words for screen readers."""
    result = row.result
    if not result.is_scored:
        return tr("Matches the filters; its text was not scored")
    words = result.score * result.text_share
    return tr(
        "Score {score:.2f}: words {words:.2f}, meaning {meaning:.2f}",
        score=result.score,
        words=words,
        meaning=result.score - words,
    )


def _cited(row: ResultRow) -> str:
    if row.where != row.lines:
        return f"{row.result.path}, {row.where}"
    return tr("{path}, lines {lines}", path=row.result.path, lines=row.lines)
