"""Creates notes of sessions: reads a session, lets the user edit the note, saves it, and shows the result.

A notice lists the notes that an agent has written.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QFile, Signal, Slot

from engine import (
    CancelToken,
    MemoryProviderStatus,
    MemorySearchManager,
    NoteError,
    SessionNote,
    Settings,
    WrittenNote,
    draft_note,
    locate_untouched,
    name_in,
    save_note,
    split_name,
    suggest_slug,
    tr,
    tr_count,
)
from gui.core.jobs import JobSlot
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenWorkspace, Workspace
from gui.remember.note_dialog import NoteDialog
from gui.widgets.placeholder_page import Action

# --- Undoes writing a note: moves it to the trash, only if it is unchanged since -------------------------------------


class Trash:
    """Moves session notes written by this program to the trash."""

    def __init__(self, context: WindowContext) -> None:
        self._workspace = context.workspace
        self._banner = context.banner
        self._jobs = context.jobs

    def move_to_trash(self, opened: OpenWorkspace, note: WrittenNote, folder: Path | None = None) -> None:
        """Move a note to the trash, and show a message. `folder`: its workspace, if that is not the open one."""

        def report(_: object) -> None:
            self._banner.show_message(tr("{note} is in the trash.", note=note.path), "off", key="remembered")
            if self._workspace.current is opened and folder is None:
                self._workspace.sync("watch")

        self._jobs.write(lambda _: _move(folder or opened.folder, note), report, self._banner.show_error)


def _move(folder: Path, note: WrittenNote) -> None:
    if not QFile(str(locate_untouched(folder, note))).moveToTrash():
        raise NoteError(tr("{note} cannot be moved to the trash: remove it in the file manager.", note=note.path))


# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TargetWorkspace:
    """The workspace in which a session's note is saved; `session`: the session's stable name there."""

    manager: MemorySearchManager
    folder: Path
    settings: Settings
    session: str


def folder_of(opened: OpenWorkspace, session: str) -> Path:
    """Return the folder for a session's note, as far as known without reading files."""
    if not split_name(session)[0]:
        return opened.folder
    return Path(opened.all_workspaces.folder_of(session) or split_name(session)[0])


@contextmanager
def target_workspace(workspace: Workspace, opened: OpenWorkspace, session: str) -> Iterator[TargetWorkspace]:
    """Open the workspace of a session, and yield it with its memory. On a pool thread.

    Raises `PathRefused` if that workspace no longer exists, and the errors of opening it.
    """
    if not split_name(session)[0]:
        yield TargetWorkspace(opened.manager, opened.folder, opened.settings, session)
        return
    with opened.all_workspaces.memory_of(session) as (manager, folder, there):
        yield TargetWorkspace(manager, folder, workspace.settings_of(folder), there)


def name_in_workspace(session: str, path: str) -> str:
    """Return the stable name of a file in the workspace of a session."""
    workspace, _ = split_name(session)
    return name_in(workspace, path) if workspace else path


