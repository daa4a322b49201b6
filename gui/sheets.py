"""Two small windows of text: the keys, and what this program is."""

import platform

from PySide6.QtCore import Qt, qVersion
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from gui.versions import program_version
from gui.widgets.labels import label, line

KEYS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Everywhere",
        (
            ("Ctrl+K or Ctrl+L", "go to the search box"),
            ("Esc", "from the file to the results, from there to the box"),
            ("F5", "look for changes now"),
            ("Ctrl+D or F9", "show or hide the diagnostics"),
            ("Ctrl+O", "choose a folder"),
            ("Ctrl+plus, minus, 0", "larger, smaller, normal text"),
            ("F1 or ?", "these keys"),
            ("Ctrl+Q", "quit"),
        ),
    ),
    (
        "Results",
        (
            ("Down, Up", "from the box into the list, along it and back"),
            ("Enter", "go to the file"),
            ("Ctrl+C", "copy the citation"),
        ),
    ),
    (
        "File",
        (
            ("n, N", "next and previous hit"),
            ("Ctrl+F", "find in this file"),
        ),
    ),
)


def _sheet(title: str, content: QWidget, parent: QWidget) -> QDialog:
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


def show_keys(parent: QWidget) -> QDialog:
    grid = QGridLayout()
    grid.setHorizontalSpacing(24)
    grid.setVerticalSpacing(6)
    for title, keys in KEYS:
        row = grid.rowCount()
        if row > 1:
            grid.setRowMinimumHeight(row, 10)
        grid.addWidget(label(title, "section"), row + 1, 0, 1, 2)
        for number, (key, what) in enumerate(keys, row + 2):
            grid.addWidget(label(key), number, 0)
            grid.addWidget(label(what, "muted"), number, 1)
    content = QWidget()
    grid.setContentsMargins(0, 0, 0, 0)
    content.setLayout(grid)
    return _sheet("Keys", content, parent)


def show_about(parent: QWidget, places: tuple[tuple[str, str], ...]) -> QDialog:
    """`places`: what is kept where on this computer, as name and path."""
    content = QWidget()
    column = QVBoxLayout(content)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(8)
    column.addWidget(label("Mnemoscope", "title"))
    running = f"Version {program_version()} · Python {platform.python_version()} · Qt {qVersion()}"
    column.addWidget(label(running, "meta"))
    column.addWidget(label("Search your notes and past AI sessions, and see inside the index.", wrap=True))
    column.addWidget(label("Free software under the Apache License 2.0.", "muted", wrap=True))
    column.addSpacing(4)
    column.addWidget(line())
    for name, path in places:
        row = QHBoxLayout()
        row.setSpacing(12)
        title = label(name, "muted")
        title.setMinimumWidth(80)
        where = label(path)
        where.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row.addWidget(title)
        row.addWidget(where, 1)
        column.addLayout(row)
    return _sheet("About Mnemoscope", content, parent)
