"""The first start: choosing a folder, a preview of its files, and the sessions to search with it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

import engine
from engine import CancelToken, FoundSources, Settings, WorkspacePreview, marked, tr
from gui.core.jobs import Jobs, JobSlot
from gui.sources.folder_rows import DropZone, SourceCheckBoxes, SourceChoices, issue_lines
from gui.sources.index_preview import PreviewPage
from gui.sources.sessions_page import SourcesPage
from gui.text.plain_text import set_tip
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import PageStack, column_of, row_of, scrolling_column

_WIDTH = 560
LOOKING = marked("Looking for notes and sessions of AI agents on this machine…")
NOTHING = marked("No sessions of AI agents were found on this machine.")
CONSENT = marked(
    "Ticked sessions are indexed along with your notes. Nothing in them is read before you confirm on the next page, "
    "and nothing is ever written there."
)


class FoundSection(QWidget):
    """Lists the folders found on this machine; searches for them only after `look()`.

    Signals:
        search_ended: the results are shown, or why there are none.
        changed: other sessions are ticked.
    """

    search_ended = Signal()
    changed = Signal()

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._job = JobSlot(self, jobs)
        self._found: FoundSources | None = None
        self._state = label("", "meta", wrap=True)
        self._search_button = push_button("", self._toggle_search, role="link")
        self._notes_title = label(tr("Notes on this machine"), "section")
        self.notes = SourceChoices(tr("Choose"), marked("Choose {place}"))
        self._sessions_title = label(tr("Past sessions on this machine"), "section")
        self._consent = label(tr(CONSENT), "meta", wrap=True)
        self._sessions = SourceCheckBoxes()
        self._sessions.changed.connect(self._show_ticks)
        self._all = push_button("", self._tick_all, role="link")
        self._issues = label("", "degraded", wrap=True)

        notes = self._notes_title, self.notes
        head = row_of(self._sessions_title, None, self._all)
        line = row_of((self._state, 1), self._search_button, spacing=8)
        sessions = head, self._consent, self._sessions, line, self._issues
        column_of(*notes, 8, *sessions, spacing=10, parent=self)
        self._show_state("")

    @property
    def looking(self) -> bool:
        return self._job.busy

    @property
    def ticked(self) -> tuple[str, ...]:
        """The paths of the ticked session folders."""
        return tuple(
            source.path for source, on in zip(self._session_sources(), self._sessions.ticked, strict=True) if on
        )

    def search_folders(self) -> None:
        """Search for folders, unless that has been done."""
        if self._found is None and not self._job.busy:
            self._show_state(tr(LOOKING), tr("Stop"))
            self._job.read(lambda token: engine.find_sources(cancel=token), self._show, self._fail)

    @Slot()
    def forget_ticks(self) -> None:
        """Clear the ticks after they were applied."""
        self._tick(False)

    def _tick(self, on: bool) -> None:
        sources = self._session_sources()
        self._sessions.show_sources(sources, [on] * len(sources))
        self._show_ticks()

    @Slot()
    def _tick_all(self) -> None:
        self._tick(not self.ticked)
        self._all.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _show_ticks(self) -> None:
        self._all.setText(tr("Untick all sessions") if self.ticked else tr("Tick all sessions"))
        self.changed.emit()

    def _session_sources(self) -> list[engine.FoundSource]:
        sources = self._found.sources if self._found else ()
        return [source for source in sources if source.kind == "sessions"]

    @Slot()
    def _toggle_search(self) -> None:
        if not self._job.busy:
            self.search_folders()
            return
        self._job.cancel()
        self._show_state(tr("The search for notes and sessions was stopped."), tr("Look for sources again"))
        self.search_ended.emit()

    def _show(self, sources: FoundSources) -> None:
        self._found = sources
        self.notes.show_sources([source for source in sources.sources if source.kind != "sessions"])
        self._tick(True)
        self._issues.setText(breakable(issue_lines(sources.issues, str(Path.home()))))
        self._show_state("" if self._session_sources() else tr(NOTHING))
        self.search_ended.emit()

    def _fail(self, sentence: str) -> None:
        self._show_state(sentence, tr("Look for sources again"))
        self.search_ended.emit()

    def _show_state(self, sentence: str, button_label: str = "") -> None:
        """Show the folders that were found, with a sentence and a button, unless their texts are empty."""
        sources = self._found.sources if self._found else ()
        notes = any(source.kind != "sessions" for source in sources)
        sessions = bool(self._session_sources())
        self._notes_title.setVisible(notes)
        self.notes.setVisible(notes)
        self._sessions_title.setVisible(sessions)
        self._all.setVisible(sessions)
        self._consent.setVisible(sessions)
        self._sessions.setVisible(sessions)
        self._state.setText(breakable(sentence))
        self._state.setVisible(bool(sentence))
        self._search_button.setText(button_label)
        self._search_button.setVisible(bool(button_label))
        self._issues.setVisible(bool(self._issues.text()))


class WelcomePage(QFrame):
    """The page with three ways to begin: a folder of notes, found sessions alone, or the sample notes.

    Signals:
        named: Path of a folder that was dropped or chosen in the list.
    """

    named = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        zone = DropZone()
        self.choose = zone.choose
        zone.dropped.connect(self.named)
        self.found = FoundSection(jobs)
        self.found.notes.chosen.connect(self.named)
        self.found.changed.connect(self._show_sessions)
        self.found.search_ended.connect(self._show_sessions)
        self.sessions_button = QPushButton(tr("Search sessions only"))
        self.sample_button = push_button(
            tr("Try the sample notes"), tip=tr("The sample notes open in a separate window, which saves nothing.")
        )
        others = row_of(None, self.sessions_button, self.sample_button, None, spacing=8)
        self._show_sessions()
        what = label(
            tr(
                "Mnemoscope searches your notes and past AI sessions by their words and by their meaning, and shows "
                "each hit in its file."
            ),
            wrap=True,
        )
        promise = label(
            tr(
                "You see what would be indexed before anything is read. Your notes are never changed; a new one is "
                "added only when you save a session as a note. Nothing leaves this machine unless you choose an "
                "online model."
            ),
            "meta",
            wrap=True,
        )
        column = QVBoxLayout()
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(label(tr("Find things in your notes"), "title", wrap=True))
        column.addWidget(what)
        column.addSpacing(8)
        column.addWidget(zone)
        column.addLayout(others)
        column.addSpacing(4)
        column.addWidget(promise)
        column.addSpacing(16)
        column.addWidget(self.found)
        column.addStretch(3)
        column_of(scrolling_column(column, _WIDTH, self), parent=self)

    @Slot()
    def _show_sessions(self) -> None:
        """Enable the button for sessions alone while some are ticked."""
        self.sessions_button.setEnabled(bool(self.found.ticked))
        set_tip(self.sessions_button, "" if self.found.ticked else tr("No sessions are ticked below."))

    def showEvent(self, event: QShowEvent) -> None:
        """Focus the most frequent action, so that Enter triggers it."""
        super().showEvent(event)
        self.choose.setFocus(Qt.FocusReason.OtherFocusReason)


@dataclass(frozen=True)
class _PreviewData:
    settings: Settings
    preview: WorkspacePreview
    index_folder: Path


class _Pages(NamedTuple):
    welcome: WelcomePage
    preview: PreviewPage
    sources: SourcesPage


class FirstRunPanel(QWidget):
    """The pages of the first start, until a folder was chosen and its settings are saved.

    They are made when one is first shown, which most windows never do.

    Signals:
        folder_named: Path of a folder that was picked or dropped; the owner of this panel calls `offer` with it.
        workspace_chosen: Path of the folder to index, once its settings are saved.
        back_requested: return to the open workspace.
        sample_requested: open the sample notes.
    """

    folder_named = Signal(object)
    sample_requested = Signal()
    workspace_chosen = Signal(object)
    back_requested = Signal()

    def __init__(self, jobs: Jobs, config: Path | None = None, *, store_path: str = "") -> None:
        """`config`: settings file in place of the user's own. `store_path`: folder for the index, used by the demo."""
        super().__init__()
        self._jobs = jobs
        self._config = config
        self._store_path = store_path
        self._folder: Path | None = None
        self._settings: Settings | None = None
        self._can_go_back = self._sessions_only = False
        self._job = JobSlot(self, jobs)
        self._stack = PageStack()
        column_of(self._stack, parent=self)
        self.setAccessibleName(tr("Choose what to index"))

    @cached_property
    def _pages(self) -> _Pages:
        around = self._stack  # from the start: Qt applies the style sheet again to a page that gets another parent
        welcome, preview = WelcomePage(self._jobs, around), PreviewPage(around)
        sources = SourcesPage(self._jobs, self._config, around)
        for page in (welcome, preview, sources):
            self._stack.addWidget(page)
        welcome.choose.clicked.connect(self.choose)
        welcome.named.connect(self.folder_named)
        welcome.sessions_button.clicked.connect(self._offer_sessions)
        welcome.sample_button.clicked.connect(self.sample_requested)
        preview.changed.connect(self._read_preview)
        preview.accept_button.clicked.connect(self._accept)
        preview.other_button.clicked.connect(self.choose)
        preview.back_requested.connect(self._go_back)
        sources.saved.connect(self.workspace_chosen)
        sources.back_requested.connect(self.back_requested)
        return _Pages(welcome, preview, sources)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._stack.count():
            self._stack.setCurrentWidget(self._pages.welcome)

    @property
    def ready(self) -> bool:
        """Whether no job is running."""
        if not self._stack.count():
            return True
        return not self._job.busy and not self._pages.welcome.found.looking and self._pages.sources.ready

    def welcome(self) -> None:
        """Show the first page, and search for folders on this machine the first time."""
        self._folder = None
        self._stack.setCurrentWidget(self._pages.welcome)
        self._pages.welcome.found.search_folders()

    def choose_sessions(self, folder: Path, manager: engine.MemorySearchManager | None) -> None:
        """Show the page to choose the sessions of the workspace `folder`, which has this memory."""
        self._stack.setCurrentWidget(self._pages.sources)
        self._pages.sources.begin(folder, manager)

    @Slot()
    def _go_back(self) -> None:
        if self._can_go_back:
            self.back_requested.emit()
        else:
            self.welcome()

    @Slot()
    def choose(self) -> None:
        """Open a dialog to choose a folder."""
        start = str(self._folder or Path.home())
        name = QFileDialog.getExistingDirectory(self, tr("Choose a folder of notes"), start)
        if name:
            self.folder_named.emit(Path(name))

    def offer(self, folder: Path, *, can_go_back: bool = False) -> None:
        """Show a preview of the files to index in `folder`."""
        self._can_go_back = can_go_back
        self._preview_folder(folder, sessions_only=False)

    def _preview_folder(self, folder: Path, *, sessions_only: bool) -> None:
        self._folder = folder
        self._settings = None
        self._sessions_only = sessions_only
        self._pages.preview.begin(folder, engine.Settings().extensions, (), sessions_only=sessions_only)
        self._stack.setCurrentWidget(self._pages.preview)
        self._read_preview()

    @Slot()
    def _offer_sessions(self) -> None:
        """Show a preview of indexing the ticked sessions without notes."""
        self._can_go_back = False
        self._jobs.write(
            lambda _: engine.sessions_workspace(self._store_path),
            lambda folder: self._preview_folder(folder, sessions_only=True),
            self._refuse_sessions,
        )

    def _refuse_sessions(self, sentence: str) -> None:
        """Show why sessions alone can't be indexed."""
        self._folder = None
        self._pages.preview.begin(Path(), (), (), sessions_only=True)
        self._stack.setCurrentWidget(self._pages.preview)
        self._pages.preview.show_problem(sentence)

    @Slot()
    def _read_preview(self) -> None:
        folder, known = self._folder, self._settings
        if folder is None:
            return
        extensions, exclude = self._pages.preview.extensions, self._pages.preview.exclude
        ticked = self._pages.welcome.found.ticked

        def work(token: CancelToken) -> _PreviewData:
            settings = known or engine.load_settings(folder, config=self._config)
            if self._store_path:
                store = msgspec.structs.replace(settings.store, path=self._store_path)
                settings = msgspec.structs.replace(settings, store=store)
            changed_settings = settings
            if known is not None:
                changed_settings = msgspec.structs.replace(settings, extensions=extensions, exclude=exclude)
            sessions = msgspec.structs.replace(
                changed_settings.sessions, folders=_joined(changed_settings.sessions.folders, ticked)
            )
            changed_settings = msgspec.structs.replace(changed_settings, sessions=sessions)
            preview = engine.preview_workspace(folder, changed_settings, cancel=token)
            return _PreviewData(settings, preview, engine.index_files(folder, settings.store.path).folder)

        self._pages.preview.show_waiting()
        self._job.read(work, self._show_preview, self._pages.preview.show_problem)

    def _show_preview(self, data: _PreviewData) -> None:
        if self._settings is None and self._folder is not None:
            self._settings = data.settings
            settings, alone = data.settings, self._sessions_only
            self._pages.preview.begin(self._folder, settings.extensions, settings.exclude, sessions_only=alone)
        self._pages.preview.show_preview(data.preview, data.index_folder)

    @Slot()
    def _accept(self) -> None:
        folder, before = self._folder, self._settings
        if folder is None or before is None:
            return
        self._pages.preview.show_waiting()
        known = before.sessions.folders
        compared = (
            ("extensions", before.extensions, self._pages.preview.extensions),
            ("exclude", before.exclude, self._pages.preview.exclude),
            ("sessions.folders", known, _joined(known, self._pages.welcome.found.ticked)),
        )
        changed = {key: new for key, old, new in compared if set(new) != set(old)}

        def work(_: CancelToken) -> Path:
            for key, value in changed.items():
                engine.save_setting(key, value, workspace=folder, config=self._config)
            return folder

        self._jobs.save(work, self._accepted, self._pages.preview.show_problem)

    def _accepted(self, folder: Path) -> None:
        self._pages.welcome.found.forget_ticks()
        self.workspace_chosen.emit(folder)


def _joined(listed: tuple[str, ...], ticked: tuple[str, ...]) -> tuple[str, ...]:
    """Return the folders of the settings followed by the ticked ones, without duplicates."""
    return tuple(dict.fromkeys((*listed, *ticked)))
