"""Open workspaces, by the switcher and the menu of the workspace button, and show progress and failure of opening."""

from functools import partial
from pathlib import Path

import shiboken6
from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QApplication, QMenu, QWidget

import engine
from engine import (
    CancelToken,
    KnownWorkspace,
    MemoryProviderStatus,
    MemorySearchResult,
    SyncSummary,
    WorkspaceState,
    tr,
)
from gui.commands.commands import show_keys_of
from gui.controllers.folders import FolderController
from gui.controllers.settings import BrokenSettings
from gui.core.capabilities import capabilities
from gui.core.jobs import JobSlot
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenFailure, OpenWorkspace
from gui.shell.frame import Frame
from gui.shell.views import Views
from gui.widgets.placeholder_page import Action
from gui.workspaces import Switcher, forgotten

SWITCH = "workspace.switch"
EVERYWHERE = "search.all-workspaces"


class WorkspacesController(Controller):
    """Opens the switcher of workspaces, which is created at first use."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        folders: FolderController,
    ) -> None:
        super().__init__(context)
        self._views = views
        search = self._search = views.search
        self._folders = folders
        self._list_job = JobSlot(self, self._jobs)
        self._states_job = JobSlot(self, self._jobs)
        self._spaces: tuple[KnownWorkspace, ...] = ()
        self._states: dict[str, WorkspaceState] = {}
        self.switcher: Switcher | None = None
        search.filters.workspace_menu_requested.connect(self._fill_menu)
        search.actions.switch_requested.connect(self._switch_to)
        self._synced: SyncSummary | None = None
        self._workspace.feed.status_changed.connect(self._handle_status)

    @property
    def ready(self) -> bool:
        """Whether the switcher is open with complete information."""
        shown = self.switcher is not None and self.switcher.isVisible()
        return shown and not self._list_job.busy and not self._states_job.busy

    @Slot()
    def show(self) -> None:
        """Open the dialog that lists all workspaces."""
        if self.switcher is None:
            self.switcher = Switcher(self._window)
            self.switcher.chosen.connect(self._open)
            self.switcher.folder_typed.connect(self._folders.offer)
            self.switcher.add_button.clicked.connect(self._add)
            self.switcher.forget_requested.connect(self._forget)
            self.switcher.everywhere_button.clicked.connect(self._search_everywhere)
        self.switcher.begin(self._open_folder)
        self._list()

    @Slot()
    def toggle_everywhere(self) -> None:
        """Search all workspaces, or the open one alone again."""
        self._search.controller.search_everywhere(not self._search.controller.everywhere)
        self._views.switch("search")

    @property
    def _open_folder(self) -> str:
        opened = self._workspace.current
        return str(opened.folder.resolve()) if opened else ""

    # --- the list ---------------------------------------------------------------------------------------------------

    def _list(self) -> None:
        recent, config, store = tuple(map(Path, self._state.recent)), self._workspace.config, self._store
        self._list_job.read(
            lambda _: engine.known_workspaces(recent, config=config, store_path=store), self._set_list, self._show_error
        )

    @property
    def _store(self) -> str:
        """The folder of the indexes."""
        opened = self._workspace.current
        return self._workspace.store_path or (opened.settings.store.path if opened else "")

    @Slot(object)
    def _handle_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the open workspace's entry when a sync ends while the switcher is open."""
        synced = status.last_sync if status is not None else None
        ended = synced is not None and synced != self._synced
        self._synced = synced
        if ended and self.switcher is not None and self.switcher.isVisible():
            self._list()

    def _set_list(self, spaces: tuple[KnownWorkspace, ...]) -> None:
        self._spaces = spaces
        self._show()
        self._read_states()

    def _read_states(self) -> None:
        """Read the indexes one by one; each is shown when it is read."""
        store, due = self._store, [space for space in self._spaces if space.present and space.index_bytes]

        def work(token: CancelToken) -> dict[str, WorkspaceState]:
            states = {}
            for space in due:
                token.checkpoint()
                states[space.folder] = engine.workspace_state(Path(space.folder), store_path=store)
            return states

        self._states_job.read(work, self._set_states, self._show_error)

    def _set_states(self, states: dict[str, WorkspaceState]) -> None:
        self._states = states
        self._show()

    def _show(self) -> None:
        if self.switcher is not None:
            self.switcher.show_spaces(self._spaces, self._states)

    def _show_error(self, sentence: str) -> None:
        self._list_job.cancel()
        self._states_job.cancel()
        self._banner.show_error(sentence)

    # --- actions ----------------------------------------------------------------------------------------------------

    @Slot(object)
    def _open(self, known: KnownWorkspace) -> None:
        self._folders.open(Path(known.folder))

    @Slot()
    def _add(self) -> None:
        if self.switcher is not None:
            self.switcher.reject()
        self._folders.choose()

    @Slot()
    def _search_everywhere(self) -> None:
        if self.switcher is not None:
            self.switcher.reject()
        self._search.controller.search_everywhere(True)
        self._views.switch("search")

    @Slot(object, bool)
    def _forget(self, known: KnownWorkspace, with_index: bool) -> None:
        store = self._store
        self._jobs.save(
            lambda _: engine.forget_workspace(Path(known.folder), store_path=store, remove_index=with_index),
            partial(self._report_forgotten, known),
            self._show_error,
        )

    def _report_forgotten(self, known: KnownWorkspace, freed: int) -> None:
        self._state.recent = [name for name in self._state.recent if name != known.folder]
        self._banner.show_message(forgotten(known, freed), "fine", key="workspace")
        if self.switcher is not None and self.switcher.isVisible():
            self._list()

    @Slot(object)
    def _switch_to(self, result: MemorySearchResult) -> None:
        """Open the workspace of a result, and repeat the query there."""
        if result.workspace:
            self._folders.open(Path(result.workspace))

    # --- the menu of the button ---------------------------------------------------------------------------------------

    @Slot(QMenu)
    def _fill_menu(self, menu: QMenu) -> None:
        current = str(self._workspace.current.folder) if self._workspace.current else ""
        for name in self._state.recent:
            action = menu.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name == current and not self._search.controller.everywhere)
            action.setEnabled(name != current or self._search.controller.everywhere)
            action.triggered.connect(partial(self._choose_folder, Path(name)))
        menu.addSeparator()
        everywhere = menu.addAction(tr("All workspaces"))
        everywhere.setCheckable(True)
        everywhere.setChecked(self._search.controller.everywhere)
        everywhere.setEnabled(bool(current))
        everywhere.triggered.connect(self.toggle_everywhere)
        show_keys_of(everywhere, EVERYWHERE)
        menu.addSeparator()
        switch = menu.addAction(tr("Switch workspace…"))
        switch.triggered.connect(self.show)
        show_keys_of(switch, SWITCH)
        choose = menu.addAction(tr("Choose folder…"))
        choose.triggered.connect(self._folders.choose)
        show_keys_of(choose, "folder.choose")

    def _choose_folder(self, folder: Path, _checked: bool = False) -> None:
        self._search.controller.search_everywhere(False)
        if self._workspace.current is None or folder != self._workspace.current.folder:
            self._folders.open(folder)


