"""The body of the sessions panel: counts, a notice, and the list or a page shown instead of it."""

from collections.abc import Sequence
from datetime import date
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QShowEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from engine import (
    FoundSource,
    MemoryProviderStatus,
    agent_labels,
    marked,
    shortened,
    tr,
    tr_count,
    usual_folders,
)
from gui.core.session_criteria import Criteria
from gui.sessions.content_search import ContentHits
from gui.sessions.rows import Listing, Row, SessionRow
from gui.sessions.session_catalog import SessionCatalog
from gui.sessions.session_figures import EDGE, SessionCalendar, SessionDays
from gui.sessions.session_list import SessionList
from gui.text.formatting import files_text, sessions_text, short_path
from gui.text.session_texts import agent_name, hits_text
from gui.text.status_texts import sessions_elsewhere
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import PageStack, clear_layout, column_of, row_of
from gui.widgets.list_header import ListHeader, Order
from gui.widgets.message_banner import NoticeBar
from gui.widgets.placeholder_page import Action, NothingToRead, StatePage
from gui.widgets.row_list import GUTTER

ORDERS = (
    Order("relevance", marked("Relevance"), marked("relevance"), marked("Best first")),
    Order("newest", marked("Newest"), marked("newest"), marked("Last used first")),
    Order("oldest", marked("Oldest"), marked("oldest"), marked("Last used last")),
    Order("longest", marked("Longest"), marked("longest"), marked("Most messages first")),
    Order("project", marked("Project"), marked("project"), marked("Sort by the folder that the agent worked in")),
)

READING = marked("Reading the list of sessions…")
SEARCHING = marked("Searching messages…")
CHOOSE = marked("Choose sessions…")
DOWNLOADED = marked("the folder with the export that you downloaded")
_LONGEST_TEXT = 80
CHOOSE_SESSION = NothingToRead(
    marked("Choose a session with Up and Down, and press Enter to read it here."),
    marked("J and K go from message to message, N through the found words, Esc goes back to the list."),
)

NO_SIMILAR_SESSION = marked("No embedded session is similar in meaning.")


class ListingView(QWidget):
    """Shows the list of sessions, or a page with a sentence and buttons."""

    sub_agents_requested = Signal(bool)
    """Whether the sessions of all sub-agents are to be shown."""
    folders_requested = Signal()
    """The table of folders is shown: `folders.show_found` is to be called."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = ListHeader(ORDERS)
        self.show_sub_agents = self.header.sort_button.add_option(tr("Show sub-agents"), self.sub_agents_requested.emit)
        self.hide_calendar = self.header.sort_button.add_option(tr("Hide calendar"), self._show_calendar)
        self.calendar = SessionCalendar()
        self._has_days = False
        self._calendar_frame = _framed(self.calendar)
        column = column_of(self.header, self._calendar_frame, spacing=0, parent=self)
        self.notice = NoticeBar(self)
        self._stack = PageStack(self)
        self.list = SessionList()
        self.page = StatePage(self._stack)
        self._content: tuple[object, ...] = ()
        self._counts = ""
        self._stack.addWidget(self.page)
        self._stack.addWidget(self.list)
        column.addWidget(self.notice)
        column.addWidget(self._stack)

    @cached_property
    def folders(self) -> "FolderTable":
        """The table of agents' folders, made when it is first shown."""
        table = FolderTable()
        table.requested.connect(self.folders_requested)
        return table

    @property
    def has_rows(self) -> bool:
        return self._stack.currentWidget() is self.list

    def show_rows(
        self,
        rows: Sequence[Row],
        counts: tuple[str, ...],
        *,
        words: Sequence[str] = (),
        keep: bool = False,
        sortable: bool = True,
    ) -> None:
        """Show the list with `words` highlighted; `keep` preserves the position.

        `counts`: long and short form of the line above the list. `sortable`: show the sort button.
        """
        self.header.show_counts(*counts, legend=False, sortable=sortable)
        self.list.setAccessibleDescription(counts[0])
        self._stack.setCurrentWidget(self.list)
        self.list.show_rows(rows, words, keep=keep)
        self._announce(counts[0])

    def show_days(self, days: SessionDays | None, listed: date | None = None) -> None:
        """Show the calendar with these numbers of sessions; with None, hide it."""
        self._has_days = days is not None
        if days is not None:
            self.calendar.show_days(days, listed)
        self._show_calendar()

    def _show_calendar(self, _: bool = False) -> None:
        self._calendar_frame.setVisible(self._has_days and not self.hide_calendar.isChecked())

    def show_page(
        self,
        words: tuple[str, str],
        counts: str = "",
        *,
        actions: Sequence[Action] = (),
        folders: bool = False,
    ) -> None:
        """Show a title and a sentence instead of the list, with buttons for `actions`, perhaps with `folders`."""
        content = (words, counts, tuple(text for text, _ in actions))
        if not self.has_rows and content == self._content:
            return  # a repeat must not take a focused button away
        self._content = content
        self.header.show_counts(counts, legend=False, sortable=False)
        self.page.show_state(*words, actions=actions, table=self.folders if folders else None)
        self._stack.setCurrentWidget(self.page)
        self.list.show_rows((), (), keep=False)
        self._announce(" ".join(part for part in words if part))

    def _announce(self, sentence: str) -> None:
        if sentence != self._counts and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))
        self._counts = sentence


def _framed(calendar: SessionCalendar) -> QWidget:
    """Return a widget that puts space around the calendar and a line below; hidden until there are sessions."""
    frame = QWidget()
    column_of(row_of(calendar, margins=(GUTTER - EDGE, 6, GUTTER - EDGE, 5)), line(), spacing=0, parent=frame)
    frame.hide()
    return frame


