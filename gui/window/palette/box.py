"""The palette itself: a field above a list, in the middle of the window's upper edge."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QFrame, QLineEdit, QListView, QVBoxLayout, QWidget

from engine import tr
from gui.style.stylesheet import font_at
from gui.widgets.announcer import announce
from gui.widgets.labels import label
from gui.window.palette.entries import Entry, choose
from gui.window.palette.rows import PaletteDelegate, PaletteModel, spoken

_WIDTH, _TOP, _SIDE = 620, 56, 12
_ROWS = 12
_PAGE = 8
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _PAGE, Qt.Key.Key_PageUp: -_PAGE}


class PaletteBox(QFrame):
    """Typing chooses, Up and Down walk, Enter takes; whoever goes elsewhere leaves it.

    Signals:
        taken: Entry that is to be run.
        refused: Entry that cannot be run now.
        left: it was closed by Escape or Tab, and the keys should go back to where they were.
    """

    taken = Signal(object)
    refused = Signal(object)
    left = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("palette")
        self.setProperty("role", "card")
        self._entries: Sequence[Entry] = ()
        self._recent: Sequence[str] = ()
        self.edit = QLineEdit()
        self.edit.setPlaceholderText(tr("Type what you want to do"))
        self.edit.setAccessibleName(tr("Command palette"))
        self.edit.textChanged.connect(self._filter)
        self.edit.installEventFilter(self)
        self.model = PaletteModel(self)
        self.list = QListView()
        self.list.setModel(self.model)
        self.list.setItemDelegate(PaletteDelegate(self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setUniformItemSizes(True)
        self.list.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the keys stay with the field
        self.list.setAccessibleName(tr("Commands"))
        self.list.clicked.connect(self._take)
        self._nothing = label(tr("No command fits."), "muted")
        self._nothing.setContentsMargins(6, 2, 6, 6)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        for part in (self.edit, self.list, self._nothing):
            column.addWidget(part)
        window.installEventFilter(self)
        self.hide()

    @property
    def is_open(self) -> bool:
        return not self.isHidden()

    def open(self, entries: Sequence[Entry], recent: Sequence[str]) -> None:
        """Show these, those of `recent` first, with the keys in the field."""
        self._entries, self._recent = entries, recent
        self.edit.clear()
        self._filter("")
        self.show()
        self.raise_()
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def close_quietly(self) -> None:
        """Be gone, wherever the keys are."""
        self._entries = ()
        self.hide()

    @Slot(str)
    def _filter(self, text: str) -> None:
        found = choose(self._entries, text, self._recent)
        self.model.show_found(found)
        self.list.setVisible(bool(found))
        self._nothing.setVisible(not found)
        if found:
            self.list.setCurrentIndex(self.model.index(0, 0))
        self._place()
        self._tell()

    def _tell(self) -> None:
        """The keys are with the field, where nobody would hear of the row."""
        row = self.list.currentIndex().row()
        announce(self.edit, spoken(self.model.found[row]) if row >= 0 else self._nothing.text())

    def _step(self, by: int) -> None:
        count = self.model.rowCount()
        if count:
            row = self.list.currentIndex().row() + by
            row = row % count if abs(by) == 1 else max(0, min(row, count - 1))
            self.list.setCurrentIndex(self.model.index(row, 0))
            self._tell()

    @Slot(QModelIndex)
    def _take(self, index: QModelIndex) -> None:
        if not index.isValid():
            return
        entry = self.model.found[index.row()].entry
        (self.refused if entry.reason else self.taken).emit(entry)

    def _place(self) -> None:
        window = self._window
        width = min(font_at(_WIDTH).pixelSize(), window.width() - 2 * _SIDE)
        row = self.list.sizeHintForRow(0) if self.model.rowCount() else 0
        room = window.height() - _TOP - _SIDE - self.edit.sizeHint().height() - 30
        rows = min(_ROWS, self.model.rowCount(), room // row if row else 0)
        self.list.setFixedHeight(row * max(1, rows))
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((window.width() - width) // 2, _TOP)

    # --- events -----------------------------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is not self.edit:
            if event.type() == QEvent.Type.Resize and self.is_open:
                self._place()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        elif isinstance(event, QFocusEvent) and event.lostFocus():
            staying = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
            if event.reason() not in staying:
                self.close_quietly()
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        """Whether the key was for the list."""
        key = Qt.Key(event.key())
        if key in _STEPS and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            self._step(_STEPS[key])
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._take(self.list.currentIndex())
        elif key in (Qt.Key.Key_Escape, Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
            self.left.emit()
        else:
            return False
        return True
