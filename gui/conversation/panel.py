"""The panel for one session: a header, the conversation, and a find bar."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QObject, QUrl, Signal, SignalInstance, Slot
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QWidget

from engine import FileChunks, MemorySearchManager, tr, tr_count
from gui.conversation.actions import ConversationActions
from gui.conversation.display_entries import Conversation
from gui.conversation.header import ConversationHeader
from gui.conversation.hit_navigation import ConversationLines
from gui.conversation.loader import (
    NewMessages,
    NewMessagesButton,
    OpenedSession,
    ResultLocation,
    SessionImages,
    SessionLoader,
    SessionRequest,
    SessionWatch,
)
from gui.conversation.view import ConversationView
from gui.core.jobs import Jobs
from gui.core.location import ReadingPosition, ReadingPositions
from gui.sessions.listing_view import CHOOSE_SESSION
from gui.text.session_texts import IMAGE_SCHEME
from gui.viewer.base_viewer import NOT_INDEXED, BaseViewer, LinkFollower
from gui.viewer.chunks.card import ChunkCard
from gui.viewer.chunks.inspector import ChunkInspector
from gui.viewer.chunks.view import ChunkLanes
from gui.viewer.match_list import names_tool_calls
from gui.viewer.match_navigator import IN_SESSION
from gui.widgets.placeholder_page import NothingToRead

# --- The chunks of a session: shown as rows below the conversation, one by one, with the chunk's message in view.


class _Messages:
    """Adapts a conversation to the `ChunkInspector`: finds the message of a chunk, and draws nothing in the margin."""

    def __init__(self, view: ConversationView) -> None:
        self._view = view
        self._lanes: ChunkLanes | None = None
        self.conversation: Conversation | None = None

    def current_line(self) -> int:
        current = self._view.current.number
        if self.conversation is None or current is None:
            return 1
        return self.conversation.message(self.conversation.entries[current]).line

    def set_margin(self, shown: bool) -> None:
        """Do nothing: a conversation has no margin with chunk borders."""

    def set_chunks(self, file: FileChunks | None, lanes: ChunkLanes | None) -> None:
        self._lanes = lanes

    def set_chosen(self, number: int | None) -> None:
        """Do nothing: the chosen chunk's message is the current one."""

    def reveal_chunk(self, number: int) -> None:
        if self._lanes is not None and self.conversation is not None:
            self._view.current.go_to(self.conversation.at_line(self._lanes.chunks[number].start_line)[0])


class ConversationChunks(QObject):
    """Shows the index chunk of the current message in `card`, while `inspector.margin_action` is checked."""

    def __init__(self, jobs: Jobs, view: ConversationView, panel: BaseViewer) -> None:
        super().__init__(panel)
        self.card = ChunkCard()
        self._messages = _Messages(view)
        self.inspector = ChunkInspector(jobs, self._messages, self.card, panel, tr("Show passages of the index"))
        self.inspector.margin_action.toggled.connect(self._show_first)
        self.card.closed.connect(lambda: self.inspector.margin_action.setChecked(False))

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool) -> None:
        """Set the memory of the sessions. `reopening`: the folder is the same, and the shown session stays open."""
        if not reopening:
            self._messages.conversation = None
        self.inspector.set_manager(manager, reopening=reopening)

    def show_conversation(self, conversation: Conversation | None) -> None:
        """Set the conversation whose chunks to show, possibly a later state of the same session; None for none."""
        self._messages.conversation = conversation
        self.inspector.show_file("" if conversation is None else conversation.session.summary.path, None)

    @Slot(bool)
    def _show_first(self, shown: bool) -> None:
        """Show the chunk of the current message if `shown`; this also reopens a closed card."""
        if shown and not self.inspector.selection_pending:
            self.inspector.select_next(True)


# ---------------------------------------------------------------------------------------------------------------------

_SECRETS = "secrets"


