"""The workspace switcher: a dialog with all workspaces, to open, add and forget them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyleOptionViewItem,
    QWidget,
)

from engine import KnownWorkspace, WorkspaceState, marked, tr, tr_count
from gui.style.stylesheet import font_at
from gui.style.theme import Tokens
from gui.style.typography import resize_with_text
from gui.text.formatting import ago, files_text, size_text
from gui.text.plain_text import set_tip
from gui.widgets.accessibility import announce
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import CheckBox
from gui.widgets.labels import AT_RIGHT, label, write_line
from gui.widgets.layouts import column_of, row_of
from gui.widgets.query_box import SearchField
from gui.widgets.row_list import GUTTER
from gui.widgets.rows import Index, RowDelegate, paint_row_background

# --- Texts about a workspace -----------------------------------------------------------------------------------------

AWAY = marked("Folder missing")
NOT_INDEXED = marked("Not indexed yet")
LOOKING = marked("Reading the index…")


def state_text(known: KnownWorkspace, state: WorkspaceState | None) -> str:
    """Describe the state of a workspace in a few words; `state` None: not read yet."""
    if not known.present:
        return tr(AWAY)
    if not known.index_bytes:
        return tr(NOT_INDEXED)
    if state is None:
        return tr(LOOKING)
    if state.problem:
        return state.problem
    files, pending, last = state.files, state.pending_vectors, state.last_sync
    texts = [files_text(files)]
    if pending:
        texts.append(tr_count("{count:,} passage to embed", "{count:,} passages to embed", pending))
    texts.append(tr("updated {when}", when=ago(last.started + last.seconds)) if last else tr("never updated"))
    return " · ".join(texts)


def forgetting(known: KnownWorkspace) -> str:
    """Return the question to ask before a workspace is forgotten."""
    return tr(
        "Forget {name}? It is no longer listed or searched until you open it again. Its notes stay unchanged, and so "
        "do its facts and saved searches. Its sessions pass to other workspaces at their next update.",
        name=known.name,
    )


def removing(known: KnownWorkspace) -> str:
    return tr("Remove its index as well ({size})", size=size_text(known.index_bytes))


def forgotten(known: KnownWorkspace, freed: int) -> str:
    """Return the message after a workspace was forgotten; `freed`: bytes of disk space."""
    if freed:
        size = size_text(freed)
        return tr("{name} is forgotten, and its index ({size}) is deleted.", name=known.name, size=size)
    return tr("{name} is forgotten.", name=known.name)


# ---------------------------------------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 620, 420
_PAGE = 6
_STEPS = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _PAGE, Qt.Key.Key_PageUp: -_PAGE}
_OPEN = marked("The open workspace can't be forgotten: open another one first")
_NOTHING = marked("No workspace matches by name or folder.")
_ANOTHER = marked("This folder is not a workspace yet. “Open” shows a preview first.")
_KNOWN = Qt.ItemDataRole.UserRole
_STATE = Qt.ItemDataRole.UserRole + 1
_PAD, _LINE_SPACING, _GAP = 9, 3, 14
_MAX_STATE = 0.6
"""Share of the row that the state may take."""


class WorkspaceList(QListWidget):
    """A list of workspaces; one row is always current unless the list is empty."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Workspaces"))
        self.setItemDelegate(_Rows(self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_spaces(
        self, spaces: Sequence[KnownWorkspace], states: Mapping[str, WorkspaceState], open_folder: str, path: str
    ) -> None:
        """Replace the rows; the current workspace stays current, else it is the first one that can be opened.

        If a `path` was typed, it is the workspace of that folder or none.
        """
        before = self.current()
        self.clear()
        for known in spaces:
            item = QListWidgetItem(self)
            is_open = known.folder == open_folder
            state = state_text(known, states.get(known.folder))
            text = tr("Open now · {state}", state=state) if is_open else state
            item.setData(_KNOWN, known)
            item.setData(_STATE, text)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{known.name}, {text}, {known.folder}")
            set_tip(item, known.folder)
        selected = [row for row, known in enumerate(spaces) if before is not None and known.folder == before.folder]
        others = [row for row, known in enumerate(spaces) if known.present and known.folder != open_folder]
        if path:
            folder = os.path.normcase(os.path.normpath(path))
            others = [row for row, known in enumerate(spaces) if os.path.normcase(known.folder) == folder]
        self.setCurrentRow(next(iter([*selected, *others]), -1 if path else 0))

    def current(self) -> KnownWorkspace | None:
        item = self.currentItem()
        known: KnownWorkspace | None = None if item is None else item.data(_KNOWN)
        return known

    def step(self, by: int) -> None:
        """Move the current row down by `by` rows, up if negative, without wrapping around."""
        if self.count():
            self.setCurrentRow(max(0, min(self.currentRow() + by, self.count() - 1)))

    @property
    def texts(self) -> str:
        """Texts of the current row for screen readers."""
        item = self.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.AccessibleTextRole))


