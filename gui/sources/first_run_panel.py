"""Choosing what to index: a workspace, seen before a yes, and the sessions that are searched with it."""

from dataclasses import dataclass
from pathlib import Path

import msgspec
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog, QStackedWidget, QVBoxLayout, QWidget

import engine
from engine import CancelToken, Settings, WorkspacePreview, tr
from gui.core.jobs import Job, Jobs
from gui.sources.index_preview import PreviewPage
from gui.sources.sessions_page import SourcesPage
from gui.sources.welcome_page import WelcomePage


@dataclass(frozen=True)
class _Looked:
    settings: Settings
    preview: WorkspacePreview
    index_folder: Path


class FirstRunPanel(QWidget):
    """Signals: folder_named: Path of a folder that was picked or dropped; the owner of this panel calls `offer` with
    it. workspace_chosen: Path of the folder to index, once its settings are saved. back_wanted: return to the open
    workspace."""

    folder_named = Signal(object)
    workspace_chosen = Signal(object)
    back_wanted = Signal()

    def __init__(
        self, jobs: Jobs, config: Path | None = None, *, store_path: str = "", parent: QWidget | None = None
    ) -> None:
        """`store_path`: folder for the index in place of the settings' own; for the demo."""
        super().__init__(parent)
        self._jobs = jobs
        self._config = config
        self._store_path = store_path
        self._folder: Path | None = None
        self._settings: Settings | None = None
        self._can_go_back = False
        self._job: Job | None = None
        self._welcome = WelcomePage(jobs)
        self._preview = PreviewPage()
        self._sources = SourcesPage(jobs, config)
        self._pages = QStackedWidget()
        for page in (self._welcome, self._preview, self._sources):
            self._pages.addWidget(page)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self._pages)
        self.setAccessibleName(tr("Choose what to index"))

        self._welcome.choose_wanted.connect(self.choose)
        self._welcome.named.connect(self.folder_named)
        self._preview.changed.connect(self._look)
        self._preview.accepted.connect(self._accept)
        self._preview.other_wanted.connect(self.choose)
        self._preview.back_wanted.connect(self._go_back)
        self._sources.saved.connect(self.workspace_chosen)
        self._sources.back_wanted.connect(self.back_wanted)

    @property
    def ready(self) -> bool:
        """Nothing is being looked at."""
        return self._job is None and not self._welcome.found.looking and self._sources.ready

    def welcome(self) -> None:
        """Start over, and look for places on this machine if that has not been done."""
        self._folder = None
        self._pages.setCurrentWidget(self._welcome)
        self._welcome.found.look()

    def choose_sessions(self, folder: Path) -> None:
        """Show the sessions of the workspace `folder`, and let the user change them."""
        self._pages.setCurrentWidget(self._sources)
        self._sources.begin(folder)

    @Slot()
    def _go_back(self) -> None:
        if self._can_go_back:
            self.back_wanted.emit()
        else:
            self.welcome()

    @Slot()
    def choose(self) -> None:
        """Ask for a folder."""
        start = str(self._folder or Path.home())
        name = QFileDialog.getExistingDirectory(self, tr("Choose a folder of notes"), start)
        if name:
            self.folder_named.emit(Path(name))

    def offer(self, folder: Path, *, can_go_back: bool = False) -> None:
        """Show what would be indexed in `folder`."""
        self._folder = folder
        self._settings = None
        self._can_go_back = can_go_back
        self._preview.begin(folder, engine.Settings().extensions, ())
        self._pages.setCurrentWidget(self._preview)
        self._look()

    @Slot()
    def _look(self) -> None:
        folder, known = self._folder, self._settings
        if folder is None:
            return
        if self._job is not None:
            self._job.cancel()
        extensions, exclude = self._preview.extensions, self._preview.exclude
        ticked = self._welcome.found.ticked

        def work(token: CancelToken) -> _Looked:
            settings = known or engine.load_settings(folder, config=self._config)
            wanted = settings
            if known is not None:
                wanted = msgspec.structs.replace(settings, extensions=extensions, exclude=exclude)
            sessions = msgspec.structs.replace(wanted.sessions, folders=_joined(wanted.sessions.folders, ticked))
            wanted = msgspec.structs.replace(wanted, sessions=sessions)
            preview = engine.preview_workspace(folder, wanted, cancel=token)
            return _Looked(
                settings, preview, engine.index_files(folder, self._store_path or settings.store.path).folder
            )

        self._preview.show_waiting()
        self._job = self._jobs.read(work, self._looked, self._refused)

    def _looked(self, looked: _Looked) -> None:
        self._job = None
        if self._settings is None and self._folder is not None:
            self._settings = looked.settings
            self._preview.begin(self._folder, looked.settings.extensions, looked.settings.exclude)
        self._preview.show_preview(looked.preview, looked.index_folder)

    def _refused(self, sentence: str) -> None:
        self._job = None
        self._preview.show_problem(sentence)

    @Slot()
    def _accept(self) -> None:
        folder, before = self._folder, self._settings
        if folder is None or before is None:
            return
        self._preview.show_waiting()
        known = before.sessions.folders
        wanted = (
            ("extensions", before.extensions, self._preview.extensions),
            ("exclude", before.exclude, self._preview.exclude),
            ("sessions.folders", known, _joined(known, self._welcome.found.ticked)),
        )
        changed = {key: new for key, old, new in wanted if set(new) != set(old)}

        def work(_: CancelToken) -> Path:
            for key, value in changed.items():
                engine.save_setting(key, value, workspace=folder, config=self._config)
            return folder

        self._jobs.write(work, self._accepted, self._preview.show_problem)

    def _accepted(self, folder: Path) -> None:
        self._welcome.found.forget_ticks()
        self.workspace_chosen.emit(folder)


def _joined(listed: tuple[str, ...], ticked: tuple[str, ...]) -> tuple[str, ...]:
    """The folders in the settings, and the ticked ones; duplicates are harmless."""
    return tuple(dict.fromkeys((*listed, *ticked)))
