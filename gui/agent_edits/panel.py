"""The panel of the edits view: a search box, and the changed files by project."""

from collections.abc import Sequence, Set
from typing import NamedTuple

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QFrame, QStyleOptionViewItem, QWidget

from engine import Feature, FileUse, MemorySearchManager, folder_name, marked, number, tr, tr_count
from gui.commands.commands import FILE_SESSIONS, menu_entry
from gui.commands.keymap import command
from gui.core.capabilities import TITLES, capabilities, why_missing
from gui.core.jobs import Jobs, JobSlot
from gui.core.view_spec import ViewPanel
from gui.search.result_list import copy_text
from gui.sessions.listing_view import CHOOSE
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.text.formatting import ago, exact, files_text
from gui.text.right_to_left import margins
from gui.text.session_texts import UNTITLED, agent_name
from gui.widgets.buttons import guide_action
from gui.widgets.labels import AT_RIGHT, ElidedLabel, line, write_line
from gui.widgets.layouts import FoldingRow, PageStack, column_of
from gui.widgets.placeholder_page import NOTHING_FOUND, Action, NothingToRead, StatePage
from gui.widgets.query_box import QueryBox
from gui.widgets.row_list import GUTTER, RowList
from gui.widgets.rows import Index, RowDelegate, RowModel, RowRole, paint_row_background

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
    edits: dict[tuple[str, str], tuple[FileUse, int]] = {}
    for use in uses:
        newest, count = edits.get((use.project, use.path), (use, 0))
        edits[use.project, use.path] = newest, count + 1
    return [
        EditRow(use, count, f"{use.project}/{use.path}\n{use.title}\n{agent_name(use.agent)}".casefold())
        for use, count in edits.values()
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
            return f"{row.title}, {files_text(row.files)}"
        return ", ".join(filter(None, (row.use.path, row.meta, row.age)))

    def tip(self, row: ProjectRow | EditRow) -> str:
        if isinstance(row, ProjectRow):
            return row.project
        when = "" if row.use.time is None else exact(row.use.time)
        return "\n".join(filter(None, (row.use.path, row.use.project, row.use.title, when)))


class _Delegate(RowDelegate):
    """Paints a row on two lines: the file, and its last change."""

    def restyle(self) -> None:
        self._strong, self._plain, self._meta = font_at(13, QFont.Weight.DemiBold), font_at(13), font_at(12)
        self._heading = QFontMetrics(self._strong).height() + 18
        self._first, self._second = (round(QFontMetrics(font).height() * 1.35) for font in (self._plain, self._meta))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        heading = isinstance(index.data(RowRole), ProjectRow)
        return QSize(0, self._heading if heading else 2 * _PAD + self._first + self._second)

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        row, rect = index.data(RowRole), option.rect.adjusted(GUTTER, 0, -GUTTER, 0)
        if isinstance(row, ProjectRow):
            self._paint_heading(painter, rect.adjusted(0, _HEADING_TOP, 0, 0), row, colours)
        else:
            paint_row_background(painter, option, colours)
            self._paint_file(painter, rect.adjusted(0, _PAD, 0, -_PAD), row, colours)

    def _paint_heading(self, painter: QPainter, rect: QRect, row: ProjectRow, colours: Tokens) -> None:
        files = write_line(painter, rect, number(row.files), (self._meta, colours.muted), at=AT_RIGHT)
        write_line(painter, rect.adjusted(0, 0, -files - _GAP, 0), row.title, (self._strong, colours.muted))

    def _paint_file(self, painter: QPainter, rect: QRect, row: EditRow, colours: Tokens) -> None:
        above, below = QRect(rect), QRect(rect)
        above.setHeight(self._first)
        below.setTop(rect.top() + self._first)
        age = write_line(painter, above, row.age, (self._meta, colours.muted), at=AT_RIGHT)
        write_line(painter, below, row.meta, (self._meta, colours.muted))
        above.setRight(above.right() - age - _GAP)
        # The name at the end says more than the folders before it.
        write_line(painter, above, row.use.path, (self._plain, colours.text), cut=Qt.TextElideMode.ElideMiddle)


class EditList(RowList):
    """A list of files that agents changed.

    Signals:
        sessions_requested: search for the sessions that used the file with this path.
    """

    sessions_requested = Signal(str)

    def __init__(self) -> None:
        super().__init__(EditModel(), tr("Recent edits"))
        self.setItemDelegate(_Delegate(self))
        self._lay_out_in_batches()
        self.doubleClicked.connect(self._activate)
        self.add_action(_COPY, lambda use: copy_text(use.path))
        self.add_action(FILE_SESSIONS, lambda use: self.sessions_requested.emit(use.path))
        self.menu_requested.connect(self._show_menu)

    @property
    def current(self) -> FileUse | None:
        row = self.rows.row(self.currentIndex().row())
        return row.use if isinstance(row, EditRow) else None

    def show_rows(self, rows: Sequence[ProjectRow | EditRow], *, keep: bool) -> None:
        """Replace the rows; `keep`: preserve the position if the user has moved in the list, else show the top."""
        if self.rows.shows(rows):
            return
        position, before = self._remember() if keep and self._moved_away else None, self.current
        with self._rearranging():
            self._set_rows(rows, self._deepest() if position else 0, keep=keep)
            self._held = position is not None and self._held
            if position is not None and rows:
                self._return_to(position)
            elif rows:
                self._set_current(self.rows.first_position())
                self.scrollToTop()
        if self.current != before:
            self.current_changed.emit(self.current)

    def _show_menu(self, at: QPoint) -> None:
        if self.current is None:
            return
        go = menu_entry(tr("Go to the message"), self.open_current)
        go.setShortcut("Return")
        self.open_menu(at, go, FILE_SESSIONS, _COPY)


CHOOSE_EDIT = NothingToRead(
    marked("Choose a file with Up and Down, and press Enter to read the message that changed the file.")
)
NONE_CHANGED = NothingToRead(marked("The message that changed a file opens here."))
_MAX_EDITS = 10_000
"""Tool calls that are listed, the newest."""
_FOLLOW_MS = 120
"""Pause before the current row is opened, so that walking along the list opens no session on the way."""
_BOX_CHARACTERS = 34


class EditsPanel(QObject, ViewPanel):
    """Lists files that agents changed.

    Signals:
        edit_selected: the `FileUse` to show, or None.
        edit_activated: go to this `FileUse`.
        folder_requested: choose the folders of agents.
    """

    edit_selected = Signal(object)
    edit_activated = Signal(object)
    folder_requested = Signal()

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._failure = ""
        """Why the edits could not be read the first time."""
        self._files: list[EditRow] | None = None
        self._all = True
        self._pause = QTimer(self, singleShot=True, interval=_FOLLOW_MS)
        self._pause.timeout.connect(self._emit_selected)
        self.box = QueryBox(tr("Search by file, project or agent"), tr("Find a changed file"))
        nothing = QWidget()
        nothing.hide()  # otherwise the layout adds spacing for it, and the box is narrower than in other views
        self.header = FoldingRow(self.box, nothing, _BOX_CHARACTERS)
        self.body = QWidget(parent)
        self._stack = PageStack(self.body)
        self._page = StatePage(self._stack)
        self.list = EditList()
        self._stack.addWidget(self._page)
        self._stack.addWidget(self.list)
        self._head = QWidget(self.body)
        strip = QFrame(self._head)
        strip.setProperty("role", "side")
        self._counts = ElidedLabel(parent=strip)
        self._counts.setProperty("role", "meta")
        column_of(self._counts, margins=margins(16, 9, 12, 10), parent=strip)
        column_of(strip, line(), spacing=0, parent=self._head)
        column_of(self._head, (self._stack, 1), spacing=0, parent=self.body)
        self.box.text_changed.connect(self._filter)
        self.box.edit.list_requested.connect(self.focus_list)
        self.box.edit.accepted.connect(self._accept)
        self.list.left.connect(self.box.focus)
        self.list.typed.connect(self.box.type_key)
        self.list.current_changed.connect(self._follow)
        self.list.opened.connect(self._activate)
        capabilities().changed.connect(self._follow_features)
        self.set_manager(None)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return self._job.busy or self._pause.isActive()

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Read the changes of this memory; when it is one of the same folder, nothing moves."""
        self._manager = manager
        self._job.cancel()
        if reopening:
            self.refresh()
            return
        self._files, self._failure = None, ""
        self.box.setEnabled(manager is not None and not why_missing("insight"))
        self._show(keep=False)
        self.refresh()
        if why_missing("insight"):
            self.edit_selected.emit(None)

    @Slot(object)
    def _follow_features(self, features: Set[Feature]) -> None:
        if "insight" in features:
            self.set_manager(self._manager)

    @Slot()
    def refresh(self) -> None:
        """Read the changes again after a change of the index, without moving the list."""
        manager = self._manager
        insight = None if manager is None or why_missing("insight") else manager.insight
        if insight is not None:
            self._job.read(lambda token: _read(insight.recent_edits(_MAX_EDITS, token)), self._set_edits, self._fail)

    @Slot()
    def focus_list(self) -> None:
        if self._stack.currentWidget() is self.list:
            self.list.take_focus()
        elif not self._page.take_focus():
            self.box.focus()

    def search(self, text: str) -> None:
        self.box.edit.setText(text)

    @property
    def nothing_to_read(self) -> NothingToRead:
        """The message to show instead of a session: why no change is selected."""
        if why_missing("insight"):
            return NothingToRead(why_missing("insight"))
        if self._files is None or self._stack.currentWidget() is self.list:
            return CHOOSE_EDIT
        return NOTHING_FOUND if self._files else NONE_CHANGED

    # --- reading ----------------------------------------------------------------------------------------------------

    def _set_edits(self, found: tuple[list[EditRow], bool]) -> None:
        first = self._files is None
        self._files, self._all = found
        self._failure = ""
        self._show(keep=not first)
        if not self._files:
            self.edit_selected.emit(None)

    def _fail(self, sentence: str) -> None:
        """Show why the changes can't be read, unless an earlier list is shown."""
        self._failure = sentence
        if self._files is None:
            self._show(keep=False)

    # --- showing ----------------------------------------------------------------------------------------------------

    @Slot()
    def _filter(self) -> None:
        self._show(keep=False)

    @Slot()
    def _accept(self) -> None:
        """Handle Enter in the box: open the current file of the list."""
        if self._stack.currentWidget() is self.list:
            self.list.open_current()

    def _show(self, *, keep: bool) -> None:
        title = TITLES["insight"]
        if why_missing("insight"):
            self._show_message(tr(title), why_missing("insight"))
        elif self._files is None and self._failure:
            self._show_message(
                tr("Can't read the list of changed files"), self._failure, ((tr("Try again"), self._retry),)
            )
        elif self._files is None:
            self._show_message("", tr("Reading the list of changed files…") if self._manager is not None else "")
        elif not self._files:
            self._show_message(
                tr("No file changed by an agent yet"),
                tr("Files that agents create, edit or delete in your sessions are listed here."),
                ((tr(CHOOSE), self.folder_requested.emit), guide_action("edits")),
            )
        elif rows := rows_by_project(self._files, self.box.query.casefold().split()):
            self._show_rows(rows, keep=keep)
        else:
            self._show_message(tr("No matching files"), tr("Search for a part of the path, the project or the agent."))

    def _show_rows(self, rows: Sequence[ProjectRow | EditRow], *, keep: bool) -> None:
        projects = sum(isinstance(row, ProjectRow) for row in rows)
        files = files_text(len(rows) - projects)
        counts = tr_count("{files} in {count:,} project", "{files} in {count:,} projects", projects, files=files)
        if not self._all:
            counts = tr("{counts}, from the last {most:,} changes", counts=counts, most=_MAX_EDITS)
        self._counts.setText(counts)
        self._head.show()
        self.list.setAccessibleDescription(counts)
        self._stack.setCurrentWidget(self.list)
        self.list.show_rows(rows, keep=keep)

    def _show_message(self, title: str, sentence: str, actions: Sequence[Action] = ()) -> None:
        self._head.hide()
        self.list.show_rows((), keep=False)
        self._page.show_state(title, sentence, actions=actions)
        self._stack.setCurrentWidget(self._page)

    def _retry(self) -> None:
        self._failure = ""
        self._show(keep=False)
        self.refresh()

    # --- one edit ---------------------------------------------------------------------------------------------------

    @Slot(object)
    def _follow(self, use: FileUse | None) -> None:
        self._pause.start()

    @Slot()
    def _emit_selected(self) -> None:
        self.edit_selected.emit(self.list.current)

    @Slot(object)
    def _activate(self, use: FileUse) -> None:
        self._pause.stop()
        self.edit_activated.emit(use)


def _read(uses: Sequence[FileUse]) -> tuple[list[EditRow], bool]:
    """Return the rows of changed files, and whether the list is complete."""
    return edited_files(uses), len(uses) < _MAX_EDITS
