"""The list of sessions: a view over any number of them, laid out a screenful or two at a time."""

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from engine import SessionSummary, tr, tr_count
from gui.sessions.delegate import SessionDelegate
from gui.sessions.rows import HeadingRow, Row, SessionRow
from gui.sessions.wording import hits_text, message_count, session_count, span
from gui.widgets.formatting import exact, size_text
from gui.widgets.row_list import RowList
from gui.widgets.row_model import Index, RowModel

_BATCH = 100
"""Rows laid out at once, under 1 ms; the rest follows while the loop is idle."""


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


class SessionList(RowList):
    """Sessions under their days; only sessions can be current."""

    current_changed = Signal(object)
    """The current SessionSummary, or None in an empty list."""
    opened = Signal(object)
    """SessionSummary, by Enter or a double click."""
    folded = Signal(str, bool)
    """Path of a parent, and whether its sub-agents' sessions are to be shown."""
    menu_wanted = Signal(object, QPoint)
    """SessionRow and the global position."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(SessionModel(), tr("Sessions"), parent)
        self.painter = SessionDelegate(self)
        self.setItemDelegate(self.painter)
        self.setLayoutMode(QListView.LayoutMode.Batched)
        self._chosen = False
        self.selectionModel().currentChanged.connect(self._moved)
        self.doubleClicked.connect(self._activate)

    def show_rows(self, rows: Sequence[Row], words: Sequence[str], *, keep: bool) -> None:
        """Replace the rows, with `words` marked in titles.

        `keep`: where the person is; else at the top, with the first session current.
        """
        if keep and self.rows.shows(rows):
            return
        place = self._remember() if keep and self.rows.rowCount() and self._moved_away() else None
        deepest = max((self.currentIndex().row(), *self._visible_places())) if place else 0
        self.painter.words = words
        self._arranging = True
        try:
            # What is returned to must be laid out now.
            self.setBatchSize(deepest + _BATCH)
            self._put(rows)
            self.setBatchSize(_BATCH)
            if place is not None:
                self._lay_out_to(min(deepest, len(rows) - 1))
                self._return_to(place)
            else:
                self._chosen = False
                self._set_current(self.rows.first_place())
                self.scrollToTop()
        finally:
            self._arranging = False
        self.current_changed.emit(self.current_session())

    def current_session(self) -> SessionSummary | None:
        row = self.current_row()
        return row.entry.summary if row else None

    def current_row(self) -> SessionRow | None:
        row = self.rows.row(self.currentIndex().row())
        return row if isinstance(row, SessionRow) else None

    def go_to(self, path: str) -> bool:
        """Make the session current that has this path; False where it is not listed."""
        number = self.rows.place(("session", path))
        if number >= 0:
            self._set_current(number)
        return number >= 0

    def _moved_away(self) -> bool:
        return self._chosen or self.verticalScrollBar().value() > 0

    def scrollTo(
        self, index: Index, hint: QAbstractItemView.ScrollHint = QAbstractItemView.ScrollHint.EnsureVisible
    ) -> None:
        if not self._arranging:
            self._lay_out_to(index.row())
        super().scrollTo(index, hint)

    def _lay_out_to(self, number: int) -> None:
        """A row beyond the batches so far has no place yet, and while they run Qt starts no larger one."""
        if self.rows.row(number) is not None and not self.visualRect(self.rows.index(number)).isValid():
            self.setLayoutMode(QListView.LayoutMode.SinglePass)
            self.doItemsLayout()
            self.setLayoutMode(QListView.LayoutMode.Batched)

    def _activate(self, index: Index) -> None:
        row = self.rows.row(index.row())
        if isinstance(row, SessionRow):
            self._chosen = True
            self.opened.emit(row.entry.summary)

    def _show_menu(self, at: QPoint) -> None:
        row = self.current_row()
        if row is not None:
            self.menu_wanted.emit(row, at)

    def _restyle(self) -> None:
        self.painter.restyle()

    @Slot(QModelIndex, QModelIndex)
    def _moved(self, current: QModelIndex, previous: QModelIndex) -> None:
        if not self._arranging and current.isValid():
            self._chosen = True
            self.current_changed.emit(self.current_session())

    # --- events -----------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current_row()
        key = event.key()
        inwards, outwards = Qt.Key.Key_Right, Qt.Key.Key_Left
        if self.isRightToLeft():
            inwards, outwards = outwards, inwards
        if row is not None and row.entry.parts and key == inwards and not row.opened:
            self.folded.emit(row.entry.summary.path, True)
        elif row is not None and key == outwards and (row.opened or row.depth):
            self._fold(row)
        else:
            super().keyPressEvent(event)

    def _fold(self, row: SessionRow) -> None:
        """Outwards: hide the sub-agents below a parent; on one of them, go to the parent."""
        if row.opened:
            self.folded.emit(row.entry.summary.path, False)
            return
        number = self.currentIndex().row()
        while (above := self.rows.row(number)) is not None and not (isinstance(above, SessionRow) and not above.depth):
            number -= 1
        self.setCurrentIndex(self.rows.index(number))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        row = self.rows.row(index.row())
        at = event.position().toPoint()
        on_arrow = self.painter.toggles(row, self.visualRect(index), at, self.layoutDirection())
        if on_arrow and event.button() == Qt.MouseButton.LeftButton:
            self.folded.emit(row.entry.summary.path, not row.opened)
        else:
            super().mousePressEvent(event)
