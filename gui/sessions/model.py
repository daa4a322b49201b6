"""The session rows as a Qt model."""

from PySide6.QtCore import QObject

from engine import tr, tr_count
from gui.sessions.rows import HeadingRow, Row, SessionRow
from gui.sessions.wording import hits_text, message_count, session_count, span
from gui.widgets.formatting import exact, size_text
from gui.widgets.row_model import RowModel


class SessionModel(RowModel):
    """What the session rows say."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(HeadingRow, parent)

    def told(self, row: Row) -> str:
        return _spoken(row)

    def tip(self, row: Row) -> str:
        return _tip(row) if isinstance(row, SessionRow) else ""


def _spoken(row: Row) -> str:
    if isinstance(row, HeadingRow):
        return f"{row.title}, {session_count(row.sessions)}"
    entry, summary = row.entry, row.entry.summary
    parts = len(entry.parts)
    told = (
        tr("Sub-agent") if row.depth else "",
        entry.title,
        entry.agent,
        entry.project,
        message_count(summary.messages),
        span(summary.started, summary.ended),
        hits_text(row.hits) if row.hits else "",
        _parts_told(parts, shown=row.opened) if parts else "",
        "" if row.alike is None else tr("likeness {score:.2f}", score=row.alike),
    )
    return ". ".join(part for part in told if part)


def _parts_told(parts: int, *, shown: bool) -> str:
    if shown:
        return tr_count("{count:,} sub-agent shown", "{count:,} sub-agents shown", parts)
    return tr_count("{count:,} sub-agent hidden", "{count:,} sub-agents hidden", parts)


def _tip(row: SessionRow) -> str:
    summary = row.entry.summary
    times = [exact(moment) for moment in (summary.started, summary.ended) if moment]
    told = (
        row.entry.title,
        f"{row.entry.agent} · {message_count(summary.messages)} · {size_text(summary.bytes)}",
        " \N{EN DASH} ".join(dict.fromkeys(times)),
        tr("{folder} (branch {branch})", folder=summary.project, branch=summary.branch).lstrip()
        if summary.branch
        else summary.project,
        summary.path,
    )
    return "\n".join(part for part in told if part.strip())