class ConversationPanel(BaseViewer):
    """Shows one session at a time.

    Signals:
        like_requested: find passages similar to this `Passage`, and its text.
        session_shown: the path of the session that is shown now.
    """

    like_requested = Signal(object, str)
    session_shown = Signal(str)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, IN_SESSION, parent)
        self._manager: MemorySearchManager | None = None
        self._request: SessionRequest | None = None
        self._opened: OpenedSession | None = None
        self._unread = False  # it was written while it was not on the screen
        self._positions = ReadingPositions()
        self.view = ConversationView(jobs)
        self._loader = SessionLoader(jobs, self)
        self.live_updates = SessionWatch(jobs, self)
        self.new_messages = NewMessagesButton(self.view)
        self.links = LinkFollower(jobs, self)
        self._images = SessionImages(jobs, self)
        self.session_actions = ConversationActions(jobs, self.view, self)
        self.chunks = ConversationChunks(jobs, self.view, self)
        actions = self.session_actions
        chunks = self.chunks.inspector.margin_action
        menu = [
            actions.copy_message,
            actions.link,
            actions.like,
            actions.copy_session,
            actions.raw,
            None,
            self.find_action,
            chunks,
        ]
        buttons = [
            actions.detail,
            actions.prompts,
            actions.files,
            actions.remember,
            actions.resume,
            actions.more,
            actions.similar,
        ]
        self.header = ConversationHeader(buttons, menu, self)
        self._build_layout(self.header, self.header.show_active, self.view)
        self._add_cards(self.chunks.card)
        self._connect()
        self.clear()

    # --- for the window -------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory, or None. `reopening`: the folder is the same, and the shown session stays open."""
        self._manager = manager
        self.chunks.set_manager(manager, reopening=reopening)
        if not reopening:
            self.clear()
            return
        self.links.cancel()
        self._loader.cancel()
        self.live_updates.stop()
        opened = self._opened
        if opened is None or self._request is None or opened.request.path != self._request.path:
            self._open()
            return
        self.session_actions.set_manager(manager)
        if manager is not None:
            self.live_updates.follow(manager, opened.request.path)
            self._on_written()

    def show_session(self, path: str, line: int | None = None, query: str = "", message: str = "") -> None:
        """Show a session at a transcript line or at a message (its id), with the words of `query` highlighted."""
        if self._manager is None:
            return
        self.links.cancel()
        opened = self._opened
        if opened is not None and opened.request.path == path:
            before, self._request = self._request, SessionRequest(path, line, query, opened.request.reveal, message)
            if before != self._request:
                same_query = before is not None and before.line is None and before.query == query
                if same_query and self.view.scroller.is_restored:
                    self.return_to(
                        path, self.view_state
                    )  # the best hit arrived late: the user is back at the old position
                self._loader.find_location(opened.conversation, self._request)
            return
        self._request = SessionRequest(path, line, query, message=message)
        self._open()

    @property
    def opened(self) -> OpenedSession | None:
        """The open session, with the folding state of its rows; None without one."""
        return self._opened

    @property
    def view_state(self) -> ReadingPosition | None:
        """The user's position in the open session; None if there is none."""
        position = self.view.scroller.reading
        return None if self._opened is None else position

    @property
    def is_read(self) -> bool:
        """Whether the user has scrolled the open session, or has the keyboard focus in it."""
        return self._opened is not None and (self.view.verticalScrollBar().value() > 0 or self.view.hasFocus())

    @property
    def scrolled(self) -> SignalInstance:
        """The signal that the scroll bar's value has changed."""
        return self.view.verticalScrollBar().valueChanged

    def return_to(self, path: str, position: ReadingPosition | None = None) -> None:
        """When `path` is shown next, restore its last position, or go to `position`; an empty path cancels."""
        self._positions.restore_next(path, position)

    def offer(self, actions: Sequence[QAction]) -> None:
        """Add actions to the menu of the open session."""
        self.header.offer(actions)
        self.session_actions.offered = actions

    @Slot()
    def remember(self) -> None:
        """Emit a request to write a note of the open session."""
        self.session_actions.remember.trigger()

    def refresh(self) -> None:
        """Update the open session after a change of the index, without scrolling."""
        if self._opened is None and not self._loader.busy:
            self._open()  # the transcript may be back
        if self._manager is not None and self._opened is not None:
            self.live_updates.reread(self._manager, self._opened)
            self.chunks.inspector.refresh()

    def clear(self, instead: NothingToRead = CHOOSE_SESSION) -> None:
        """Show the message `instead` in place of a session."""
        self._request = None
        self.links.cancel()
        self._loader.cancel()
        self._close_session()
        self.header.hide()
        self._show_message(tr(instead.sentence), keys=tr(instead.keys))

    # --- opening --------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        if self._manager is not None and self._request is not None:
            self._loader.open(self._manager, self._request)

    def _close_session(self) -> None:
        if (position := self.view_state) is not None:
            self._positions.store(position)
        self._close_find()
        self.find_in_text.hits.stop()
        self.live_updates.stop()
        self.new_messages.hide()
        self.banner.clear(_SECRETS)
        self._opened, self._unread = None, False
        self.chunks.show_conversation(None)
        self.session_actions.set_session(self._manager, None)
        self.view.set_conversation(None, None)

    def _on_opened(self, opened: OpenedSession) -> None:
        self._close_session()
        self._opened = opened
        session = opened.conversation.session
        self.view.set_conversation(opened.conversation, opened.rows)
        self.chunks.show_conversation(opened.conversation)
        self.session_actions.set_session(self._manager, opened.conversation, revealed=opened.request.reveal)
        self.header.show_session(session)
        self.header.show()
        self._show_secrets_notice(opened)
        if self._manager is not None:
            self.live_updates.follow(self._manager, session.summary.path)
        if not opened.conversation.entries:
            self._show_message(tr("This session has no messages."))
            return
        self._show_page(self.view)
        self._scroll_to_result(opened.request, opened.result_location)
        self.session_shown.emit(session.summary.path)

    def _scroll_to_result(self, request: SessionRequest, location: ResultLocation) -> None:
        """Highlight the query's words, and scroll to the location of the search result."""
        if self._opened is None:
            return
        conversation = self._opened.conversation
        hit, call = location.hit, request.line if names_tool_calls(request.query) else None
        near = conversation.entries[location.entry].first_piece + 1
        lines = ConversationLines(conversation)
        self.find_in_text.hits.search_in(
            self.view.hits, lines, near=near, query=request.query, language=conversation.language
        )
        if hit is not None:
            # Not "unless it is in view": that depends on the texts laid out by now, and on an earlier result.
            self.view.hits.show_hit(hit, stays=False)
        elif call is not None:
            number = conversation.call_at_line(call)
            entry = conversation.entries[number]
            self.view.folding.show_pieces(number, range(entry.first_piece, entry.after_piece))
        elif request.line is not None and request.query:
            self.view.folding.show_pieces(*conversation.at_line(request.line))  # found by meaning: no word to show
        elif request.line is not None:
            self.view.folding.show_hidden(*conversation.at_line(request.line))
        position = self._positions.position_for(request.path)
        if position is not None:
            self.view.scroller.return_to(position)

    def _on_written(self) -> None:
        """Read the session again after its transcript changed: now or, if the panel is hidden, when it is shown."""
        self._unread = not self.view.isVisible()
        if not self._unread and self._manager is not None and self._opened is not None:
            self.live_updates.reread(self._manager, self._opened, written=True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._unread:
            self._on_written()

    def _on_grown(self, grown: NewMessages) -> None:
        before, opened = self._opened, grown.opened
        if before is None or not before.conversation.entries or not opened.conversation.entries:
            self._on_opened(opened)
            return
        self._opened = opened
        self.view.grow(opened.conversation, opened.rows, grown.same)
        self.chunks.show_conversation(opened.conversation)
        self.session_actions.set_later_state(opened.conversation)
        self.header.show_session(opened.conversation.session)
        self.find_in_text.hits.search_again(ConversationLines(opened.conversation))
        if opened.conversation.session.masked != before.conversation.session.masked:
            self._show_secrets_notice(opened)
        self.new_messages.report_new(len(before.conversation.entries))

    def _on_failed(self, sentence: str) -> None:
        self._close_session()
        self.header.hide()
        self._show_message(sentence, retry=True)

    def _on_slow(self) -> None:
        self._close_session()
        self.header.hide()
        self._show_message(tr("Reading the session…"))

    def _show_message(self, sentence: str, *, keys: str = "", retry: bool = False) -> None:
        self.empty_page.show_message(sentence, keys=keys, retry=retry)
        self._show_page(self.empty_page)

    # --- secrets --------------------------------------------------------------------------------------------------

    def _show_secrets_notice(self, opened: OpenedSession) -> None:
        secrets = opened.conversation.session.masked
        if not secrets:
            return
        if opened.request.reveal:
            notice = tr_count(
                "{count:,} message holds secrets. They are shown until you leave this session.",
                "{count:,} messages hold secrets. They are shown until you leave this session.",
                secrets,
            )
            hide = (tr("Mask secrets"), lambda: self._reread(reveal=False))
            self.banner.show_message(notice, "degraded", hide, key=_SECRETS)
        else:
            notice = tr_count(
                "{count:,} message holds secrets, which are masked.",
                "{count:,} messages hold secrets, which are masked.",
                secrets,
            )
            self.banner.show_message(notice, "off", (tr("Reveal…"), self._confirm_reveal), key=_SECRETS)

    def _confirm_reveal(self) -> None:
        self.banner.show_message(
            tr("Show these secrets in plain text on this screen? They are masked again in the next session."),
            "degraded",
            (tr("Reveal secrets"), lambda: self._reread(reveal=True)),
            (tr("Keep secrets masked"), self._leave_masked),
            key=_SECRETS,
        )

    def _confirm(self, show: Callable[[], None]) -> None:
        """Ask the user before `show` reveals masked secrets."""
        self.banner.show_message(
            tr("This is the raw line of the transcript, with its secrets in plain text."),
            "degraded",
            (tr("Show the raw line"), show),
            (tr("Don't show"), self._leave_masked),
            key=_SECRETS,
        )

    def _leave_masked(self) -> None:
        if self._opened is not None:
            self._show_secrets_notice(self._opened)

    def _reread(self, *, reveal: bool) -> None:
        """Read the open session again, with or without masked secrets, and stay at the same message."""
        current = self.view.current.number
        if self._opened is None or self._request is None or current is None:
            return
        conversation = self._opened.conversation
        line = conversation.message(conversation.entries[current]).line
        self._request = SessionRequest(self._request.path, line, self._request.query, reveal)
        self._open()

    # --- finding --------------------------------------------------------------------------------------------------

    def _open_find(self) -> None:
        if self._opened is not None:
            selected = self.view.selection.text()
            self.find_in_text.bar.open(selected if "\n" not in selected else "")

    def _follow(self, url: QUrl) -> None:
        """Open a clicked link: a web page in the browser, an indexed file in the viewer, an image in its program."""
        if url.scheme() == IMAGE_SCHEME and self._manager is not None and self._opened is not None:
            self._images.open(self._manager, self._opened, url.path())
        elif self._manager is not None and self._request is not None:
            self.links.follow(url, self._request.path, self._manager)

    def _connect(self) -> None:
        self._loader.opened.connect(self._on_opened)
        self._loader.location_found.connect(self._scroll_to_result)
        self.live_updates.grown.connect(self._on_grown)
        self.live_updates.written.connect(self._on_written)
        self._loader.failed.connect(self._on_failed)
        self._loader.slow.connect(self._on_slow)
        self.empty_page.retry.connect(self._open)
        self.session_actions.notified.connect(self.hint.show_message)
        self.session_actions.unmask_requested.connect(self._confirm)
        self.links.missing_note_clicked.connect(lambda _: self.hint.show_message(tr(NOT_INDEXED)))
        self.links.notified.connect(self.hint.show_message)
        self._images.failed.connect(self.hint.show_message)
        self.view.link_clicked.connect(self._follow)
        self.session_actions.like_requested.connect(self.like_requested)
        self.chunks.inspector.more_requested.connect(self.like_requested)
        self.chunks.inspector.notified.connect(self.hint.show_message)
