"""Saves the window's layout, the user's location and unfinished drafts, and restores them at the next start.

They are saved after a short pause, so that they survive any kind of exit.
"""

import contextlib
import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec
import platformdirs
from PySide6.QtCore import QEvent, QObject, Slot

import engine
from engine import CancelToken, MnemoscopeError, QueryRecord, decode_json, read_file, replace_file, tr
from gui.core.jobs import JobSlot
from gui.core.window_context import WindowContext
from gui.core.window_state import DebouncedWrite, LastView, WindowState, Writing, save_state
from gui.core.workspace import FIRST_RESULTS, Opened
from gui.facts.wording import short
from gui.index.panel import PageName
from gui.remember.controller import RememberController
from gui.search.query_builder import SearchViewState
from gui.search.saved_search_cache import to_query, to_record
from gui.sessions.filter_controller import SessionsViewState
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.widgets.message_banner import Action
from gui.widgets.row_list import ListPosition

_SOON_MS = 700
_MOVES = (QEvent.Type.Resize, QEvent.Type.Move, QEvent.Type.WindowStateChange)


class SessionRestore(QObject):
    """Saves layout and location of the window after a short delay, and restores them once."""

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
        self._requested: LastView | None = None
        """The location to restore once its folder is open."""
        self._line: tuple[str, int] | None = None
        """Position to scroll to when its file is shown."""
        self._later_write = DebouncedWrite(context.jobs, self._writing, _SOON_MS, self)
        workspace.opened.connect(self._continue)
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
        """Restore the location once its folder is opened; call it before opening."""
        self._requested = self._state.last_view

    def update_state(self) -> None:
        """Put the current layout and location into the window state."""
        state = self._state
        state.set_geometry(self._window.saveGeometry())
        self._frame.update_state(state)
        state.wrap = self._views.viewer.wrap_action.isChecked()
        state.chunk_borders = self._views.viewer.chunks_action.isChecked()
        state.calendar_hidden = self._views.sessions.view.hide_calendar.isChecked()
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
    def _note(self, *_: object) -> None:
        if self._remembers:
            self._later_write.note()

    def _writing(self) -> Writing:
        self.update_state()
        state = msgspec.structs.replace(self._state)
        return lambda token: save_state(_without_secrets(state), token=token)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _MOVES:
            self._note()
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
        session_state = views.sessions.view_state
        criteria = session_state.criteria
        if criteria.text and not search.controller.saved_searches.store.notes:
            criteria = replace(criteria, text="")
        return LastView(
            folder=str(folder),
            view=views.current,
            index_page=views.index.page,
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

    # --- coming back ------------------------------------------------------------------------------------------------

    @Slot(object)
    def _continue(self, opened: Opened) -> None:
        last, self._requested = self._requested, None
        views = self._views
        if last is None or last.folder != str(opened.folder) or views.search.box.query:
            return  # another folder, or the user has already typed a query
        if last.reading is not None:
            views.conversation.return_to(last.reading.path, last.reading)
        if last.query is not None:
            self._line = (last.file, last.line) if last.file and last.line else None
            views.search.controller.return_to(_view_state_of(last, last.query))
        page: PageName = last.index_page
        if last.view == "index":
            views.index.show_page(page)
        views.switch(last.view)
        views.sessions.return_to(SessionsViewState(last.criteria, last.role, last.session))

    @Slot(str)
    def _scroll(self, name: str) -> None:
        """Scroll to the saved line once its file is shown; a keyword-only answer may show another file first."""
        unshown = self._line
        if unshown is not None and unshown[0] == name:
            self._views.viewer.go_to_line(unshown[1])
        if unshown is None or unshown[0] == name or not self._views.search.controller.busy:
            self._line = None


def _view_state_of(last: LastView, query: QueryRecord) -> SearchViewState:
    at = None if last.row is None else ListPosition(last.row, 0, ((last.row, last.top),), frozenset())
    return SearchViewState(to_query(query), query.order, max(last.max_results, FIRST_RESULTS), at)


def _without_secrets(state: WindowState) -> WindowState:
    """Return the state without queries that contain a secret, and what they have found. Any thread."""
    last = state.last_view
    if last.query is not None and engine.query_holds_secret(last.query):
        last = msgspec.structs.replace(last, query=None, row=None, top=0, file="", line=0)
    if engine.holds_secret(last.criteria.text):
        last = msgspec.structs.replace(last, criteria=replace(last.criteria, text=""))
    return msgspec.structs.replace(state, last_view=last)


_DRAFT_MS = 500
_KEY = "draft"
log = logging.getLogger(__name__)

_writing = Lock()


class Draft(msgspec.Struct, frozen=True):
    """An unsaved text: of a fact (`id`, empty for a new one) or of a session's note (`id`: the session's stable name).

    `title` and `name` are used for notes only.
    """

    folder: str
    kind: Literal["fact", "note"]
    id: str
    text: str
    title: str = ""
    name: str = ""


def drafts_path() -> Path:
    return Path(platformdirs.user_data_dir("mnemoscope", appauthor=False)) / "drafts.json"


def load_drafts() -> tuple[Draft, ...]:
    """Read the saved drafts; an unreadable file is renamed, and logged."""
    path = drafts_path()
    try:
        return decode_json(read_file(path), tuple[Draft, ...])
    except FileNotFoundError:
        return ()
    except OSError as error:
        log.warning("What was not saved could not be read: %s", error)
    except ValueError as error:
        damaged = path.with_name("drafts-damaged.json")
        with contextlib.suppress(OSError):
            path.replace(damaged)
        log.warning("The unsaved drafts file is damaged (%s) and was renamed to %s", type(error).__name__, damaged.name)
    return ()


def save_drafts(folder: str, drafts: Sequence[Draft], token: CancelToken | None = None) -> None:
    """Replace all saved drafts of a folder, unless `token` is cancelled; those with a secret are not saved.

    A failure is only logged. Any thread.
    """
    path = drafts_path()
    drafts = [draft for draft in drafts if not engine.holds_secret(draft.text)]
    with _writing:
        if token is not None and token.cancelled:
            return
        all_drafts = [*(draft for draft in load_drafts() if draft.folder != folder), *drafts]
        try:
            if not all_drafts:
                path.unlink(missing_ok=True)
                return
            replace_file(path, msgspec.json.encode(all_drafts))
        except OSError as error:
            log.warning("What was typed could not be kept: %s", error)


class Drafts(QObject):
    """Saves unfinished texts, and offers to restore them at the next start, one at a time."""

    def __init__(self, context: WindowContext, views: Views, remember: RememberController) -> None:
        super().__init__(context.window)
        workspace = context.workspace
        self._views = views
        self._remember = remember
        self._banner = context.banner
        self._jobs = context.jobs
        self._folder = ""
        self._waiting: tuple[Draft, ...] = ()
        self._dismissed = False
        self._reading = JobSlot(self)
        self._later_write = DebouncedWrite(self._jobs, self._writing, _DRAFT_MS, self)
        editor = views.facts.body.editor
        editor.text.textChanged.connect(self._note)
        editor.change_requested.connect(self._note)
        remember.typed.connect(self._note)
        workspace.opened.connect(self._begin)
        workspace.closed.connect(self._end)
        self._banner.cleared.connect(self._on_banner_cleared)

    def write_now(self) -> None:
        """Save the drafts immediately, since the window closes."""
        self._later_write.stop()
        if self._folder:
            save_drafts(self._folder, self._drafts())

    # --- saving -----------------------------------------------------------------------------------------------------

    @Slot()
    def _note(self, *_: object) -> None:
        if self._folder:
            self._later_write.note()

    def _writing(self) -> Writing | None:
        folder, drafts = self._folder, self._drafts()
        return (lambda token: save_drafts(folder, drafts, token)) if folder else None

    def _drafts(self) -> tuple[Draft, ...]:
        """Return the drafts to save: current ones, and those that the user has not answered yet."""
        drafts = list(self._waiting)
        editor = self._views.facts.body.editor
        if editor.is_changed:
            fact = editor.fact.id if editor.fact is not None else ""
            drafts.append(Draft(self._folder, "fact", fact, editor.text.toPlainText()))
        sheet = self._remember.sheet
        if sheet is not None and sheet.is_changed:
            name, text = sheet.typed
            drafts.append(Draft(self._folder, "note", self._remember.session, text, sheet.title, name))
        return tuple(draft for draft in drafts if draft.text.strip())

    # --- offers -----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _begin(self, opened: Opened) -> None:
        again = self._folder == str(opened.folder)
        self._folder = str(opened.folder)
        if again:
            return  # reopened with other settings: pending drafts stay pending

        def work(_: CancelToken) -> tuple[Draft, ...]:
            drafts = tuple(draft for draft in load_drafts() if draft.folder == str(opened.folder))
            try:
                known = {fact.text for fact in opened.manager.facts.all()} if drafts else set[str]()
            except MnemoscopeError:
                known = set[str]()
            return tuple(draft for draft in drafts if draft.text.strip() not in known)

        self._waiting = ()
        self._reading.put(self._jobs.read(work, self._set_drafts))

    @Slot()
    def _end(self) -> None:
        self._reading.cancel()

    def _set_drafts(self, drafts: tuple[Draft, ...]) -> None:
        self._reading.done()
        self._waiting = drafts
        self._note()
        self._offer()

    @Slot(str)
    def _on_banner_cleared(self, matter: str) -> None:
        """Offer the next draft, since the banner is free; dismissed offers are repeated at the next start."""
        if matter == _KEY:
            self._dismissed = True
        self._offer()

    def _offer(self) -> None:
        if not self._waiting or self._dismissed or self._banner.text:
            return
        draft = self._waiting[0]
        self._banner.show_message(
            _unsaved(draft),
            "working",
            Action(tr("Keep writing the note"), partial(self._continue, draft)),
            Action(tr("Discard"), partial(self._answered, draft)),
            key=_KEY,
        )

    def _answered(self, draft: Draft) -> None:
        self._waiting = tuple(other for other in self._waiting if other is not draft)
        self._dismissed = False
        self._note()
        self._offer()

    def _continue(self, draft: Draft) -> None:
        if draft.kind == "fact":
            self._views.switch("facts")
            self._views.facts.resume_draft(draft.id, draft.text)
        else:
            self._remember.resume_draft(draft.id, draft.title, draft.name, draft.text)
        self._answered(draft)


def _unsaved(draft: Draft) -> str:
    text = short(draft.text)
    if draft.kind == "fact":
        return tr("Your fact was not saved: {text}", text=text)
    return tr("Your text for the note of “{title}” was not saved: {text}", title=draft.title, text=text)
