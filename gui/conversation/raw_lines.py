"""The lines of a transcript behind one message, as they stand in the file but for secrets that are not revealed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPlainTextEdit, QPushButton, QVBoxLayout, QWidget

from engine import CancelToken, MemorySearchManager, tr, tr_count
from gui.style.typography import fixed_font
from gui.style.window_size import resize_with_text
from gui.widgets.formatting import grouped
from gui.widgets.labels import label

_MOST_PARSED = 256 * 1024
_MOST_SHOWN = 100_000
_LONGEST_LINE = 1_000
"""Characters; laying out a longer one would be felt."""


@dataclass(frozen=True)
class RawLines:
    """`whole` as one copies it, and what of it is shown, indented where it can be."""

    whole: str
    shown: str
    cut: bool


def read_raw(
    manager: MemorySearchManager, path: str, lines: Sequence[int], token: CancelToken, *, reveal: bool
) -> RawLines:
    """Any thread. Raises as `raw_message` does, and `Cancelled`."""
    raw, shown = [], []
    for number in lines:
        token.checkpoint()
        text = manager.raw_message(path, number, reveal=reveal)
        raw.append(text)
        shown.append(_indented(text))
    text = "\n\n".join(shown)
    folded = "\n".join(
        line[start : start + _LONGEST_LINE]
        for line in text[:_MOST_SHOWN].split("\n")
        for start in range(0, len(line) or 1, _LONGEST_LINE)
    )
    return RawLines("\n".join(raw), folded, len(text) > _MOST_SHOWN)


def _indented(text: str) -> str:
    if len(text) > _MOST_PARSED:
        return text
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return text


def show_raw(parent: QWidget, path: str, lines: Sequence[int], raw: RawLines) -> QDialog:
    """A window with the lines; Esc closes it, and it forgets itself."""
    dialog = QDialog(parent)
    numbers = ", ".join(grouped(line) for line in lines)
    dialog.setWindowTitle(
        tr_count("Line {numbers} of the transcript", "Lines {numbers} of the transcript", len(lines), numbers=numbers)
    )
    text = QPlainTextEdit()
    text.setReadOnly(True)
    text.setFont(fixed_font())
    text.setPlainText(raw.shown)
    text.setAccessibleName(dialog.windowTitle())
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    copy = QPushButton(tr("Copy all of it"))
    copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(raw.whole))
    buttons.addButton(copy, QDialogButtonBox.ButtonRole.ActionRole)
    buttons.rejected.connect(dialog.reject)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(20, 16, 20, 14)
    column.setSpacing(10)
    column.addWidget(label(path, "meta", wrap=True))
    column.addWidget(text, 1)
    if raw.cut:
        said = tr_count(
            "The first {shown:,} of {count:,} character are shown; copying takes all.",
            "The first {shown:,} of {count:,} characters are shown; copying takes all.",
            len(raw.whole),
            shown=_MOST_SHOWN,
        )
        column.addWidget(label(said, "meta", wrap=True))
    column.addWidget(buttons)
    resize_with_text(dialog, 720, 520, parent)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog
