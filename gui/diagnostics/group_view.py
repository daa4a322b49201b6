"""One group of diagnostics: labels at the left, values with their states at the right, reasons and remedies below.

In a narrow dock, or with large text, values are below their labels, so that nothing is cut.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QPushButton, QWidget

from engine import marked, tr
from gui.core.capabilities import SHORT
from gui.style.stylesheet import BASE_PIXELS, font_at
from gui.style.typography import FontSized
from gui.text.right_to_left import margins
from gui.text.status_texts import State, with_state
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, discard
from gui.widgets.state_dot import StateLabel

# --- One value of the diagnostics, and texts of counts ---------------------------------------------------------------

Remedy = Literal[
    "sync",
    "rebuild",
    "retry",
    "embed",
    "settings",
    "engine",
    "try-again",
    "probe-embedding",
    "probe-vector",
    "show-failed",
    "show-skipped",
    "show-index",
    "restore-data",
]

REMEDY_WORDS: dict[Remedy, str] = {
    "sync": marked("Update now"),
    "rebuild": marked("Rebuild index…"),
    "retry": marked("Try again"),
    "embed": marked("Embed…"),
    "settings": marked("Open the settings…"),
    "engine": marked("Choose another engine…"),
    "try-again": marked("Try again now"),
    "probe-embedding": marked("Test the model"),
    "probe-vector": marked("Try to load sqlite-vec"),
    "show-failed": marked("Show failed files"),
    "show-skipped": marked("Show skipped files"),
    "show-index": marked("Show the index file"),
    "restore-data": marked("Restore backup"),
}


@dataclass(frozen=True)
class Diagnostic:
    """A labelled value with a state, a reason and a remedy; `state` None: a plain number."""

    label: str
    state: State | None
    value: str
    reason: str = ""
    remedy: Remedy | None = None
    tip: str = ""


@dataclass(frozen=True)
class Group:
    title: str
    diagnostics: tuple[Diagnostic, ...]


# ---------------------------------------------------------------------------------------------------------------------

_GAP = "  "
"""Pixels between the longest label and the values."""
_LINK_PIXELS = 12
_LINK_PADS = 10
_SPACING, _STACKED_SPACING = 6, 12
_MIN_CHARACTERS = 15
"""Minimum number of characters of a value next to its label; with less room it moves below."""


def label_width() -> int:
    """Return the width of the column of labels, in pixels."""
    longest = (tr(words) for words in ("Last change", *SHORT.values()))
    return max(QFontMetrics(font_at(BASE_PIXELS)).horizontalAdvance(words + _GAP) for words in longest)


def links_width(words: Iterable[str]) -> int:
    """Return the width of the widest button with one of these labels, in pixels."""
    return max(QFontMetrics(font_at(_LINK_PIXELS)).horizontalAdvance(tr(word)) + _LINK_PADS for word in words)


def must_stack(width: int) -> bool:
    """Return whether rows `width` pixels wide have too little room for values or buttons next to their labels."""
    least = _MIN_CHARACTERS * QFontMetrics(font_at(BASE_PIXELS)).averageCharWidth()
    return width - label_width() < max(least, links_width(REMEDY_WORDS.values()))


class DiagnosticRow(FontSized, QWidget):
    """Shows one diagnostic, updated in place. Emits the remedy's name when its button is pressed."""

    remedy_pressed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._diagnostic: Diagnostic | None = None
        self._answer = ""
        self._stacked = False
        self.label = label()
        self.label.setProperty("role", "muted")
        self.value = StateLabel()
        self.reason = label("", "meta", wrap=True)
        self.button = QPushButton()
        """The button of the remedy; hidden if there is no remedy."""
        self.button.setProperty("role", "link")
        self.button.setProperty("flush", True)
        self.button.clicked.connect(self._pressed)

        self._top = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._top.setSpacing(0)
        self._top.addWidget(self.label, 0, Qt.AlignmentFlag.AlignTop)
        self._top.addWidget(self.value, 1)
        self._indent, self._link_indent = QHBoxLayout(), QHBoxLayout()
        self._indent.addWidget(self.reason)
        self._link_indent.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)
        column_of(self._top, self._indent, self._link_indent, spacing=2, parent=self)
        self.measure()

    def show_diagnostic(self, diagnostic: Diagnostic, answer: str = "") -> None:
        """Show a diagnostic. `answer`: the result of a remedy just tried, shown instead of the reason."""
        if (diagnostic, answer) == (self._diagnostic, self._answer):
            return  # ten times a second during a sync, nearly all stay unchanged
        self._diagnostic, self._answer = diagnostic, answer
        self.label.setText(diagnostic.label)
        self.value.show_state(diagnostic.state, diagnostic.value, diagnostic.tip)
        reason = answer or diagnostic.reason
        self.reason.setText(breakable(reason))
        self.reason.setVisible(bool(reason))
        self.button.setVisible(diagnostic.remedy is not None)
        if diagnostic.remedy is not None:
            words = tr(REMEDY_WORDS[diagnostic.remedy])
            self.button.setText(words)
            self.button.setAccessibleName(f"{diagnostic.label}: {words}")
        value = with_state(f"{diagnostic.label}: {diagnostic.value}", diagnostic.state)
        self.setAccessibleName(f"{value}. {reason}" if reason else value)

    @Slot()
    def _pressed(self) -> None:
        if self._diagnostic is not None and self._diagnostic.remedy is not None:
            self.remedy_pressed.emit(self._diagnostic.remedy)

    def set_stacked(self, stacked: bool) -> None:
        """Show the value below its label, or next to it."""
        if stacked != self._stacked:
            self._stacked = stacked
            directions = QBoxLayout.Direction
            self._top.setDirection(directions.TopToBottom if stacked else directions.LeftToRight)
            self.measure()

    def measure(self) -> None:
        width = 0 if self._stacked else label_width()
        self.label.setMinimumWidth(width)
        self._indent.setContentsMargins(margins(width, 0, 0, 0))
        self._link_indent.setContentsMargins(margins(width, 0, 0, 0))


