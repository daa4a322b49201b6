"""Opens results and sessions (viewer, editor or file manager), and goes back and forward between visited locations."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QMouseEvent, QWindow

from engine import FileUse, MemorySearchResult, PathState, SessionSummary
from gui.agent_edits.panel import EditsPanel
from gui.conversation.panel import ConversationPanel
from gui.core.location import Location
from gui.core.workspace import Workspace
from gui.diagnostics.panel import DiagnosticsPanel
from gui.index.panel import IndexPanel
from gui.search.query_builder import SearchViewState
from gui.sessions.filter_controller import SessionsViewState
from gui.sessions.panel import SessionsPanel
from gui.shell.frame import Frame
from gui.shell.views import Views


class ResultOpener(QObject):
    """Connects the signals of panels that open results with the viewer and other programs."""

    def __init__(self, workspace: Workspace, frame: Frame, parent: QObject) -> None:
        super().__init__(parent)
        views = frame.views
        self._workspace = workspace
        self._panes = frame.panes
        self._views = views
        self._external = views.viewer.external
        views.search.result_activated.connect(self._go_to)
        views.search.view.start_lists.note_chosen.connect(lambda note: self.open_location(Location(note.path)))
        views.search.actions.editor_requested.connect(self._edit)
        views.search.actions.reveal_requested.connect(self._reveal)
        views.viewer.location_chosen.connect(self.open_location)
        views.made.when(ConversationPanel, lambda reader: reader.links.file_chosen.connect(self.open_location))
        views.made.when(SessionsPanel, lambda sessions: sessions.session_activated.connect(self._read))
        views.made.when(EditsPanel, lambda edits: edits.edit_activated.connect(self._read_edit))
        views.made.when(IndexPanel, lambda index: index.open_requested.connect(self.open_path))
        frame.dock.made.when(DiagnosticsPanel, self._connect_diagnostics)

    def _connect_diagnostics(self, diagnostics: DiagnosticsPanel) -> None:
        diagnostics.reveal_requested.connect(self._reveal_issue)
        diagnostics.open_requested.connect(self._open_path)

    @Slot(object, object)
    def _go_to(self, result: MemorySearchResult, query: str) -> None:
        self._views.switch("search")  # the query may come from the index view
        self._views.show_result(result, query)
        self._enter_reader()

    @Slot(object)
    def _read(self, summary: SessionSummary) -> None:
        self._views.show_session(summary)
        self._enter_reader()

    @Slot(object)
    def _read_edit(self, use: FileUse) -> None:
        self._views.show_edit(use)
        self._enter_reader()

    @Slot(str, object)
    def open_path(self, path: str, line: int | None) -> None:
        self.open_location(Location(path, line))

    @Slot(object)
    def open_location(self, location: Location) -> None:
        """Go to a location that isn't a result."""
        self._views.show_location(location)
        self._enter_reader()

    def _enter_reader(self) -> None:
        self._panes.show_viewer()
        self._views.focus_reader()

    @Slot(object)
    def _edit(self, result: MemorySearchResult) -> None:
        self._external.edit(result.path, result.start_line)

    @Slot(object)
    def _reveal(self, result: MemorySearchResult) -> None:
        self._external.reveal(result.path)

    @Slot(str)
    def _reveal_issue(self, name: str) -> None:
        """Show a file that isn't in the index in the file manager, by its stable name or absolute path."""
        if self._workspace.current is not None:
            self._external.reveal_path(self._workspace.current.folder / name)

    @Slot(object)
    def _open_path(self, state: PathState) -> None:
        """Open a note in the editor; a transcript only in the window, since its file may contain secrets."""
        if state.source == "sessions":
            self._external.reveal_path(Path(state.file))
        else:
            self._external.edit(state.path, 1)


_BUTTONS = {Qt.MouseButton.BackButton: True, Qt.MouseButton.ForwardButton: False}
_MAX_ENTRIES = 100


@dataclass(frozen=True)
class HistoryEntry:
    """A visited location: the query in its view, and the opened result."""

    view: str
    requested: Hashable
    opened: Hashable = None
    """The opened result or session; None if there is none."""
    state: object = field(default=None, compare=False)
    """State that the view needs to restore it."""

    def is_beginning_of(self, other: "HistoryEntry") -> bool:
        """Return whether `other` is the same location with a result opened, so that it replaces this entry."""
        return self.opened is None and (self.view, self.requested) == (other.view, other.requested)


