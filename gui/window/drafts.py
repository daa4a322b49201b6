"""Saves unfinished texts of facts and notes, and offers them at the next start.

They are saved after a short pause, so that they survive any kind of exit.
"""

import contextlib
import logging
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Literal

import msgspec
import platformdirs
from PySide6.QtCore import Slot

import engine
from engine import CancelToken, MnemoscopeError, decode_json, read_file, replace_file, tr
from gui.core.jobs import JobSlot
from gui.core.window_context import Controller, WindowContext
from gui.core.window_state import DebouncedWrite, Writing
from gui.core.workspace import OpenWorkspace
from gui.facts.panel import FactsPanel
from gui.facts.wording import short
from gui.remember.controller import RememberController
from gui.shell.views import Views

log = logging.getLogger(__name__)

_DRAFT_MS = 500
_KEY = "draft"
_writing = Lock()


class Draft(msgspec.Struct, frozen=True):
    """The unsaved text of a fact (`id`: empty for a new one) or of a session's note (`id`: the session's stable name).

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
    """Read the saved drafts; a damaged file is renamed, and logged."""
    try:
        return _read_drafts()
    except OSError as error:
        log.warning("The drafts could not be read: %s", error)
        return ()


def _read_drafts() -> tuple[Draft, ...]:
    path = drafts_path()
    try:
        return decode_json(read_file(path), tuple[Draft, ...])
    except FileNotFoundError:
        return ()
    except ValueError as error:
        damaged = path.with_name("drafts-damaged.json")
        with contextlib.suppress(OSError):
            path.replace(damaged)
        log.warning("The unsaved drafts file is damaged (%s) and was renamed to %s", type(error).__name__, damaged.name)
    return ()


def save_drafts(folder: str, drafts: Sequence[Draft], token: CancelToken | None = None, *, add: bool = False) -> None:
    """Replace all saved drafts of a folder, unless `token` is cancelled; drafts with a secret are not saved.

    `add`: keep the already saved drafts too. A failure is only logged. Any thread.
    """
    path = drafts_path()
    drafts = [draft for draft in drafts if not engine.holds_secret(draft.text)]
    with _writing:
        if token is not None and token.cancelled:
            return
        try:  # drafts that can't be read now must not be replaced
            all_drafts = [*(draft for draft in _read_drafts() if add or draft.folder != folder), *drafts]
            if not all_drafts:
                path.unlink(missing_ok=True)
                return
            replace_file(path, msgspec.json.encode(all_drafts))
        except OSError as error:
            log.warning("The drafts could not be saved: %s", error)


class Drafts(Controller):
    """Saves unfinished texts, and offers to restore them at the next start, one at a time."""

    def __init__(self, context: WindowContext, views: Views, remember: RememberController) -> None:
        super().__init__(context)
        self._views = views
        self._remember = remember
        self._folder = ""
        self._waiting: tuple[Draft, ...] = ()
        self._is_loaded = False
        """Whether the folder's saved drafts have been read; they must not be replaced before."""
        self._dismissed = False
        self._read_job = JobSlot(self, self._jobs)
        self._later_write = DebouncedWrite(self._jobs, self._pending_write, _DRAFT_MS, self)
        views.made.when(FactsPanel, self._connect_facts)
        remember.typed.connect(self._write_later)
        self._workspace.opened.connect(self._handle_opened)
        self._workspace.closed.connect(self._handle_closed)
        self._banner.cleared.connect(self._on_banner_cleared)

    def _connect_facts(self, facts: FactsPanel) -> None:
        editor = facts.body.editor
        editor.text.textChanged.connect(self._write_later)
        editor.change_requested.connect(self._write_later)

    def write_now(self) -> None:
        """Save the drafts immediately, since the window closes."""
        self._later_write.stop()
        if self._folder:
            save_drafts(self._folder, self._drafts(), add=not self._is_loaded)

    # --- saving -----------------------------------------------------------------------------------------------------

    @Slot()
    def _write_later(self, *_: object) -> None:
        if self._folder:
            self._later_write.schedule()

    def _pending_write(self) -> Writing | None:
        folder, drafts = self._folder, self._drafts()
        return (lambda token: save_drafts(folder, drafts, token)) if folder and self._is_loaded else None

    def _drafts(self) -> tuple[Draft, ...]:
        """Return the drafts to save: current drafts, and offered ones that the user has not answered yet."""
        drafts = list(self._waiting)
        facts = self._views.made.get(FactsPanel)
        if facts is not None and (editor := facts.body.editor).is_changed:
            fact = editor.fact.id if editor.fact is not None else ""
            drafts.append(Draft(self._folder, "fact", fact, editor.text.toPlainText()))
        dialog = self._remember.dialog
        if dialog is not None and dialog.is_changed:
            name, text = dialog.typed
            drafts.append(Draft(self._folder, "note", self._remember.session, text, dialog.title, name))
        return tuple(draft for draft in drafts if draft.text.strip())

    # --- offers -----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _handle_opened(self, opened: OpenWorkspace) -> None:
        again = self._folder == str(opened.folder)
        self._folder = str(opened.folder)
        if again and self._is_loaded:
            return  # reopened with other settings: pending drafts stay pending

        def work(_: CancelToken) -> tuple[Draft, ...]:
            drafts = tuple(draft for draft in load_drafts() if draft.folder == str(opened.folder))
            try:
                known = {fact.text for fact in opened.manager.facts.all()} if drafts else set[str]()
            except MnemoscopeError:
                known = set[str]()
            return tuple(draft for draft in drafts if draft.text.strip() not in known)

        self._waiting = ()
        self._is_loaded = False
        self._read_job.read(work, self._set_drafts)

    @Slot()
    def _handle_closed(self) -> None:
        self._read_job.cancel()

    def _set_drafts(self, drafts: tuple[Draft, ...]) -> None:
        self._waiting = drafts
        self._is_loaded = True
        self._write_later()
        self._offer()

    @Slot(str)
    def _on_banner_cleared(self, key: str) -> None:
        """Offer the next draft, since the banner is free; dismissed offers are repeated at the next start."""
        if key == _KEY:
            self._dismissed = True
        self._offer()

    def _offer(self) -> None:
        if not self._waiting or self._dismissed or self._banner.text:
            return
        draft = self._waiting[0]
        self._banner.show_message(
            _unsaved(draft),
            "working",
            (tr("Keep writing the note"), partial(self._continue, draft)),
            (tr("Discard"), partial(self._answered, draft)),
            key=_KEY,
        )

    def _answered(self, draft: Draft) -> None:
        self._waiting = tuple(other for other in self._waiting if other is not draft)
        self._dismissed = False
        self._write_later()
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
