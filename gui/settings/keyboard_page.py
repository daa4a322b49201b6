"""The page to change the keys of commands. Changes are applied and saved immediately."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAccessible, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QKeySequenceEdit,
    QLineEdit,
    QPushButton,
    QWidget,
)

from engine import any_of, tr
from gui.commands.commands import follow_keys
from gui.commands.keymap import Command, Keymap, without_dots
from gui.core.key_listing import by_context, key_conflict, native, title
from gui.settings.custom_keys import CustomKeys
from gui.settings.option_row import WIDTH, DialogPage
from gui.style.typography import Resized
from gui.widgets.accessibility import Part, announce
from gui.widgets.labels import label
from gui.widgets.layouts import FlowLayout, column_of, column_page, row_of
from gui.widgets.query_box import SearchField
from gui.widgets.table import Column, RecordsTable

# --- A field that records the pressed key ----------------------------------------------------------------------------

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class KeyCapture(QKeySequenceEdit):
    """A field that captures one key with modifiers.

    Enter accepts the key, Escape cancels; Tab moves the focus as usual, to avoid a keyboard trap.

    Signals:
        pressed: the key has changed, in `QKeySequence`'s portable format; empty for none.
        accepted: Enter, with a key.
        left: Escape.
    """

    pressed = Signal(str)
    accepted = Signal()
    left = Signal()
    spoken_role = QAccessible.Role.HotkeyField

    def __init__(self) -> None:
        super().__init__()
        self.setMaximumSequenceLength(1)
        self.setAccessibleName(tr("Press the new shortcut"))
        line = self.findChild(QLineEdit)
        if line is not None:
            line.setAccessibleName(tr("New shortcut"))
        self.keySequenceChanged.connect(self._emit_pressed)

    def sizeHint(self) -> QSize:
        hint, line = super().sizeHint(), self.findChild(QLineEdit)
        if line is None:
            return hint
        words = line.fontMetrics().horizontalAdvance(line.placeholderText())
        return QSize(max(hint.width(), words + _CAPTURE_PADS), hint.height())

    @property
    def key(self) -> str:
        return self.keySequence().toString(QKeySequence.SequenceFormat.PortableText)

    def spoken_parts(self) -> Sequence[Part]:
        return [Part(self.key, self.rect())] if self.key else []

    @Slot()
    def _emit_pressed(self) -> None:
        self.pressed.emit(self.key)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        unmodified = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if unmodified and event.key() in _ENTER and self.key:
            self.accepted.emit()
        elif unmodified and event.key() == Qt.Key.Key_Escape:
            self.clear()
            self.left.emit()
        else:
            super().keyPressEvent(event)


# ---------------------------------------------------------------------------------------------------------------------

_CAPTURE_PADS = 32
"""Pixels of the field around its text."""
_MIN_HEIGHT = 100
_SHARES = (0.26, 0.3, 0.16)
"""Largest shares of the table's width for the columns of views, keys and marks, unless a single word is longer."""
_SIDES = 14
"""Horizontal padding of a cell in pixels."""
_MAY_BREAK = "\u200b"
_MARK = 3
"""The column that marks the user's own keys; without any, it is hidden."""


@dataclass(frozen=True)
class CommandRow:
    """A command as a row of the table."""

    name: str
    label: str
    english: str
    """English label, which is searched but not shown."""
    where: str
    keys: str
    own: bool


