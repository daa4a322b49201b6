"""The views of the window: some have a list and a viewer, others take the whole width."""

from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from engine import (
    FileUse,
    MemoryProviderStatus,
    MemorySearchManager,
    MemorySearchResult,
    Passage,
    SessionSummary,
    may_name_session,
    split_name,
    tr,
)
from gui.agent_edits.panel import CHOOSE_EDIT, EditsPanel
from gui.conversation.loader import OpenedSession
from gui.conversation.panel import ConversationPanel
from gui.core.capabilities import why_missing
from gui.core.jobs import Jobs
from gui.core.location import Location, ReadingPosition
from gui.core.view_spec import ViewPanel
from gui.index.panel import IndexPanel
from gui.search.query import Answer, Query, Scope
from gui.sessions.listing_view import CHOOSE_SESSION
from gui.sessions.panel import SessionsPanel
from gui.shell.view_panels import ViewPanels
from gui.text.session_texts import UNTITLED
from gui.viewer.base_viewer import BaseViewer
from gui.viewer.panel import CHOOSE_RESULT, CHOSEN_OPENS_HERE
from gui.widgets.placeholder_page import NOTHING_FOUND, NothingToRead


@dataclass(frozen=True)
class _SessionTarget:
    """A session shown in the conversation: its name, the location in it, and the words of the query."""

    path: str
    title: str
    line: int | None
    query: str
    message: str = ""


