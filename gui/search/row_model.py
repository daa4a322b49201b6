"""The result rows as a Qt model: one flat list of file rows, result rows and at most one row for more."""

import time

from PySide6.QtCore import QObject

from engine import tr, tr_count
from gui.search.rows import LEGS, FileRow, MoreInFileRow, MoreRow, ResultRow, Row
from gui.widgets.formatting import ago, exact
from gui.widgets.row_list import RowModel


class ResultModel(RowModel):
    """What the result rows say."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(FileRow, parent)

    def told(self, row: Row) -> str:
        return _spoken(row)

    def tip(self, row: Row) -> str:
        return _tip(row)


def _spoken(row: Row) -> str:
    match row:
        case FileRow():
            return tr_count(
                "{title}, {count:,} result, {when}",
                "{title}, {count:,} results, {when}",
                row.results,
                title=row.title,
                when=ago(row.modified, time.time()),
            )
        case ResultRow():
            note = tr(LEGS[row.leg][0]) if row.leg else row.heading
            about = (row.excerpt.text, _cited(row), note)
            return ". ".join(part for part in about if part)
        case MoreInFileRow() | MoreRow():
            return more_text(row)


def _tip(row: Row) -> str:
    match row:
        case FileRow():
            return tr("{path}\nChanged {when}", path=row.path, when=exact(row.modified))
        case ResultRow():
            result = row.result
            return "\n".join((_cited(row), " › ".join(result.heading), spoken_score(row)))
        case MoreInFileRow():
            return tr("Search only {path} (Enter)", path=row.path)
        case MoreRow():
            return tr("Search again for more results (Enter)")


def more_text(row: MoreInFileRow | MoreRow) -> str:
    if isinstance(row, MoreInFileRow):
        return tr_count("+{count:,} more in this file", "+{count:,} more in this file", row.hidden)
    if row.at_least:
        return tr("{count:,}+ more below the cut – show more", count=row.hidden)
    return tr("{count:,} more below the cut – show more", count=row.hidden)


def spoken_score(row: ResultRow) -> str:
    """The bar in words."""
    result = row.result
    words = result.score * result.text_share
    return tr(
        "Score {score:.2f}: words {words:.2f}, meaning {meaning:.2f}",
        score=result.score,
        words=words,
        meaning=result.score - words,
    )


def _cited(row: ResultRow) -> str:
    return tr("{path}, lines {lines}", path=row.result.path, lines=row.lines)
