"""The window's global keyboard handling: shortcuts, the user's own keys, pane focus, and the command palette."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import shiboken6
from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QComboBox, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from gui.commands.keymap import keymap
from gui.core.jobs import Jobs
from gui.core.workspace import OpenWorkspace
from gui.settings.custom_keys import CustomKeys
from gui.settings.keyboard_page import KeyboardPage
from gui.widgets.accessibility import first_stop, is_tab_stop
from gui.window.command_palette import PaletteController
from gui.window.window_base import MainWindowBase
from gui.window.window_menu import SearchMenu

_FIELDS = (QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox)
_SHIFT, _CONTROL, _ALT = (
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
)
_EDITING = tuple(
    getattr(QKeySequence.StandardKey, name) for name in ("Undo", "Redo", "Cut", "Copy", "Paste", "SelectAll")
)
"""Keys that a text field handles itself."""
_FIRST_NAMED_KEY = 0x01000000
"""Lowest Qt code of keys without a character, such as arrows, Delete and F1."""


class ShortcutForwarding(QObject):
    """An event filter that lets the program's shortcuts win over the editing keys of the focused text field.

    On some platforms Ctrl+E, for example, would move to the end of the line. In a field inside `header`, the shortcuts
    of the widgets in `targets` work too, and in a list inside `lists` the shortcuts of the text shown next to it. Alt
    with a letter never inserts text.
    """

    def __init__(
        self, header: QWidget, lists: QWidget, targets: Callable[[], Iterable[QWidget]], parent: QObject
    ) -> None:
        """`targets`: returns widgets below the header; the first visible one that has the shortcut runs it."""
        super().__init__(parent)
        self._header = header
        self._lists = lists
        self._targets = targets
        self._field: QWidget | None = None
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._watch_field)

    @Slot(QWidget, QWidget)
    def _watch_field(self, _before: QWidget | None, now: QWidget | None) -> None:
        if self._field is not None and shiboken6.isValid(self._field):
            self._field.removeEventFilter(self)
        listed = now is not None and self._lists.isAncestorOf(now)
        self._field = now if listed or isinstance(now, _FIELDS) else None
        if self._field is not None:
            self._field.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind not in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress) or not isinstance(event, QKeyEvent):
            return False
        key = _shortcut(event)
        if key is None:
            return False
        in_field = isinstance(watched, _FIELDS)
        if kind == QEvent.Type.ShortcutOverride:
            if not in_field or not any(key in keymap().sequences(name) for name in keymap().commands):
                return False
            event.ignore()  # the field would otherwise handle the key itself
            return True
        action = self._action(watched, key)
        if action is not None:
            action.trigger()
            return True
        if in_field and _is_alt_letter(event):
            event.ignore()
            return True
        return False

    def _action(self, field: QObject, key: QKeySequence) -> QAction | None:
        if not isinstance(field, QWidget) or not any(area.isAncestorOf(field) for area in (self._header, self._lists)):
            return None
        widgets = (widget for target in self._targets() for widget in (target, *target.findChildren(QWidget)))
        actions = (action for widget in widgets if widget.isVisible() for action in widget.actions())
        return next(filter(partial(_runs, key), actions), None)


def _shortcut(event: QKeyEvent) -> QKeySequence | None:
    """Return the key of an event if it can be a shortcut and a text field doesn't need it, else None."""
    if any(event.matches(standard) for standard in _EDITING):
        return None
    function_key = Qt.Key.Key_F1 <= event.key() <= Qt.Key.Key_F35
    character = 0 < event.key() < _FIRST_NAMED_KEY and event.modifiers() & (_CONTROL | _ALT)
    return QKeySequence(event.keyCombination()) if function_key or character else None


def _runs(key: QKeySequence, action: QAction) -> bool:
    context = Qt.ShortcutContext.WidgetWithChildrenShortcut
    return action.isEnabled() and action.shortcutContext() == context and key in action.shortcuts()


def _is_alt_letter(event: QKeyEvent) -> bool:
    """Return whether the key is Alt with a letter; Option on a Mac, or AltGr, types another character instead."""
    if event.modifiers() & ~_SHIFT != _ALT or event.key() >= _FIRST_NAMED_KEY:
        return False
    return event.text().casefold() in ("", chr(event.key()).casefold())


