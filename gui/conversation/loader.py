"""Reads one session in the background, prepares it for display, and reads it again when it has grown."""

import re
import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QPushButton

from engine import (
    CancelToken,
    MemorySearchManager,
    MnemoscopeError,
    SessionSummary,
    growing_part,
    temporary_prefix,
    tr,
    tr_count,
)
from gui.conversation.display_entries import Conversation, prepare
from gui.conversation.row_folding import Rows
from gui.conversation.view import ConversationView
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.viewer.external_programs import ExternalOpener
from gui.viewer.file_loader import FileWatch
from gui.viewer.match_list import Finder, Hit, names_tool_calls, query_finder

_NOTICE_DELAY_MS = 200
_REPEAT_MS = 500
"""Pause before a session that was written while it was read is read again: a long one takes half a second."""
_MAX_PIECES = 2_000
"""Pieces that are searched for the first hit in a session that was opened without a line."""
_IMAGE_ADDRESS = re.compile("([0-9]{1,9})/([0-9]{1,9})")


@dataclass(frozen=True)
class SessionRequest:
    """A session to load, and the location to show in it."""

    path: str
    line: int | None
    query: str
    reveal: bool = False
    message: str = ""
    """Id of a message; if given, it takes precedence over the line."""


@dataclass(frozen=True)
class ResultLocation:
    """Where to scroll in a session that was opened from a search result: an entry, and the first hit in it."""

    entry: int
    hit: Hit | None


@dataclass(frozen=True)
class OpenedSession:
    """A session that was read for the view, with the location of the result that opened it."""

    request: SessionRequest
    conversation: Conversation
    rows: Rows
    result_location: ResultLocation


class SessionLoader(JobOwner, QObject):
    """Loads one session at a time; a new request cancels the previous one.

    Signals:
        opened: the session was read (OpenedSession).
        location_found: the location in the open session was found (SessionRequest, ResultLocation).
        failed: it can't be shown (a sentence).
        slow: loading takes long enough for a message.
    """

    opened = Signal(object)
    location_found = Signal(object, object)
    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._notice_delay = QTimer(self, singleShot=True, interval=_NOTICE_DELAY_MS)
        self.slow = self._notice_delay.timeout

    def open(self, manager: MemorySearchManager, request: SessionRequest) -> None:
        """Read the requested session and find the location in it."""
        self.cancel()

        def work(token: CancelToken) -> OpenedSession:
            session = manager.read_session(request.path, reveal=request.reveal, cancel=token)
            conversation = prepare(session, token)
            there = _placed(request, conversation)
            return OpenedSession(there, conversation, Rows(conversation), _find_location(conversation, there, token))

        self._notice_delay.start()
        self._job.read(work, self._deliver, self._fail)

    def find_location(self, conversation: Conversation, request: SessionRequest) -> None:
        """Find the requested location in a session that is open already."""
        self.cancel()
        there = _placed(request, conversation)
        self._job.read(
            lambda token: _find_location(conversation, there, token),
            lambda found: self.location_found.emit(there, found),
        )

    def cancel(self) -> None:
        self._notice_delay.stop()
        self._job.cancel()

    def _deliver(self, opened: OpenedSession) -> None:
        self._notice_delay.stop()
        self.opened.emit(opened)

    def _fail(self, sentence: str) -> None:
        self._notice_delay.stop()
        self.failed.emit(sentence)


def _placed(request: SessionRequest, conversation: Conversation) -> SessionRequest:
    """Return the request with the current transcript line of its message; unchanged if the message no longer exists."""
    if not request.message:
        return request
    lines = (message.line for message in conversation.session.messages if message.id == request.message)
    return replace(request, line=next(lines, request.line))


def _find_location(conversation: Conversation, request: SessionRequest, token: CancelToken) -> ResultLocation:
    finder = query_finder(request.query, conversation.language) if request.query.strip() else None
    return result_location(conversation, request.line, finder, token, calls=names_tool_calls(request.query))


def result_location(
    conversation: Conversation, line: int | None, finder: Finder | None, token: CancelToken, *, calls: bool = False
) -> ResultLocation:
    """Find the first hit at a line of the transcript, or in all if `line` is None.

    Without a hit, the result is the entry of the line, or the first one. `calls`: search tool calls of the line first,
    since the message may mention the file before it calls the tool. Any thread. Raises `Cancelled`.
    """
    if line is None:
        entry, pieces = 0, list(range(min(_MAX_PIECES, len(conversation.pieces))))
    else:
        entry, pieces = conversation.at_line(line)
        if calls:
            pieces = sorted(pieces, key=conversation.is_markdown)
    for piece in pieces if finder is not None else ():
        token.checkpoint()
        assert finder is not None
        location = finder(conversation.searchable(piece))
        if location:
            return ResultLocation(conversation.entry_of_piece[piece], Hit(piece + 1, *location[0]))
    return ResultLocation(entry, None)


# --- Follows an open session: new messages are read in the background and added below the current position -----------

_BELOW = 12


@dataclass(frozen=True)
class NewMessages:
    """A later state of the open session, and the number of leading pieces that are unchanged."""

    opened: OpenedSession
    same: int


