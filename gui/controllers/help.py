"""Opens the guide, follows its links back into the window, and shows version and licences of the program."""

import platform
from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Slot, qVersion
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QWidget

import engine
from engine import marked, program_version, tr
from gui.commands.keymap import keymap
from gui.controllers.settings import SettingsController
from gui.core.jobs import Jobs, JobSlot
from gui.core.window_context import Controller, WindowContext
from gui.help.guide_window import GuideWindow
from gui.help.licence_window import LicenceWindow
from gui.help.licences import Component, read_components
from gui.help.pages import GuidePage, page_names, read_pages
from gui.widgets.buttons import SCHEME, push_button
from gui.widgets.labels import label, line
from gui.widgets.layouts import column_of, open_dialog, row_of

_NOT_NOW = marked("“{words}” isn't available right now.")

_MIN_NAME = 80


class GuideController(QObject):
    """Opens the guide, whose window is created at first use."""

    def __init__(self, jobs: Jobs, settings: SettingsController, window: QWidget) -> None:
        super().__init__(window)
        self._jobs = jobs
        self._settings = settings
        self._window = window
        self._job = JobSlot(self, jobs)
        self.dialog: GuideWindow | None = None
        QDesktopServices.setUrlHandler(SCHEME, self, "open_address")  # type: ignore[arg-type]  # the stubs say bytes
        window.destroyed.connect(lambda: QDesktopServices.unsetUrlHandler(SCHEME))
        keymap().changed.connect(self._read_again)

    @Slot()
    def show(self) -> None:
        """Open the guide where it was last, at first on its first page."""
        self.show_page("")

    def show_page(self, name: str, heading: str = "") -> None:
        """Open the guide on a page, at a heading."""
        if self.dialog is None:
            self.dialog = GuideWindow(self._jobs, self._window)
            self.dialog.text.command_requested.connect(self._run)
            self.dialog.text.setting_requested.connect(self._show_setting)
            self._window.destroyed.connect(self.dialog.deleteLater)
            self._window.installEventFilter(self)
            self._read_again()
        names = page_names()
        if name in names or not self.dialog.location[0]:
            self.dialog.go_to(name if name in names else names[0], heading)
        self.dialog.show()
        self.dialog.activateWindow()
        self.dialog.take_focus(reading=bool(name))

    @Slot(QUrl)
    def open_address(self, url: QUrl) -> None:
        """Open the page that the URL of a “Learn more” link names."""
        self.show_page(url.path(), url.fragment())

    @Slot()
    def _read_again(self) -> None:
        """Reload the pages, which contain the current keys."""
        if self.dialog is None:
            return
        keys = {name: keymap().first_key(name) for name in keymap().commands}
        self._job.read(lambda _: _read(keys), self._set_pages)

    def _set_pages(self, pages: tuple[GuidePage, ...]) -> None:
        if self.dialog is not None:
            self.dialog.set_pages(pages)

    @Slot(str)
    def _run(self, name: str) -> None:
        action = next((action for action in self._window.actions() if action.objectName() == name), None)
        if action is not None:
            self._trigger(action)

    def _trigger(self, action: QAction) -> None:
        if action.isEnabled():
            self._window.activateWindow()
            action.trigger()
        elif self.dialog is not None:
            self.dialog.show_message(tr(_NOT_NOW, words=action.text()))

    @Slot(str)
    def _show_setting(self, key: str) -> None:
        self._run("settings.show")
        if self._settings.dialog is not None and self._settings.dialog.isVisible():
            self._settings.dialog.search(key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the guide when the main window closes."""
        if event.type() in (QEvent.Type.Close, QEvent.Type.Hide) and self.dialog is not None:
            self.dialog.close()
        return False


def _read(keys: dict[str, str]) -> tuple[GuidePage, ...]:
    return read_pages(keys, frozenset(option.key for option in engine.all_options()), engine.current_language())


class AboutController(Controller):
    """Shows version, file locations and licences in dialogs; the list of components is read once."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context)
        self._job = JobSlot(self, self._jobs)
        self._components: tuple[Component, ...] = ()
        self._licences: LicenceWindow | None = None

    @property
    def ready(self) -> bool:
        """Whether everything to be shown has been read."""
        return not self._job.busy

    @Slot()
    def show(self) -> None:
        """Show version and file locations of this program."""
        content = QWidget()
        version = tr("Version {version}", version=tr(program_version()))
        running = f"{version} · Python {platform.python_version()} · Qt {qVersion()}"
        column_of(
            label("Mnemoscope", "title"),
            label(running, "meta"),
            label(tr("Search your notes and past AI sessions, and see inside the index."), wrap=True),
            self._licence_row(),
            4,
            line(),
            _paths_grid(self._paths.listed(self._workspace.status)),
            spacing=8,
            parent=content,
        )
        open_dialog(tr("About Mnemoscope"), content, self._window)

    def _licence_row(self) -> QHBoxLayout:
        button = push_button(
            tr("Licences…"), self.show_licences, tip=tr("Components of this program and their licences")
        )
        return row_of((label(tr("Free software under the Apache License 2.0."), "muted", wrap=True), 1), button)

    @Slot()
    def show_licences(self) -> None:
        """Show all components of this installation."""
        self._licences = LicenceWindow()
        dialog = open_dialog(tr("Licences"), self._licences, self._window)
        # It is never larger than the main window.
        dialog.resize(dialog.sizeHint().boundedTo(self._window.size()))
        dialog.finished.connect(self._on_closed)
        self._licences.take_focus()
        if self._components:
            self._licences.show_components(self._components)
        else:
            self._job.read(lambda _token: read_components(), self._read, self._failed)

    def _read(self, components: tuple[Component, ...]) -> None:
        self._components = components
        if self._licences is not None:
            self._licences.show_components(components)

    def _failed(self, sentence: str) -> None:
        if self._licences is not None:
            self._licences.show_problem(sentence)

    @Slot()
    def _on_closed(self) -> None:
        self._job.cancel()
        self._licences = None


def _paths_grid(paths: Iterable[tuple[str, str]]) -> QGridLayout:
    grid = QGridLayout()
    grid.setHorizontalSpacing(12)
    grid.setVerticalSpacing(8)
    grid.setColumnMinimumWidth(0, _MIN_NAME)
    grid.setColumnStretch(1, 1)
    for row, (name, path) in enumerate(paths):
        where = label(path)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        grid.addWidget(label(name, "muted"), row, 0)
        grid.addWidget(where, row, 1)
    return grid