class Pane(NamedTuple):
    widget: QWidget
    enter: Callable[[], object] | None = None
    """Sets the focus when the pane is first entered; None focuses its first control."""
    remembers: bool = True
    """Whether the pane is entered again at the control that had the focus, not at the first one."""


class PaneFocus(QObject):
    """Moves the focus between the panes of the window, to the widget that last had it in each pane.

    Hidden panes and panes without a control are skipped.
    """

    def __init__(self, panes: Sequence[Pane], parent: QObject) -> None:
        """`panes`: the panes in the order in which they are visited."""
        super().__init__(parent)
        self._panes = tuple(panes)
        self._last_focus: dict[QWidget, QWidget] = {}
        """The widget that had the focus last in each pane."""
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._record_focus)

    @Slot(QWidget, QWidget)
    def _record_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        pane = self._pane_of(now)
        if pane is not None and now is not None and pane.remembers:
            self._last_focus[pane.widget] = now

    def _pane_of(self, widget: QWidget | None) -> Pane | None:
        if widget is None:
            return None
        return next((pane for pane in self._panes if pane.widget is widget or pane.widget.isAncestorOf(widget)), None)

    def next(self) -> None:
        self._move_focus(1)

    def previous(self) -> None:
        self._move_focus(-1)

    def _move_focus(self, step: int) -> None:
        """Focus the next pane (`step` 1) or the previous one (-1) that accepts the focus, wrapping around."""
        here = self._pane_of(QApplication.focusWidget())
        count = len(self._panes)
        begin = self._panes.index(here) if here is not None else (-1 if step > 0 else count)
        for distance in range(1, count + 1):
            pane = self._panes[(begin + step * distance) % count]
            if pane is not here and pane.widget.isVisible() and self._enter(pane):
                return

    def _enter(self, pane: Pane) -> bool:
        last = self._last_focus.get(pane.widget)
        if last is not None and shiboken6.isValid(last) and is_tab_stop(last) and pane.widget.isAncestorOf(last):
            last.setFocus(Qt.FocusReason.TabFocusReason)
        elif pane.enter is not None:
            pane.enter()
        if self._pane_of(QApplication.focusWidget()) is not pane:
            first = first_stop(pane.widget)
            if first is not None:
                first.setFocus(Qt.FocusReason.TabFocusReason)
        return self._pane_of(QApplication.focusWidget()) is pane


class Keyboard(QObject):
    """Handles shortcuts, pane focus and the command palette of one window.

    `custom_keys` has the keys chosen by the user; they are read from the settings once these are loaded.
    """

    def __init__(self, window: MainWindowBase, searches: SearchMenu, jobs: Jobs, config: Path | None) -> None:
        """Create it only when all commands of the window exist."""
        super().__init__(window)
        self._banner = window.banner
        self.custom_keys = CustomKeys(jobs, keymap(), config, self)
        self.custom_keys.problem.connect(self._show_error)
        self.custom_keys.not_saved.connect(self._show_error)
        self.palette = PaletteController(window, searches, window.folders, window.state, window.settings.show_option)
        frame, views = window.frame, window.views
        ShortcutForwarding(frame.header, views.lists, views.shown_panels, self)
        self.panes = PaneFocus(
            (
                Pane(frame.header, views.focus_box),
                Pane(window.banner, window.banner.take_focus, remembers=False),
                Pane(views.lists, views.focus_list),
                Pane(views.full_width_bodies, views.focus_list),
                Pane(views.readers, views.focus_reader),
                Pane(window.dock),
                Pane(window.first_run),
                Pane(frame.message, frame.message.take_focus),
                Pane(window.sync_bar),
            ),
            self,
        )
        window.palette_requested.connect(self.palette.open)
        window.pane_requested.connect(self._move_focus)
        window.workspace.opened.connect(self._load_keys)
        window.workspace.settings_changed.connect(self._load_keys)
        window.settings.makers["keyboard"] = lambda _, parent: KeyboardPage(self.custom_keys, keymap(), parent)

    @Slot(object)
    def _load_keys(self, opened: OpenWorkspace) -> None:
        self.custom_keys.load(opened.settings.window.keys)

    @Slot(int)
    def _move_focus(self, step: int) -> None:
        self.panes.next() if step > 0 else self.panes.previous()

    @Slot(str)
    def _show_error(self, sentence: str) -> None:
        self._banner.show_message(sentence, "degraded", key="keys")
