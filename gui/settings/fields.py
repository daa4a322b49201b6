"""Fields that edit an option's value, and the row that tests a choice before it is saved.

Every field has three signals: `entered` with a final value, `typing` with one that may still change, and
`problem_changed` with a sentence about an invalid text, or an empty sentence.
`show_value` never overwrites text being typed.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFocusEvent, QFontMetrics, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QDialog, QFileDialog, QLineEdit, QScrollArea, QWidget

import engine
from engine import CancelToken, Option, tr
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.settings.value_formatting import (
    UnreadableValue,
    choice_text,
    field_text,
    is_path,
    number_text,
    read_field,
    unit_of,
)
from gui.style.stylesheet import font_at, set_role
from gui.style.typography import FontSized
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import CheckBox, ComboBox, TextField
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, row_of


class Field(QWidget):
    """Base class of a widget that edits one option, whose label is `title`."""

    entered = Signal(object)
    typing = Signal(object)
    problem_changed = Signal(str)

    def __init__(self, option: Option, title: str) -> None:
        super().__init__()
        self.option = option
        self.title = title
        self._value: Any = option.default
        self._column = column_of(spacing=4, parent=self)

    def show_value(self, value: Any) -> None:
        """Show the option's current value."""
        self._value = value

    def describe(self, words: str) -> None:
        """Set the option's accessible description."""
        target = self.focusProxy()
        if target is not None:
            target.setAccessibleDescription(words)

    def commit(self) -> None:
        """Store the typed text as the option's value, if it is valid."""


class SwitchField(Field):
    """Edits a boolean option by a check box with the title as its label."""

    def __init__(self, option: Option, title: str) -> None:
        super().__init__(option, title)
        self.box = CheckBox(title)
        self.box.clicked.connect(self._emit_entered)
        self.setFocusProxy(self.box)
        self._column.addWidget(self.box)

    @Slot()
    def _emit_entered(self) -> None:
        self.entered.emit(self.box.isChecked())

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self.box.setChecked(bool(value))


class ChoiceField(Field):
    """Edits an option with one of several values."""

    def __init__(self, option: Option, title: str) -> None:
        super().__init__(option, title)
        self.box = ComboBox(title)
        for choice in option.choices:
            self.box.addItem(choice_text(option.key, choice), choice)
        self.box.activated.connect(lambda _: self.entered.emit(self.box.currentData()))
        self.setFocusProxy(self.box)
        self._column.addLayout(row_of((self.box, 2), None))

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self.box.choose(value)


class ChoicesField(Field):
    """Edits an option with some of several values, by check boxes."""

    def __init__(self, option: Option, title: str) -> None:
        super().__init__(option, title)
        self._boxes = {choice: CheckBox(choice_text(option.key, choice)) for choice in option.choices}
        for box in self._boxes.values():
            box.setAccessibleName(f"{title}: {box.label}")
            box.clicked.connect(self._emit_entered)
            self._column.addWidget(box)
        self.setFocusProxy(next(iter(self._boxes.values())))

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        for choice, box in self._boxes.items():
            box.setChecked(choice in value)

    @Slot()
    def _emit_entered(self) -> None:
        self.entered.emit(tuple(choice for choice, box in self._boxes.items() if box.isChecked()))


# --- Text fields: validated on each key, saved when the user leaves them or presses Enter ----------------------------

_NUMBER_CHARACTERS = 12
_MAX_LINES = 8
_AROUND = 26
"""Pixels above and below the lines of a multi-line field."""
_FINE = 0.05
"""Step of a number between 0 and 1."""