class CommandTable(Resized, RecordsTable[CommandRow]):
    """The table of commands; unsorted until a header is clicked."""

    _all: Sequence[CommandRow] = ()
    """All commands; empty when Qt signals other fonts early."""

    def __init__(self) -> None:
        super().__init__(
            (
                Column(tr("Command"), 0, lambda row: row.label),
                Column(tr("View"), 22, lambda row: row.where),
                Column(tr("Shortcuts"), 22, lambda row: row.keys, lambda row: _in_parts(row.keys)),
                Column("", 9, lambda row: tr("changed") if row.own else ""),
            ),
            lambda row: f"{row.label} ({row.name})",
        )
        self.setAccessibleName(tr("Commands and their shortcuts"))
        self.setMinimumHeight(_MIN_HEIGHT)
        self.setWordWrap(True)
        self._due = QTimer(self, singleShot=True, interval=0)  # fires once the columns have their widths
        self._due.timeout.connect(self._wrap)
        self.horizontalHeader().sectionResized.connect(lambda *_: self._due.start())
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # contexts and related commands stay together

    @property
    def ready(self) -> bool:
        """Whether all rows have their final height."""
        return not self._due.isActive()

    def show_found(self, rows: tuple[CommandRow, ...], all_rows: Sequence[CommandRow], *, marked: bool) -> None:
        """Show the commands `rows` of `all_rows`; `marked`: the user has chosen keys of some."""
        self._all = all_rows
        self.show_records(rows)
        self.setColumnHidden(_MARK, not marked)
        self.fit()

    def choose(self, name: str) -> None:
        """Select the command with this name, if it is listed."""
        names = [row.name for row in self.records]
        if name in names:
            self.selectRow(names.index(name))

    def fit(self) -> None:
        """Set the column widths by all commands, so that they don't change while the user types."""
        metrics, header = self.fontMetrics(), self.horizontalHeader()
        # Most texts and parts occur often, and are measured once.
        words = ({row.where for row in self._all}, {_in_parts(row.keys) for row in self._all}, {tr("changed")})
        for column, (cells, share) in enumerate(zip(words, _SHARES, strict=True), 1):
            parts = set(" ".join(cells).replace(_MAY_BREAK, " ").split())
            longest, part = (max(map(metrics.horizontalAdvance, found), default=0) + _SIDES for found in (cells, parts))
            least = max(part, header.sectionSizeHint(column))
            header.resizeSection(column, max(least, min(longest, round(self.width() * share))))
        self._due.start()  # also fills new rows

    @Slot()
    def _wrap(self) -> None:
        """Set the heights of rows with long texts; Qt's own method would take 0.2 s for all rows."""
        metrics = self.fontMetrics()
        usual = self.verticalHeader().defaultSectionSize()
        widths = [self.columnWidth(column) - _SIDES for column in range(_MARK)]
        for number, row in enumerate(self.records):
            lines = metrics.height()
            for words, available in zip((row.label, row.where, _in_parts(row.keys)), widths, strict=True):
                if metrics.horizontalAdvance(words) > available:
                    whole = QRect(0, 0, available, 0)
                    lines = max(lines, metrics.boundingRect(whole, Qt.TextFlag.TextWordWrap, words).height())
            self.setRowHeight(number, usual - metrics.height() + lines)

    def measure(self) -> None:
        super().measure()
        if self._all:
            self.fit()


def _in_parts(keys: str) -> str:
    """Return keys with possible line breaks between those that are pressed together."""
    return keys.replace("+", f"+{_MAY_BREAK}")