class WorkspaceController(Controller):
    """Passes the open memory to all parts that use it, and makes them drop it before it is closed."""

    another_folder_requested = Signal()

    def __init__(
        self,
        context: WindowContext,
        frame: Frame,
        folders: FolderController,
        broken_settings: BrokenSettings,
    ) -> None:
        super().__init__(context)
        self._frame = frame
        self._views = frame.views
        self._folders = folders
        self._broken_settings = broken_settings
        self._before: Path | None = None
        """The folder that was open last."""
        self._focused: QWidget | None = None
        """The focused widget when the folder began to be reopened."""
        self._moved_to: QWidget | None = None
        """The widget to which the focus went then, when its own was disabled or hidden."""
        self._workspace.opening.connect(self._show_opening)
        self._workspace.opened.connect(self._show_opened)
        self._workspace.settings_changed.connect(self._apply_settings)
        self._workspace.failed.connect(self._show_failure)
        self._workspace.closed.connect(lambda: self.show_closed(reopening=self._workspace.reopening))

    @Slot(object)
    def _show_opening(self, folder: Path) -> None:
        self._banner.clear()
        from_other_page = self._frame.pages.currentWidget() is not self._frame.panes
        self._frame.show_page(self._frame.panes)
        if from_other_page:
            self._views.focus_box()  # else Qt moves the focus of the hidden page to the first button of the window
        self._frame.sync_bar.show_nothing(tr("Opening {folder}…", folder=folder.name or folder))
        self._window.setWindowTitle(tr("{folder} – Mnemoscope", folder=folder.name or folder))
        self._views.search.filters.show_workspace(str(folder))
        if self._views.current == "search" and not self._workspace.reopening:
            self._views.search.accept_typing()

    @Slot(object)
    def _show_opened(self, opened: OpenWorkspace) -> None:
        self._before = opened.folder
        self._state.remember(opened.folder)
        capabilities().begin(opened.unsupported)
        reopened = self._workspace.reopening
        self._views.set_manager(opened.all_workspaces, reopening=reopened)
        self._apply_settings(opened)
        self._frame.dock.set_manager(opened.manager, reopening=reopened)
        if reopened:
            self._return_focus()
        elif (
            self._frame.pages.currentWidget() is self._frame.panes
            and self._window.focusWidget()
            is not self._views.search.box.edit  # otherwise the typed text would be selected
        ):
            self._views.focus_box()
        if opened.renamed:
            self._banner.show_message(opened.renamed, "off", key="renamed")
        reason = self._folders.take_first_sync()
        if reason is not None and (reason != "session-start" or opened.settings.sync.on_session_start):
            self._workspace.sync(reason)

    def _return_focus(self) -> None:
        """Restore the focus that was lost when the folder was closed, unless the user has focused something else."""
        focused, moved_to = self._focused, self._moved_to
        self._focused = self._moved_to = None
        if focused is None or QApplication.focusWidget() not in (moved_to, None):
            return
        if shiboken6.isValid(focused) and focused.isVisible() and focused.isEnabled():
            focused.setFocus()
        elif self._frame.pages.currentWidget() is self._frame.panes:
            self._views.focus_box()

    @Slot(object)
    def _apply_settings(self, opened: OpenWorkspace) -> None:
        self._views.viewer.external.editor_command = opened.settings.window.editor

    def show_closed(self, *, reopening: bool = False) -> None:
        """Disconnect all panels from the memory, and show that no workspace is open.

        `reopening`: it is being reopened, so that results and the open document stay.
        """
        self._focused = QApplication.focusWidget() if reopening else None
        self._views.set_manager(None, reopening=reopening)
        self._frame.dock.set_manager(None, reopening=reopening)
        self._moved_to = QApplication.focusWidget() if reopening else None

    @Slot(object)
    def _show_failure(self, failure: OpenFailure) -> None:
        self._frame.sync_bar.show_status(None)
        self._views.search.box.setEnabled(False)
        again: Action = (tr("Try again"), partial(self._folders.open, failure.folder))
        if failure.in_settings:
            self.show_settings_problem(failure.sentence, again)
            return
        actions: list[Action] = [again, (tr("Choose another folder…"), self.another_folder_requested.emit)]
        before = self._before
        if before is not None and before != failure.folder:
            name = before.name or str(before)
            actions.append((tr("Back to {folder}", folder=name), partial(self._folders.open, before)))
        self._frame.message.show_message(
            tr("{folder} cannot be opened", folder=failure.folder.name), failure.sentence, *actions
        )
        self._frame.show_page(self._frame.message)

    def show_settings_problem(self, sentence: str, again: Action) -> None:
        """Show only this problem: no workspace can be opened until the settings file is fixed or set aside."""
        edit = (tr("Open the settings file"), self._paths.open_settings)
        rename = self._broken_settings.action(again[1])
        self._frame.message.show_message(tr("The settings cannot be used"), sentence, again, edit, rename)
        self._frame.show_page(self._frame.message)