class History:
    """Stores the visited locations in order, and which one is current."""

    def __init__(self) -> None:
        self._entries: list[HistoryEntry] = []
        self._position = -1

    def visit(self, entry: HistoryEntry) -> None:
        """Add a location and drop those after the current one, unless it equals the current one."""
        if self._entries and (
            self._entries[self._position] == entry or self._entries[self._position].is_beginning_of(entry)
        ):
            self._entries[self._position] = entry
            return
        del self._entries[self._position + 1 :]
        self._entries.append(entry)
        del self._entries[:-_MAX_ENTRIES]
        self._position = len(self._entries) - 1

    def directions(self, now: Callable[[], HistoryEntry]) -> tuple[bool, bool]:
        """Return whether there is a previous location, and a later one; `now` returns the current one, if needed."""
        if self._position == 0 or self._position + 1 < len(self._entries):
            entry = now()
            return self.can_go_back(entry), self.can_go_forward(entry)
        return self._position > 0, False

    def can_go_back(self, now: HistoryEntry) -> bool:
        """Return whether there is a previous location; `now`: the current location, visited or not."""
        return self._position > 0 or (self._position == 0 and self._has_left(now))

    def can_go_forward(self, now: HistoryEntry) -> bool:
        return self._position + 1 < len(self._entries) and not self._has_left(now)

    def back(self, now: HistoryEntry) -> HistoryEntry | None:
        """Move to the previous location and return it; None if there is none. `now`: the current location."""
        return self._step(-1, now) if self.can_go_back(now) else None

    def forward(self, now: HistoryEntry) -> HistoryEntry | None:
        """Move to the next location and return it; None if there is none. `now`: the current location."""
        return self._step(1, now) if self.can_go_forward(now) else None

    def _step(self, by: int, now: HistoryEntry) -> HistoryEntry:
        self.visit(now)
        self._position += by
        return self._entries[self._position]

    def _has_left(self, now: HistoryEntry) -> bool:
        last = self._entries[self._position]
        return not (last == now or last.is_beginning_of(now) or now.is_beginning_of(last))


def keys(standard: QKeySequence.StandardKey) -> tuple[str, ...]:
    """Return the platform's keys for a standard action, without those that delete text (Backspace)."""
    known = (key.toString() for key in QKeySequence.keyBindings(standard))
    return tuple(key for key in known if "Backspace" not in key)


