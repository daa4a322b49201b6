"""The editor of one fact: its text, category and importance, and its source."""

from typing import cast

import msgspec
from PySide6.QtCore import Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QFontMetrics, QTextCursor
from PySide6.QtWidgets import QFrame, QPushButton, QVBoxLayout, QWidget

from engine import FACT_CATEGORIES, LONGEST_FACT, USUAL_IMPORTANCE, Fact, FactCategory, tr, tr_count
from gui.facts.wording import CATEGORIES, ERASE_QUESTION, NEW, origin_lines, percent
from gui.style.stylesheet import font_at, scaled
from gui.style.typography import FontSized
from gui.text.plain_text import set_tip
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import ComboBox, TextField
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import VerticalScrollArea, clear_layout, column_of, row_of

_LEVELS = (0.1, 0.3, 0.5, USUAL_IMPORTANCE, 0.9, 1.0)
_BY_WORDS = ""
_TEXT_LINES = 6
_GUTTER = 16
_WIDEST = 680
"""Maximum width of the fields: a fact has at most two lines, and a choice one word."""


class FactEditor(FontSized, VerticalScrollArea):
    """Edits one fact, existing or new; empty if none is selected.

    Signals:
        change_requested: the changed Fact.
        add_requested: text, category (None: by its words) and importance of a new fact.
        approve_requested, forget_requested, restore_requested, erase_requested: the Fact as shown.
        left: Escape or Back was pressed: return to the list.
    """

    change_requested = Signal(object)
    add_requested = Signal(str, object, float)
    approve_requested = Signal(object)
    forget_requested = Signal(object)
    restore_requested = Signal(object)
    erase_requested = Signal(object)
    left = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._page = QWidget()
        self.setWidget(self._page)  # first: see `scrolling_column`
        self.fact: Fact | None = None
        """The shown fact; None for a new one and for an empty editor."""
        self.is_new = False
        self._editable = True
        self._confirming = False
        self.back = push_button(tr("Back to the list"), self.left.emit, role="flat")
        self._title = label("", "strong")
        self.text = TextField(tr("Text of the fact"))
        self.text.setPlaceholderText(tr("One sentence that is clear without any context"))
        self._too_long = label("", "degraded", wrap=True)
        self.category = ComboBox(tr("Kind of the fact"))
        self.importance = ComboBox(tr("Importance of the fact"))
        self._origin = QVBoxLayout()
        self._question = label(tr(ERASE_QUESTION), wrap=True)
        self._save = push_button(tr("Save"), self.save, role="primary", tip=tr("Save changes (Ctrl+Enter)"))
        self._revert = push_button(tr("Discard"), self._discard)
        self._approve = push_button(tr("Approve"), lambda: self._emit(self.approve_requested), role="primary")
        self._forget = push_button(tr("Forget"), lambda: self._emit(self.forget_requested))
        self._restore = push_button(tr("Restore"), lambda: self._emit(self.restore_requested), role="primary")
        self._erase = push_button(tr("Delete permanently…"), lambda: self._confirm_erase(True))
        self._yes = push_button(tr("Delete permanently"), lambda: self._emit(self.erase_requested))
        self._no = push_button(tr("Don't delete"), lambda: self._confirm_erase(False))
        self._arrange()
        for category in FACT_CATEGORIES:
            self.category.addItem(tr(CATEGORIES[category]), category)
        self.measure()
        self.text.textChanged.connect(self._update_buttons)
        self.text.accepted.connect(self.save)
        self.text.left.connect(self._leave)
        self.category.activated.connect(self._choose)
        self.importance.activated.connect(self._choose)
        self.clear()

    def _arrange(self) -> None:
        column = column_of(spacing=8, margins=(_GUTTER, 12, _GUTTER, 12), parent=self._page)
        column.addWidget(self.back, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self._title)
        column.addWidget(self.text)
        column.addWidget(self._too_long)
        for words, box in ((tr("Kind"), self.category), (tr("Importance"), self.importance)):
            title = label(words, "muted")
            title.setBuddy(box)
            column.addLayout(row_of((title, 1), (box, 2)))
        self._origin.setSpacing(2)
        column.addSpacing(4)
        column.addLayout(self._origin)
        column.addSpacing(4)
        column.addWidget(self._question)
        column.addLayout(row_of(*self._buttons, None, spacing=8))
        column.addStretch(1)
        self.setFrameShape(QFrame.Shape.NoFrame)

    @property
    def _buttons(self) -> tuple[QPushButton, ...]:
        return (
            self._save,
            self._revert,
            self._approve,
            self._restore,
            self._forget,
            self._erase,
            self._yes,
            self._no,
        )

    # --- display ----------------------------------------------------------------------------------------------------

    def clear(self) -> None:
        """Empty all fields of the fact editor."""
        self.fact, self.is_new = None, False
        self._show("")

    def show_fact(self, fact: Fact, *, editable: bool) -> None:
        """Show a fact. Text that was typed into the same fact and is not saved stays."""
        typed = self.text.toPlainText() if self.fact and self.fact.id == fact.id and self.is_changed else fact.text
        self._confirming = self._confirming and self.fact is not None and self.fact.id == fact.id
        self.fact, self.is_new, self._editable = fact, False, editable and fact.forgotten is None
        self._show(typed)

    def begin_new(self, text: str = "") -> None:
        """Start editing a new fact with this text."""
        self.fact, self.is_new, self._editable, self._confirming = None, True, True, False
        self._show(text)
        self.text.setFocus()

    @property
    def is_changed(self) -> bool:
        """Whether the edited fact has unsaved changes."""
        return self._typed != (self.fact.text if self.fact else "")

    @property
    def _typed(self) -> str:
        return self.text.toPlainText().strip()

    def _show(self, text: str) -> None:
        fact = self.fact
        shown = fact is not None or self.is_new
        self._page.setVisible(shown)
        self._title.setText(tr(NEW) if self.is_new else tr("Fact"))
        if self.text.toPlainText() != text:
            self.text.setPlainText(text)
            self.text.moveCursor(QTextCursor.MoveOperation.End)  # the user usually appends
        self.text.setReadOnly(not self._editable)
        for box in (self.category, self.importance):
            box.setEnabled(self._editable)
        self._show_category(fact)
        self._show_importance(USUAL_IMPORTANCE if fact is None else fact.importance)
        self._show_origin(fact)
        self._update_buttons()

    def _show_category(self, fact: Fact | None) -> None:
        automatic = self.category.findData(_BY_WORDS)
        if self.is_new and automatic < 0:
            self.category.insertItem(0, tr("Automatic"), _BY_WORDS)
        elif not self.is_new and automatic >= 0:
            self.category.removeItem(automatic)
        self.category.choose(_BY_WORDS if fact is None else fact.category)

    def _show_importance(self, importance: float) -> None:
        levels = sorted({*_LEVELS, importance})
        if [self.importance.itemData(index) for index in range(self.importance.count())] != levels:
            blocked = self.importance.blockSignals(True)
            self.importance.clear()
            for level in levels:
                self.importance.addItem(percent(level), level)
            self.importance.blockSignals(blocked)
        self.importance.setCurrentIndex(levels.index(importance))

    def _show_origin(self, fact: Fact | None) -> None:
        clear_layout(self._origin)
        for words, tip in origin_lines(fact) if fact else ():
            line = label(breakable(words), "meta", wrap=True)
            set_tip(line, tip)
            self._origin.addWidget(line)

    @Slot()
    def _update_buttons(self) -> None:
        """Update the buttons and the remark on the length for the fact in the editor."""
        fact, changed = self.fact, self.is_changed and self._editable
        long = len(self._typed) - LONGEST_FACT
        self._too_long.setText(
            tr_count(
                "{count:,} character too many. Save it as a note instead.",
                "{count:,} characters too many. Save it as a note instead.",
                long,
            )
        )
        self._too_long.setVisible(long > 0)
        forgotten = fact is not None and fact.forgotten is not None
        active = fact is not None and not forgotten
        visibility: dict[QWidget, bool] = {
            self._question: self._confirming,
            self._save: changed or self.is_new,
            self._revert: changed or self.is_new,
            self._approve: fact is not None and active and fact.pending and not changed,
            self._restore: forgotten and not self._confirming,
            self._forget: active and not changed,
            self._erase: forgotten and not self._confirming,
            self._yes: self._confirming,
            self._no: self._confirming,
        }
        for widget, visible in visibility.items():
            widget.setVisible(visible)
        self._save.setEnabled(bool(self._typed) and long <= 0)

    # --- actions ----------------------------------------------------------------------------------------------------

    def take_focus(self) -> None:
        """Focus the text, or the first button of a fact that can't be changed."""
        if self.text.isReadOnly() and not self._restore.isHidden():
            self._restore.setFocus(Qt.FocusReason.OtherFocusReason)
        else:
            self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def save(self) -> None:
        """Emit the request to save the edited fact, if it is valid."""
        if not self._editable or not self._typed or len(self._typed) > LONGEST_FACT:
            return
        if self.is_new:
            self.is_new = False
            text, category, importance = self._typed, self.category.currentData(), self.importance.currentData()
            self.clear()
            self.add_requested.emit(text, category or None, importance)
        elif self.fact is not None and self.is_changed:
            self.fact = msgspec.structs.replace(self.fact, text=self._typed)
            self._update_buttons()
            self.change_requested.emit(self.fact)

    @Slot()
    def _choose(self) -> None:
        if self.fact is None or not self._editable:
            return
        category = cast("FactCategory", self.category.currentData())
        signal = msgspec.structs.replace(self.fact, category=category, importance=self.importance.currentData())
        if signal != self.fact:
            self.change_requested.emit(signal)

    @Slot()
    def _discard(self) -> None:
        self.text.setPlainText(self.fact.text if self.fact else "")
        if self.is_new:
            self.clear()
        self.left.emit()

    @Slot()
    def _leave(self) -> None:
        """Handle Escape: revert a changed fact, else return to the list; the text of a new fact stays as a draft."""
        if self.is_changed and self.fact is not None:
            self.text.replace_text(self.fact.text)
        elif self.is_new and not self._typed:
            self._discard()
        else:
            self.left.emit()

    def _emit(self, signal: SignalInstance) -> None:
        if self.fact is not None:
            signal.emit(self.fact)

    def _confirm_erase(self, confirming: bool) -> None:
        self._confirming = confirming
        self._update_buttons()
        (self._no if confirming else self._erase).setFocus(Qt.FocusReason.OtherFocusReason)

    def measure(self) -> None:
        self.text.setFixedHeight(QFontMetrics(font_at(13)).lineSpacing() * _TEXT_LINES + 20)
        self._page.setMaximumWidth(scaled(_WIDEST))
