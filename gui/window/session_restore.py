"""Saves the window's layout and the user's location immediately, so that the next start restores them after any kind of
exit."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
from PySide6.QtCore import QEvent, QObject, Slot

import engine
from engine import QueryRecord
from gui.core.debounced_write import DebouncedWrite, Writing
from gui.core.window_context import WindowContext
from gui.core.window_state import LastPlace, save_state
from gui.core.workspace import FIRST_RESULTS, Opened
from gui.index.panel import PageName
from gui.search.query_composer import SearchViewState
from gui.search.saved_store import asked, kept
from gui.sessions.filter_controller import SessionsViewState
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.widgets.row_list import Place

_SOON_MS = 700
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.WindowStateChange)


class SessionRestore(QObject):
    """Writes changes after a short delay, and restores once."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        frame: Frame,
    ) -> None:
        window, workspace = context.window, context.workspace
        super().__init__(window)
        self._workspace = workspace
        self._views = views
        self._frame = frame
        self._state = context.state
        self._window = window
        self._remembers = context.remembers
        self._wanted: LastPlace | None = None
        """The location to restore once its folder is open."""
        self._line: tuple[str, int] | None = None
        """Position to scroll to when its file is shown."""
        self._soon = DebouncedWrite(context.jobs, self._writing, _SOON_MS, self)
        workspace.opened.connect(self._go_on)
        views.viewer.file_shown.connect(self._scroll)
        window.installEventFilter(self)
        self._connect_signals()

    def _connect_signals(self) -> None:
        views, frame = self._views, self._frame
        search, viewer, sessions = views.search, views.viewer, views.sessions
        for signal in (
            *(views.switched, search.controller.query_changed, search.answer_changed, search.result_current),
            *(search.body.list.verticalScrollBar().valueChanged, viewer.scrolled, viewer.file_shown),
            *(viewer.wrap_action.toggled, viewer.chunks_action.toggled, sessions.session_selected),
            *(sessions.view.hide_calendar.toggled, sessions.narrowed, views.conversation.scrolled),
            *(frame.panes.splitterMoved, frame.panes.dock_shown, self._workspace.opened),
        ):
            signal.connect(self._note)

    def resume(self) -> None:
        """Restore the location if its folder is opened; call it before opening."""
        self._wanted = self._state.place

    def keep(self) -> None:
        """Store layout and location in the state."""
        state = self._state
        state.set_geometry(self._window.saveGeometry())
        self._frame.keep(state)
        state.wrap = self._views.viewer.wrap_action.isChecked()
        state.chunk_borders = self._views.viewer.chunks_action.isChecked()
        state.calendar_hidden = self._views.sessions.view.hide_calendar.isChecked()
        if self._workspace.current is not None and self._wanted is None and self._line is None:
            state.place = self._place(self._workspace.current.folder)

    def write_now(self) -> None:
        """Write the state immediately, since the window closes; nothing older is written after it."""
        self._soon.stop()
        self.keep()
        if self._remembers:
            save_state(self._state)

    # --- saving -----------------------------------------------------------------------------------------------------

    @Slot()
    def _note(self, *_: object) -> None:
        if self._remembers:
            self._soon.note()

    def _writing(self) -> Writing:
        self.keep()
        state = msgspec.structs.replace(self._state)
        return lambda token: save_state(state, token=token)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES:
            self._note()
        return False

    def _place(self, folder: Path) -> LastPlace:
        views, search = self._views, self._views.search
        standing = search.controller.view_state
        question = None if standing.question is None else kept(standing.question, standing.order)
        if question is not None and not (search.controller.saved_searches.store.notes and _may_be_kept(question)):
            question = None
        row, top = None, 0
        if standing.place is not None and question is not None:
            row = standing.place.current if isinstance(standing.place.current, tuple) else None
            top = next((top for key, top in standing.place.anchors if key == row), 0)
        file, line = views.viewer.view_state
        wanted = views.sessions.view_state
        criteria = wanted.criteria
        if criteria.text and (not search.controller.saved_searches.store.notes or engine.holds_secret(criteria.text)):
            criteria = replace(criteria, text="")
        return LastPlace(
            folder=str(folder),
            view=views.current,
            index_page=views.index.page,
            question=question,
            max_results=standing.max_results,
            row=row,
            top=top,
            session=wanted.path if views.current == "sessions" else "",
            criteria=criteria,
            role=wanted.role,
            reading=None if views.read_session is None else views.conversation.view_state,
            file=file if question is not None else "",
            line=line if question is not None else 0,
        )

    # --- coming back ------------------------------------------------------------------------------------------------

    @Slot(object)
    def _go_on(self, opened: Opened) -> None:
        place, self._wanted = self._wanted, None
        if place is None or place.folder != str(opened.folder):
            return
        views = self._views
        if place.reading is not None:
            views.conversation.return_to(place.reading.path, place.reading)
        if place.question is not None:
            self._line = (place.file, place.line) if place.file and place.line else None
            views.search.controller.return_to(_standing(place, place.question))
        page: PageName = place.index_page
        if place.view == "index":
            views.index.show_page(page)
        views.switch(place.view)
        views.sessions.return_to(SessionsViewState(place.criteria, place.role, place.session))

    @Slot(str)
    def _scroll(self, name: str) -> None:
        """Go to the line once its file is shown; another file may come first, from the keyword answer."""
        wanted = self._line
        if wanted is not None and wanted[0] == name:
            self._views.viewer.go_to_line(wanted[1])
        if wanted is None or wanted[0] == name or not self._views.search.controller.busy:
            self._line = None


def _standing(place: LastPlace, question: QueryRecord) -> SearchViewState:
    at = None if place.row is None else Place(place.row, 0, ((place.row, place.top),), frozenset())
    return SearchViewState(asked(question), question.order, max(place.max_results, FIRST_RESULTS), at)


def _may_be_kept(question: QueryRecord) -> bool:
    """Whether a query may be written: it contains no secret."""
    return not any(map(engine.holds_secret, _texts(question)))


def _texts(question: QueryRecord) -> Iterator[str]:
    yield question.text
    if question.like is not None:
        yield question.like.text
    if question.within is not None:
        yield from _texts(question.within)
