"""The search box: text, number of results, clear button, and query history."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDragEnterEvent, QFontMetrics, QKeyEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QSizePolicy, QWidget

from engine import LONGEST_QUERY, tr
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.style.typography import Resized
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.widgets.icons import IconButton, add_clear_button, icon_pixmap
from gui.widgets.labels import label

RADIUS = 8
_SHEET = (
    "QLineEdit, QLineEdit:focus {{"
    " border: none; background: transparent; padding: 0px; placeholder-text-color: {muted}; }}"
)
_INTO_LIST = {Qt.Key.Key_Down, Qt.Key.Key_PageDown}
_EDGE = 14
"""Pixels before the magnifier."""
_END = 16
"""Pixels at the end of an empty box."""
_SPACING, _SPACING_OF_BUTTONS = 13, 4
"""Pixels between the parts, without and with a button at the start: the text begins at the same place in both cases."""
_MAX_STATE = 0.48
"""Largest share of the box's width for the state."""
_TEXT_MARGIN = 2
"""Pixels that Qt leaves free on both sides of the text of a line edit."""
_AFTER_TEXT = 16
"""Pixels that stay free after the text next to the state."""
MAX_QUERIES = 100


class QueryHistory:
    """Stores submitted queries, oldest first. Text typed after the newest is a draft, restored by moving forward."""

    def __init__(self) -> None:
        self._queries: list[str] = []
        self._draft = ""
        self._position = 0

    def remember(self, query: str) -> None:
        """Add a submitted query as the newest; it replaces the previous query if that is a beginning of it."""
        if not query or self._is_at(query):
            return
        other_queries = [known for known in self._queries if known != query]
        if other_queries and query.startswith(other_queries[-1]):
            other_queries.pop()
        self._queries = [*other_queries, query][-MAX_QUERIES:]
        self._position, self._draft = len(self._queries) - 1, query

    def begin(self, queries: Sequence[str]) -> None:
        """Insert the queries of earlier runs, oldest first, before the queries of this run."""
        here = self._queries
        self._queries = [*(query for query in queries if query not in here), *here][-MAX_QUERIES:]
        self._position += len(self._queries) - len(here)  # the position in the history stays the same

    def earlier(self, query: str) -> str | None:
        """Return the query before the current one; None at the oldest. `query`: the box's text, saved as the draft."""
        self._set_position(query)
        if self._position == 0:
            return None
        self._position -= 1
        return self._queries[self._position]

    def later(self, query: str) -> str | None:
        """Return the query after the current one, finally the draft; None at the draft. `query`: the box's text."""
        self._set_position(query)
        if self._position == len(self._queries):
            return None
        self._position += 1
        return self._queries[self._position] if self._position < len(self._queries) else self._draft

    def _is_at(self, query: str) -> bool:
        return self._position < len(self._queries) and self._queries[self._position] == query

    def _set_position(self, query: str) -> None:
        if not self._is_at(query):
            self._position, self._draft = len(self._queries), query