class RememberController(Controller):
    """Opens the dialog that makes a note of a session; at most one is open.

    Signals:
        open_requested: the note with this stable name, at a line.
        typed: the text of the note was edited, or its dialog closed.
    """

    open_requested = Signal(str, object)
    typed = Signal()

    def __init__(self, context: WindowContext, trash: Trash) -> None:
        super().__init__(context)
        self._trash = trash
        self.session = ""
        """The session of the open dialog."""
        self._typed_before: tuple[str, str] | None = None
        self._draft_job, self._name_job = JobSlot(self, self._jobs), JobSlot(self, self._jobs)
        self.dialog: NoteDialog | None = None
        self._workspace.closed.connect(self._close_dialog)

    @property
    def ready(self) -> bool:
        """Whether the dialog is open and complete."""
        busy = self._draft_job.busy or self._name_job.busy
        return self.dialog is not None and self.dialog.note is not None and not busy

    @Slot(str, str)
    def remember(self, path: str, title: str) -> None:
        """Open the dialog for the session with the stable name `path`."""
        opened = self._workspace.current
        if opened is None or self.dialog is not None:
            return
        self.session = path
        folder = folder_of(opened, path)
        self.dialog = dialog = NoteDialog(title, folder.name or str(folder), self._window)
        dialog.count_chosen.connect(self._draft_again)
        dialog.save_requested.connect(self._save)
        dialog.changed.connect(self.typed)
        dialog.finished.connect(self._forget_dialog)
        self._draft(opened, None)

    def resume_draft(self, path: str, title: str, name: str, text: str) -> None:
        """Open the dialog with an unsaved draft (`name`, `text`) of a note."""
        if self.dialog is None:
            self._typed_before = (name, text)
            self.remember(path, title)

    @Slot(int)
    def _draft_again(self, messages: int) -> None:
        if self._workspace.current is not None:
            self._draft(self._workspace.current, messages)

    def _draft(self, opened: OpenWorkspace, messages: int | None) -> None:
        workspace, session = self._workspace, self.session

        def draft(token: CancelToken) -> tuple[SessionNote, Settings]:
            try:
                with target_workspace(workspace, opened, session) as target:
                    note = draft_note(
                        target.manager, target.folder, target.settings, target.session, messages=messages, cancel=token
                    )
                    return note, target.settings
            except FileNotFoundError:
                raise NoteError(tr("The transcript of this session no longer exists.")) from None

        self._draft_job.read(draft, partial(self._show, messages is None), self._fail)

    def _show(self, first: bool, drafted: tuple[SessionNote, Settings]) -> None:
        note, settings = drafted
        if self.dialog is None:
            return
        self.dialog.show_note(note)
        if self._typed_before is not None:
            self.dialog.restore_draft(*self._typed_before)
            self._typed_before = None
            return
        model = settings.remember.slug.model
        if first and model:
            self.dialog.show_message(tr("Asking {model} for a file name…", model=model))
            self._name_job.read(
                lambda token: suggest_slug(note, settings, cancel=token), self._name, self._report_no_name
            )

    def _name(self, slug: str) -> None:
        if self.dialog is not None:
            self.dialog.suggest(slug)

    def _report_no_name(self, sentence: str) -> None:
        if self.dialog is not None:
            self.dialog.show_message(" ".join((tr("The name was made from the session's own words."), sentence)))

    def _fail(self, sentence: str) -> None:
        if self.dialog is not None:
            self.dialog.fail(sentence)

    @Slot(str, str)
    def _save(self, text: str, slug: str) -> None:
        opened, dialog = self._workspace.current, self.dialog
        note = None if dialog is None else dialog.note
        if opened is None or note is None:
            return
        self._name_job.cancel()
        workspace, session = self._workspace, self.session
        edited = msgspec.structs.replace(note, text=text)

        def save(_: CancelToken) -> WrittenNote:
            with target_workspace(workspace, opened, session) as target:
                return save_note(target.manager, target.folder, target.settings, edited, slug=slug)

        self._jobs.save(save, partial(self._saved, opened, session), self._not_saved)

    def _saved(self, opened: OpenWorkspace, session: str, note: WrittenNote) -> None:
        if self.dialog is not None:
            self.dialog.accept()
        if self._workspace.current is opened:
            elsewhere, _ = split_name(session)
            folder = folder_of(opened, session) if elsewhere else None
            show = (tr("Open"), partial(self.open_requested.emit, name_in_workspace(session, note.path), None))
            undo = (tr("Undo"), partial(self._trash.move_to_trash, opened, note, folder))
            if elsewhere:  # this program does not update that index
                notice = tr(
                    "Saved as {note} in {workspace}, where it can be found after the next update.",
                    note=note.path,
                    workspace=elsewhere,
                )
            else:
                notice = tr("Saved as {note}.", note=note.path)
                self._workspace.sync("watch")  # indexes the note now, even without a watcher
            self._banner.show_message(notice, "fine", show, undo, key="remembered")

    def _not_saved(self, sentence: str) -> None:
        if self.dialog is not None:
            self.dialog.fail(sentence)
        else:
            self._banner.show_error(sentence)

    @Slot()
    def _forget_dialog(self) -> None:
        self.dialog = None
        self._typed_before = None
        self.typed.emit()
        self._draft_job.cancel()
        self._name_job.cancel()

    @Slot()
    def _close_dialog(self) -> None:
        if self.dialog is not None:
            self.dialog.done(NoteDialog.DialogCode.Rejected)


