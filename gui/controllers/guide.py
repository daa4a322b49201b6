"""Opens the guide, and follows its links back into the window."""

from PySide6.QtCore import QEvent, QObject, QUrl, Slot
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QWidget

import engine
from engine import marked, tr
from gui.commands.keymap import keymap
from gui.controllers.settings import SettingsController
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.help.guide_window import GuideWindow
from gui.help.pages import GuidePage, page_names, read_pages
from gui.widgets.guide_link import SCHEME

_NOT_NOW = marked("“{words}” cannot be done at the moment.")


class GuideController(QObject):
    """Creates the window of the guide at first use."""

    def __init__(self, jobs: Jobs, settings: SettingsController, window: QWidget) -> None:
        super().__init__(window)
        self._jobs = jobs
        self._settings = settings
        self._window = window
        self._job = JobSlot(self)
        self.dialog: GuideWindow | None = None
        QDesktopServices.setUrlHandler(SCHEME, self, "open_address")  # type: ignore[arg-type]  # the stubs say bytes
        window.destroyed.connect(_forget_handler)
        window.installEventFilter(self)
        keymap().changed.connect(self._read_again)

    @Slot()
    def show(self) -> None:
        """Open it where it was left, at first on its first page."""
        self.show_page("")

    def show_page(self, name: str, heading: str = "") -> None:
        """Open it on this page."""
        if self.dialog is None:
            self.dialog = GuideWindow(self._jobs, self._window)
            self.dialog.command_wanted.connect(self._run)
            self.dialog.setting_wanted.connect(self._show_setting)
            self._window.destroyed.connect(self.dialog.deleteLater)
            self._read_again()
        names = page_names()
        if name in names or not self.dialog.location[0]:
            self.dialog.go_to(name if name in names else names[0], heading)
        self.dialog.show()
        self.dialog.activateWindow()
        self.dialog.take_focus(reading=bool(name))

    @Slot(QUrl)
    def open_address(self, url: QUrl) -> None:
        """Open the page of a “Learn more” link."""
        self.show_page(url.path(), url.fragment())

    @Slot()
    def _read_again(self) -> None:
        """Reload the pages, which contain the current keys."""
        if self.dialog is None:
            return
        keys = {name: keymap().shown(name) for name in keymap().commands}
        self._job.put(self._jobs.read(lambda _: _read(keys), self._take))

    def _take(self, pages: tuple[GuidePage, ...]) -> None:
        self._job.done()
        if self.dialog is not None:
            self.dialog.take_pages(pages)

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
            self.dialog.say(tr(_NOT_NOW, words=action.text()))

    @Slot(str)
    def _show_setting(self, key: str) -> None:
        self._run("settings.show")
        if self._settings.dialog is not None and self._settings.dialog.isVisible():
            self._settings.dialog.search(key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the guide with the window."""
        if event.type() in (QEvent.Type.Close, QEvent.Type.Hide) and self.dialog is not None:
            self.dialog.close()
        return False


def _read(keys: dict[str, str]) -> tuple[GuidePage, ...]:
    return read_pages(keys, frozenset(option.key for option in engine.all_options()), engine.spoken())


def _forget_handler() -> None:
    QDesktopServices.unsetUrlHandler(SCHEME)
