"""The list of files that agents changed, grouped by project, last changed first."""

from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QMenu, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import FileUse, marked, tr, tr_count
from gui.commands.commands import FILE_SESSIONS, key_action, show_keys_of
from gui.commands.keymap import command
from gui.search.result_list import copy_text
from gui.sessions.wording import UNTITLED, agent_name, file_count, folder_name
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, tokens
from gui.widgets.formatting import ago, exact, grouped
from gui.widgets.labels import elide
from gui.widgets.right_to_left import mirror, write
from gui.widgets.row_list import AT_LEFT, AT_RIGHT, GUTTER, Index, RowList, RowModel, RowRole, paint_ground

_COPY = command("edits.copy-path", marked("Copy path"), "edits", QKeySequence.StandardKey.Copy)
_PAD = 6
_GAP = 10
_HEADING_TOP = 6

_KINDS = {"created": marked("created"), "deleted": marked("deleted"), "edited": marked("edited")}


class ProjectRow(NamedTuple):
    """The heading row above the files of one project."""

    project: str
    files: int

    @property
    def key(self) -> tuple[str, ...]:
        return ("project", self.project)

    @property
    def title(self) -> str:
        return folder_name(self.project) if self.project else tr("No project")


class EditRow(NamedTuple):
    """A row with one file and its last change."""

    use: FileUse
    changes: int
    """Number of tool calls that changed the file."""
    haystack: str
    """Lower-case text that is searched for the words in the box."""

    @property
    def key(self) -> tuple[str, ...]:
        return ("file", self.use.project, self.use.path)

    @property
    def meta(self) -> str:
        """The second line: kind or number of changes, agent, and title of the session."""
        done = tr(_KINDS.get(self.use.kind, self.use.kind))
        if self.changes > 1:
            done = tr_count("{count:,} change", "{count:,} changes", self.changes)
        return " · ".join((done, agent_name(self.use.agent), self.use.title or tr(UNTITLED)))

    @property
    def age(self) -> str:
        return "" if self.use.time is None else ago(self.use.time)


def edited_files(uses: Sequence[FileUse]) -> list[EditRow]:
    """Return one row for each file, last changed first. `uses`: tool calls, newest first. Any thread."""
    found: dict[tuple[str, str], tuple[FileUse, int]] = {}
    for use in uses:
        newest, count = found.get((use.project, use.path), (use, 0))
        found[use.project, use.path] = newest, count + 1
    return [
        EditRow(use, count, f"{use.project}/{use.path}\n{use.title}\n{agent_name(use.agent)}".casefold())
        for use, count in found.values()
    ]


def rows_by_project(files: Sequence[EditRow], words: Sequence[str]) -> list[ProjectRow | EditRow]:
    """Return the rows of the files that contain all `words`, below headings for their projects."""
    projects: dict[str, list[EditRow]] = {}
    for row in files:
        if all(word in row.haystack for word in words):
            projects.setdefault(row.use.project, []).append(row)
    rows: list[ProjectRow | EditRow] = []
    for project, own in projects.items():
        rows += [ProjectRow(project, len(own)), *own]
    return rows


class EditModel(RowModel):
    """The Qt model of changed files below headings."""

    def __init__(self) -> None:
        super().__init__(ProjectRow)

    def spoken(self, row: ProjectRow | EditRow) -> str:
        if isinstance(row, ProjectRow):
            return f"{row.title}, {file_count(row.files)}"
        return ", ".join(filter(None, (row.use.path, row.meta, row.age)))

    def tip(self, row: ProjectRow | EditRow) -> str:
        if isinstance(row, ProjectRow):
            return row.project
        when = "" if row.use.time is None else exact(row.use.time)
        return "\n".join(filter(None, (row.use.path, row.use.project, row.use.title, when)))


