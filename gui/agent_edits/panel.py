"""The panel of the edits view: a search box, and the changed files by project."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from engine import FileUse, MemorySearchManager, marked, tr, tr_count
from gui.agent_edits.edit_list import EditList, EditRow, ProjectRow, edited_files, rows_by_project
from gui.core.capabilities import TITLES, MissingFeatures
from gui.core.jobs import Jobs, JobSlot
from gui.core.view_spec import ViewPanel
from gui.sessions.listing_view import CHOOSE, NONE_TO_READ
from gui.sessions.wording import file_count
from gui.widgets.buttons import guide_action
from gui.widgets.labels import ElidedLabel, line
from gui.widgets.layouts import FoldingRow
from gui.widgets.placeholder_page import Action, NothingToRead, StatePage
from gui.widgets.query_box import QueryBox
from gui.widgets.right_to_left import margins

CHOOSE_EDIT = NothingToRead(
    marked("Choose a file with Up and Down, and press Enter to read the message that changed the file.")
)
_NO_MATCHES = NothingToRead(marked("No file matches, so there is no message to read here."))
_MOST = 5000
"""Tool calls that are listed, the newest."""
_FOLLOW_MS = 120
"""Pause before the current row is opened, so that walking along the list opens no session on the way."""
_BOX_LETTERS = 34


class EditsPanel(QObject, ViewPanel):
    """Lists files that agents changed.

    Signals: edit_selected: the `FileUse` to show, or None. edit_activated: go to this `FileUse`. sessions_requested:
    search for the sessions that used the file with this path. folder_requested: choose the folders of agents.
    """

    edit_selected = Signal(object)
    edit_activated = Signal(object)
    sessions_requested = Signal(str)
    folder_requested = Signal()

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._job = JobSlot(self)
        self._manager: MemorySearchManager | None = None
        self._unsupported = ""
        self._failure = ""
        """Why the edits could not be read the first time."""
        self._files: list[EditRow] | None = None
        self._all = True
        self._pause = QTimer(self, singleShot=True, interval=_FOLLOW_MS)
        self._pause.timeout.connect(self._emit_selected)
        self.box = QueryBox(tr("Search by file, project or agent"), tr("Find a changed file"))
        self.header = FoldingRow(self.box, QWidget(), _BOX_LETTERS)
        self.list = EditList()
        self._counts = ElidedLabel()
        self._counts.setProperty("role", "meta")
        self._page = StatePage()
        self._stack = QStackedWidget()
        self._stack.addWidget(self._page)
        self._stack.addWidget(self.list)
        self.body: QWidget = QWidget()
        head = QVBoxLayout()
        head.setContentsMargins(margins(16, 8, 12, 8))
        head.addWidget(self._counts)
        column = QVBoxLayout(self.body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(line())
        column.addWidget(self._stack, 1)
        self.box.text_changed.connect(self._filter)
        self.box.into_list.connect(self.focus_list)
        self.box.accepted.connect(self._accept)
        self.list.left.connect(self.box.focus)
        self.list.typed.connect(self.box.type_key)
        self.list.chosen.connect(self._follow)
        self.list.opened.connect(self._activate)
        self.list.sessions_requested.connect(self.sessions_requested)
        self.set_manager(None)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return self._job.busy or self._pause.isActive()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._manager = manager
        self._files, self._failure = None, ""
        self._job.cancel()
        self.box.setEnabled(manager is not None and not self._unsupported)
        self._show(keep=False)
        self.refresh()
        if self._unsupported:
            self.edit_selected.emit(None)

    def swap_manager(self, manager: MemorySearchManager | None) -> None:
        """Read the changes of another memory of the same folder, without moving anything."""
        self._manager = manager
        self._job.cancel()
        self.refresh()

    def show_unsupported(self, unsupported: MissingFeatures) -> None:
        unsupported_reason = unsupported.get("insight", "")
        if unsupported_reason != self._unsupported:
            self._unsupported = unsupported_reason
            self.set_manager(self._manager)

    @Slot()
    def refresh(self) -> None:
        """Read the changes again after a change of the index, without moving the list."""
        manager = self._manager
        insight = None if manager is None or self._unsupported else manager.insight
        if insight is not None:
            self._job.put(
                self._jobs.read(lambda token: _read(insight.recent_edits(_MOST, token)), self._set_edits, self._fail)
            )

    @Slot()
    def focus_box(self) -> None:
        self.box.focus_all()

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
        """Return the message to show instead of a session: why no change is selected."""
        if self._unsupported:
            return NothingToRead(self._unsupported)
        if self._files is None or self._stack.currentWidget() is self.list:
            return CHOOSE_EDIT
        return _NO_MATCHES if self._files else NONE_TO_READ

    # --- reading ----------------------------------------------------------------------------------------------------

    def _set_edits(self, found: tuple[list[EditRow], bool]) -> None:
        self._job.done()
        first = self._files is None
        self._files, self._all = found
        self._failure = ""
        self._show(keep=not first)
        if not self._files:
            self.edit_selected.emit(None)

    def _fail(self, sentence: str) -> None:
        """Show why the changes can't be read, unless an earlier list is shown."""
        self._job.done()
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
        if self._unsupported:
            self._say(tr(title), self._unsupported)
        elif self._files is None and self._failure:
            self._say(tr("Can't read the list of changed files"), self._failure, ((tr("Try again"), self._retry),))
        elif self._files is None:
            self._say("", tr("Reading the list of changed files…") if self._manager is not None else "")
        elif not self._files:
            self._say(
                tr("No file changed by an agent yet"),
                tr("Files that agents create, edit or delete in your sessions are listed here."),
                ((tr(CHOOSE), self.folder_requested.emit), guide_action("edits")),
            )
        elif rows := rows_by_project(self._files, self.box.query.casefold().split()):
            self._show_rows(rows, keep=keep)
        else:
            self._say(tr("No matching files"), tr("Search for a part of the path, the project or the agent."))

    def _show_rows(self, rows: Sequence[ProjectRow | EditRow], *, keep: bool) -> None:
        projects = sum(isinstance(row, ProjectRow) for row in rows)
        files = file_count(len(rows) - projects)
        counts = tr_count("{files} in {count:,} project", "{files} in {count:,} projects", projects, files=files)
        if not self._all:
            counts = tr("{counts}, from the last {most:,} changes", counts=counts, most=_MOST)
        self._counts.setText(counts)
        self.list.setAccessibleDescription(counts)
        self._stack.setCurrentWidget(self.list)
        self.list.show_rows(rows, keep=keep)

    def _say(self, title: str, sentence: str, actions: Sequence[Action] = ()) -> None:
        self._counts.setText("")
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
    return edited_files(uses), len(uses) < _MOST
