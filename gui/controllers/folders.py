"""Lets the user choose, preview and open folders of notes, and add folders and sessions to the open workspace."""

import logging
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Slot

import engine
from engine import SyncReason, tr
from gui.core.window_context import Controller, WindowContext
from gui.shell.frame import Frame
from gui.sources.first_run_panel import FirstRunPanel

log = logging.getLogger(__name__)


class FolderController(Controller):
    """Connects the first-run pages with the workspace: shows them when needed, and opens the chosen folder."""

    def __init__(
        self,
        context: WindowContext,
        first_run: FirstRunPanel,
        frame: Frame,
    ) -> None:
        super().__init__(context)
        self._first_run = first_run
        self._frame = frame
        self._folder: Path | None = None
        self._first_sync: SyncReason | None = None
        first_run.folder_named.connect(self.offer)
        first_run.workspace_chosen.connect(self._open_chosen)
        first_run.back_requested.connect(self._go_back)

    def open(self, folder: Path, *, first_sync: SyncReason = "session-start") -> None:
        """Open a workspace and bring its index up to date."""
        self._first_sync = first_sync
        self._folder = folder
        self._workspace.open(folder)

    def take_first_sync(self) -> SyncReason | None:
        """Return the reason for the first sync of the opened workspace, and reset it; None if no sync is needed."""
        reason, self._first_sync = self._first_sync, None
        return reason

    def show_welcome(self) -> None:
        """Show the first page of the first run, since no workspace is known."""
        self._first_run.welcome()
        self._frame.show_page(self._first_run)

    @Slot()
    def choose(self) -> None:
        """Show the dialog for another folder, then a preview of its index."""
        self._first_run.choose()

    @Slot(object)
    def offer(self, folder: Path) -> None:
        """Show a preview of the files that would be indexed in `folder`."""
        self._first_run.offer(folder, can_go_back=self._workspace.current is not None)
        self._frame.show_page(self._first_run)

    def choose_sessions(self) -> None:
        """Show the page to choose which sessions the open workspace searches."""
        if self._folder is not None:
            opened = self._workspace.current
            self._first_run.choose_sessions(self._folder, None if opened is None else opened.manager)
            self._frame.show_page(self._first_run)

    @Slot()
    def add_sessions(self) -> None:
        """Show the page to choose sessions; in a demo, which saves nothing, show a message instead."""
        if self._remembers:
            self.choose_sessions()
        else:
            self._banner.show_error(
                tr("The demo saves nothing. Start Mnemoscope without --demo to add your own sessions.")
            )

    @Slot(str)
    def add_extra_path(self, path: str) -> None:
        """Add a file or folder to what the open workspace indexes."""
        self._change(lambda folder: engine.add_extra_path(path, folder, self._paths.config))

    @Slot(str)
    def add_extension(self, ending: str) -> None:
        """Add a file extension, such as ".txt", to what the open workspace indexes."""

        def save(folder: Path) -> None:
            known = engine.read_layers(folder, self._paths.config).settings.extensions
            if ending not in known:
                engine.save_setting("extensions", (*known, ending), workspace=folder, config=self._paths.config)

        self._change(save)

    def index_tools(self) -> None:
        """Index the calls and results of tools in sessions, too."""

        def save(folder: Path) -> None:
            engine.save_setting("sessions.tools", True, workspace=folder, config=self._paths.config)

        self._change(save)

    def _change(self, save: Callable[[Path], object]) -> None:
        """Save a setting of the open workspace, and open it again."""
        opened = self._workspace.current
        if opened is None:
            return
        if not self._remembers:
            self._banner.show_error(
                tr("The demo saves nothing. Start Mnemoscope without --demo to index your own files.")
            )
            return
        folder = opened.folder
        self._jobs.save(
            lambda _: save(folder), lambda _: self.open(folder, first_sync="manual"), self._banner.show_error
        )

    @Slot(object)
    def _open_chosen(self, folder: Path) -> None:
        if self._remembers:
            self._jobs.save(
                lambda _: engine.save_setting("workspace", str(folder), config=self._paths.config),
                lambda _: None,
                lambda why: log.warning("The workspace could not be saved in the settings: %s", why),
            )
        self.open(folder, first_sync="manual")

    @Slot()
    def _go_back(self) -> None:
        self._frame.show_page(self._frame.panes)
