"""Saves drafts while they are typed, and restores them at the next start."""

import contextlib
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec
import platformdirs
from PySide6.QtCore import QObject, Slot

import engine
from engine import CancelToken, MnemoscopeError, decode_json, read_file, replace_file, tr
from gui.core.jobs import Jobs, JobSlot
from gui.core.notice_banner import Notices
from gui.core.window_state import DebouncedWrite, Writing
from gui.core.workspace import Opened, Workspace
from gui.facts.wording import short
from gui.remember.controller import RememberController
from gui.shell.views import Views
from gui.widgets.message import Action

_SOON_MS = 500
_KEY = "draft"
log = logging.getLogger(__name__)

_writing = Lock()


class Draft(msgspec.Struct, frozen=True):
    """`id`: of the fact, empty for a new one; or the session's stable name. `title` and `name` are a note's."""

    folder: str
    kind: Literal["fact", "note"]
    id: str
    text: str
    title: str = ""
    name: str = ""


def drafts_path() -> Path:
    return Path(platformdirs.user_data_dir("mnemoscope", appauthor=False)) / "drafts.json"


def load_drafts() -> tuple[Draft, ...]:
    """The saved drafts; an unreadable file is renamed, and logged."""
    path = drafts_path()
    try:
        return decode_json(read_file(path), tuple[Draft, ...])
    except FileNotFoundError:
        return ()
    except OSError as error:
        log.warning("What was not saved could not be read: %s", error)
    except ValueError as error:
        kept = path.with_name("drafts-damaged.json")
        with contextlib.suppress(OSError):
            path.replace(kept)
        log.warning("The unsaved drafts file is damaged (%s) and was renamed to %s", type(error).__name__, kept.name)
    return ()


def save_drafts(folder: str, drafts: Sequence[Draft], token: CancelToken | None = None) -> None:
    """Replace all drafts of this folder, unless `token` is cancelled. A failure is only logged. Any thread."""
    path = drafts_path()
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
    """Offers one draft at a time; unanswered ones stay for the next start."""

    def __init__(
        self,
        workspace: Workspace,
        views: Views,
        remember: RememberController,
        banner: Notices,
        jobs: Jobs,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._views = views
        self._remember = remember
        self._banner = banner
        self._jobs = jobs
        self._folder = ""
        self._waiting: tuple[Draft, ...] = ()
        self._said = False
        self._reading = JobSlot(self)
        self._soon = DebouncedWrite(jobs, self._writing, _SOON_MS, self)
        editor = views.facts.body.editor
        editor.text.textChanged.connect(self._note)
        editor.change_requested.connect(self._note)
        remember.typed.connect(self._note)
        workspace.opened.connect(self._begin)
        workspace.closed.connect(self._end)
        banner.cleared.connect(self._take_turn)

    def write_now(self) -> None:
        """Save the drafts immediately, since the window closes."""
        self._soon.stop()
        if self._folder:
            save_drafts(self._folder, self._drafts())

    # --- saving -----------------------------------------------------------------------------------------------------

    @Slot()
    def _note(self, *_: object) -> None:
        if self._folder:
            self._soon.note()

    def _writing(self) -> Writing | None:
        folder, drafts = self._folder, self._drafts()
        return (lambda token: save_drafts(folder, drafts, token)) if folder else None

    def _drafts(self) -> tuple[Draft, ...]:
        """The current and the unanswered drafts, without those that contain a secret."""
        drafts = list(self._waiting)
        editor = self._views.facts.body.editor
        if editor.is_changed:
            fact = editor.fact.id if editor.fact is not None else ""
            drafts.append(Draft(self._folder, "fact", fact, editor.text.toPlainText()))
        sheet = self._remember.sheet
        if sheet is not None and sheet.is_changed:
            name, text = sheet.typed
            drafts.append(Draft(self._folder, "note", self._remember.session, text, sheet.title, name))
        return tuple(draft for draft in drafts if draft.text.strip() and not engine.holds_secret(draft.text))

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
        self._reading.put(self._jobs.read(work, self._take))

    @Slot()
    def _end(self) -> None:
        self._reading.cancel()

    def _take(self, drafts: tuple[Draft, ...]) -> None:
        self._reading.done()
        self._waiting = drafts
        self._note()
        self._say()

    @Slot(str)
    def _take_turn(self, matter: str) -> None:
        """Show the next offer, since the banner is free; dismissed offers are repeated at the next start."""
        if matter == _KEY:
            self._said = True
        self._say()

    def _say(self) -> None:
        if not self._waiting or self._said or self._banner.text:
            return
        draft = self._waiting[0]
        self._banner.say(
            _unsaved(draft),
            "working",
            Action(tr("Keep writing"), partial(self._go_on, draft)),
            Action(tr("Discard"), partial(self._answered, draft)),
            key=_KEY,
        )

    def _answered(self, draft: Draft) -> None:
        self._waiting = tuple(other for other in self._waiting if other is not draft)
        self._said = False
        self._note()
        self._say()

    def _go_on(self, draft: Draft) -> None:
        if draft.kind == "fact":
            self._views.switch("facts")
            self._views.facts.go_on_writing(draft.id, draft.text)
        else:
            self._remember.go_on_writing(draft.id, draft.title, draft.name, draft.text)
        self._answered(draft)


def _unsaved(draft: Draft) -> str:
    text = short(draft.text)
    if draft.kind == "fact":
        return tr("Your fact was not saved: {text}", text=text)
    return tr("What you wrote for the note of “{title}” was not saved: {text}", title=draft.title, text=text)