class _Rows(RowDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        lines = QFontMetrics(font_at(13)).height() + QFontMetrics(font_at(12)).height()
        return QSize(0, lines + _LINE_SPACING + 2 * _PAD)

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        known: KnownWorkspace = index.data(_KNOWN)
        paint_row_background(painter, option, colours)
        rect = option.rect.adjusted(GUTTER, _PAD, -GUTTER, -_PAD)
        name_font, meta = font_at(13, QFont.Weight.DemiBold), font_at(12)
        above = QRect(rect.left(), rect.top(), rect.width(), QFontMetrics(name_font).height())
        below = QRect(rect.left(), above.bottom() + 1 + _LINE_SPACING, rect.width(), QFontMetrics(meta).height())
        colour = colours.muted if known.present else colours.degraded
        at_end = above.adjusted(rect.width() - int(rect.width() * _MAX_STATE), 0, 0, 0)
        state = write_line(painter, at_end, index.data(_STATE), (meta, colour), at=AT_RIGHT)
        write_line(painter, below, known.folder, (meta, colours.muted), cut=Qt.TextElideMode.ElideMiddle)
        above.setRight(above.right() - state - _GAP)
        write_line(painter, above, known.name, (name_font, colours.text if known.present else colours.muted))


class Switcher(QDialog):
    """The dialog that lists the known workspaces; its owner sets the list.

    Signals:
        chosen: KnownWorkspace to open.
        folder_typed: Path of a folder that is not in the list, to open.
        forget_requested: KnownWorkspace to remove, and whether to delete its index.
    """

    chosen = Signal(object)
    folder_typed = Signal(object)
    forget_requested = Signal(object, bool)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Workspaces"))
        resize_with_text(self, _WIDTH, _HEIGHT, parent)
        self._spaces: Sequence[KnownWorkspace] = ()
        self._states: Mapping[str, WorkspaceState] = {}
        self._open_folder = ""
        self.box = SearchField(tr("Filter by name or folder"), tr("Filter workspaces"))
        self.box.list_requested.connect(self.choose)  # by Enter: Down moves along the list
        self.box.installEventFilter(self)
        self.list = WorkspaceList()
        self._none = label("", "muted", wrap=True)
        self.question = _ForgetQuestion()
        self.open_button = QPushButton(tr("Open"))
        self.open_button.setDefault(True)
        self.forget_button = QPushButton(tr("Forget…"))
        self.add_button = QPushButton(tr("Add folder…"))
        self.everywhere_button = push_button(tr("Search all"), tip=tr("Search all workspaces from now on"))
        for button in (self.forget_button, self.add_button, self.everywhere_button):
            button.setAutoDefault(False)
        self._arrange()
        self.box.textChanged.connect(self._filter)
        self.list.currentItemChanged.connect(self._show_current)
        self.list.itemActivated.connect(self._activated)
        self.open_button.clicked.connect(self.choose)
        self.forget_button.clicked.connect(self.confirm_forgetting)
        self.question.answered.connect(self._answered)

    def _arrange(self) -> None:
        buttons = row_of(self.add_button, self.forget_button, None, self.everywhere_button, self.open_button, spacing=8)
        parts = self.box, self._none, (self.list, 1), self.question, buttons
        column_of(*parts, spacing=12, margins=(16, 16, 16, 14), parent=self)

    # --- for its controller -----------------------------------------------------------------------------------------

    def begin(self, open_folder: str) -> None:
        """Show the dialog again; `open_folder` is the folder of the open workspace."""
        self._open_folder = open_folder
        self.question.hide()
        self.box.clear()
        self.open()
        self.box.setFocus()

    def show_spaces(self, spaces: Sequence[KnownWorkspace], states: Mapping[str, WorkspaceState]) -> None:
        """Show the known workspaces; the states of those missing in `states` have not been read yet."""
        self._spaces, self._states = spaces, states
        self._show()

    # --- internals --------------------------------------------------------------------------------------------------

    @Slot()
    def _show(self) -> None:
        words = self._typed.casefold().split()
        fitting = [
            known
            for known in self._spaces
            if all(word in f"{known.name} {known.folder}{os.sep}".casefold() for word in words)
        ]
        self.list.show_spaces(fitting, self._states, self._open_folder, self._path)
        self._show_current()

    @property
    def _typed(self) -> str:
        """The text in the box, with the home folder for `~`, and the system's separators."""
        text = self.box.text().strip().replace("/", os.sep)
        return f"{Path.home()}{text[1:]}" if text == "~" or text.startswith(f"~{os.sep}") else text

    @property
    def _path(self) -> str:
        """The text in the box if it is the path of a folder, else ""."""
        return self._typed if Path(self._typed).is_absolute() else ""

    @Slot()
    def _filter(self) -> None:
        if self._path:
            self.list.setCurrentRow(-1)  # a workspace that was current for the text before
        self._show()

    @Slot()
    def _show_current(self) -> None:
        known = self.list.current()
        is_open = known is not None and known.folder == self._open_folder
        openable = bool(self._path) if known is None else known.present and not is_open
        self._none.setText(tr(_ANOTHER if self._path else _NOTHING))
        self._none.setVisible(bool(self._spaces) and known is None)
        self.open_button.setEnabled(openable)
        self.forget_button.setEnabled(known is not None and not is_open)
        set_tip(self.forget_button, tr(_OPEN) if is_open else "")
        if known != self.question.about:
            self.question.hide()

    @Slot()
    def choose(self) -> None:
        """Emit the signal to open the current workspace, or the folder that was typed, if it can be opened."""
        known, typed = self.list.current(), self._typed
        if self.open_button.isEnabled():
            self.accept()
            if known is None:
                self.folder_typed.emit(Path(typed))
            else:
                self.chosen.emit(known)

    @Slot(QListWidgetItem)
    def _activated(self, _item: QListWidgetItem) -> None:
        self.choose()

    @Slot()
    def confirm_forgetting(self) -> None:
        known = self.list.current()
        if known is not None and self.forget_button.isEnabled():
            self.question.ask(known)

    @Slot(bool, bool)
    def _answered(self, agreed: bool, with_index: bool) -> None:
        known = self.question.about
        self.question.hide()
        self.box.setFocus()
        if agreed and known is not None:
            self.forget_requested.emit(known, with_index)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle keys for the list while the filter box has the focus."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and self._moves_current_row(event):
            return True
        return super().eventFilter(watched, event)

    def _moves_current_row(self, event: QKeyEvent) -> bool:
        """Move through the list if the key does that; returns whether it did."""
        if event.key() not in _STEPS or event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        self.list.step(_STEPS[Qt.Key(event.key())])
        announce(self.list, self.list.texts)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete and self.list.hasFocus():
            self.confirm_forgetting()
        elif event.key() == Qt.Key.Key_Escape and self.question.isVisible():
            self._answered(False, False)
        else:
            super().keyPressEvent(event)


class _ForgetQuestion(QFrame):
    """The question, shown in the switcher, whether to forget a workspace."""

    answered = Signal(bool, bool)
    """Whether the user confirmed, and whether to delete the index as well."""

    def __init__(self) -> None:
        super().__init__()
        self.about: KnownWorkspace | None = None
        self._words = label("", wrap=True)
        self.with_index = CheckBox("")
        self.confirm_button = QPushButton(tr("Forget"))
        self.cancel_button = QPushButton(tr("Cancel"))
        buttons = row_of(self.with_index, None, spacing=8)
        for button, agreed in ((self.cancel_button, False), (self.confirm_button, True)):
            button.setAutoDefault(False)
            button.clicked.connect(lambda _=False, agreed=agreed: self._answer(agreed))
            buttons.addWidget(button)
        column_of(self._words, buttons, spacing=8, parent=self)
        self.hide()

    def ask(self, known: KnownWorkspace) -> None:
        self.about = known
        self._words.setText(forgetting(known))
        self.with_index.label = removing(known)
        self.with_index.setAccessibleName(removing(known))
        self.with_index.setChecked(False)
        self.with_index.setVisible(bool(known.index_bytes))
        self.with_index.updateGeometry()
        self.show()
        self.cancel_button.setFocus()
        announce(self, self._words.text())

    def _answer(self, agreed: bool) -> None:
        self.answered.emit(agreed, self.with_index.isChecked())

    def hideEvent(self, event: object) -> None:
        self.about = None