class FolderTable(QWidget):
    """Shows in which folders agents store their sessions: those found on this machine, else some examples.

    The names of all other agents are shown on request.
    """

    requested = Signal()
    """It is shown, perhaps after an agent was installed: `show_found` is to be called."""

    def __init__(self) -> None:
        super().__init__()
        self._found: Sequence[FoundSource] | None = None
        self._rows = column_of(spacing=0)
        self._more = push_button(role="flush")
        self._more.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self._more.clicked.connect(self._show_others)
        self._others = label(role="meta", wrap=True)
        self._others.hide()
        column_of(self._rows, self._more, self._others, spacing=0, parent=self)
        self.show_found(())

    def show_found(self, sources: Sequence[FoundSource]) -> None:
        """Show the folders with sessions among these, by agent, instead of the earlier rows; most files first."""
        if sources == self._found:
            return
        self._found = sources
        clear_layout(self._rows)
        found: dict[str, list[FoundSource]] = {}
        for source in sources:
            if source.kind == "sessions" and source.files:
                found.setdefault(agent_name(source.agent), []).append(source)
        *examples, (exports, _) = usual_folders()
        home = str(Path.home())
        for agent, agent_sources in sorted(found.items(), key=lambda item: -sum(source.files for source in item[1])):
            rows = (f"{short_path(source.path, home)} · {files_text(source.files)}" for source in agent_sources)
            self._add(agent, *rows)
        for agent, folder in () if found else examples:
            self._add(agent, folder)
        self._add(exports, tr(DOWNLOADED))
        shown = found.keys() or {agent for agent, _ in examples}
        others = [agent for agent in agent_labels() if agent not in shown]
        self._more.setText(tr_count("and {count:,} more agent", "and {count:,} more agents", len(others)))
        self._others.setText(breakable(", ".join(others)))
        expanded = not self._others.isHidden()
        self._more.setVisible(bool(others) and not expanded)
        self._others.setVisible(bool(others) and expanded)

    def _add(self, agent: str, *folders: str) -> None:
        self._rows.addWidget(label(agent, wrap=True))
        for folder in folders:
            self._rows.addWidget(label(breakable(folder), "meta", wrap=True))
        self._rows.addSpacing(6)

    def _show_others(self) -> None:
        self._more.hide()
        self._others.show()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.requested.emit()


def without_sessions(status: MemoryProviderStatus) -> tuple[str, str]:
    """Return the title and the sentence of the page without any sessions."""
    if "sessions" not in status.sources:  # no session folder has been chosen yet
        return (
            tr("Where are your sessions?"),
            tr(
                "Choose the agents whose sessions you want to search and read here. Nothing in their folders is "
                "changed."
            ),
        )
    if excluded := sessions_elsewhere(status):
        return tr("These sessions belong to other workspaces"), excluded
    if status.syncing is not None:
        return tr("No session is indexed yet"), tr("Sessions are listed here as soon as they have been indexed.")
    return tr("No session is indexed yet"), tr("No session was found in the folders that you chose.")


def nothing_matches(criteria: Criteria, hits: ContentHits, *, searching: bool) -> tuple[str, str]:
    """Return the title and the sentence of the page when the search or the filters exclude all sessions."""
    if searching:
        return "", tr(SEARCHING)
    text = shortened(criteria.text, _LONGEST_TEXT)
    title = tr("No session matches “{text}”", text=text) if text else tr("No session matches")
    chosen = criteria.agent or criteria.project or criteria.machine or criteria.period.narrows
    if chosen:
        return title, tr("Only sessions of the chosen agent, project and time were searched.")
    why = (tr("No title, project or message matches."), "" if hits.reason == hits.notice else hits.reason)
    return title, " ".join(filter(None, (*why, *(remedy.advice for remedy in hits.remedies))))


def header_counts(catalogue: SessionCatalog, criteria: Criteria, listing: Listing) -> tuple[str, str]:
    """Return the line above the list, in a long and a short form."""
    total = catalogue.sessions + catalogue.children  # counted as the index does
    if not criteria.narrows:
        short = sessions_text(total)
        agents = tr_count("{count:,} agent", "{count:,} agents", len(catalogue.agents))
        by_agents = ""
        if catalogue.children:
            by_agents = tr_count("{count:,} by a sub-agent", "{count:,} by sub-agents", catalogue.children)
        return " · ".join(filter(None, (short, by_agents, agents))), short
    short = tr_count(
        "{listed:,} of {count:,} session",
        "{listed:,} of {count:,} sessions",
        total,
        listed=listing.sessions,
    )
    return (f"{short} · {hits_text(listing.hits)}" if listing.hits else short), short


def box_state(listing: Listing) -> str:
    """Return the text in the search box after a search in messages."""
    if not listing.hits and any(isinstance(row, SessionRow) and row.similar for row in listing.rows):
        return tr("Found by meaning only")
    return hits_text(listing.hits) if listing.hits else tr("No passages found in sessions")


def notice(hits: ContentHits) -> str:
    """Return a notice that the hits are incomplete; empty if they are not."""
    if not hits.counted:
        return hits.notice
    best = len(hits.results)
    hidden = tr_count("Only the best match is counted.", "Only the best {count:,} matches are counted.", best)
    return " ".join(part for part in (hidden if hits.hidden else "", hits.notice) if part)


def similar_count(title: str, found: int) -> str:
    """Return the heading of the list of sessions similar to the one with this title."""
    if not found:
        return tr("No session is similar to “{title}”.", title=title)
    return tr_count(
        "{count:,} session similar to “{title}”", "{count:,} sessions similar to “{title}”", found, title=title
    )