class _Delegate(QStyledItemDelegate):
    """Paints a row on two lines: the file, and its last change."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.restyle()

    def restyle(self) -> None:
        """Recompute sizes after a change of the font."""
        self._strong, self._plain, self._meta = font_at(13, QFont.Weight.DemiBold), font_at(13), font_at(12)
        self._strong_metrics, self._plain_metrics = QFontMetrics(self._strong), QFontMetrics(self._plain)
        self._meta_metrics = QFontMetrics(self._meta)
        self._first = round(self._plain_metrics.height() * 1.35)
        self._second = round(self._meta_metrics.height() * 1.35)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        heading = isinstance(index.data(RowRole), ProjectRow)
        return QSize(0, self._strong_metrics.height() + 18 if heading else 2 * _PAD + self._first + self._second)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row, colours = index.data(RowRole), tokens(option.palette)
        rect = option.rect.adjusted(GUTTER, 0, -GUTTER, 0)
        painter.save()
        mirror(painter, option.rect, option.direction)
        if isinstance(row, ProjectRow):
            self._paint_heading(painter, rect.adjusted(0, _HEADING_TOP, 0, 0), row, colours)
        else:
            paint_ground(painter, option, colours)
            self._paint_file(painter, rect.adjusted(0, _PAD, 0, -_PAD), row, colours)
        painter.restore()

    def _paint_heading(self, painter: QPainter, rect: QRect, row: ProjectRow, colours: Tokens) -> None:
        files = grouped(row.files)
        painter.setPen(colours.muted)
        painter.setFont(self._meta)
        write(painter, rect, AT_RIGHT, files)
        available = rect.width() - self._meta_metrics.horizontalAdvance(files) - _GAP
        painter.setFont(self._strong)
        write(painter, rect, AT_LEFT, elide(self._strong_metrics, row.title, Qt.TextElideMode.ElideRight, available))

    def _paint_file(self, painter: QPainter, rect: QRect, row: EditRow, colours: Tokens) -> None:
        above, below = QRect(rect), QRect(rect)
        above.setHeight(self._first)
        below.setTop(rect.top() + self._first)
        painter.setFont(self._meta)
        painter.setPen(colours.muted)
        write(painter, above, AT_RIGHT, row.age)
        meta = elide(self._meta_metrics, row.meta, Qt.TextElideMode.ElideRight, below.width())
        write(painter, below, AT_LEFT, meta)
        above.setRight(above.right() - self._meta_metrics.horizontalAdvance(row.age) - _GAP)
        painter.setFont(self._plain)
        painter.setPen(colours.text)
        # The name at the end says more than the folders before it.
        path = elide(self._plain_metrics, row.use.path, Qt.TextElideMode.ElideMiddle, above.width())
        write(painter, above, AT_LEFT, path)


class EditList(RowList):
    """A list of files that agents changed.

    Signals: chosen: the `FileUse` that is current now, or None. opened: go to this `FileUse`. sessions_requested:
    search for the sessions that used the file with this path.
    """

    chosen = Signal(object)
    opened = Signal(object)
    sessions_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(EditModel(), tr("Recent edits"), parent)
        self._paint = _Delegate(self)
        self.setItemDelegate(self._paint)
        self.doubleClicked.connect(self._activate)
        self._copy, self._sessions = key_action(self, _COPY), key_action(self, FILE_SESSIONS)
        self._copy.triggered.connect(self._copy_path)
        self._sessions.triggered.connect(self._request_sessions)

    @property
    def current(self) -> FileUse | None:
        row = self.rows.row(self.currentIndex().row())
        return row.use if isinstance(row, EditRow) else None

    def show_rows(self, rows: Sequence[ProjectRow | EditRow], *, keep: bool) -> None:
        """Replace the rows; `keep`: preserve the user's position, else show the top."""
        if self.rows.shows(rows):
            return
        place, before = self.place if keep else None, self.current
        self._arranging = True
        self._set_rows(rows)
        if place is not None and rows:
            self._return_to(place)
        elif rows:
            self._set_current(self.rows.first_place())
            self.scrollToTop()
        self._arranging = False
        if self.current != before:
            self.chosen.emit(self.current)

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        if not self._arranging:
            self.chosen.emit(self.current)

    def _activate(self, index: Index) -> None:
        if self.current is not None:
            self.opened.emit(self.current)

    def _copy_path(self) -> None:
        if self.current is not None:
            copy_text(self.current.path)

    def _request_sessions(self) -> None:
        if self.current is not None:
            self.sessions_requested.emit(self.current.path)

    def _show_menu(self, at: QPoint) -> None:
        if self.current is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        go = menu.addAction(tr("Go to the message"))
        go.setShortcut("Return")
        go.triggered.connect(self.open_current)
        for action, known in ((self._sessions, FILE_SESSIONS), (self._copy, _COPY)):
            entry = menu.addAction(known.words)
            show_keys_of(entry, known.name)
            entry.triggered.connect(action.trigger)
        menu.popup(at)

    def _restyle(self) -> None:
        self._paint.restyle()
