"""Actions on the open session: copy parts of it, fold its tool calls, find similar sessions."""

import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QMenu, QPlainTextEdit, QWidget

from engine import CancelToken, FileUse, MemorySearchManager, Passage, beginning_of, marked, number, tr, tr_count
from gui.commands.commands import LIKE, LINK, REMEMBER, allow, give_key
from gui.commands.keymap import Command, command
from gui.conversation.display_entries import Conversation, summary
from gui.conversation.prompt_list import FileList, JumpList, PromptList
from gui.conversation.row_folding import DETAILS, Detail
from gui.conversation.view import ConversationView
from gui.core.capabilities import Gate
from gui.core.jobs import Jobs, JobSlot
from gui.core.key_listing import missing
from gui.core.location import Location
from gui.style.typography import fixed_font, resize_with_text
from gui.text.formatting import exact
from gui.text.session_texts import UNTITLED, agent_name
from gui.widgets.buttons import push_button
from gui.widgets.labels import label
from gui.widgets.layouts import column_of

# --- A conversation, or one of its messages, as Markdown for the clipboard -------------------------------------------

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def entry_markdown(conversation: Conversation, number: int) -> str:
    """Return one entry as Markdown without its heading: speech as written, input and output of tools in code blocks."""
    entry = conversation.entries[number]
    texts = [conversation.text(part) for part in entry.parts]
    if entry.kind != "tool":
        return texts[0]
    line = summary(conversation, entry)
    name = f"{line.name} ({line.failed})" if line.failed else line.name
    return "\n\n".join([f"**{name}** {line.words}", *(_fenced(text) for text in texts if text)])


def conversation_markdown(conversation: Conversation, detail: Detail, token: CancelToken) -> str:
    """Return the session as Markdown; `detail` decides how much of tool calls and reasoning is included. Any thread."""
    return "\n\n".join(_parts(conversation, detail, token)) + "\n"


def _parts(conversation: Conversation, detail: Detail, token: CancelToken) -> Iterator[str]:
    session = conversation.session.summary
    yield f"# {session.title or tr(UNTITLED)}"
    began = "" if session.started is None else exact(session.started)
    yield " · ".join(filter(None, (agent_name(session.agent), session.project, session.branch, began)))
    speaker = ""
    for entry_number, entry in enumerate(conversation.entries):
        token.checkpoint()
        is_speech = entry.kind in ("user", "speech")
        # A branch is one line, or else all of its messages.
        left_out = detail == "full" if entry.kind == "branch" else entry.branch >= 0 and detail != "full"
        if left_out or (not is_speech and detail == "hidden"):
            continue
        if entry.speaker != speaker:
            speaker = entry.speaker
            yield f"## {speaker}" + (f", {exact(entry.time)}" if entry.time is not None else "")
        if is_speech or detail == "full":
            yield entry_markdown(conversation, entry_number)
        else:
            line = summary(conversation, entry)
            size = " · ".join(filter(None, (line.size, line.failed)))
            yield f"*{line.name}: {line.words} · {size}*"


def _fenced(text: str) -> str:
    """Return the text as a code block, with a fence longer than any inside the text."""
    ticks = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(text))])
    return f"{ticks}\n{text}\n{ticks}"


# ---------------------------------------------------------------------------------------------------------------------

