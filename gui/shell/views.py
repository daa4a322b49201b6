"""The views of the window: search and sessions with a list and a reader each, index and facts with all the room."""

from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from engine import MemorySearchManager, MemorySearchResult, Passage, SessionSummary, may_name_session, split_name, tr
from gui.conversation.loader import OpenedSession
from gui.conversation.panel import ConversationPanel
from gui.core.capabilities import MissingFeatures
from gui.core.jobs import Jobs
from gui.core.location import Location
from gui.facts.panel import FactsPanel
from gui.index.panel import IndexPanel
from gui.search.panel import SearchPanel
from gui.search.query import Answer, Query, Scope
from gui.sessions.listing_view import CHOOSE_SESSION
from gui.sessions.panel import SessionsPanel
from gui.sessions.wording import UNTITLED
from gui.viewer.notice_page import NothingToRead
from gui.viewer.panel import NOTHING_FOUND, ViewerPanel

ViewName = Literal["search", "sessions", "index", "facts"]


@dataclass(frozen=True)
class _Shown:
    """A session in the conversation: which, where and for which words."""

    path: str
    title: str
    line: int | None
    query: str
    message: str = ""


class Views(QObject):
    """One is current at a time. Search and sessions share the conversation, and each finds again there what it had
    shown; search and index share the box."""

    switched = Signal(str)
    """ViewName of the view that is current now."""
    place_shown = Signal(object)
    """Location shown in the viewer that isn't a result."""

    def __init__(self, jobs: Jobs, search: SearchPanel, parent: QObject) -> None:
        super().__init__(parent)
        self.search = search
        self.sessions = SessionsPanel(jobs, parent=self)
        self.index = IndexPanel(jobs)
        self.facts = FactsPanel(jobs, self)
        self.viewer = ViewerPanel(jobs)
        self.conversation = ConversationPanel(jobs)
        self.lists = QStackedWidget()
        self.readers = QStackedWidget()
        self.wholes = QStackedWidget()
        for stack, widgets in (
            (self.lists, (search.body, self.sessions.body)),
            (self.readers, (self.viewer, self.conversation)),
            (self.wholes, (self.index, self.facts.body)),
        ):
            for widget in widgets:
                stack.addWidget(widget)
        self.current: ViewName = "search"
        self._manager: MemorySearchManager | None = None
        self._lacks: MissingFeatures = {}
        self._listed = False
        self._stale = False
        self._asked: Query | None = None
        self._wanted: dict[ViewName, _Shown | NothingToRead | None] = {}
        """None where a file is read, or nothing is."""
        self._shown: _Shown | NothingToRead = CHOOSE_SESSION
        self._forget_shown()
        search.answer_changed.connect(self.index.show_answer)
        search.answer_changed.connect(self._hear_answer)
        search.result_selected.connect(self.show_result)
        search.passed_by.connect(self.focus_list)
        self.sessions.session_selected.connect(self._show_selected)
        self.viewer.escape_pressed.connect(self.focus_list)
        self.conversation.escape_pressed.connect(self.focus_list)
        self.conversation.similar_wanted.connect(self._show_similar)
        self.conversation.more_wanted.connect(self._search_in)
        self.conversation.like_wanted.connect(self._search_like)
        self.viewer.more_wanted.connect(self._search_like)
        self.index.left.connect(self.focus_box)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Search, list and read this memory from now on."""
        self._manager = manager
        self._forget_shown()
        self.search.set_manager(manager)
        self.index.set_manager(manager)
        self.facts.set_manager(manager)
        self.viewer.set_manager(manager)
        self.conversation.set_manager(manager)
        self._listed = False
        self.sessions.set_manager(None)
        self._arrange()

    @Slot(object)
    def show_unsupported(self, lacks: MissingFeatures) -> None:
        """What this memory, or the one that is set next, cannot do."""
        self._lacks = lacks
        for part in (self.search, self.sessions, self.index, self.viewer, self.conversation):
            part.show_unsupported(lacks)

    def _forget_shown(self) -> None:
        self._wanted = {"search": None, "sessions": CHOOSE_SESSION, "index": None, "facts": None}
        self._shown = CHOOSE_SESSION

    def switch(self, name: ViewName) -> None:
        """Make a view current, with the focus in its box."""
        if name != self.current:
            self.current = name
            self._arrange()
            self.switched.emit(name)
        self.focus_box()

    @Slot()
    def refresh(self) -> None:
        """The index changed. The sessions are updated when visible."""
        self.search.refresh()
        self.viewer.refresh()
        self.conversation.refresh()
        self.index.refresh()
        self._stale = True
        if self.current == "sessions":
            self._list_sessions()

    @property
    def panel(self) -> SearchPanel | SessionsPanel | FactsPanel:
        """What the box of the current view belongs to."""
        match self.current:
            case "sessions":
                return self.sessions
            case "facts":
                return self.facts
            case _:
                return self.search

    @Slot()
    def focus_box(self) -> None:
        self.panel.focus_box()

    @Slot()
    def focus_list(self) -> None:
        """From the viewer back to the list."""
        match self.current:
            case "search":
                self.search.focus_results()
            case "sessions":
                self.sessions.focus_list()
            case "index":
                self.index.take_focus()
            case "facts":
                self.facts.focus_list()

    def shown_parts(self) -> list[QWidget]:
        """The list and the reader of the current view, or the page that takes their place."""
        stacks = (self.lists, self.readers, self.wholes)
        return [part for stack in stacks if stack.isVisible() and (part := stack.currentWidget()) is not None]

    def focus_reader(self) -> None:
        """Focus the viewer."""
        (self.viewer if self._wanted[self.current] is None else self.conversation).setFocus()

    @property
    def read_session(self) -> OpenedSession | None:
        """The session that is read, where one is."""
        return self.conversation.opened if self.readers.currentWidget() is self.conversation else None

    @property
    def read_name(self) -> str:
        """Stable name of the file that is read; empty where none is."""
        return self.viewer.name if self.readers.currentWidget() is self.viewer else ""

    # --- the open file or session -----------------------------------------------------------------------------------

    @Slot(object)
    def _hear_answer(self, answer: Answer | None) -> None:
        """The preview of an earlier query's result closes with the results, unless the user is reading there."""
        asked = None if answer is None else answer.question.subject
        if asked == self._asked:
            return  # a repeated query, since the index changed
        self._asked = asked
        if answer is None or answer.outcome.results:
            if not self.viewer.reads:
                self.viewer.clear()
            return
        focus = QApplication.focusWidget()
        if self.current != "search" or focus is None or not self.readers.isAncestorOf(focus):
            self._wanted["search"] = None
            self.viewer.clear(NOTHING_FOUND)
            self._show_wanted()

    @Slot(object, object)
    def show_result(self, result: MemorySearchResult, query: str) -> None:
        """A note in the viewer, a session as the conversation."""
        if result.message is None or "sessions" in self._lacks:
            self._wanted["search"] = None
            self.viewer.show_result(result, query)
        else:
            self._wanted["search"] = _Shown(result.path, result.title, result.snippet_line, query)
        self._show_wanted()

    def show_spot(self, spot: Location) -> None:
        """A place in a note or a session that was chosen elsewhere, in place of the result that was read."""
        if may_name_session(split_name(spot.path)[1]) and "sessions" not in self._lacks:
            title = spot.path.rpartition("/")[2]
            self._wanted["search"] = _Shown(spot.path, title, spot.line, "", spot.message)
        else:
            self._wanted["search"] = None
            self.viewer.show_file(spot.path, spot.line, spot.end)
        self.switch("search")
        self._show_wanted()
        self.place_shown.emit(spot)

    def show_session(self, summary: SessionSummary) -> None:
        """One of the list."""
        line, query = self.sessions.place(summary.path)
        self._wanted["sessions"] = _Shown(summary.path, summary.title or tr(UNTITLED), line, query)
        self._show_wanted()

    @Slot(object)
    def _show_selected(self, summary: SessionSummary | None) -> None:
        if summary is None:
            self._wanted["sessions"] = self.sessions.nothing_to_read
            self._show_wanted()
        else:
            self.show_session(summary)

    @Slot(str)
    def _show_similar(self, path: str) -> None:
        self.switch("sessions")
        self.sessions.show_similar(path)

    @Slot(object, str)
    def _search_like(self, passage: Passage, words: str) -> None:
        """Other passages like one that is read."""
        self.switch("search")
        self.search.controller.search_like(passage, words)

    @Slot(str)
    def _search_in(self, path: str) -> None:
        """More hits of the session that is read: search it alone, for the words that led there."""
        wanted = self._wanted[self.current]
        self.switch("search")
        if isinstance(wanted, _Shown):
            self.search.controller.search_in(Scope(path, wanted.title), wanted.query)

    def _arrange(self) -> None:
        self.lists.setCurrentWidget(self.sessions.body if self.current == "sessions" else self.search.body)
        self.wholes.setCurrentWidget(self.facts.body if self.current == "facts" else self.index)
        if self.current == "sessions":
            self._list_sessions()
        if isinstance(wanted := self._wanted[self.current], _Shown):
            self.conversation.return_to(wanted.path)
        self._show_wanted()

    def _list_sessions(self) -> None:
        """Nobody pays for a list that is never looked at."""
        if self._manager is None:
            return
        if not self._listed:
            self._listed = True
            self.sessions.set_manager(self._manager)
        elif self._stale:
            self.sessions.refresh()
        self._stale = False

    def _show_wanted(self) -> None:
        wanted = self._wanted[self.current]
        self.readers.setCurrentWidget(self.viewer if wanted is None else self.conversation)
        if wanted is None or wanted == self._shown:
            return
        self._shown = wanted
        if isinstance(wanted, NothingToRead):
            self.conversation.clear(wanted)
        else:
            self.conversation.show_session(wanted.path, wanted.line, wanted.query, wanted.message)
