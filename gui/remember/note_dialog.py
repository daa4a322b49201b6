"""The dialog in which the user edits a session note before it is saved: its name, text and folder."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QGridLayout, QLineEdit, QPlainTextEdit, QWidget

from engine import SessionNote, to_slug, tr
from gui.style.stylesheet import set_role
from gui.style.typography import fixed_font, resize_with_text
from gui.widgets.accessibility import announce
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import ComboBox
from gui.widgets.labels import ElidedLabel, breakable, label
from gui.widgets.layouts import column_of

_WIDTH, _HEIGHT = 700, 560
_LONGEST_NAME = 80
_COUNTS = (5, 15, 30, 60, 100)


class NoteDialog(QDialog):
    """The dialog in which the user edits a session note before it is saved.

    It opens immediately, shows progress until `show_note`, and is deleted when it closes.

    Signals:
        count_chosen: include another number of messages.
        save_requested: the current text and name.
        changed: the user typed something.
    """

    count_chosen = Signal(int)
    save_requested = Signal(str, str)
    changed = Signal()

    def __init__(self, title: str, folder: str, parent: QWidget) -> None:
        """`title`: title of the session. `folder`: name of the workspace."""
        super().__init__(parent)
        self.setWindowTitle(tr("Save session as note"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.title = title
        self._folder = folder
        self.note: SessionNote | None = None
        """The note being edited; None until it was read."""
        self._own_name = self._discard_warned = False
        self._heading = ElidedLabel()
        self._heading.setProperty("role", "strong")
        self._heading.setText(title)
        self._name = QLineEdit()
        self._name.setMaxLength(_LONGEST_NAME)
        self._name.setAccessibleName(tr("Name of the note"))
        self._count = ComboBox(tr("Messages in the note"))
        self._text = QPlainTextEdit()
        self._text.setFont(fixed_font())
        self._text.setAccessibleName(tr("Text of the note"))
        self._text.setTabChangesFocus(True)
        self._where = label(" ", "meta", wrap=True)
        self._remark = label("", "meta", wrap=True)
        self._save = push_button(tr("Save"), role="primary")
        self._buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel)
        self._buttons.addButton(self._save, QDialogButtonBox.ButtonRole.AcceptRole)
        self._lay_out()
        self._connect()
        resize_with_text(self, _WIDTH, _HEIGHT, parent)
        self._validate()
        self.show_message(tr("Reading the session…"))
        self.open()

    def _lay_out(self) -> None:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        for row, (words, field) in enumerate(((tr("Name"), self._name), (tr("Messages"), self._count))):
            title = label(words, "muted")
            title.setBuddy(field)
            grid.addWidget(title, row, 0)
            grid.addWidget(field, row, 1)
        column_of(
            self._heading,
            grid,
            (self._text, 1),
            self._where,
            self._remark,
            self._buttons,
            spacing=10,
            margins=(20, 16, 20, 14),
            parent=self,
        )

    def _connect(self) -> None:
        self._save.setDefault(True)
        self._buttons.accepted.connect(self._request_save)
        self._buttons.rejected.connect(self.reject)
        self._name.textEdited.connect(self._named)
        self._name.editingFinished.connect(self._tidy_name)
        self._name.textChanged.connect(self._validate)
        self._text.textChanged.connect(self._validate)
        self._count.currentIndexChanged.connect(self._choose_count)
        for keys in ("Ctrl+Return", "Ctrl+Enter", "Ctrl+S"):
            QShortcut(QKeySequence(keys), self, self._save.click)

        self._name.textEdited.connect(self.changed)
        self._text.textChanged.connect(self.changed)

    # --- for the owner ----------------------------------------------------------------------------------------------

    @property
    def is_changed(self) -> bool:
        """Whether the user has changed the text."""
        return self._text.document().isModified()

    @property
    def typed(self) -> tuple[str, str]:
        """The current name and text."""
        return self._name.text(), self._text.toPlainText()

    def restore_draft(self, name: str, text: str) -> None:
        """Restore the name and text of a draft; undo returns to the original text."""
        self._own_name = True
        self._name.setText(name)
        everything = QTextCursor(self._text.document())
        everything.select(QTextCursor.SelectionType.Document)
        everything.insertText(text)

    def show_note(self, note: SessionNote) -> None:
        """Show a note in place of the previous one; undo restores what the user had typed there."""
        first = self.note is None
        self.note = note
        if not self._own_name:
            self._name.setText(note.slug)
        self._show_counts(note)
        if first:
            self._text.setPlainText(note.text)
        else:
            everything = QTextCursor(self._text.document())
            everything.select(QTextCursor.SelectionType.Document)
            everything.insertText(note.text)
        self._text.document().setModified(False)
        self._text.moveCursor(QTextCursor.MoveOperation.Start)
        self._show_existing()
        self._validate()
        if first:
            self._name.setFocus(Qt.FocusReason.OtherFocusReason)
            self._name.selectAll()

    def suggest(self, slug: str) -> None:
        """Put a suggested file name into the field, unless the user has typed one."""
        self._show_existing()
        if not self._own_name:
            self._name.setText(slug)
            if self._name.hasFocus():
                self._name.selectAll()

    def show_message(self, sentence: str, *, degraded: bool = False) -> None:
        """Show a message, replacing the previous one."""
        self._remark.setText(breakable(sentence))
        self._remark.setVisible(bool(sentence))
        set_role(self._remark, "degraded" if degraded else "meta")
        if sentence:
            announce(self, sentence)

    def fail(self, sentence: str) -> None:
        """Show an error, and let the user continue editing."""
        self.show_message(sentence, degraded=True)
        self._set_busy(False)

    def _show_existing(self) -> None:
        there = self.note.existing if self.note is not None else ""
        message = tr("This session already has a note: {note}. The new note will be saved next to it.", note=there)
        self.show_message(message if there else "")

    # --- input of the user ------------------------------------------------------------------------------------------

    def _show_counts(self, note: SessionNote) -> None:
        """Fill the menu of how many messages to include: numbers that make a difference, and that of the settings."""
        counts = sorted({count for count in _COUNTS if count < note.session_messages} | {note.messages})
        blocked = self._count.blockSignals(True)
        self._count.clear()
        for count in counts:
            whole = count == note.session_messages
            last = tr("The last {count:,} of {total:,} messages", count=count, total=note.session_messages)
            words = _all(count) if whole else last
            self._count.addItem(words, count)
        if note.messages < note.session_messages <= _COUNTS[-1]:
            self._count.addItem(_all(note.session_messages), note.session_messages)
        self._count.blockSignals(blocked)
        self._count.choose(note.messages)

    @Slot(int)
    def _choose_count(self, index: int) -> None:
        self.count_chosen.emit(self._count.itemData(index))

    @Slot(str)
    def _named(self, _: str) -> None:
        self._own_name = True

    @Slot()
    def _tidy_name(self) -> None:
        """Replace the typed name by the form that the file name will have."""
        slug = to_slug(self._name.text())
        if slug and slug != self._name.text():
            self._name.setText(slug)

    @Slot()
    def _validate(self) -> None:
        slug = to_slug(self._name.text())
        note = self.note
        self._save.setEnabled(note is not None and bool(slug) and not self._text.document().isEmpty())
        if note is None:
            where = " "
        elif slug:
            path = f"memory/{note.date}-{slug}.md"
            where = tr("Will be saved as {path} in {folder}. Secrets are masked.", path=path, folder=self._folder)
        else:
            where = tr("The name needs letters from a to z, or digits.")
        self._where.setText(breakable(where))

    @Slot()
    def _request_save(self) -> None:
        if self._save.isEnabled():
            self._set_busy(True)
            self.show_message(tr("Saving…"))
            self.save_requested.emit(self._text.toPlainText(), to_slug(self._name.text()))

    def _set_busy(self, busy: bool) -> None:
        for widget in (self._name, self._count):
            widget.setEnabled(not busy)
        self._text.setReadOnly(busy)
        self._save.setEnabled(not busy)
        if not busy:
            self._validate()

    def reject(self) -> None:
        """Handle Esc: close the dialog; unsaved text is discarded only after a second press."""
        if self._text.document().isModified() and not self._discard_warned:
            self._discard_warned = True
            self.show_message(tr("Your changes are not saved. Cancel again to discard them."), degraded=True)
            return
        super().reject()


def _all(messages: int) -> str:
    return tr("All {count:,} messages", count=messages)