class _TextField(Field):
    """Base class of text fields: validates on each key, and saves when the user leaves the field or presses Enter."""

    def _text(self) -> str:
        raise NotImplementedError

    def _set_text(self, text: str) -> None:
        """Replace the text without moving the cursor."""
        raise NotImplementedError

    def _forget_typing(self) -> None:
        """Clear the field's own undo history, so that Ctrl+Z undoes the last saved change."""
        raise NotImplementedError

    def _is_written_as(self, value: Any) -> bool:
        """Return whether the text means this value, perhaps in another notation than the program's."""
        try:
            typed = read_field(self.option, self._text())
        except UnreadableValue:
            return False
        return field_text(self.option, typed) == field_text(self.option, value)

    def _read(self) -> Any:
        """Parse the text. Raises `UnreadableValue`."""
        value = read_field(self.option, self._text())
        if problem := engine.option_problem(self.option.key, value):
            raise UnreadableValue(problem)
        return value

    def show_value(self, value: Any) -> None:
        edited = not self._is_written_as(self._value)
        super().show_value(value)
        focus = self.window().focusWidget()
        if not (edited and focus is not None and self.isAncestorOf(focus)):
            if not self._is_written_as(value):
                self._set_text(field_text(self.option, value))
            self.problem_changed.emit("")

    @Slot()
    def _validate(self) -> None:
        try:
            value = self._read()
        except UnreadableValue as problem:
            self.problem_changed.emit(str(problem))
            return
        self.problem_changed.emit("")
        self.typing.emit(value)

    def commit(self, *, typing_on: bool = False) -> None:
        """Store the typed text; `typing_on`: don't reformat it, since the user is still typing."""
        try:
            value = self._read()
        except UnreadableValue as problem:
            self.problem_changed.emit(str(problem))
            return
        if field_text(self.option, value) != field_text(self.option, self._value):
            self._value = value
            self.entered.emit(value)
            self._forget_typing()
        if not typing_on and self._text() != (text := field_text(self.option, self._value)):
            self._set_text(text)
        self.problem_changed.emit("")

    def revert(self) -> None:
        """Restore the value from before the typing."""
        self._set_text(field_text(self.option, self._value))
        self.problem_changed.emit("")
        self.typing.emit(self._value)


class _Line(QLineEdit):
    """A line edit in which Enter saves and Escape reverts; Ctrl+Z goes to the parent if there is nothing to undo."""

    step_requested = Signal(int)

    def __init__(self, field: _TextField) -> None:
        super().__init__()
        self._field = field
        self.setAccessibleName(field.title)
        self.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            if event.matches(QKeySequence.StandardKey.Undo) and not self.isUndoAvailable():
                event.ignore()
                return True
            if event.key() == Qt.Key.Key_Escape and self.isModified():
                event.accept()
                return True
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._field.commit()
        elif key == Qt.Key.Key_Escape and self.isModified():
            self._field.revert()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and self._field.option.kind in ("whole", "number"):
            self.step_requested.emit(1 if key == Qt.Key.Key_Up else -1)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._field.commit(typing_on=event.reason() == Qt.FocusReason.ActiveWindowFocusReason)


class LineField(_TextField):
    """Edits a number with its unit, or a text; a path has a button to browse."""

    def __init__(self, option: Option, title: str) -> None:
        super().__init__(option, title)
        self.line = _Line(self)
        self.line.textEdited.connect(self._validate)
        self.line.step_requested.connect(self._step)
        self.setFocusProxy(self.line)
        row = row_of(spacing=8)
        numeric = option.kind in ("whole", "number")
        row.addWidget(self.line, 0 if numeric else 1)
        if numeric:
            self.line.setMaximumWidth(_NUMBER_CHARACTERS * QFontMetrics(font_at(13)).averageCharWidth() + 40)
            self.line.setPlaceholderText(tr("Not set") if option.optional else "")
            row.addWidget(label(unit_of(option.key), "muted"))
            row.addStretch(1)
        elif is_path(option):
            browse = push_button(tr("Browse…"), self._browse, name=tr("Browse for {option}", option=title))
            row.addWidget(browse)
        self._column.addLayout(row)

    def _text(self) -> str:
        return self.line.text()

    def _set_text(self, text: str) -> None:
        position, before = self.line.cursorPosition(), self.line.text()
        self.line.setText(text)
        if position < len(before):
            self.line.setCursorPosition(position)

    def _forget_typing(self) -> None:
        self._set_text(self._text())

    @Slot(int)
    def _step(self, up: int) -> None:
        """Step the number up or down, within its range."""
        option = self.option
        try:
            at = self._read() or 0
        except UnreadableValue:
            return
        if option.high is not None and option.high <= 1:
            step = _FINE
        else:
            step = 0.1 if option.default == 1.0 else 1
        stepped_value = round(at + up * step, 6)
        low = stepped_value if option.low is None else max(option.low, stepped_value)
        self.line.setText(number_text(float(low if option.high is None else min(option.high, low))))
        self.line.setModified(True)
        self._validate()

    @Slot()
    def _browse(self) -> None:
        typed = os.path.expanduser(self._text())  # noqa: PTH111 - the other raises for an unknown user
        known = Path(typed) if typed else Path.home()
        if self.option.key.endswith("extension_path"):
            name, _ = QFileDialog.getOpenFileName(self, self.title, str(known.parent))
        else:
            name = QFileDialog.getExistingDirectory(self, self.title, str(known))
        if name:
            self.line.setText(name)
            self.commit()


