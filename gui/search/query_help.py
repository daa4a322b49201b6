"""The syntax of the search box as a menu of examples: choosing one inserts it into the box."""

import re
from collections.abc import Callable

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from engine import marked, tr
from gui.commands.binding import give_key, tell_key
from gui.commands.keymap import command
from gui.core.capabilities import Gates, MissingFeatures
from gui.core.jobs import Jobs
from gui.widgets.icons import IconButton

_HELP = command("search.help", "What can be typed in the search box", "window", "Alt+H")
_OPERATOR = re.compile(r"[a-z]+:")
_NOTES = (
    marked("Dates\t2026-05-31, 2026-05, 2026, yesterday, monday, last week, 7d, 3m"),
    marked("Ctrl+Space\tcompletes operators; their values are offered as you type"),
)


class QueryHelpMenu(QMenu):
    """Every example with its meaning."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.gates = Gates()
        self.setToolTipsVisible(True)
        self.setAccessibleName(tr("What can be typed here"))

    def fill(self, examples: tuple[tuple[str, str], ...], choose: Callable[[str], None]) -> None:
        for example, meaning in examples:
            action = self.addAction(f"{example}\t{tr(meaning)}")
            action.triggered.connect(lambda _=False, chosen=example: choose(chosen))
            if _OPERATOR.match(example):
                self.gates.add(action, "conditions")
        self.addSeparator()
        for note in _NOTES:
            self.addAction(tr(note)).setEnabled(False)


class QueryHelpButton(IconButton):
    """Opens the menu."""

    example_chosen = Signal(str)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__("help", tr("What can be typed here"), parent=parent)
        tell_key(self, tr("What can be typed here"), _HELP.name)
        opener = QAction(_HELP.words, self)
        opener.triggered.connect(self.open)
        give_key(self, opener, _HELP, Qt.ShortcutContext.WindowShortcut)
        self._jobs = jobs
        self._menu = QueryHelpMenu(self)
        self.clicked.connect(self.open)

    def show_unsupported(self, lacks: MissingFeatures) -> None:
        """Examples with operators can be chosen where they mean something."""
        self._menu.gates.hear(lacks)

    @Slot()
    def open(self) -> None:
        if self._menu.isEmpty():
            self._jobs.read(lambda token: _examples(), self._fill)
        else:
            self._pop_up()

    def _fill(self, examples: tuple[tuple[str, str], ...]) -> None:
        if self._menu.isEmpty():
            self._menu.fill(examples, self.example_chosen.emit)
        self._pop_up()

    def _pop_up(self) -> None:
        if self.isVisible():
            left = 0 if self.isRightToLeft() else self.width() - self._menu.sizeHint().width()
            self._menu.popup(self.mapToGlobal(QPoint(left, self.height() + 8)))


def _examples() -> tuple[tuple[str, str], ...]:
    from engine import QUERY_HELP  # brings the analysis of text: not on the GUI thread

    return QUERY_HELP