_DETAIL = command("session.tools", marked("Show tool calls: hidden, short or full"), "conversation", "Alt+T")
_RESUME = command("session.copy-resume", marked("Copy resume command"), "conversation")
_MORE = command("session.more", marked("More from this session"), "conversation")
_SIMILAR = command("session.similar", marked("Similar sessions"), "conversation")
_COPY = command("session.copy", marked("Copy"), "conversation", QKeySequence.StandardKey.Copy)
_COPY_MESSAGE = command("session.copy-message", marked("Copy message as Markdown"), "conversation", "Ctrl+Shift+C")
_COPY_SESSION = command("session.copy-all", marked("Copy session as Markdown"), "conversation")
_RAW = command("session.raw", marked("Show the raw line"), "conversation", "Alt+R")
_PROMPTS = command("session.prompts", marked("Your messages"), "conversation", "Alt+J")
_FILES = command("session.files", marked("Files"), "conversation", "Alt+F")
_FOLD = command("session.fold", marked("Expand or collapse tool calls"), "conversation")
_TOOLS: dict[Detail, str] = {
    "hidden": marked("Tool calls: hidden"),
    "short": marked("Tool calls: short"),
    "full": marked("Tool calls: full"),
}
_COPIED: dict[Detail, str] = {
    "hidden": marked("Session copied, without tool calls"),
    "short": marked("Session copied, with each tool call on one line"),
    "full": marked("Session copied, with all tool calls"),
}
_MAX_CHARACTERS = 4000
_MAX_COPIED = 16_000_000
"""Maximum number of characters to copy; more would stall the programs that paste them."""
_MAX_PARSED = 256 * 1024
_MAX_SHOWN = 100_000
_MAX_NUMBERS = 8
"""Maximum number of lines whose numbers are all in the title."""
_LONGEST_LINE = 1_000
"""Maximum number of characters of a line; laying out a longer one would block the window."""


@dataclass(frozen=True)
class RawLines:
    """Raw lines of a transcript: `whole` for copying, and a text to show, indented if it is JSON."""

    whole: str
    display: str
    cut: bool


def read_raw(
    manager: MemorySearchManager, path: str, lines: Sequence[int], token: CancelToken, *, reveal: bool
) -> RawLines:
    """Read the raw transcript lines of messages. Any thread. Raises the errors of `raw_lines`."""
    raw = manager.raw_lines(path, lines, reveal=reveal, cancel=token)
    blocks = []
    for line in raw:
        token.checkpoint()
        blocks.append(_indented(line))
    text = "\n\n".join(blocks)
    folded = "\n".join(
        line[start : start + _LONGEST_LINE]
        for line in text[:_MAX_SHOWN].split("\n")
        for start in range(0, len(line) or 1, _LONGEST_LINE)
    )
    return RawLines("\n".join(raw), folded, len(text) > _MAX_SHOWN)


def _indented(text: str) -> str:
    if len(text) > _MAX_PARSED:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def show_raw(parent: QWidget, path: str, lines: Sequence[int], raw: RawLines) -> QDialog:
    """Open a dialog with raw transcript lines; Esc closes and deletes it."""
    dialog = QDialog(parent)
    numbers = ", ".join(number(line) for line in lines)
    if len(lines) > _MAX_NUMBERS:
        numbers = f"{number(lines[0])} … {number(lines[-1])}"
    dialog.setWindowTitle(
        tr_count("Line {numbers} of the transcript", "Lines {numbers} of the transcript", len(lines), numbers=numbers)
    )
    text = QPlainTextEdit()
    text.setReadOnly(True)
    text.setFont(fixed_font())
    text.setPlainText(raw.display)
    text.setAccessibleName(dialog.windowTitle())
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    copy = push_button(tr("Copy everything"), lambda: QGuiApplication.clipboard().setText(raw.whole))
    buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
    buttons.rejected.connect(dialog.reject)
    column = column_of(label(path, "meta", wrap=True), (text, 1), spacing=10, margins=(20, 16, 20, 14), parent=dialog)
    if raw.cut:
        message = tr_count(
            "The first {shown:,} of {count:,} character are shown; copying takes all.",
            "The first {shown:,} of {count:,} characters are shown; copying takes all.",
            len(raw.whole),
            shown=_MAX_SHOWN,
        )
        column.addWidget(label(message, "meta", wrap=True))
    column.addWidget(buttons)
    resize_with_text(dialog, 720, 520, parent)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


