"""Small windows of text: the keys, and the frame of all such windows."""

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QScrollArea, QVBoxLayout, QWidget

from gui.widgets.labels import label

Keys = Sequence[tuple[str, str]]

_LEAST_HEIGHT = 220
_AROUND = 160
"""What a sheet leaves of the window's height."""

_RESULTS: Keys = (
    ("Down, Up", "from the box into the list, along it and back"),
    ("Enter", "go to the file"),
    ("Ctrl+C", "copy the citation"),
    ("Ctrl+E", "open the result in the editor"),
    ("Alt+M", "more like this result"),
    ("Alt+Up, Alt+Down", "earlier and later questions, in the box"),
    ("Up, Down", "saved and recent searches, in the empty box; there Delete removes one, F2 renames a saved one"),
    ("Ctrl+Space", "complete an operator, in the box"),
    ("Alt+H", "what can be typed in the box"),
    ("Esc", "back to the box, then clear it, then leave what the results are kept to"),
)
_SESSIONS: Keys = (
    ("Right, Left", "show and hide the sessions of its sub-agents, in the list"),
    ("J, K", "next and previous message; with Shift, only your own"),
    ("Enter, Right, Left", "unfold and fold tools and thinking, in the conversation"),
    ("Alt+T", "tools hidden, short or full"),
    ("Alt+J", "list of your messages"),
    ("Ctrl+Shift+C", "copy the message as Markdown"),
    ("Alt+N", "remember the session as a note, in the list and in the conversation"),
    ("Alt+R", "raw line of the message"),
    ("Alt+C, Alt+Down, Alt+Up", "chunks of the session, with all that the index has of each"),
    ("Alt+M", "more like the selection, or the message"),
    ("N, Shift+N", "next and previous hit"),
    ("Ctrl+F", "find in this session"),
    ("Esc", "back to the list, to the box; there clear the text, then what was chosen"),
)
_FILE: Keys = (
    ("N, Shift+N or F3, Shift+F3", "next and previous hit"),
    ("Ctrl+F", "find in this file"),
    ("Alt+Z", "wrap lines"),
    ("Alt+M", "more like the selection, or the part that was found"),
    ("Alt+R", "source or rendered page"),
    ("Alt+C", "chunk borders beside the lines"),
    ("Alt+Down, Alt+Up", "next and previous chunk, with all that the index has of it"),
    ("Ctrl+E", "open in the editor at this line"),
    ("Ctrl+Shift+C", "copy the citation"),
    ("Esc", "back to the results"),
)
_INDEX: Keys = (
    ("Left, Right, Home, End", "from mark to mark of a chart"),
    ("Enter", "what a sync did, and what failed"),
    ("T", "chart or table"),
    ("Ctrl+C", "copy the table"),
    ("Right, Left", "unfold and fold folders"),
    ("Esc", "back to the box"),
)
_FACTS: Keys = (
    ("Enter", "from the list into the text of the fact"),
    ("Ctrl+Enter", "save what was typed"),
    ("Ctrl+N", "new fact"),
    ("Delete", "forget the fact, in the list"),
    ("Ctrl+Z", "take back what was done last"),
    ("Ctrl+C", "copy the fact, in the list"),
    ("Esc", "back to the list, then to the box"),
)
_DUPLICATES: Keys = (
    ("Enter", "from a group to its notes side by side"),
    ("N, Shift+N", "next and previous difference, there"),
    ("Esc", "back to the groups, then to the box"),
)
_MAP: Keys = (
    ("Arrow keys", "move the map"),
    ("+, -, 0", "larger, smaller, all of it; the wheel does the same"),
    ("Ctrl+Arrow keys", "go to the next chunk in that direction"),
    ("Enter", "open the chunk"),
    ("Space, Ctrl+A", "list this chunk, or all in view; drag with Shift to encircle some"),
    ("Esc", "leave the chunk, then go back to the box"),
)


def sheet(title: str, content: QWidget, parent: QWidget) -> QDialog:
    """A window with `content` and a close button; Esc closes it, and it forgets itself."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(20, 18, 20, 14)
    column.setSpacing(14)
    column.addWidget(content)
    column.addWidget(buttons)
    dialog.open()
    return dialog


def show_keys(window: QWidget) -> QDialog:
    """The keys of the window's own actions, then those of its panels; scrolled where the window is low."""
    commands = [(_keys_of(action), _said(action)) for action in window.actions() if action.shortcuts()]
    grid = QGridLayout()
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(6)
    for title, keys in (
        ("Everywhere", commands),
        ("Results", _RESULTS),
        ("Sessions", _SESSIONS),
        ("File", _FILE),
        ("Index", _INDEX),
        ("Map", _MAP),
        ("Duplicates", _DUPLICATES),
        ("Facts", _FACTS),
    ):
        row = grid.rowCount()
        grid.setRowMinimumHeight(row, 10 if row > 1 else 0)
        grid.addWidget(label(title, "section"), row + 1, 0, 1, 2)
        for number, (key, what) in enumerate(keys, row + 2):
            grid.addWidget(label(key), number, 0)
            grid.addWidget(label(what, "muted"), number, 1)
    content = QWidget()
    grid.setContentsMargins(0, 0, 0, 0)
    content.setLayout(grid)
    scroll = QScrollArea()
    scroll.setWidget(content)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setAccessibleName("Keys")
    wanted = content.sizeHint()
    scroll.setMinimumWidth(wanted.width() + scroll.verticalScrollBar().sizeHint().width())
    scroll.setMinimumHeight(min(wanted.height(), max(_LEAST_HEIGHT, window.height() - _AROUND)))
    return sheet("Keys", scroll, window)


def _keys_of(action: QAction) -> str:
    shown = [key.toString(QKeySequence.SequenceFormat.NativeText) for key in action.shortcuts()]
    return " or ".join(shown)


def _said(action: QAction) -> str:
    words = action.text().rstrip("…")
    return words[:1].lower() + words[1:]
