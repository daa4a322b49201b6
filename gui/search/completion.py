"""Completion in the search box: operators on request, and their values from the index while one is typed."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListWidget, QListWidgetItem, QWidget

from engine import MemorySearchManager, tr
from gui.core.capabilities import capabilities, refuse, why_missing
from gui.core.jobs import JobOwner, Jobs, JobSlot

_OPERATOR = re.compile(r"-?([A-Za-z]+):(\"?)(.*)", re.DOTALL)
_TAG = re.compile(r"-?#([^\s\"#]*)")
_PLAIN = re.compile(r"[^\s\"“„]+")
_MIN_WIDTH = 240
_MARGIN = 8


class Part(NamedTuple):
    """The part of a query being typed: the value of `operator`, or the start of a name if `operator` is empty."""

    operator: str
    typed: str
    begin: int
    """Start of the part in the text; it ends at the cursor."""


def part_at(text: str, cursor: int) -> Part:
    """Return the part of the query `text` that ends at the cursor: a value of an operator, or the start of its name."""
    begin = _token_start(text, cursor)
    if tag := _TAG.fullmatch(text, begin, cursor):
        return Part("tag", tag[1], tag.start(1))
    match = _OPERATOR.fullmatch(text, begin, cursor)
    if match is None:
        negated = text[begin:cursor].startswith("-")
        return Part("", text[begin + negated : cursor], begin + negated)
    return Part(match[1].casefold(), match[3], match.start(2))


def completed(text: str, cursor: int, part: Part, value: str) -> tuple[str, int]:
    """Insert `value` in place of the typed `part`; returns the new text and cursor position."""
    if not part.operator:
        inserted = value  # ends with its colon
    else:
        inserted = f"{value} " if _PLAIN.fullmatch(value) else f'"{value}" '
    before, rest = text[: part.begin], text[cursor:]
    if inserted.endswith(" "):
        rest = rest.removeprefix('"').removeprefix(" ")
    if part.operator and before.endswith("#") and inserted.startswith('"'):
        before = f"{before[:-1]}{part.operator}:"  # after #, a tag can't have spaces
    return before + inserted + rest, len(before + inserted)


def _token_start(text: str, cursor: int) -> int:
    """Return the start of the token at the cursor: after the last space outside of quotation marks."""
    begin, quoted = 0, False
    for at, character in enumerate(text[:cursor]):
        if character == '"':
            quoted = not quoted
        elif character.isspace() and not quoted:
            begin = at + 1
    return begin


class CompletionPopup(QListWidget):
    """The popup list of completions, drawn over the widgets below the search box, which keeps the keyboard focus."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("offers")
        self.setAccessibleName(tr("Completions"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setUniformItemSizes(True)
        self.hide()

    @property
    def values(self) -> list[str]:
        return [self.item(row).text() for row in range(self.count())] if self.isVisible() else []

    def show_below(self, edit: QLineEdit, values: Sequence[str]) -> None:
        window = edit.window()
        if self.parentWidget() is not window:
            self.setParent(window)
        self.clear()
        self.addItems(list(values))
        self.setCurrentRow(-1)
        width = max(_MIN_WIDTH, self.sizeHintForColumn(0) + 2 * _MARGIN)
        left = edit.mapTo(window, QPoint(edit.cursorRect().left(), 0)).x()
        width = min(width, window.width())
        top = edit.mapTo(window, QPoint(0, edit.height())).y() + _MARGIN
        height = self.sizeHintForRow(0) * len(values) + 2 * _MARGIN
        self.setGeometry(max(0, min(left, window.width() - width)), top, width, min(height, window.height() - top))
        self.raise_()
        self.show()

    def step(self, *, down: bool) -> None:
        """Select the next or previous completion, wrapping around at the ends."""
        row = self.currentRow()
        self.setCurrentRow((row + 1 if down else max(row, 0) - 1) % self.count())


class Completion(JobOwner, QObject):
    """Shows completions below a line edit, and reads them from the memory off the GUI thread."""

    changed = Signal()
    """Completions were shown or closed, or there are none."""

    def __init__(self, edit: QLineEdit, jobs: Jobs) -> None:
        super().__init__(edit)
        self._edit = edit
        self._job = JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._part = self._requested = Part("", "", 0)
        """The part that the shown completions belong to, and the part of the last request."""
        self._paused = self._inserting = self._complete = False
        self.popup = CompletionPopup(edit)
        self.popup.itemClicked.connect(self._insert)
        edit.textEdited.connect(self._typed)
        edit.textChanged.connect(self._hide)
        edit.installEventFilter(self)
        capabilities().changed.connect(self._stop)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._stop()
        self._manager = manager

    @Slot()
    def pause(self) -> None:
        """Show no completions until the text is edited again."""
        self._stop()
        self._paused = True

    @Slot()
    def resume(self) -> None:
        self._paused = False

    @property
    def is_open(self) -> bool:
        """Whether an operator's value is being completed, so that the query is incomplete."""
        offered = self.popup.isVisible() and bool(self._part.operator) and not self._complete
        return self._inserting or offered or (self.busy and bool(self._requested.operator))

    @Slot()
    def request(self) -> None:
        """Show completions for the part of the query at the cursor."""
        self._request(part_at(self._edit.text(), self._edit.cursorPosition()))

    @Slot()
    def _typed(self) -> None:
        part = part_at(self._edit.text(), self._edit.cursorPosition())
        if part.operator:
            self._request(part)
        else:
            self._stop()  # typing plain words must not be interrupted

    @Slot()
    def _stop(self) -> None:
        was_open = self.is_open
        self._forget()
        if was_open and not self._inserting:
            self.changed.emit()

    @Slot()
    def _hide(self) -> None:
        """Hide completions of a text that is no longer in the box."""
        if self.popup.isVisible():
            self.popup.hide()
            if not self._inserting:
                self.changed.emit()

    def _forget(self) -> None:
        self._job.cancel()
        self.popup.hide()

    def _request(self, part: Part) -> None:
        manager = self._manager
        self._forget()
        self._requested = part
        if manager is None or self._paused or why_missing("completion"):
            return

        def show(values: tuple[str, ...]) -> None:
            self._show(part, values)
            self.changed.emit()

        self._job.read(lambda _: manager.query_values(part.operator, part.typed), show, lambda _: self.changed.emit())

    def _show(self, part: Part, values: tuple[str, ...]) -> None:
        if self._edit.hasFocus() and part == part_at(self._edit.text(), self._edit.cursorPosition()):
            self._part = part
            self._complete = part.typed in values or f"{part.typed}/" in values
            if values and values != (part.typed,):
                self.popup.show_below(self._edit, values)

    @Slot(QListWidgetItem)
    def _insert(self, chosen: QListWidgetItem) -> None:
        text, cursor = completed(self._edit.text(), self._edit.cursorPosition(), self._part, chosen.text())
        self._inserting = not self._part.operator
        self._edit.setText(text)
        self._edit.setCursorPosition(cursor)
        if self._inserting:
            self.request()  # the operator needs a value
            self._inserting = False
            if not self.is_open:
                self.changed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.FocusOut:
            self._stop()
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        """Return whether the completions handled the key."""
        key = event.key()
        if key == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.request()
            if why := why_missing("completion"):
                refuse(self._edit, why)
            return True
        if not self.popup.isVisible() or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        if key in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self.popup.step(down=key == Qt.Key.Key_Down)
            return True
        if key == Qt.Key.Key_Escape:
            self._stop()
            return True
        chosen = self.popup.currentItem()
        if chosen is None and key == Qt.Key.Key_Tab:
            chosen = self.popup.item(0)
        if chosen is not None and key in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self._insert(chosen)
            return True
        return False