class SearchField(QLineEdit):
    """A field above a list that it filters. Down and Enter alone lead to the list, Escape clears the text."""

    list_requested = Signal()

    def __init__(self, hint: str, name: str = "") -> None:
        """`hint`: placeholder. `name`: accessible name, by default the same."""
        super().__init__()
        self.setPlaceholderText(hint)
        self.setAccessibleName(name or hint)
        add_clear_button(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        alone = not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif alone and event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.list_requested.emit()
        else:
            super().keyPressEvent(event)


class _QueryEdit(QLineEdit):
    """The line edit of the search box; keys that don't edit text are emitted as signals."""

    list_requested = Signal()
    accepted = Signal()
    left = Signal()
    """Escape was pressed in an empty box."""
    history_requested = Signal(bool)
    """Go to an earlier query (True) or a later one."""

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Leave files to the window, although file managers also offer their paths as text."""
        if not any(map(QUrl.isLocalFile, event.mimeData().urls())):
            super().dragEnterEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and event.modifiers() & Qt.KeyboardModifier.AltModifier:
            self.history_requested.emit(key == Qt.Key.Key_Up)
        elif key in _INTO_LIST:
            self.list_requested.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.accepted.emit()
        elif key == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)


class QueryBox(Resized, QWidget):
    """A search box: magnifier, text, state and clear button, drawn as one rounded field."""

    text_changed = Signal(str)
    submitted = Signal(str)
    """A submitted query; perhaps the same as before."""

    def __init__(self, hint: str = "", name: str = "", short: str = "") -> None:
        """`hint`: placeholder. `name`: accessible name. Defaults are for searches. `short`: placeholder if narrow."""
        super().__init__()
        self._hint = self._shown_hint = hint = hint or tr("Search by words or meaning")
        self._short_hints = (short, tr("Search")) if short else (tr("Search"),)
        name = name or tr("Search")
        self.history = QueryHistory()
        self._before = ""
        self._browsing_history = False
        self.edit = _QueryEdit(self)
        self.edit.setMaxLength(LONGEST_QUERY)
        self.edit.setPlaceholderText(hint)
        self.edit.setAccessibleName(name)
        set_tip(self.edit, tr("Alt+Up and Alt+Down: earlier and later queries"))
        self.edit.textChanged.connect(self._changed)
        for signal in (self.edit.list_requested, self.edit.accepted):
            signal.connect(self.remember)
        self.edit.history_requested.connect(self._recall)
        self.edit.installEventFilter(self)
        self._icon = label(parent=self)
        self._state = label(role="meta", parent=self)
        self._state.setAccessibleName(tr("{name}: state", name=name))
        self._clear = IconButton("close", tr("{name}: clear", name=name), parent=self)
        self._clear.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Escape does the same
        self._clear.clicked.connect(self.edit.clear)
        self._clear.clicked.connect(self.focus)
        self._clear.setVisible(False)
        self._leading_button: QWidget | None = None
        self._row = row = QHBoxLayout(self)
        row.setSpacing(_SPACING)
        row.addWidget(self._icon)
        row.addWidget(self.edit, 1)
        row.addWidget(self._state)
        row.addWidget(self._clear)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._restyle()

    @property
    def query(self) -> str:
        return self.edit.text().strip()

    def sizeHint(self) -> QSize:
        """Return the size at which the whole placeholder fits next to the buttons."""
        around = self._row.contentsMargins()
        sides = max(around.left(), around.right()) + _END
        buttons = [part for part in self._parts() if part is not self._clear and not part.isHidden()]
        buttons_width = sum(part.sizeHint().width() + self._row.spacing() for part in buttons)
        text = QFontMetrics(font_at(15)).horizontalAdvance(self._hint) + 2 * _TEXT_MARGIN
        return QSize(sides + buttons_width + text, self.height())

    def _parts(self) -> list[QWidget]:
        """Return the widgets next to text and state, hidden ones included."""
        items = (self._row.itemAt(number) for number in range(self._row.count()))
        parts = (None if item is None else item.widget() for item in items)
        return [part for part in parts if part is not None and part not in (self.edit, self._state)]

    def set_hint(self, hint: str) -> None:
        """Set the placeholder; an empty text restores the default."""
        self._shown_hint = hint or self._hint
        self._show_hint()

    def _show_hint(self) -> None:
        """Show the longest placeholder that fits: the whole one, the shorter one, or a single word."""
        room, width_of = self.edit.width() - 2 * _TEXT_MARGIN, self.edit.fontMetrics().horizontalAdvance
        hints = (self._shown_hint, *self._short_hints)
        fitting = (hint for hint in hints if width_of(hint) <= room or not self.edit.isVisible())
        self.edit.setPlaceholderText(next(fitting, hints[-1]))

    def set_state(self, text: str) -> None:
        """Show a few words at the right end, such as count and time."""
        self._state.setText(text)
        self._state.setAccessibleDescription(text)
        self.fit()

    def add_button(self, button: QWidget) -> None:
        """Add a button at the right end of the box, where the clear button doesn't move it."""
        self._row.addWidget(button)
        self._set_margins()

    def set_leading_button(self, button: QWidget) -> None:
        """Show this button at the start of the box, in place of the magnifier icon."""
        self._row.replaceWidget(self._icon, button)
        self._icon.hide()
        self._leading_button = button
        self._row.setSpacing(_SPACING_OF_BUTTONS)
        self._restyle()

    def insert(self, part: str) -> None:
        """Append `part` to the query and select it, so that typing replaces it."""
        before = f"{self.query} " if self.query else ""
        self.edit.setText(before + part)
        self.focus()
        self.edit.setSelection(len(before), len(part))

    @Slot()
    def remember(self) -> None:
        """Add the text of the box to the history."""
        self._remember(self.query)

    def _remember(self, query: str) -> None:
        self.history.remember(query)
        if query:
            self.submitted.emit(query)

    def show_text(self, text: str) -> None:
        """Replace the text without adding it to the history."""
        self._browsing_history = True
        self.edit.setText(text)
        self._browsing_history = False

    @Slot()
    def focus(self) -> None:
        self.edit.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def focus_all(self) -> None:
        """Focus the box with its text selected, so that typing replaces it."""
        self.remember()
        self.focus()
        self.edit.selectAll()

    def type_key(self, event: QKeyEvent) -> None:
        """Insert the text of a key that was pressed in another widget."""
        self.focus()
        self.edit.end(False)
        self.edit.keyPressEvent(event)

    @Slot(str)
    def _changed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
        self._set_margins()
        self.fit()
        before, self._before = self._before, text.strip()
        replaced = before[:1] != text[:1] or len(before) - len(text) > 1
        if replaced and len(before) > 1 and not self._browsing_history:
            self._remember(before)  # cleared in one step, not character by character
        self.text_changed.emit(text)

    @Slot(bool)
    def _recall(self, back: bool) -> None:
        query = self.history.earlier(self.query) if back else self.history.later(self.query)
        if query is not None:
            self.show_text(query)

    def _set_margins(self) -> None:
        """Reserve the same space for the magnifier or a button, so that the text of all views' boxes is aligned."""
        around = (
            0
            if self._leading_button is None
            else self._leading_button.sizeHint().width() - self._icon.sizeHint().width()
        )
        ends_with_button = bool(self.edit.text()) or self._row.indexOf(self._clear) < self._row.count() - 1
        self._row.setContentsMargins(margins(max(0, _EDGE - around // 2), 0, 8 if ends_with_button else _END, 0))

    def fit(self) -> None:
        """Hide the state if it leaves too little room for the query; the list's header also shows the counts."""
        state, around = self._state.sizeHint().width(), self._row.contentsMargins()
        available = self.width() - around.left() - around.right() - self._row.spacing()
        for part in self._parts():
            if not part.isHidden():
                available -= part.sizeHint().width() + self._row.spacing()
        text = self.edit.fontMetrics().horizontalAdvance(self.edit.text()) + _AFTER_TEXT
        fits = text + state <= available and state <= self.width() * _MAX_STATE
        self._state.setVisible(fits and bool(self._state.text()))  # an empty one would still take the row's spacing

    def _restyle(self) -> None:
        font = font_at(15)
        self.edit.setFont(font)
        self.setFixedHeight(QFontMetrics(font).height() + 22)
        colour = tokens(self.palette()).muted
        sheet = _SHEET.format(muted=colour.name())
        if self.edit.styleSheet() != sheet:
            self.edit.setStyleSheet(sheet)
        self._icon.setPixmap(icon_pixmap("search", colour, font.pixelSize() + 1, self.devicePixelRatioF()))
        self._set_margins()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colours.accent if self.edit.hasFocus() else colours.edge, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.update()
        elif event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self._show_hint()
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._restyle()