class SessionWatch(QObject):
    """Reads the open session again when its index entry or its transcript has changed.

    Signals:
        grown: the session has new messages (NewMessages).
        written: the transcript has changed; call `reread`.
    """

    grown = Signal(object)
    written = Signal()

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job, self._located = JobSlot(self, jobs), JobSlot(self, jobs)
        self._again = False
        self._pause = QTimer(self, singleShot=True, interval=_REPEAT_MS)
        self._pause.timeout.connect(self.written)
        self._files = FileWatch(self, quiet=False), FileWatch(self, quiet=False)
        for watch in self._files:
            watch.changed.connect(self.written)

    def follow(self, manager: MemorySearchManager, path: str) -> None:
        """Watch the transcript of this session. The index is not enough: it is updated only after much was written."""

        def take(location: Path) -> None:
            part = growing_part(str(location))  # may be created later
            for watch, file in zip(self._files, (location, Path(part) if part else None), strict=True):
                watch.follow(file)

        self._located.read(lambda _token: manager.locate(path), take)

    def reread(self, manager: MemorySearchManager, opened: OpenedSession, *, written: bool = False) -> None:
        """Read the session again after a change of the index or, if `written`, of its transcript.

        If that fails, the display doesn't change.
        """
        if self._job.busy:
            self._again = True  # a running read may be from before the change
            return

        def work(token: CancelToken) -> NewMessages | None:
            return _read_again(manager, opened, token, written=written)

        def take(grown: NewMessages | None) -> None:  # None also if reading failed
            if self._again:
                self._again = False
                self._pause.start()
            if grown is not None:
                self.grown.emit(grown)

        self._job.read(work, take, lambda _sentence: take(None))

    def stop(self) -> None:
        """Stop watching, since another session or none is shown."""
        self._again = False
        self._pause.stop()
        self._job.cancel()
        self._located.cancel()
        for watch in self._files:
            watch.follow(None)


def _read_again(
    manager: MemorySearchManager, opened: OpenedSession, token: CancelToken, *, written: bool
) -> NewMessages | None:
    """Read the session again; returns None if nothing has changed."""
    request, before = opened.request, opened.conversation
    known = before.session.summary
    if not written and _listed(manager, request.path, known) == known:
        return None
    session = manager.read_session(request.path, reveal=request.reveal, cancel=token)
    if session == before.session:
        return None
    now = prepare(session, token, before)
    return NewMessages(replace(opened, conversation=now, rows=Rows(now)), _same_pieces(before, now))


def _listed(manager: MemorySearchManager, path: str, known: SessionSummary) -> SessionSummary:
    """Return the current summary of a session from the index; `known` if it is not listed."""
    return next((summary for summary in manager.sessions() if summary.path == path), known)


def _same_pieces(before: Conversation, now: Conversation) -> int:
    """Return the number of leading pieces with the same text in both conversations."""
    older, newer = before.session.messages, now.session.messages
    for old, new in zip(before.entries, now.entries, strict=False):
        if old != new or any(older[part] is not newer[part] and older[part] != newer[part] for part in new.parts):
            return new.first_piece
    return min(len(before.pieces), len(now.pieces))


class NewMessagesButton(QPushButton):
    """A button over the lower edge of a conversation that has grown out of view; it scrolls to the new messages."""

    def __init__(self, view: ConversationView) -> None:
        super().__init__(view)
        self._view = view
        self._first = 0
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the key End does the same
        self.setProperty("role", "primary")
        self.hide()
        self.clicked.connect(lambda: view.current.go_to(self._first))
        view.verticalScrollBar().valueChanged.connect(self._hide_at_end)
        view.installEventFilter(self)

    def report_new(self, first: int) -> None:
        """Show that there are new entries, from number `first` on."""
        self._first = first if self.isHidden() else min(self._first, first)
        conversation = self._view.conversation
        entries = conversation.entries[self._first :] if conversation is not None else ()
        message_count = sum(entry.kind in ("user", "speech") for entry in entries)
        self.setText(tr_count("{count:,} new message below", "{count:,} new messages below", message_count))
        self.setVisible(message_count > 0)
        self._place()
        self._hide_at_end()

    @Slot()
    def _hide_at_end(self) -> None:
        if self._view.scroller.shows_end:
            self.hide()

    def _place(self) -> None:
        self.adjustSize()
        view = self._view
        self.move((view.viewport().width() - self.width()) // 2, view.height() - self.height() - _BELOW)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)


# --- Opens images of the session -------------------------------------------------------------------------------------


class SessionImages(QObject):
    """Opens images whose data is in a transcript, in the system's program for them.

    Their files are private, and deleted at the end of the program.

    Signals:
        failed: an image can't be opened (a sentence).
    """

    failed = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)
        self._folders: list[tempfile.TemporaryDirectory[str]] = []
        self._external = ExternalOpener(jobs, self)
        self._external.failed.connect(self.failed)

    def open(self, manager: MemorySearchManager, opened: OpenedSession, address: str) -> None:
        """Open the image with this address, the number of a message and that of the image in it: `3/0`.

        A message can contain such a link itself, with any address.
        """
        messages = opened.conversation.session.messages
        numbers = _IMAGE_ADDRESS.fullmatch(address)
        if numbers is None or (message := int(numbers[1])) >= len(messages):
            self.failed.emit(tr("This kind of link can't be opened."))
            return
        work = partial(self._write, manager, opened.request.path, message, int(numbers[2]))
        self._job.read(work, self._external.open_image, self.failed.emit)

    def _write(self, manager: MemorySearchManager, path: str, message: int, number: int, token: CancelToken) -> Path:
        """Write an image to a file, and return it. Any thread. Raises `MnemoscopeError` if its data isn't there."""
        try:
            found = manager.session_image(path, message, number, cancel=token)
        except FileNotFoundError:
            found = None
        if found is None:
            raise MnemoscopeError(tr("The data of this image is not in the transcript."))
        folder = tempfile.TemporaryDirectory(prefix=temporary_prefix("images"), ignore_cleanup_errors=True)
        self._folders.append(folder)
        file = Path(folder.name, f"{message}-{number}.{found[1]}")
        file.write_bytes(found[0])
        return file
