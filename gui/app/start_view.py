"""The named views of the command line: the state of the window's parts in each."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, SignalInstance

from gui.app.options import View
from gui.index.panel import PageName
from gui.settings.page_layout import SettingsPage
from gui.shell.views import ViewName

if TYPE_CHECKING:
    from gui.window.main_window import MainWindow

_PAGES: dict[View, PageName] = {"index": "overview", "map": "map", "duplicates": "duplicates", "health": "health"}
"""Views that are a page of the view into the index."""
_OTHER_VIEWS: dict[View, ViewName] = {"sessions": "sessions", "remember": "sessions", "facts": "facts"}
"""Views that are part of neither the index nor the search."""
_SETTINGS: dict[View, SettingsPage] = {
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
"""Views that are a page of the settings."""
_LOOKED_FOR = "age"
"""In the picture of a search over the settings."""
_ONCE = Qt.ConnectionType.SingleShotConnection


def show_view(window: "MainWindow", view: View, query: str) -> None:
    """Arrange the parts of `window` for one of the views, and search."""
    if view == "sources":
        window.folders.choose_sessions()
        return
    beside = _beside(window, view)
    if beside is not None:
        _when_open(window, beside)
        return
    if view == "everywhere":
        window.search.controller.search_everywhere(True)
    page = _PAGES.get(view)
    window.views.switch("index" if page else _OTHER_VIEWS.get(view, "search"))
    if page is not None:
        window.views.index.show_page(page)
    if view == "explanation":
        window.dock.show_explanation()
    elif page or view in ("viewer", "chunks", "sessions", "remember", "facts", "diagnostics"):
        window.panes.show_dock(view == "diagnostics")
    if view == "remember":
        conversation = window.views.conversation
        conversation.session_shown.connect(conversation.remember, _ONCE)
    if view == "chunks":
        window.viewer.file_shown.connect(window.viewer.show_chunk, _ONCE)
    if view == "palette":
        _when_open(window, window.keyboard.palette.open, window.workspace.feed.status_changed)
    if view == "keys":
        _when_open(window, window.commands.show_keys)
    if query:
        window.views.panel.search(query)


def _beside(window: "MainWindow", view: View) -> Callable[[], object] | None:
    """Open the view if it is a separate window, once there is something to show in it."""
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


def _when_open(window: "MainWindow", show: Callable[[], object], heard: SignalInstance | None = None) -> None:
    """Call `show` as soon as a workspace is open, or on another signal in `heard`."""
    if window.workspace.status is not None:
        show()
    else:
        (heard or window.workspace.opened).connect(lambda _: show(), _ONCE)


def _show_settings(window: "MainWindow", view: View) -> None:
    window.settings.show_page(_SETTINGS[view])
    dialog = window.settings.dialog
    if view == "settings-found" and dialog is not None:
        dialog.search(_LOOKED_FOR)
