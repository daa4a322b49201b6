"""What the window makes of the keyboard as a whole: the person's own keys, and the command palette."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from gui.commands.keymap import keymap
from gui.core.jobs import Jobs
from gui.core.workspace import Opened
from gui.settings.custom_keys import CustomKeys
from gui.settings.keyboard_page import KeyboardPage
from gui.window.palette.controller import PaletteController
from gui.window.pane_focus import PaneFocus, Part
from gui.window.search_menu import SearchMenu
from gui.window.shortcut_forwarding import ShortcutForwarding
from gui.window.window_parts import WindowParts


class Keyboard(QObject):
    """`own` are the keys that the person chose; those of the settings hold as soon as these are read."""

    def __init__(self, window: WindowParts, searches: SearchMenu, jobs: Jobs, config: Path | None) -> None:
        """Of a window whose commands are all there."""
        super().__init__(window)
        self._banner = window.banner
        self.own = CustomKeys(jobs, keymap(), config, self)
        self.own.problem.connect(self._complain)
        self.own.not_saved.connect(self._complain)
        self.palette = PaletteController(window, searches, window.folders, window.state)
        frame, views = window.frame, window.views
        self.forwarding = ShortcutForwarding(frame.header, views.shown_parts, self)
        self.parts = PaneFocus(
            (
                Part(frame.header, views.focus_box),
                Part(window.banner),
                Part(views.lists, views.focus_list),
                Part(views.wholes, views.focus_list),
                Part(views.readers, views.focus_reader),
                Part(window.dock),
                Part(window.first_run),
                Part(frame.message, frame.message.take_focus),
                Part(window.sync_bar),
            ),
            self,
        )
        window.palette_wanted.connect(self.palette.open)
        window.part_wanted.connect(self._go_to_part)
        window.workspace.opened.connect(self._take)
        window.workspace.settings_changed.connect(self._take)
        window.settings.add_page("keyboard", lambda _: KeyboardPage(self.own, keymap()))

    @Slot(object)
    def _take(self, opened: Opened) -> None:
        self.own.take(opened.settings.window.keys)

    @Slot(int)
    def _go_to_part(self, step: int) -> None:
        self.parts.next() if step > 0 else self.parts.previous()

    @Slot(str)
    def _complain(self, sentence: str) -> None:
        self._banner.say(sentence, "degraded", key="keys")