class GroupView(QWidget):
    """A title above a column of diagnostics; hidden without any. Rows are replaced only when the labels change."""

    remedy_pressed = Signal(str)

    def __init__(self, title: str) -> None:
        super().__init__()
        self._rows: dict[str, DiagnosticRow] = {}
        self._stacked = False
        self._column = column_of(label(title, "section"), spacing=_SPACING, parent=self)
        self.setAccessibleName(title)

    def show_group(self, group: Group, answers: Mapping[str, str]) -> None:
        """Show a group. `answers`: remedy name -> result of its last try."""
        requested = [diagnostic.label for diagnostic in group.diagnostics]
        if requested != list(self._rows):
            self._rebuild(requested)
        self.setVisible(bool(group.diagnostics))
        for diagnostic in group.diagnostics:
            self._rows[diagnostic.label].show_diagnostic(diagnostic, answers.get(diagnostic.remedy or "", ""))

    def set_stacked(self, stacked: bool) -> None:
        """Show values below their labels, or next to them."""
        self._stacked = stacked
        self._column.setSpacing(_STACKED_SPACING if stacked else _SPACING)
        for row in self._rows.values():
            row.set_stacked(stacked)

    def buttons(self) -> list[QPushButton]:
        """Return the buttons of the rows from top to bottom."""
        return [row.button for row in self._rows.values()]

    def _rebuild(self, requested: list[str]) -> None:
        reused = {name: row for name, row in self._rows.items() if name in requested}
        for name, row in self._rows.items():
            self._column.removeWidget(row)
            if name not in reused:
                discard(row)
        self._rows = {}
        for name in requested:
            self._rows[name] = reused.get(name) or self._new_row()
            self._column.addWidget(self._rows[name])

    def _new_row(self) -> DiagnosticRow:
        row = DiagnosticRow(self)
        row.remedy_pressed.connect(self.remedy_pressed)
        row.set_stacked(self._stacked)
        return row
