"""The whole program with the sample notes, and navigation to each of its views."""

from dataclasses import dataclass, field
from pathlib import Path

from PySide6.QtCore import QEventLoop
from PySide6.QtWidgets import QApplication, QWidget

from gui.app.application import Demo
from gui.app.desktop_integration import QuickSearchController
from gui.app.save_screenshot import Screenshot
from gui.app.start_view import show_view
from gui.window.main_window import MainWindow
from tests.helpers.sample_content import Content
from tests.helpers.spoken import windows

_RESOURCES = Path(__file__).resolve().parents[2] / "resources"
_FACTS, _GUIDE = _RESOURCES / "sample_facts.toml", _RESOURCES / "guide"
NAMES = (
    *("Mnemoscope", "Claude Code", "Codex", "OpenClaw", "ChatGPT", "Gemini", "Python", "Qt", "English", "Deutsch"),
    *("embedded", "embedded use-multilingual-v3", "use-multilingual-v3", "numpy", "sqlite-vec"),
    *("workspace", "extensions", "include", "exclude", "sources", "citations", "provider", "fallback"),
    *("Tab", "Menu", "Return", "Esc", "Space", "Del", "Home", "End", "Up", "Down", "Left", "Right"),
    *("Close", "Cancel", "otter", "valve", "garden", "water", "greenhouse", "timer", "irrigation"),
)
"""Names that are not translated: programs, languages, providers, models and options of the settings file; also keys,
and buttons that Qt itself labels."""
ASKED = "irrigation timer"
SEARCHES: set[str] = {"search", "viewer", "chunks", "explanation", "index", "map", "quick"}


@dataclass
class Program:
    """The window with the sample notes, and navigation to each of its views, whose picture is taken on arrival."""

    qtbot: object
    window: MainWindow
    quick: QuickSearchController
    demo: Demo
    scratch: Path
    shown: set[QWidget] = field(default_factory=set)

    def go(self, view: str) -> None:
        self.close_others()
        if view == "first-run":
            self.window.folders.show_welcome()
        else:
            if self.window.workspace.status is None or self.window.pages.currentWidget() is self.window.first_run:
                self.window.folders.open(self.demo.workspace)
            show_view(self.window, view, "")
        query = ASKED if view in SEARCHES else ""
        if view == "quick":
            self.quick.quick.call_up("")
        screenshot = Screenshot(self.window, self.quick.quick, view, query, self.scratch / f"{view}.png")
        with self.qtbot.waitSignal(screenshot.finished, timeout=100_000) as done:
            pass
        assert done.args == [""], view
        screenshot.deleteLater()

    def content(self) -> Content:
        """Return the user's own texts in all views, and the guide, which is translated page by page."""
        return Content([self.demo.workspace, *self.demo.session_folders, _FACTS, _GUIDE], [ASKED, *NAMES])

    def close_others(self) -> None:
        for other in windows():
            if other is not self.window:
                other.close()
        QApplication.processEvents(QEventLoop.ProcessEventsFlag.ExcludeUserInputEvents)


def kind_of(view: str) -> str:
    """Return the group of a view; one window visits all views of a group, because a window for each would take
    minutes."""
    return "settings" if view.startswith("settings") else "searches" if view in SEARCHES else "others"