class Navigation(QObject):
    """Records visited locations (a submitted query, an opened result or session, another view) and returns to them."""

    changed = Signal()
    """`directions` may have changed."""

    def __init__(self, workspace: Workspace, views: Views, parent: QObject) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._views = views
        self._history = History()
        self._navigating = False
        self._view = views.current
        self._opened: dict[str, tuple[Hashable, Hashable]] = {}
        """For each view, the query at the time of opening and the opened item."""
        self._previewed: Hashable = None
        """The result in the viewer, as in `HistoryEntry.opened`; None if a location is shown there."""
        search = views.search
        search.controller.query_visited.connect(self._visit_search)
        search.result_activated.connect(self._open_result)
        search.body.list.clicked.connect(lambda _: self._open_result(search.body.list.current_result()))
        search.answer_changed.connect(self.changed)
        search.controller.builder.query_changed.connect(self.changed)
        views.made.when(SessionsPanel, self._connect_sessions)
        views.switched.connect(self._handle_view_switched)
        search.preview.selected.connect(self._record_preview)
        views.location_opening.connect(self._open_preview)
        views.location_shown.connect(self._open_location)
        workspace.closed.connect(self._clear)

    def _connect_sessions(self, sessions: SessionsPanel) -> None:
        sessions.session_activated.connect(self._open_session)
        sessions.view.list.clicked.connect(lambda _: self._open_session(sessions.view.list.current_session()))

    def directions(self) -> tuple[bool, bool]:
        """Return whether there is a location to go back to, and one to go forward to."""
        return self._history.directions(self._current_entry)

    @Slot()
    def back(self) -> None:
        self._show_entry(self._history.back(self._current_entry()))

    @Slot()
    def forward(self) -> None:
        self._show_entry(self._history.forward(self._current_entry()))

    def watch(self, window: QWindow) -> None:
        """Handle the mouse's back and forward buttons anywhere in this window."""
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
            back = _BUTTONS.get(event.button())
            if back is not None:
                (self.back if back else self.forward)()
                return True
        return False

    # --- recording --------------------------------------------------------------------------------------------------

    def _current_entry(self, view: str | None = None) -> HistoryEntry:
        match view or self._views.current:
            case "search":
                return self._entry_of("search", self._views.search.controller.view_state)
            case "sessions":
                return self._entry_of("sessions", self._views.sessions.view_state)
            case other:
                return self._entry_of(other, None)

    def _entry_of(self, view: str, state: SearchViewState | SessionsViewState | None) -> HistoryEntry:
        requested, opened = self._opened.get(view, (None, None))
        return HistoryEntry(view, state, opened if requested == state else None, state)

    def _visit(self, entry: HistoryEntry) -> None:
        if not self._navigating:
            self._history.visit(entry)
            self.changed.emit()

    @Slot(object)
    def _visit_search(self, search_state: SearchViewState) -> None:
        if self._views.current == "search":
            self._visit(self._entry_of("search", search_state))

    def _open(self, view: str, opened: Hashable) -> None:
        if not self._navigating:
            self._views.return_to("")
            self._opened[view] = (self._current_entry(view).requested, opened)
            self._visit(self._current_entry(view))

    @Slot(object)
    def _open_result(self, result: MemorySearchResult | None) -> None:
        if result is not None:
            self._open("search", _opened_result(result))

    @Slot(object, object)
    def _record_preview(self, result: MemorySearchResult, _query: str) -> None:
        self._previewed = _opened_result(result)

    @Slot()
    def _open_preview(self) -> None:
        """Record the previewed result from which a link is followed, so that Back returns to it."""
        result = self._views.search.body.list.current_result()
        if self._views.current == "search" and result is not None and _opened_result(result) == self._previewed:
            self._open("search", self._previewed)

    @Slot(object)
    def _open_session(self, summary: SessionSummary | None) -> None:
        if summary is not None:
            self._open("sessions", summary.path)

    @Slot(object)
    def _open_location(self, location: Location) -> None:
        self._previewed = None
        self._open("search", location)

    @Slot(str)
    def _handle_view_switched(self, view: str) -> None:
        self._visit(self._current_entry(self._view))
        self._visit(self._current_entry(view))
        self._view = view

    @Slot()
    def _clear(self) -> None:
        if self._workspace.reopening:
            return
        self._history = History()
        self._opened.clear()
        self.changed.emit()

    # --- navigation -------------------------------------------------------------------------------------------------

    def _show_entry(self, entry: HistoryEntry | None) -> None:
        if entry is None:
            return
        views, view, now = self._views, entry.view, self._current_entry()
        # Reading stays reading after a followed link; the answer of another query may have another note to read.
        reads = views.reader_has_focus and (now.view, now.requested) == (view, entry.requested)
        self._navigating = True
        try:
            views.switch(view)
            views.return_to(_session_at(entry))
            if isinstance(entry.state, SearchViewState):
                views.search.controller.return_to(entry.state)
            elif isinstance(entry.state, SessionsViewState):
                views.sessions.return_to(entry.state)
            if isinstance(entry.opened, Location):
                views.show_location(entry.opened)
                views.search.skip_preview()
            elif view == "search":
                views.search.preview_again()
            if reads and entry.opened is not None:
                views.focus_reader()
            else:
                views.focus_list()
        finally:
            self._navigating = False
        self._opened[view] = (entry.requested, entry.opened)
        self.changed.emit()


def _opened_result(result: MemorySearchResult) -> Hashable:
    return result.path, result.start_line, result.end_line, result.message


def _session_at(entry: HistoryEntry) -> str:
    """Return the path of the session that was open at a location; empty if there was none, or it is unknown."""
    if isinstance(entry.state, SessionsViewState):
        return entry.state.path
    match entry.opened:
        case Location(path=path) | (str(path), *_):
            return path
    return ""