class _Text(TextField):
    def __init__(self, field: _TextField) -> None:
        super().__init__(field.title)
        self._field = field

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._field.commit(typing_on=event.reason() == Qt.FocusReason.ActiveWindowFocusReason)


class LinesField(FontSized, _TextField):
    """Edits a list or a table, with one item per line."""

    def __init__(self, option: Option, title: str) -> None:
        super().__init__(option, title)
        self.edit = _Text(self)
        self.edit.setPlaceholderText(tr("One per line") if option.kind == "list" else tr("One per line: name = value"))
        self.edit.textChanged.connect(self._edited)
        self.edit.accepted.connect(self.commit)
        self.edit.left.connect(self._leave)
        self.setFocusProxy(self.edit)
        self._column.addWidget(self.edit)
        self.measure()

    def _text(self) -> str:
        return self.edit.toPlainText()

    def _set_text(self, text: str) -> None:
        position = self.edit.textCursor().position()
        blocked = self.edit.blockSignals(True)
        self.edit.setPlainText(text)
        self.edit.blockSignals(blocked)
        cursor = self.edit.textCursor()
        cursor.setPosition(min(position, self.edit.document().characterCount() - 1))
        self.edit.setTextCursor(cursor)
        self.measure()

    def _forget_typing(self) -> None:
        self.edit.document().clearUndoRedoStacks()

    @Slot()
    def _edited(self) -> None:
        self.measure()
        self._validate()

    @Slot()
    def _leave(self) -> None:
        """Handle Escape: first revert the text, then close the window."""
        if self._text() != field_text(self.option, self._value):
            self.revert()
        else:
            window = self.window()
            if isinstance(window, QDialog):
                window.reject()

    def measure(self) -> None:
        """Set the height to the number of lines, at least two."""
        lines = min(_MAX_LINES, max(2, self._text().count("\n") + 1))
        self.edit.setFixedHeight(lines * self.edit.fontMetrics().lineSpacing() + _AROUND)


class CheckRow(JobOwner, QWidget):
    """A button that tests a choice, and the result next to it. One test runs at a time, started with `run`."""

    def __init__(self, jobs: Jobs, name: str, meanwhile: str) -> None:
        """`name`: accessible name of the button; `meanwhile`: text during the test."""
        super().__init__()
        self._meanwhile = meanwhile
        self._job = JobSlot(self, jobs)
        self.button = push_button(tr("Test"), name=name)
        self.result_label = label("", "meta", wrap=True)
        row_of(self.button, (self.result_label, 1), spacing=12, parent=self)
        self._scroller: QScrollArea | None = None

    def set_scroller(self, scroller: QScrollArea) -> None:
        """Set the scroll area that scrolls to the result when it arrives: in a low dialog it may be out of view."""
        self._scroller = scroller

    def run(self, work: Callable[[CancelToken], Any], describe: Callable[[Any], tuple[str, bool]]) -> None:
        """Run `work` in the background; `describe` turns its result into a text, and whether the test passed."""
        self._show_result(self._meanwhile)
        self._job.read(
            work, lambda found: self._show_result(*describe(found)), lambda why: self._show_result(why, False)
        )

    def clear(self) -> None:
        """Cancel a running test, or remove its result."""
        self._job.cancel()
        self.result_label.clear()

    def _show_result(self, words: str, fine: bool = True) -> None:
        set_role(self.result_label, "meta" if fine else "degraded")
        self.result_label.setText(breakable(words))
        scroller = self._scroller
        if scroller is not None:
            QTimer.singleShot(0, self.result_label, lambda: scroller.ensureWidgetVisible(self.result_label))
