"""The list widget of sessions and its actions; any number of rows is laid out a screenful or two at a time."""

import re
from collections.abc import Sequence
from datetime import date
from functools import partial

from PySide6.QtCore import QObject, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QTextLayout
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import SessionSummary, highlight_ranges, marked, number, tr, tr_count
from gui.commands.commands import LINK, REMEMBER, menu_entry
from gui.commands.keymap import command
from gui.core.capabilities import Gate
from gui.core.location import Location
from gui.search.result_list import copy_text
from gui.sessions.rows import HeadingRow, Row, SessionRow
from gui.sessions.session_catalog import Entry
from gui.style.stylesheet import font_at, scaled
from gui.style.theme import Tokens, mark_pen, tokens
from gui.text.formatting import exact, sessions_text, short_date, short_day, size_text
from gui.text.plain_text import utf16_ranges
from gui.text.right_to_left import draw_pixmap, mirror, mirrored_x, range_edges, upright, write
from gui.text.session_texts import UNTITLED, found_by, message_count, unknown_count, work_time
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import AT_LEFT, AT_RIGHT, elide
from gui.widgets.row_list import GUTTER, RowList
from gui.widgets.rows import Index, RowModel, RowRole, paint_row_background

PAD = 6
GAP = 10
INDENT = 16
"""Pixels by which a sub-agent's session is indented below its parent."""
CHEVRON = 12
CHEVRON_ROOM = 4
DOT = 8
"""Width in pixels of the dot that marks a running session."""
HEADING_TOP = 6
"""Space above a heading beyond that below it, so that it sits nearer to its own rows."""
MARK_RADIUS = 2.5
MARK_PAD = 1.5
UNIT_CHARACTERS = 48
"""Minimum number of characters of a row that shows the unit of its message count next to agent and project."""


class SessionDelegate(QStyledItemDelegate):
    """Paints the rows of the session list. `words`: the typed text, highlighted in titles."""

    def __init__(self, rows: RowModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows = rows
        self.words: Sequence[str] = ()
        self.running: frozenset[str] = frozenset()
        self.restyle()

    def restyle(self) -> None:
        """Recompute sizes after a change of the font."""
        self._title = font_at(13, QFont.Weight.DemiBold)
        self._meta = font_at(12)
        self._chevron = scaled(CHEVRON)
        self._indent = scaled(INDENT)
        self._text_left = max(GUTTER, self._chevron + CHEVRON_ROOM)
        self._title_metrics = QFontMetrics(self._title)
        self._meta_metrics = QFontMetrics(self._meta)
        self._title_line = round(self._title_metrics.height() * 1.35)
        self._meta_line = round(self._meta_metrics.height() * 1.35)
        self._heading_size = QSize(0, self._title_metrics.height() + 18)
        self._session_size = QSize(0, PAD + self._title_line + self._meta_line + PAD)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._heading_size if self._rows.is_header(index.row()) else self._session_size

    def toggles(self, row: object, rect: QRect, at: QPoint, direction: Qt.LayoutDirection) -> bool:
        """Return whether a click at a point of a row (its rectangle is `rect`) shows or hides the sub-agents."""
        along = mirrored_x(at.x() - rect.left(), rect.width(), direction)
        return isinstance(row, SessionRow) and bool(row.entry.children) and along < self._text_left + 2

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(RowRole)
        colours = tokens(option.palette)
        rect = option.rect.adjusted(GUTTER, 0, -GUTTER, 0)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        mirror(painter, option.rect, option.direction)
        if isinstance(row, HeadingRow):
            self._paint_heading(painter, rect.adjusted(0, HEADING_TOP, 0, 0), row, colours)
        else:
            paint_row_background(painter, option, colours)
            self._paint_session(painter, option.rect.adjusted(self._text_left, 0, -GUTTER, 0), row, colours)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, row: HeadingRow, colours: Tokens) -> None:
        painter.setPen(colours.muted)
        painter.setFont(self._meta)
        sessions = number(row.sessions)
        write(painter, rect, AT_RIGHT, sessions)
        available = rect.width() - self._meta_metrics.horizontalAdvance(sessions) - GAP
        painter.setFont(self._title)
        write(painter, rect, AT_LEFT, elide(self._title_metrics, row.title, Qt.TextElideMode.ElideRight, available))

    def _paint_session(self, painter: QPainter, rect: QRect, row: SessionRow, colours: Tokens) -> None:
        top = QRect(rect.left(), rect.top() + PAD, rect.width(), self._title_line)
        below = QRect(rect.left(), top.bottom() + 1, rect.width(), self._meta_line)
        if row.depth:
            top.adjust(self._indent, 0, 0, 0)
            below.adjust(self._indent, 0, 0, 0)
        if row.entry.children:
            name = "chevron-down" if row.opened else "chevron-right"
            arrow = icon_pixmap(name, colours.muted, self._chevron, painter.device().devicePixelRatioF())
            draw_pixmap(painter, rect.left() - self._chevron - 1, top.center().y() - self._chevron // 2 + 1, arrow)
        if row.entry.summary.path in self.running:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.fine)
            painter.drawEllipse(QRectF(top.left(), top.center().y() - DOT / 2 + 1, DOT, DOT))
            top.adjust(DOT + CHEVRON_ROOM, 0, 0, 0)
        note = _note(row)
        painter.setFont(self._meta)
        painter.setPen(colours.accent if row.hits or row.similarity is not None else colours.muted)
        write(painter, top, AT_RIGHT, note)
        note_width = self._meta_metrics.horizontalAdvance(note) + GAP if note else 0
        self._paint_title(painter, top.adjusted(0, 0, -note_width, 0), row, colours)
        self._paint_meta(painter, below, row, colours)

    def _paint_title(self, painter: QPainter, rect: QRect, row: SessionRow, colours: Tokens) -> None:
        text = elide(self._title_metrics, row.entry.title[: rect.width()], Qt.TextElideMode.ElideRight, rect.width())
        colour = colours.text if row.entry.summary.title else colours.muted
        marks = title_marks(row.entry, text, self.words)
        painter.setFont(self._title)
        painter.setPen(colour)
        if not marks:
            write(painter, rect, AT_LEFT, text)
            return
        layout = QTextLayout(text, self._title)
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        boxes = []
        for start, end in utf16_ranges(text, marks):
            left, right = range_edges(layout, line, start, end)
            boxes.append(QRectF(left - MARK_PAD, 0, right - left + 2 * MARK_PAD, line.height()))
        width = line.naturalTextWidth()
        with upright(painter, QRectF(rect.left(), rect.top(), width, rect.height())) as area:
            corner = area.topLeft() + QPointF(0, (rect.height() - line.height()) / 2)
            painter.setPen(mark_pen(colours))
            painter.setBrush(colours.mark)
            for box in boxes:
                painter.drawRoundedRect(box.translated(corner), MARK_RADIUS, MARK_RADIUS)
            painter.setPen(colour)
            layout.draw(painter, corner)

    def _paint_meta(self, painter: QPainter, rect: QRect, row: SessionRow, colours: Tokens) -> None:
        metrics = self._meta_metrics
        entry, summary = row.entry, row.entry.summary
        words = " · ".join(filter(None, (entry.agent, entry.project, summary.machine, _children_note(row))))
        took = work_time(summary.active_seconds)
        # Either all rows show the unit or none does; the tooltip always shows it, and the entries of unknown type.
        is_wide = rect.width() >= UNIT_CHARACTERS * metrics.averageCharWidth()
        messages = message_count(summary.messages) if is_wide or not summary.messages else number(summary.messages)
        details = " · ".join(part for part in (messages, took) if part)
        painter.setFont(self._meta)
        painter.setPen(colours.muted)
        write(painter, rect, AT_RIGHT, details)
        available = rect.width() - metrics.horizontalAdvance(details) - GAP
        write(painter, rect, AT_LEFT, elide(metrics, words, Qt.TextElideMode.ElideRight, available))


def _note(row: SessionRow) -> str:
    """Return the text at the right of the title: why the row is listed, or its day."""
    if row.similarity is not None:
        return number(row.similarity, ".2f")
    return " · ".join(part for part in (found_by(row.hits, similar=row.similar), _day(row)) if part)


def _day(row: SessionRow) -> str:
    """Return the row's day if no heading shows it, with a year other than this one; empty otherwise."""
    day = row.entry.last_day
    if not row.dated or day is None:
        return ""
    return short_day(day) if row.dated == "day" or day.year == date.today().year else short_date(day)


def _children_note(row: SessionRow) -> str:
    if row.depth:
        return tr("sub-agent")
    children = len(row.entry.children)
    return tr_count("{count:,} sub-agent", "{count:,} sub-agents", children) if children else ""


