"""Opens the view that `--view` names on the command line."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, SignalInstance

from gui.core.view_spec import view_of
from gui.settings.option_pages import SettingsPage

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

_SETTINGS: dict[str, SettingsPage] = {
    "settings": "embedding",
    "engine": "engine",
    "settings-general": "general",
    "settings-appearance": "appearance",
    "settings-keyboard": "keyboard",
    "settings-sources": "sources",
    "settings-search": "search",
    "settings-sync": "sync",
    "settings-agents": "agents",
    "settings-privacy": "privacy",
    "settings-advanced": "advanced",
    "settings-found": "general",
}
"""Views that show a page of the settings."""
_SETTINGS_QUERY = "age"
"""Search text for the screenshot of a search over the settings."""
_ONCE = Qt.ConnectionType.SingleShotConnection


def show_view(window: "MainWindow", view: str, query: str) -> None:
    """Show a view of the window by its name on the command line, and search for `query`."""
    if view == "sources":
        window.folders.choose_sessions()
        return
    opener = _opener_of(window, view)
    if opener is not None:
        _when_open(window, opener)
        return
    if view == "all-workspaces":
        window.search.controller.search_everywhere(True)
    spec = view_of("sessions" if view == "remember" else view)
    window.views.switch(spec.name if spec else "search")
    if spec is not None:
        window.views.panel_of(spec.name).open_page(view)
    if view == "explanation":
        window.dock.show_explanation()
    elif view == "diagnostics" or (spec is not None and view != "search"):
        window.panes.show_dock(view == "diagnostics")
    if view == "remember":
        _when_open(window, partial(_remember, window))
    if view == "chunks":
        window.viewer.file_shown.connect(window.viewer.show_chunk, _ONCE)
    if view == "palette":
        _when_open(window, window.keyboard.palette.open, window.workspace.feed.status_changed)
    if view == "keys":
        _when_open(window, window.commands.show_keys)
    if query:
        window.views.panel.search(query)


def _remember(window: "MainWindow") -> None:
    """Start a note of the shown session, or of the first one once the index is complete: before, others come first."""
    sessions, conversation = window.views.sessions, window.views.conversation
    if conversation.opened is not None:
        conversation.remember()
        return
    signals = window.workspace.feed.status_changed, sessions.settled, conversation.session_shown

    def remember() -> None:
        status, first, opened = window.workspace.status, sessions.view.list.current_session(), conversation.opened
        is_complete = status is not None and status.last_sync is not None and status.syncing is None
        shown = None if opened is None else opened.request.path
        if is_complete and not sessions.busy and first is not None and first.path == shown:
            for signal in signals:
                signal.disconnect(remember)
            conversation.remember()

    for signal in signals:
        signal.connect(remember)
    remember()


def _opener_of(window: "MainWindow", view: str) -> Callable[[], object] | None:
    """Return the function that opens a view which is a separate window; None for other views."""
    if view in _SETTINGS:
        return partial(_show_settings, window, view)
    match view:
        case "guide":
            return partial(window.guide.show_page, "searching")
        case "workspaces":
            return window.spaces.show
        case "about":
            return window.about.show
        case "licences":
            return window.about.show_licences
        case _:
            return None


def _when_open(window: "MainWindow", show: Callable[[], object], signal: SignalInstance | None = None) -> None:
    """Call `show` once a workspace is open, or when the signal `signal` is emitted."""
    if window.workspace.status is not None:
        show()
    else:
        (signal or window.workspace.opened).connect(lambda _: show(), _ONCE)


def _show_settings(window: "MainWindow", view: str) -> None:
    window.settings.show_page(_SETTINGS[view])
    dialog = window.settings.dialog
    if view == "settings-found" and dialog is not None:
        dialog.search(_SETTINGS_QUERY)