class Views(ViewPanels):
    """Switches between the views, and shows results in the viewer or in the conversation.

    Search and sessions share the conversation; each restores the session it had shown there.
    """

    switching = Signal(str)
    """Name of the view that is about to be shown; its box comes first, since it may have another height."""
    switched = Signal(str)
    """Name of the view that is current now."""
    location_opening = Signal()
    """The viewer is about to show a location that isn't a result."""
    location_shown = Signal(object)
    """Location shown in the viewer that isn't a result."""

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(jobs, parent)
        self.current = next(iter(self.specs))
        self._last_answer: Answer | None = None
        self._shows_result = True
        """Whether the viewer shows a result, if anything; not a location that the user opened elsewhere."""
        self._empty = False
        """Whether nothing is indexed, so that the viewer doesn't show how to choose a result."""
        self._targets: dict[str, _SessionTarget | NothingToRead | None] = {}
        """The session to show; None if a file or nothing is shown."""
        self._shown: _SessionTarget | NothingToRead = CHOOSE_SESSION
        self._positions: dict[str, tuple[_SessionTarget, ReadingPosition]] = {}
        """The position in each view when the user left it: two views may show different parts of one session."""
        self._first_target = QTimer(self, singleShot=True, interval=0)
        self._first_target.timeout.connect(self._show_first_target)
        self._outdated: object = None
        """Content of the viewer when the search box was emptied."""
        self._next_turn = QTimer(self, singleShot=True, interval=0)
        self._next_turn.timeout.connect(self._drop_outdated)
        self._forget_shown()
        self.search.answer_changed.connect(self._handle_answer)
        self.search.preview.selected.connect(self.show_result)
        self.search.list_focus_requested.connect(self.focus_list)
        self.viewer.more_requested.connect(self._search_like)
        self.viewer.search_requested.connect(self._search_words)
        self.viewer.next_requested.connect(self.search.body.list.select_next)
        self.viewer.file_actions.sessions_requested.connect(self._search_file)
        self.made.when(BaseViewer, lambda viewer: viewer.escape_pressed.connect(self.focus_list))
        self.made.when(ConversationPanel, self._connect_conversation)
        self.made.when(SessionsPanel, lambda sessions: sessions.session_selected.connect(self._show_selected))
        self.made.when(IndexPanel, self._connect_index)
        self.made.when(EditsPanel, self._connect_edits)

    def _connect_conversation(self, conversation: ConversationPanel) -> None:
        conversation.session_actions.similar_requested.connect(self._show_similar)
        conversation.session_actions.more_requested.connect(self._search_in)
        conversation.like_requested.connect(self._search_like)

    def _connect_index(self, index: IndexPanel) -> None:
        index.show_answer(self._last_answer)
        index.left.connect(self.focus_box)
        self.search.answer_changed.connect(index.show_answer)

    def _connect_edits(self, edits: EditsPanel) -> None:
        edits.edit_selected.connect(self.show_edit)
        edits.list.sessions_requested.connect(self._search_file)

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        if not reopening:
            self._forget_shown()
        self._empty = False
        super().set_manager(manager, reopening=reopening)
        self._arrange()

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        super().show_status(status)
        empty = status is not None and not status.files
        if empty != self._empty:
            self._empty = empty
            if self._last_answer is None and not self.viewer.has_file:
                self._clear_viewer()

    def _forget_shown(self) -> None:
        self._positions.clear()
        self._targets = dict.fromkeys(self.specs) | {"sessions": CHOOSE_SESSION, "edits": CHOOSE_EDIT}
        self._shown = CHOOSE_SESSION

    def switch(self, name: str) -> None:
        """Show a view by its name, and focus its box."""
        if name != self.current:
            target, conversation = self._targets[self.current], self.made.get(ConversationPanel)
            if isinstance(target, _SessionTarget) and conversation is not None:
                position = conversation.view_state
                if position is not None and position.path == target.path:
                    self._positions[self.current] = target, position
            self.current = name
            self.switching.emit(name)
            self._arrange()
            self.switched.emit(name)
        self.focus_box()

    def open_page(self, name: str, page: str) -> None:
        """Show a page of a view."""
        self.panel_of(name).open_page(page)
        self.switch(name)

    @Slot()
    def refresh(self) -> None:
        """Update all views after a change of the index; lazy ones only when they are shown."""
        if self.current == "sessions" and self.conversation.is_read:
            self.sessions.view.list.pin_current()
        elif self.current in ("search", "edits") and self.reader_has_focus:  # an edit opens where it was made
            (self.search.body if self.current == "search" else self.edits).list.pin_current()
        self._refresh_panels()
        self._load(self.current)

    @property
    def panel(self) -> ViewPanel:
        """The panel whose search box the current view shows."""
        return self.with_box(self.current)

    @Slot()
    def focus_box(self) -> None:
        self.panel.focus_box()

    @Slot()
    def focus_list(self) -> None:
        """Focus the list of the current view."""
        self.panel_of(self.current).focus_list()

    def shown_panels(self) -> list[QWidget]:
        """Return the list and the viewer of the current view, or the page that takes their place."""
        stacks = (self.lists, self.readers, self.full_width_bodies)
        return [panel for stack in stacks if stack.isVisible() and (panel := stack.currentWidget()) is not None]

    def focus_reader(self) -> None:
        """Focus the viewer or the conversation of the current view."""
        reader = self.viewer if self._targets[self.current] is None else self.conversation
        self._show_target()
        reader.setFocus()

    @property
    def read_session(self) -> OpenedSession | None:
        """The open session; None if none is shown."""
        viewer = self._reader
        return viewer.opened if isinstance(viewer, ConversationPanel) else None

    @property
    def read_name(self) -> str:
        """The stable name of the file that the viewer shows; empty if there is none."""
        return self.viewer.name if self._reader is self.viewer else ""

    @property
    def _reader(self) -> QWidget | None:
        """The viewer or the conversation that is shown; the viewer, too, in a view without them."""
        return self.viewer if self.specs[self.current].full_width else self.readers.currentWidget()

    # --- the open file or session -----------------------------------------------------------------------------------

    @Slot(object)
    def _handle_answer(self, answer: Answer | None) -> None:
        """Clear the preview when a new query has no results, unless the user is reading in it."""
        last, self._last_answer = self._last_answer, answer
        has_results = _has_results(answer)
        if _subject(last) == _subject(answer) and (has_results == _has_results(last) or not self._shows_result):
            return  # the index has changed
        if has_results:
            if not self.viewer.has_file:
                self.viewer.clear(CHOOSE_RESULT)
            return
        if last is not None and last.final and answer is not None and answer.query == last.query:
            return  # a change of the index removed the results: the note that is read may still exist
        if self.current != "search" or not self.reader_has_focus:
            self._targets["search"] = None
            if answer is None:  # the start page takes this turn
                self._outdated = self.viewer.target
                self._next_turn.start()
            else:
                self.viewer.clear(NOTHING_FOUND)
            self._show_target()

    @Slot()
    def _drop_outdated(self) -> None:
        if self._last_answer is None and self.viewer.target is self._outdated:
            self._clear_viewer()

    @property
    def reader_has_focus(self) -> bool:
        """Whether the user reads: the viewer or the conversation has the keyboard focus."""
        focus = QApplication.focusWidget()
        return focus is not None and self.readers.isAncestorOf(focus)

    def _clear_viewer(self) -> None:
        """Show what the viewer is for, unless there is nothing to find."""
        self.viewer.clear(NOTHING_FOUND if self._empty else CHOSEN_OPENS_HERE)

    @Slot(object, object)
    def show_result(self, result: MemorySearchResult, query: str) -> None:
        """Show a result: a note in the viewer, a session as the conversation."""
        self._shows_result = True
        if result.message is None or why_missing("sessions"):
            self._targets["search"] = None
            self.viewer.show_result(result, query)
        else:
            self._targets["search"] = _SessionTarget(result.path, result.title, result.snippet_line, query)
        self._show_target()

    def show_location(self, location: Location) -> None:
        """Show a location in a note or session that isn't a search result, instead of the current result."""
        self.location_opening.emit()
        self._shows_result = False
        if may_name_session(split_name(location.path)[1]) and not why_missing("sessions"):
            title = location.path.rpartition("/")[2]
            self._targets["search"] = _SessionTarget(location.path, title, location.line, "", location.message)
        else:
            self._targets["search"] = None
            self.viewer.show_file(location.path, location.line, location.end)
        self.switch("search")
        self._show_target()
        self.location_shown.emit(location)

    def show_session(self, summary: SessionSummary) -> None:
        """Show a session from the session list in the conversation."""
        line, query = self.sessions.best_match(summary.path)
        self._targets["sessions"] = _SessionTarget(summary.path, summary.title or tr(UNTITLED), line, query)
        self._show_target()

    @Slot(object)
    def _show_selected(self, summary: SessionSummary | None) -> None:
        if summary is None:
            self._targets["sessions"] = self.sessions.nothing_to_read
            self._show_target()
        else:
            self.show_session(summary)

    @Slot(object)
    def show_edit(self, use: FileUse | None) -> None:
        """Show the message of a session that changed a file; None shows none."""
        title = "" if use is None else use.title or tr(UNTITLED)
        nothing = self.edits.nothing_to_read
        self._targets["edits"] = (
            nothing if use is None else _SessionTarget(use.session, title, use.line, _file_query(use.path))
        )
        if self.current == "edits":
            self._show_target()

    @Slot(str)
    def _search_file(self, path: str) -> None:
        """Search for the sessions that used the file at `path`."""
        self.switch("search")
        self.search.search(_file_query(split_name(path)[1]))

    @Slot(str)
    def _search_words(self, words: str) -> None:
        self.switch("search")
        self.search.search(words)

    @Slot(str)
    def _show_similar(self, path: str) -> None:
        self.switch("sessions")
        self.sessions.show_similar(path)

    @Slot(object, str)
    def _search_like(self, passage: Passage, words: str) -> None:
        """Search for passages similar to one that is shown."""
        self.switch("search")
        self.search.controller.search_like(passage, words)

    @Slot(str)
    def _search_in(self, path: str) -> None:
        """Search only in the session `path`, with the query by which it was found."""
        target = self._targets[self.current]
        self.switch("search")
        if isinstance(target, _SessionTarget):
            self.search.controller.search_in(Scope(path, target.title), target.query)

    def _arrange(self) -> None:
        self._stack(self.current).setCurrentWidget(self.panel_of(self.current).body)
        self._load(self.current)
        if isinstance(target := self._targets[self.current], _SessionTarget):
            last, position = self._positions.pop(self.current, (target, None))
            self.return_to(target.path if last == target else "", position if last == target else None)
        self._show_target()

    def return_to(self, path: str, position: ReadingPosition | None = None) -> None:
        """When the session `path` is shown next, restore its last position, or go to `position`; "" cancels."""
        if path or self.made.get(ConversationPanel) is not None:
            self.conversation.return_to(path, position)

    def _show_target(self) -> None:
        target = self._targets[self.current]
        if self.specs[self.current].full_width:
            return
        if target is not None and self.made.get(ConversationPanel) is None:
            self.readers.setCurrentWidget(self.empty_reader)
            self._first_target.start()
            return
        self.readers.setCurrentWidget(self.viewer if target is None else self.conversation)
        if target is None or target == self._shown:
            return
        self._shown = target
        if isinstance(target, NothingToRead):
            self.conversation.clear(target)
        else:
            self.conversation.show_session(target.path, target.line, target.query, target.message)

    @Slot()
    def _show_first_target(self) -> None:
        """Make the conversation, which takes a turn of the event loop of its own, and show its target in the next."""
        if self.made.get(ConversationPanel) is None:
            self._make_conversation()
            self._first_target.start()
        else:
            self._show_target()


def _subject(answer: Answer | None) -> Query | None:
    return None if answer is None else answer.query.subject


def _has_results(answer: Answer | None) -> bool:
    return answer is not None and bool(answer.outcome.results)


def _file_query(path: str) -> str:
    """Return the query that finds sessions that used a file."""
    return f'file:"{path}"' if " " in path else f"file:{path}"