class KeyboardPage(DialogPage):
    """A table of all commands, and below it the keys of the selected one.

    Enter in the table moves to the field for the new key, Enter there assigns it; Delete in the table removes the keys.
    """

    def __init__(self, own: CustomKeys, keymap: Keymap, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        self._own = own
        self._keymap = keymap
        self.edit = SearchField(tr("Find a command by name, view or shortcut"), tr("Find a command"))
        self.table = CommandTable()
        self.capture = KeyCapture()
        self.set_button = QPushButton(tr("Use this shortcut"))
        self.add_button = QPushButton(tr("Add this shortcut"))
        self.remove_button = QPushButton(tr("No shortcut"))
        self.reset_button = QPushButton(tr("Reset"))
        self.reset_all_button = QPushButton(tr("Reset all shortcuts"))
        self.chosen = label("", "strong", wrap=True)
        self.hint = label("", "muted", wrap=True)
        self.problem = label("", "degraded", wrap=True)
        self._lay_out()
        self._connect()
        follow_keys(self, self.show_keys)

    @property
    def ready(self) -> bool:
        """Whether all rows have their final height."""
        return self.table.ready

    # --- for the dialog ---------------------------------------------------------------------------------------------

    def take_focus(self) -> None:
        self.edit.setFocus()

    def stop(self) -> None:
        """Drop a captured key that was not assigned, since the page was closed."""
        self.capture.clear()
        self.problem.clear()

    # --- assembly ---------------------------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        row = FlowLayout(8)
        for widget in (self.capture, self.set_button, self.add_button):
            row.addWidget(widget)
        foot = row_of(self.remove_button, self.reset_button, None, self.reset_all_button, spacing=8)
        column = column_of(spacing=10, margins=(0, 20, 0, 14))
        # From the outside in: Qt applies the style sheet again to all widgets of a part that gets another parent.
        column_of(column_page(column, WIDTH), parent=self)
        column.addWidget(label(tr("Keyboard"), "title", wrap=True))
        column.addWidget(self.edit)
        column.addWidget(self.table, 1)
        column.addWidget(self.chosen)
        column.addLayout(row)
        column.addWidget(self.hint)
        column.addLayout(foot)
        column.addWidget(self.problem)

    def _connect(self) -> None:
        self.edit.textChanged.connect(self.show_keys)
        self.edit.list_requested.connect(self.table.setFocus)
        self.table.installEventFilter(self)
        self.table.opened.connect(lambda _row: self.capture.setFocus())
        self.table.selectionModel().currentRowChanged.connect(self._show_chosen)
        self.capture.pressed.connect(self._check_key)
        self.capture.accepted.connect(lambda: self._assign(add=False))
        self.capture.left.connect(self.table.setFocus)
        self.set_button.clicked.connect(lambda: self._assign(add=False))
        self.add_button.clicked.connect(lambda: self._assign(add=True))
        self.remove_button.clicked.connect(self._remove_keys)
        self.reset_button.clicked.connect(self._reset)
        self.reset_all_button.clicked.connect(self._own.reset_all)
        self._own.not_saved.connect(self.problem.setText)

    # --- display ----------------------------------------------------------------------------------------------------

    @property
    def command(self) -> Command | None:
        """The command selected in the table."""
        row = self.table.current
        return None if row is None else self._keymap.commands[row.name]

    @Slot()
    def show_keys(self) -> None:
        """Update the keys of the commands that match the filter; the selection stays."""
        chosen = self.command
        parts = self.edit.text().casefold().split()
        rows = self._rows()
        row_texts = [f"{row.label} {row.english} {row.where} {row.keys}".casefold() for row in rows]
        found = tuple(row for row, text in zip(rows, row_texts, strict=True) if all(part in text for part in parts))
        self.table.show_found(found, rows, marked=self._own.any)
        if chosen is not None:
            self.table.choose(chosen.name)
        self._show_chosen()
        self.reset_all_button.setEnabled(self._own.any)

    def _rows(self) -> list[CommandRow]:
        return [
            CommandRow(
                command.name,
                without_dots(command.label),
                command.english,
                ", ".join(map(title, command.contexts)),
                any_of(native(key) for key in self._keymap.keys(command.name)),
                self._own.is_custom(command.name),
            )
            for command in by_context(self._keymap)
        ]

    @Slot()
    def _show_chosen(self) -> None:
        command = self.command
        self.capture.clear()
        self.chosen.setText(tr("No command matches.") if command is None else without_dots(command.label))
        self.capture.setEnabled(command is not None)
        self.remove_button.setEnabled(command is not None and bool(self._keymap.keys(command.name)))
        self.reset_button.setEnabled(command is not None and self._own.is_custom(command.name))
        self._check_key()

    @Slot()
    def _check_key(self) -> None:
        """Check the key that was just pressed, and show which other command already uses it."""
        command, key = self.command, self.capture.key
        other = key_conflict(self._keymap, command, key) if command is not None and key else None
        fixed = other is not None and not isinstance(other.owner, Command)
        for button in (self.set_button, self.add_button):
            button.setEnabled(bool(key) and not fixed)
        if command is None:
            self.hint.setText("")
        elif not key:
            self.hint.setText(_default_keys_text(command) if self._own.is_custom(command.name) else "")
        elif fixed:
            self.hint.setText(tr("{key} is used by {command} and can't be changed.", key=native(key), command=other))
        elif other is not None:
            self.hint.setText(tr("{key} is used by {command}, which would lose it.", key=native(key), command=other))
        else:
            self.hint.setText(tr("{key} is not used yet.", key=native(key)))
        if key:
            announce(self.capture, self.hint.text())

    # --- actions ----------------------------------------------------------------------------------------------------

    def _assign(self, *, add: bool) -> None:
        command, key = self.command, self.capture.key
        if command is None or not self.set_button.isEnabled():
            return
        before = self._keymap.keys(command.name) if add else ()
        self._own.assign(command.name, tuple(dict.fromkeys((*before, key))))
        self.capture.clear()
        self.table.setFocus()
        announce(self.table, f"{without_dots(command.label)}: {native(key)}")

    @Slot()
    def _remove_keys(self) -> None:
        command = self.command
        if command is not None:
            self._own.assign(command.name, ())

    @Slot()
    def _reset(self) -> None:
        command = self.command
        if command is not None:
            self._own.reset(command.name)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() != QEvent.Type.KeyPress or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        key = event.key()
        if key == Qt.Key.Key_F2:
            self.capture.setFocus()
            return True
        if key == Qt.Key.Key_Delete:
            self._remove_keys()
            return True
        return super().eventFilter(watched, event)


def _default_keys_text(command: Command) -> str:
    """Return the default keys as text."""
    usual = any_of(map(native, command.keys))
    return tr("Default: {keys}.", keys=usual) if usual else tr("No default shortcut.")