def title_marks(entry: Entry, text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    """Return the ranges of the typed words in the text of a title.

    Parts of words count only where they found the session: a hit in its messages has others, without function words.
    """
    if not words or not entry.summary.title:
        return []
    if not all(word in entry.haystack for word in words):
        return highlight_ranges(text, " ".join(words))
    pattern = "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]


class SessionModel(RowModel):
    """The Qt model of the session rows: their texts and tooltips."""

    def __init__(self) -> None:
        super().__init__(HeadingRow)
        self.running: frozenset[str] = frozenset()

    def spoken(self, row: Row) -> str:
        return f"{self._state(row)}. {_spoken(row)}" if self._state(row) else _spoken(row)

    def tip(self, row: Row) -> str:
        return "\n".join(filter(None, (_tip(row), self._state(row)))) if isinstance(row, SessionRow) else ""

    def _state(self, row: Row) -> str:
        return tr("Running") if isinstance(row, SessionRow) and row.entry.summary.path in self.running else ""


def _spoken(row: Row) -> str:
    if isinstance(row, HeadingRow):
        return f"{row.title}, {sessions_text(row.sessions)}"
    entry, summary = row.entry, row.entry.summary
    children = len(entry.children)
    texts = (
        tr("Sub-agent") if row.depth else "",
        entry.title,
        _day(row),
        entry.agent,
        entry.project,
        summary.machine,
        message_count(summary.messages),
        work_time(summary.active_seconds),
        unknown_count(summary.unknown),
        found_by(row.hits, similar=row.similar),
        _children_text(children, shown=row.opened) if children else "",
        "" if row.similarity is None else tr("similarity {score:.2f}", score=row.similarity),
    )
    return ". ".join(part for part in texts if part)


def _children_text(children: int, *, shown: bool) -> str:
    if shown:
        return tr_count("{count:,} sub-agent shown", "{count:,} sub-agents shown", children)
    return tr_count("{count:,} sub-agent hidden", "{count:,} sub-agents hidden", children)


def _tip(row: SessionRow) -> str:
    summary = row.entry.summary
    times = [exact(moment) for moment in (summary.started, summary.ended) if moment]
    texts = (
        row.entry.title,
        " · ".join(filter(None, (row.entry.agent, message_count(summary.messages), size_text(summary.bytes)))),
        unknown_count(summary.unknown),
        " \N{EN DASH} ".join(dict.fromkeys(times)),
        tr("{folder} (branch {branch})", folder=summary.project, branch=summary.branch).lstrip()
        if summary.branch
        else summary.project,
        summary.path,
    )
    return "\n".join(part for part in texts if part.strip())


class SessionList(RowList):
    """A list of sessions under headings; only sessions can be current."""

    folded = Signal(str, bool)
    """Path of a parent, and whether its sub-agents' sessions are to be shown."""

    def __init__(self) -> None:
        super().__init__(SessionModel(), tr("Sessions"))
        self.painter = SessionDelegate(self.rows, self)
        self.setItemDelegate(self.painter)
        self._lay_out_in_batches()
        self.doubleClicked.connect(self._activate)

    def show_rows(self, rows: Sequence[Row], words: Sequence[str], *, keep: bool) -> None:
        """Replace the rows, with `words` highlighted in titles.

        `keep`: preserve the position; otherwise show the top, with the first session current, unless there are no
        words and the session that the user has chosen is listed.
        """
        if keep and self.rows.shows(rows):
            return
        self.painter.words = words
        if keep and self.rows.update_rows(rows):  # else the list would be empty until all rows are laid out
            self.viewport().update()
            self.current_changed.emit(self.current_session())
            return
        position = self._remember() if keep and self._moved_away else None
        chosen = self.current_session() if self._held and not words else None
        deepest = self._deepest() if position else 0
        with self._rearranging():
            self._set_rows(rows, deepest, keep=keep)
            if position is not None:
                self._return_to(position)
            else:
                listed = self.rows.position(("session", chosen.path)) if chosen else -1
                self._held = listed >= 0
                self._set_current(listed if self._held else self.rows.first_position())
                self.scrollToTop()
        if position is None and self._held:
            self.scrollTo(self.currentIndex())
        self.current_changed.emit(self.current_session())

    def show_running(self, paths: frozenset[str]) -> None:
        """Mark the sessions with these paths by a dot, since they are being written."""
        self.painter.running = paths
        if isinstance(self.rows, SessionModel):
            self.rows.running = paths
        self.viewport().update()

    def current_session(self) -> SessionSummary | None:
        row = self.current_row()
        return row.entry.summary if row else None

    current = property(current_session)

    def current_row(self) -> SessionRow | None:
        row = self.rows.row(self.currentIndex().row())
        return row if isinstance(row, SessionRow) else None

    def listed_sessions(self) -> list[SessionSummary]:
        """Return all listed sessions, with those of their sub-agents."""
        entries = (row.entry for row in self.rows.all if isinstance(row, SessionRow) and not row.depth)
        return [entry.summary for top in entries for entry in (top, *top.children)]

    def go_to(self, path: str) -> bool:
        """Select the session `path`; returns False if it isn't listed."""
        number = self.rows.position(("session", path))
        if number >= 0:
            self._set_current(number)
        return number >= 0

    def _restyle(self) -> None:
        self.painter.restyle()

    # --- events -----------------------------------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.current_row()
        key = event.key()
        inwards, outwards = Qt.Key.Key_Right, Qt.Key.Key_Left
        if self.isRightToLeft():
            inwards, outwards = outwards, inwards
        if row is not None and row.entry.children and key == inwards and not row.opened:
            self.folded.emit(row.entry.summary.path, True)
        elif row is not None and key == outwards and (row.opened or row.depth):
            self._fold(row)
        else:
            super().keyPressEvent(event)

    def _fold(self, row: SessionRow) -> None:
        """Hide the sub-agents below a session; on a sub-agent's row, go to its parent."""
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


FIGURES = command("sessions.statistics", marked("Figures by project…"), "sessions", "Ctrl+Shift+G")
COPY_PATH = command("sessions.copy-path", marked("Copy path"), "sessions", QKeySequence.StandardKey.Copy)


def _fold_text(children: int, *, opened: bool) -> str:
    if opened:
        return tr_count("Hide {count:,} sub-agent", "Hide {count:,} sub-agents", children)
    return tr_count("Show {count:,} sub-agent", "Show {count:,} sub-agents", children)


class SessionActions(QObject):
    """The actions on the current session, for the context menu and as keyboard shortcuts.

    Copying is done here; the other actions are signals.
    """

    open_requested = Signal(object)
    """SessionSummary to go to."""
    folded = Signal(str, bool)
    """Path of a session whose sub-agents are to be shown, or hidden."""
    similar_requested = Signal(str)
    """Path of the session to find similar ones for."""
    remember_requested = Signal(str, str)
    """A note is to be made of the session with this path and title."""
    link_requested = Signal(object)
    """Copy a link to this Location."""

    def __init__(self, sessions: SessionList, parent: QObject) -> None:
        super().__init__(parent)
        self._sessions = sessions
        sessions.folded.connect(self.folded)
        sessions.add_action(COPY_PATH, lambda summary: copy_text(summary.path))
        sessions.add_action(LINK, self._link)
        sessions.add_action(REMEMBER, self._remember)
        self.figures = sessions.add_action(FIGURES)
        sessions.menu_requested.connect(self._show_menu)

    @Slot(QPoint)
    def _show_menu(self, at: QPoint) -> None:
        row = self._sessions.current_row()
        if row is None:
            return
        summary, children = row.entry.summary, len(row.entry.children)
        go = menu_entry(tr("Open"), partial(self.open_requested.emit, summary))
        go.setShortcut(QKeySequence("Return"))
        fold = menu_entry(
            _fold_text(children, opened=row.opened), partial(self.folded.emit, summary.path, not row.opened)
        )
        resume = menu_entry(tr("Copy resume command"), partial(copy_text, summary.resume_command))
        similar = menu_entry(tr("Similar sessions"), partial(self.similar_requested.emit, summary.path))
        Gate(similar, "similar")
        first = (go, *((fold,) if children else ()), REMEMBER)
        copies = (*((resume,) if summary.resume_command else ()), COPY_PATH, LINK)
        self._sessions.open_menu(at, *first, None, *copies, None, similar)

    def _link(self, summary: SessionSummary) -> None:
        self.link_requested.emit(Location(summary.path))

    def _remember(self, summary: SessionSummary) -> None:
        self.remember_requested.emit(summary.path, summary.title or tr(UNTITLED))
