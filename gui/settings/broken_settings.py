"""Recovers from an unusable settings file: renames it, so that the defaults apply."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot

import engine
from engine import marked, tr
from gui.core.window_context import WindowContext
from gui.core.workspace import Opened
from gui.widgets.message_banner import Action

WORDS = marked("Rename the file and use the defaults")


class BrokenSettings(QObject):
    """Renames an unusable settings file; nothing is deleted, and the message names both files."""

    def __init__(self, context: WindowContext) -> None:
        super().__init__(context.window)
        self._banner = context.banner
        self._jobs = context.jobs
        self._paths = context.paths
        self._message = ""
        context.workspace.opened.connect(self._show_again)

    def action(self, then: Callable[[], None]) -> Action:
        """Return the button for a page that reports the file; `then` is called once the file is renamed."""
        return Action(tr(WORDS), partial(self.run, then))

    def run(self, then: Callable[[], None]) -> None:
        """Rename the file, then call `then`."""
        config = self._paths.config

        def done(backup: Path) -> None:
            new = self._paths.settings
            self._message = tr(
                "Your settings were renamed to {kept}. The defaults apply now; the new file is {new}.",
                kept=backup,
                new=new,
            )
            self._show_message()
            then()

        self._jobs.write(lambda _: engine.set_settings_aside(config), done, self._banner.show_error)

    @Slot(object)
    def _show_again(self, _: Opened) -> None:
        """Show the message again after a workspace was opened, which clears earlier messages."""
        self._show_message()
        self._message = ""

    def _show_message(self) -> None:
        if self._message:
            self._banner.show_message(
                self._message, "working", Action(tr("Open the new file"), self._paths.open_settings)
            )