_KEY = "agent-notes"
_REPLACEABLE = frozenset({"provider", "remembered", "ranking", "saved-search"})
"""Keys of messages that a notice may replace: their content is also shown elsewhere."""


class NewNoteNotice(Controller):
    """Shows a notice about session notes that an agent has written, just now or while no window was open.

    Waits until there is no more urgent message. Without an answer it is shown again at the next start.

    Signals: open_requested: the note with this stable name, at a line.
    """

    open_requested = Signal(str, object)

    def __init__(self, context: WindowContext, trash: Trash) -> None:
        super().__init__(context)
        self._trash = trash
        self._job = JobSlot(self, self._jobs)
        self._opened: OpenWorkspace | None = None
        self._awaits_status = False
        self._announced: tuple[WrittenNote, ...] = ()
        self._waiting: tuple[WrittenNote, ...] = ()
        """Notes that the user has not answered to."""
        self._workspace.opened.connect(self._handle_opened)
        self._workspace.closed.connect(self._handle_closed)
        self._workspace.feed.status_changed.connect(self._handle_status)
        self._banner.cleared.connect(self._on_banner_cleared)

    @Slot()
    def check(self) -> None:
        """Look for new notes after a change of the index."""
        opened = self._workspace.current
        if opened is not None:
            self._job.read(
                lambda _: _unseen(opened.manager, opened.folder),
                partial(self._set_unseen, opened),
                self._banner.show_error,
            )

    @Slot(object)
    def _handle_opened(self, opened: OpenWorkspace) -> None:
        self._opened, self._announced, self._waiting, self._awaits_status = opened, (), (), True

    @Slot()
    def _handle_closed(self) -> None:
        self._job.cancel()
        self._opened, self._waiting, self._awaits_status = None, (), False

    @Slot(object)
    def _handle_status(self, status: MemoryProviderStatus | None) -> None:
        """Show waiting notes after the first status record, which may have problems to show first."""
        if self._awaits_status and status is not None:
            self._awaits_status = False
            self.check()

    def _set_unseen(self, opened: OpenWorkspace, notes: tuple[WrittenNote, ...]) -> None:
        if opened is self._opened and notes != self._announced:
            self._announced = self._waiting = notes
            self._show_waiting()

    @Slot(str)
    def _on_banner_cleared(self, key: str) -> None:
        """Show the notice since the banner is free; drop it if its own message, with `_KEY`, was just dismissed."""
        if key == _KEY:
            self._waiting = ()
        else:
            self._show_waiting()

    def _show_waiting(self) -> None:
        opened, notes = self._opened, self._waiting
        if opened is None or not notes:
            self._banner.clear(_KEY)
            return
        if self._banner.text and self._banner.key not in {_KEY, *_REPLACEABLE}:
            return
        newest = notes[0]
        actions = [self._action(tr("Open"), opened, notes, partial(self.open_requested.emit, newest.path, None))]
        if len(notes) == 1:
            actions.append(
                self._action(tr("Move to trash"), opened, notes, partial(self._trash.move_to_trash, opened, newest))
            )
        sentence = tr_count(
            "An agent wrote the session note {note}.",
            "Agents wrote {count} session notes, the last one is {note}.",
            len(notes),
            note=newest.path,
        )
        actions.append(self._action(tr("Keep the note"), opened, notes, lambda: None))
        self._banner.show_message(sentence, "working", *actions, key=_KEY)

    def _action(
        self, words: str, opened: OpenWorkspace, notes: tuple[WrittenNote, ...], run: Callable[[], object]
    ) -> Action:
        paths = tuple(note.path for note in notes)

        def answer() -> None:
            self._jobs.save(
                lambda _: opened.manager.unseen_notes.mark_seen(paths), lambda _: None, self._banner.show_error
            )
            run()

        return (words, answer)


def _unseen(manager: MemorySearchManager, folder: Path) -> tuple[WrittenNote, ...]:
    """Return the notes by agents that the user has not seen; a changed or deleted note counts as seen."""
    waiting, known = [], []
    for note in manager.unseen_notes.all():
        try:
            locate_untouched(folder, note)
            waiting.append(note)
        except NoteError:
            known.append(note.path)
    if known:
        manager.unseen_notes.mark_seen(tuple(known))
    return tuple(waiting)