class ConversationActions(QObject):
    """The actions on a session for buttons, menus and keys.

    Signals:
        notified: a message about the result.
        more_requested: search in this session (its path).
        similar_requested: find similar sessions (its path).
        remember_requested: write a note of this session (its path and title).
        like_requested: find passages similar to this `Passage`, and its text.
        link_requested: copy a link to this `Location`.
        unmask_requested: masked secrets would become visible; call the argument if the user agrees.
    """

    notified = Signal(str)
    more_requested = Signal(str)
    similar_requested = Signal(str)
    remember_requested = Signal(str, str)
    like_requested = Signal(object, str)
    link_requested = Signal(object)
    unmask_requested = Signal(object)

    def __init__(self, jobs: Jobs, view: ConversationView, panel: QWidget) -> None:
        super().__init__(panel)
        self._view = view
        self._panel = panel
        self._manager: MemorySearchManager | None = None
        self._conversation: Conversation | None = None
        self._revealed = False
        self.offered: Sequence[QAction] = ()
        """Actions added by other panels, at the end of a message's menu."""
        self.detail = self._action(_DETAIL, self._cycle_detail)
        self.resume = self._action(_RESUME, self._copy_resume_command)
        self.more = self._action(_MORE, self._request_more)
        self.similar = self._action(_SIMILAR, self._request_similar)
        self.remember = self._action(REMEMBER, self._request_note)
        self.like = self._action(LIKE, self._request_like)
        self.link = self._action(LINK, self._request_link)
        self.copy = self._action(_COPY, self._copy)
        self.copy_message = self._action(_COPY_MESSAGE, self._copy_message)
        self.copy_session = self._action(_COPY_SESSION, self._copy_session)
        self.raw = self._action(_RAW, self._show_raw)
        self.prompts = self._action(_PROMPTS, self._show_prompts)
        self.files = self._action(_FILES, self._read_files)
        self.fold = self._action(_FOLD, self._toggle)
        self._raw_job, self._copy_job, self._files_job = JobSlot(self, jobs), JobSlot(self, jobs), JobSlot(self, jobs)
        self._resume_job = JobSlot(self, jobs)
        self._menu = QMenu(panel)
        self._menu.setToolTipsVisible(True)
        self._session_gates = [Gate(action, "similar") for action in (self.like, self.similar)]
        self._session_gates += Gate(self.more, "filters"), Gate(self.files, "insight")
        view.menu_requested.connect(self._open_menu)

    def set_session(
        self, manager: MemorySearchManager | None, conversation: Conversation | None, *, revealed: bool = False
    ) -> None:
        """Set the session that the actions apply to; `revealed`: its secrets are visible already."""
        self._manager, self._conversation, self._revealed = manager, conversation, revealed
        self._allow(conversation)
        self._raw_job.cancel()
        self._resume_job.cancel()
        self._files_job.cancel()
        for jump_list in self._view.findChildren(JumpList):
            jump_list.forget()
        self._show_detail()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory to read the session from, after it was opened again; None while none is open."""
        self._manager = manager

    def set_later_state(self, conversation: Conversation) -> None:
        """Replace the session by a later state with more messages; an open list stays open."""
        self._conversation = conversation
        self._allow(conversation)

    def _allow(self, conversation: Conversation | None) -> None:
        """Enable the actions that are possible for this conversation; the tooltips of disabled ones give the reason."""
        is_open, why = conversation is not None, missing("conversation")
        for gate in self._session_gates:
            gate.allow(is_open, why)
        for action in (self.copy, self.copy_message, self.copy_session, self.raw, self.fold):
            allow(action, is_open, why)
        resumed = conversation is not None and bool(conversation.session.summary.resume_command)
        has_messages = conversation is not None and bool(conversation.entries)
        has_prompts = conversation is not None and bool(conversation.prompts)
        allow(self.resume, resumed, _why_not_resumed(conversation) if conversation is not None else why)
        self.resume.setVisible(resumed or not is_open)
        allow(self.remember, has_messages, tr("This session has no messages.") if is_open else why)
        allow(self.prompts, has_prompts, tr("You wrote no messages in this session.") if is_open else why)

    def _action(self, known: Command, run: Callable[[], None]) -> QAction:
        action = QAction(known.label, self)
        action.triggered.connect(run)
        give_key(self._panel, action, known)
        return action

    def _request_more(self) -> None:
        if self._conversation is not None:
            self.more_requested.emit(self._conversation.session.summary.path)

    def _request_similar(self) -> None:
        if self._conversation is not None:
            self.similar_requested.emit(self._conversation.session.summary.path)

    def _request_note(self) -> None:
        if self._conversation is not None:
            summary = self._conversation.session.summary
            self.remember_requested.emit(summary.path, summary.title or tr(UNTITLED))

    def _request_like(self) -> None:
        """Emit a request for passages similar to the selected text, or else to the current message."""
        conversation, current = self._conversation, self._view.current.number
        if conversation is None or current is None:
            return
        numbers = conversation.entries[current].parts
        parts = [conversation.session.messages[number] for number in numbers]
        text = self._view.selection.text().strip() or "\n".join(map(conversation.text, numbers))
        passage = Passage(
            path=conversation.session.summary.path,
            start_line=parts[0].line,
            end_line=parts[-1].line,
            # Revealed text must not leave this window: the indexed, masked message is used.
            text="" if self._revealed else beginning_of(text, _MAX_CHARACTERS),
            message=parts[0].ordinal,
        )
        self.like_requested.emit(passage, passage.text)

    def _request_link(self) -> None:
        """Emit a request to copy a link to the current message."""
        conversation, current = self._conversation, self._view.current.number
        if conversation is not None and current is not None:
            message = conversation.message(conversation.entries[current])
            self.link_requested.emit(Location(conversation.session.summary.path, message.line, message=message.id))
            self.notified.emit(tr("Link to this message copied"))

    def _cycle_detail(self) -> None:
        detail = DETAILS[(DETAILS.index(self._view.folding.detail) + 1) % len(DETAILS)]
        self._view.folding.set_detail(detail)
        self._show_detail()

    def _show_detail(self) -> None:
        self.detail.setText(tr(_TOOLS[self._view.folding.detail]))

    def _toggle(self) -> None:
        if self._view.current.number is not None:
            self._view.folding.toggle(self._view.current.number)

    @cached_property
    def _prompt_list(self) -> PromptList:
        made = PromptList(self._view)
        made.chosen.connect(self._view.current.go_to)
        return made

    @cached_property
    def _file_list(self) -> FileList:
        made = FileList(self._view)
        made.chosen.connect(self._go_to_use)
        return made

    def _show_prompts(self) -> None:
        if self._conversation is not None and self._conversation.prompts:
            self._prompt_list.open(self._conversation, self._view.current.number)

    def _read_files(self) -> None:
        """Read the files that the session's tools used, then show them in a list."""
        conversation, insight = self._conversation, None if self._manager is None else self._manager.insight
        if conversation is None or insight is None:
            return
        path = conversation.session.summary.path
        self._files_job.read(lambda token: insight.session_files(path, token), self._show_files, self.notified.emit)

    def _show_files(self, uses: Sequence[FileUse]) -> None:
        if self._conversation is None:
            return
        if uses:
            self._file_list.open(self._conversation, uses)
        else:
            self.notified.emit(tr("No tool call of this session names a file."))

    def _go_to_use(self, entry: int) -> None:
        """Go to a tool call by its entry number, and show it if tool calls are hidden."""
        if self._conversation is not None:
            found = self._conversation.entries[entry]
            self._view.folding.show_pieces(entry, range(found.first_piece, found.after_piece))

    def _open_menu(self, position: QPoint) -> None:
        """Open the menu for the message under the mouse, which is already current."""
        conversation, current = self._conversation, self._view.current.number
        if conversation is None or current is None:
            return
        self._menu.clear()
        if self._view.selection.text():
            self._menu.addAction(self.copy)
        self._menu.addActions([self.copy_message, self.link, self.like, self.raw])
        if conversation.entries[current].kind not in ("user", "speech"):
            self._menu.addAction(self.fold)
        self._menu.addSeparator()
        self._menu.addActions([self.remember, self.copy_session, self.prompts, self.files, self.more, self.similar])
        self._menu.addSeparator()
        self._menu.addActions(self.offered)
        self._menu.popup(position)

    def _current_entries(self) -> range:
        """The current message, or all tool calls of the closed group whose line is current; empty without one."""
        current, layout = self._view.current.number, self._view.scroller.layout
        if current is None:
            return range(0)
        if layout is not None and layout.rows.fold(current) == "grouped":
            return layout.rows.group(current)
        return range(current, current + 1)

    # --- raw lines ------------------------------------------------------------------------------------------------

    def _show_raw(self) -> None:
        """Show the raw transcript lines of the current message or closed group, after asking the user if they contain
        masked secrets."""
        if self._conversation is None or self._view.current.number is None:
            return
        if self._conversation.session.masked and not self._revealed:
            self.unmask_requested.emit(lambda: self._read_raw(reveal=True))
        else:
            self._read_raw(reveal=self._revealed)

    def _read_raw(self, *, reveal: bool) -> None:
        conversation, manager, entries = self._conversation, self._manager, self._current_entries()
        if conversation is None or manager is None or not entries:
            return
        path = conversation.session.summary.path
        parts = [part for number in entries for part in conversation.entries[number].parts]
        lines = list(dict.fromkeys(conversation.session.messages[part].line for part in parts))
        self._raw_job.read(
            lambda token: read_raw(manager, path, lines, token, reveal=reveal),
            lambda raw: show_raw(self._panel, path, lines, raw),
            self.notified.emit,
        )

    # --- copying --------------------------------------------------------------------------------------------------

    def _copy_resume_command(self) -> None:
        if self._conversation is None:
            return
        summary = self._conversation.session.summary
        QGuiApplication.clipboard().setText(summary.resume_command)

        def is_gone(_token: CancelToken) -> bool:
            if not summary.resume_command.startswith("cd "):
                return False
            folder = Path(os.path.expanduser(summary.project))  # noqa: PTH111 - the other raises for an unknown user
            try:
                return not folder.is_dir()
            except OSError:  # not allowed to look, or the name is too long
                return False

        def report(gone: bool) -> None:
            sentence = tr("Copied {command}", command=summary.resume_command)
            if gone:
                sentence = tr(
                    "Copied, but the folder {folder} doesn't exist. Create it or move it back first.",
                    folder=summary.project,
                )
            self.notified.emit(sentence)

        self._resume_job.read(is_gone, report, self.notified.emit)

    def _copy(self) -> None:
        """Copy the selected text, or else the current message."""
        if text := self._view.selection.text():
            QGuiApplication.clipboard().setText(text)
        else:
            self._copy_message()

    def _copy_message(self) -> None:
        conversation, entries = self._conversation, self._current_entries()
        if conversation is None or not entries:
            return

        def markdown(token: CancelToken) -> str:
            parts = []
            for entry_number in entries:
                token.checkpoint()
                parts.append(entry_markdown(conversation, entry_number))
            return "\n\n".join(parts)

        self._copy_in_background(markdown, tr("Message copied"))

    def _copy_session(self) -> None:
        conversation, detail = self._conversation, self._view.folding.detail
        if conversation is not None:
            self._copy_in_background(partial(conversation_markdown, conversation, detail), tr(_COPIED[detail]))

    def _copy_in_background(self, make: Callable[..., str], sentence: str) -> None:
        too_long = tr("This session is too long for the clipboard. Hide the tool calls and copy it again.")

        def copy(text: str) -> None:
            if len(text) <= _MAX_COPIED:
                QGuiApplication.clipboard().setText(text)
            self.notified.emit(sentence if len(text) <= _MAX_COPIED else too_long)

        self._copy_job.read(make, copy, self.notified.emit)


def _why_not_resumed(conversation: Conversation) -> str:
    machine = conversation.session.summary.machine
    if machine:
        return tr("Resume this session on {machine}, where it was recorded.", machine=machine)
    return tr("This session cannot be resumed.")
