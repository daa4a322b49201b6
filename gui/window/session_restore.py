"""Saves the window's layout and the user's location, and restores them at the next start.

They are saved after a short pause, so that they survive any kind of exit.
"""

from dataclasses import replace
from pathlib import Path

import msgspec
from PySide6.QtCore import QEvent, QObject, Slot

import engine
from engine import QueryRecord
from gui.conversation.panel import ConversationPanel
from gui.core.window_context import Controller, WindowContext
from gui.core.window_state import DebouncedWrite, LastView, WindowState, Writing, save_state
from gui.core.workspace import FIRST_RESULTS, OpenWorkspace
from gui.index.panel import IndexPanel
from gui.search.query_builder import SearchViewState
from gui.search.saved_search_cache import to_query, to_record
from gui.sessions.filter_controller import SessionsViewState
from gui.sessions.panel import SessionsPanel
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.widgets.row_list import ListPosition

_SOON_MS = 700
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.WindowStateChange)


class SessionRestore(Controller):
    """Saves layout and location of the window after a short delay, and restores them once."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        frame: Frame,
    ) -> None:
        super().__init__(context)
        self._views = views
        self._frame = frame
        self._requested: LastView | None = None
        """The location to restore once its folder is open."""
        self._line: tuple[str, int] | None = None
        """Position to scroll to when its file is shown."""
        self._restored = LastView(criteria=self._state.last_view.criteria.arrangement)
        """The restored location, which has the state of views whose panels don't exist yet. The arrangement of the
        sessions stays when the location isn't restored, as after a link or another folder.
        """
        self._later_write = DebouncedWrite(self._jobs, self._pending_write, _SOON_MS, self)
        self._workspace.opened.connect(self._restore_session)
        views.viewer.file_shown.connect(self._scroll)
        self._window.installEventFilter(self)
        self._connect_signals()

    def _connect_signals(self) -> None:
        views, frame = self._views, self._frame
        search, viewer = views.search, views.viewer
        for signal in (
            *(views.switched, search.controller.builder.query_changed, search.answer_changed),
            *(search.body.list.current_changed, search.body.list.verticalScrollBar().valueChanged),
            *(viewer.scrolled, viewer.file_shown),
            *(viewer.wrap_action.toggled, viewer.chunks_action.toggled, viewer.header.rendered_chosen),
            *(frame.panes.splitterMoved, frame.panes.dock_shown, self._workspace.opened),
        ):
            signal.connect(self._write_later)
        views.made.when(SessionsPanel, self._connect_sessions)
        views.made.when(ConversationPanel, lambda conversation: conversation.scrolled.connect(self._write_later))

    def _connect_sessions(self, sessions: SessionsPanel) -> None:
        hide_calendar = sessions.view.hide_calendar
        hide_calendar.setChecked(self._state.calendar_hidden)
        sessions.return_to(_sessions_state(self._restored))
        for signal in (sessions.session_selected, sessions.narrowed, hide_calendar.toggled):
            signal.connect(self._write_later)

    def resume(self) -> None:
        """Restore the location once its folder is opened; call it before opening."""
        self._requested = self._state.last_view

    def update_state(self) -> None:
        """Put the current layout and location into the window state."""
        state = self._state
        state.set_geometry(self._window.saveGeometry())
        self._frame.update_state(state)
        state.wrap = self._views.viewer.wrap_action.isChecked()
        state.rendered = self._views.viewer.prefers_page
        state.chunk_borders = self._views.viewer.chunks_action.isChecked()
        if (sessions := self._views.made.get(SessionsPanel)) is not None:
            state.calendar_hidden = sessions.view.hide_calendar.isChecked()
        if self._workspace.current is not None and self._requested is None and self._line is None:
            state.last_view = self._last_view(self._workspace.current.folder)

    def write_now(self) -> None:
        """Write the state immediately, since the window closes; nothing older is written after it."""
        self._later_write.stop()
        self.update_state()
        if self._remembers:
            save_state(_without_secrets(self._state))

    # --- saving -----------------------------------------------------------------------------------------------------

    @Slot()
    def _write_later(self, *_: object) -> None:
        if self._remembers:
            self._later_write.schedule()

    def _pending_write(self) -> Writing:
        self.update_state()
        state = msgspec.structs.replace(self._state)
        return lambda token: save_state(_without_secrets(state), token=token)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES:
            self._write_later()
        return False

    def _last_view(self, folder: Path) -> LastView:
        views, search = self._views, self._views.search
        search_state = search.controller.view_state
        query = None if search_state.query is None else to_record(search_state.query, search_state.order)
        if not search.controller.saved_searches.store.notes:
            query = None
        row, top = None, 0
        if search_state.position is not None and query is not None:
            row = search_state.position.current if isinstance(search_state.position.current, tuple) else None
            top = next((top for key, top in search_state.position.anchors if key == row), 0)
        file, line = views.viewer.view_state
        sessions, index = views.made.get(SessionsPanel), views.made.get(IndexPanel)
        session_state = _sessions_state(self._restored) if sessions is None else sessions.view_state
        criteria = session_state.criteria
        if criteria.text and not search.controller.saved_searches.store.notes:
            criteria = replace(criteria, text="")
        return LastView(
            folder=str(folder),
            view=views.current,
            index_page=self._restored.index_page if index is None else index.page,
            query=query,
            max_results=search_state.max_results,
            row=row,
            top=top,
            session=session_state.path if views.current == "sessions" else "",
            criteria=criteria,
            role=session_state.role,
            reading=None if views.read_session is None else views.conversation.view_state,
            file=file if query is not None else "",
            line=line if query is not None else 0,
        )

    # --- restoring ------------------------------------------------------------------------------------------------

    @Slot(object)
    def _restore_session(self, opened: OpenWorkspace) -> None:
        last, self._requested = self._requested, None
        views = self._views
        if last is None or last.folder != str(opened.folder) or views.search.box.query:
            return  # another folder, or the user has already typed a query
        if last.reading is not None:
            views.return_to(last.reading.path, last.reading)
        if last.query is not None:
            self._line = (last.file, last.line) if last.file and last.line else None
            views.search.controller.return_to(_view_state_of(last, last.query))
        if last.view == "index":
            views.index.show_page(last.index_page)
        self._restored = last
        sessions = views.made.get(SessionsPanel)
        views.switch(last.view)
        if sessions is not None:  # else done when the panel is made, so that it reads its list only once
            sessions.return_to(_sessions_state(last))

    @Slot(str)
    def _scroll(self, name: str) -> None:
        """Scroll to the saved line once its file is shown; a keyword-only answer may show another file first."""
        unshown = self._line
        if unshown is not None and unshown[0] == name:
            self._views.viewer.go_to_line(unshown[1])
        if unshown is None or unshown[0] == name or not self._views.search.controller.busy:
            self._line = None


def _sessions_state(last: LastView) -> SessionsViewState:
    return SessionsViewState(last.criteria, last.role, last.session)


def _view_state_of(last: LastView, query: QueryRecord) -> SearchViewState:
    at = None if last.row is None else ListPosition(last.row, 0, ((last.row, last.top),), frozenset())
    return SearchViewState(to_query(query), query.order, max(last.max_results, FIRST_RESULTS), at)


def _without_secrets(state: WindowState) -> WindowState:
    """Return the state without queries that contain a secret, and without their results. Any thread."""
    last = state.last_view
    if last.query is not None and engine.contains_secret(last.query):
        last = msgspec.structs.replace(last, query=None, row=None, top=0, file="", line=0)
    if engine.holds_secret(last.criteria.text):
        last = msgspec.structs.replace(last, criteria=replace(last.criteria, text=""))
    return msgspec.structs.replace(state, last_view=last)
