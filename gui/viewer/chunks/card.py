"""A card below the text that shows everything that the index contains about one chunk."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from engine import ChunkDetail, ChunkRow, FileChunks, VectorState, marked, tr, tr_count, tr_reason
from gui.commands.commands import NEXT_CHUNK, PREVIOUS_CHUNK, show_key_in_tooltip
from gui.core.capabilities import Gate
from gui.style.stylesheet import font_at
from gui.style.typography import Resized
from gui.text.formatting import exact, shown_headings, size_text
from gui.text.right_to_left import margins
from gui.text.status_texts import State, provider_label
from gui.widgets.accessibility import LastInTabOrder
from gui.widgets.buttons import push_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel, breakable, label, line
from gui.widgets.layouts import BottomCard, column_of, row_of
from gui.widgets.state_dot import StateLabel

VECTOR_STATES: dict[VectorState, tuple[State, str]] = {
    "ready": ("fine", marked("passage has its vector")),
    "pending": ("working", marked("passage waits for its vector")),
    "refused": ("degraded", marked("text rejected by the embedding provider")),
    "none": ("off", marked("no model: found by words only")),
}
_SOURCES = {"memory": marked("notes"), "sessions": marked("sessions")}
_NAMES = {
    "arabic": marked("Arabic"),
    "armenian": marked("Armenian"),
    "catalan": marked("Catalan"),
    "czech": marked("Czech"),
    "danish": marked("Danish"),
    "dutch": marked("Dutch"),
    "english": marked("English"),
    "finnish": marked("Finnish"),
    "french": marked("French"),
    "german": marked("German"),
    "greek": marked("Greek"),
    "hindi": marked("Hindi"),
    "hungarian": marked("Hungarian"),
    "indonesian": marked("Indonesian"),
    "italian": marked("Italian"),
    "japanese": marked("Japanese"),
    "korean": marked("Korean"),
    "norwegian": marked("Norwegian"),
    "persian": marked("Persian"),
    "polish": marked("Polish"),
    "portuguese": marked("Portuguese"),
    "romanian": marked("Romanian"),
    "russian": marked("Russian"),
    "serbian": marked("Serbian"),
    "spanish": marked("Spanish"),
    "swedish": marked("Swedish"),
    "tamil": marked("Tamil"),
    "turkish": marked("Turkish"),
}


class Field(NamedTuple):
    label: str
    value: str


def lines_text(chunk: ChunkRow) -> str:
    """Return the lines of a chunk: "line 5" or "lines 5-9"."""
    if chunk.end_line == chunk.start_line:
        return tr("line {line:,}", line=chunk.start_line)
    return tr("lines {first:,}–{last:,}", first=chunk.start_line, last=chunk.end_line)


def size_of(chunk: ChunkRow) -> str:
    characters = tr_count("{count:,} character", "{count:,} characters", chunk.characters)
    tokens = tr_count("{count:,} token", "{count:,} tokens", chunk.tokens)
    return tr("{characters}, about {tokens}", characters=characters, tokens=tokens)


def heading_text(path: str, chunk: ChunkRow) -> str:
    """Return the headings above a chunk, outermost first, or a text for none."""
    return " › ".join(shown_headings(path, chunk.heading)) or tr("no heading above this passage")


def tip(file: FileChunks, numbers: Sequence[int]) -> str:
    """Return the tooltip of a border, which describes the chunks at these positions."""
    chunk = file.chunks[numbers[0]]
    _, vector = VECTOR_STATES[chunk.vector]
    lines = [
        f"{_rank(numbers[0] + 1, file)}, {lines_text(chunk)}",
        heading_text(file.path, chunk),
        f"{size_of(chunk)} · {tr(vector)}",
    ]
    if len(numbers) > 1:
        more = tr_count(
            "{count:,} passage on this line: click again for the next",
            "{count:,} passages on this line: click again for the next",
            len(numbers),
        )
        lines.insert(0, more)
    if file.changed:
        lines.append(tr("As indexed; the file has changed since"))
    return "\n".join(lines)


def title(detail: ChunkDetail, file: FileChunks) -> str:
    return f"{_rank(detail.number, file)} · {lines_text(detail.row)}"


def _rank(number: int, file: FileChunks) -> str:
    return tr("Passage {number:,} of {chunks:,}", number=number, chunks=len(file.chunks))


def fields(detail: ChunkDetail, file: FileChunks, *, same_as_file: bool | None) -> Iterator[Field]:
    """Yield the details of a chunk as labelled values, in display order.

    `same_as_file`: whether the file still has the stored text on these lines; None if not checked.
    """
    yield Field(tr("Heading"), heading_text(detail.path, detail.row))
    yield Field(tr("Size"), size_of(detail.row))
    yield from _vector_fields(detail, file)
    kinds = (tr(_SOURCES[file.source]), tr(_NAMES.get(file.language, file.language.capitalize())))
    yield Field(tr("File"), f"{detail.path} ({', '.join(filter(None, kinds))})")
    if file.tags:
        yield Field(tr("Tags"), ", ".join(file.tags))
    size, moment = size_text(file.size), exact(file.modified)
    if file.changed:
        indexed = tr("{size}, of {moment}; the file has changed since", size=size, moment=moment)
    else:
        indexed = tr("{size}, of {moment}", size=size, moment=moment)
    yield Field(tr("As indexed"), indexed)
    yield Field(tr("Words"), detail.words or tr("none"))
    if detail.stems and detail.stems != detail.words:
        yield Field(tr("Stems"), detail.stems)
    if detail.heading_words:
        yield Field(tr("Heading words"), detail.heading_words)
    yield Field(tr("Stored text"), tr("the same text as in the file") if same_as_file else detail.text)
    yield Field(tr("Passage id"), _id_text(detail))
    yield Field(tr("Text hash"), detail.hash)
    yield Field(tr("File hash"), file.hash)


def _id_text(detail: ChunkDetail) -> str:
    if not detail.identical:
        return str(detail.id)
    return tr_count(
        "{id}; {count:,} other passage with the same text",
        "{id}; {count:,} other passages with the same text",
        detail.identical,
        id=detail.id,
    )


def _vector_fields(detail: ChunkDetail, file: FileChunks) -> Iterator[Field]:
    if detail.row.vector == "refused":
        yield Field(tr("Why the provider rejected the text"), tr_reason(file.refusal))
    for vector in detail.vectors:
        dims = tr_count("{count:,} dimension", "{count:,} dimensions", vector.dims)
        use = [] if vector.active else [tr("its model is not in use now")]
        yield Field(tr("Vector"), ", ".join([f"{provider_label(vector.provider)} · {vector.model}", dims, *use]))


def as_text(title: str, fields: Sequence[Field]) -> str:
    """Return the title and all fields of a chunk as text for the clipboard."""
    return "\n".join([title, *(f"{field.label}: {field.value}" for field in fields)]) + "\n"


_SIDE = 16
_ROWS = 11
_MIN_VALUE = 22
"""Minimum number of characters of a value next to its name."""


class ChunkCard(Resized, BottomCard):
    """Shows the details of one chunk.

    Signals:
        step_requested: show the next (True) or previous chunk (False).
        more_requested: find passages similar to the chunk.
        notified: a message about the result.
        closed: the card was closed.
        left: it was closed while it had the focus.
    """

    step_requested = Signal(bool)
    more_requested = Signal()
    notified = Signal(str)
    closed = Signal()
    left = Signal()

    def __init__(self) -> None:
        super().__init__(_ROWS)
        self._id = 0
        self._rows: list[tuple[QLabel, QWidget]] = []
        """Name and value of each row."""
        self._above = False
        self._scrolled = 0
        """Scroll position before the rows were rebuilt, until the user scrolls."""
        self._text = ""
        self._vector: VectorState | None = None
        self._title = ElidedLabel(parent=self)
        self._title.setProperty("role", "strong")
        self._before = IconButton("chevron-up", PREVIOUS_CHUNK.label, parent=self)
        self._after = IconButton("chevron-down", NEXT_CHUNK.label, parent=self)
        for button, known in ((self._before, PREVIOUS_CHUNK), (self._after, NEXT_CHUNK)):
            show_key_in_tooltip(button, known.label, known.name)
        self._copy = IconButton("copy", tr("Copy all details of this passage"), parent=self)
        close = IconButton("close", tr("Close (Esc)"), parent=self)
        buttons = self._before, self._after, self._copy, close
        head = row_of((self._title, 1), *buttons, spacing=4, margins=margins(_SIDE, 6, 8, 4))
        self._body = self._make_body()
        column_of(line(), head, (self._body, 1), spacing=0, parent=self)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self._before.clicked.connect(lambda: self.step_requested.emit(False))
        self._after.clicked.connect(lambda: self.step_requested.emit(True))
        self._copy.clicked.connect(self._copy_all)
        self._body.verticalScrollBar().rangeChanged.connect(self._restore_scroll_position)
        self._body.verticalScrollBar().actionTriggered.connect(self._forget_scrolled)
        close.clicked.connect(self.close_card)
        self.hide()

    def _make_body(self) -> QScrollArea:
        # Not a QFormLayout: for wrapped values it caches heights measured at other widths.
        self._grid = QGridLayout()
        self._grid.setContentsMargins(_SIDE, 2, _SIDE, 10)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        body = QScrollArea(self)
        content = QFrame(body)
        content.setProperty("role", "side")
        column_of(self._grid, None, parent=content)
        body.setProperty("role", "text")
        body.setWidgetResizable(True)
        body.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        body.setWidget(content)
        body.setAccessibleName(tr("Details of this passage in the index"))
        return body

    def show_chunk(self, detail: ChunkDetail, file: FileChunks, *, same_as_file: bool | None) -> None:
        """Show a chunk's details. `same_as_file`: whether the file still has the stored text; None if not checked."""
        words = title(detail, file)
        rows = list(fields(detail, file, same_as_file=same_as_file))
        text = as_text(words, rows)
        if (text, detail.row.vector) == (self._text, self._vector) and not self.isHidden():
            return  # it is updated repeatedly during a sync, and must not disturb reading or selecting
        same = detail.id == self._id and not self.isHidden()
        self._scrolled = (self._scrolled or self._body.verticalScrollBar().value()) if same else 0
        self._id, self._text, self._vector = detail.id, text, detail.row.vector
        self._title.setText(words)
        self._before.setEnabled(detail.number > 1)
        self._after.setEnabled(detail.number < len(file.chunks))
        state, words_of_state = VECTOR_STATES[detail.row.vector]
        state_text = tr(words_of_state)
        self._clear()
        word = StateLabel()
        word.show_state(state, state_text)
        self._add(tr("Vector state"), word)
        end, more = LastInTabOrder(self), self._more_button()
        self._add("", more)
        end.append(more)
        for field in rows:
            self._add(field.label, _value(field))
        self.fit()
        # Fetched again: PySide's wrapper of the bar doesn't outlive the rows.
        self._body.verticalScrollBar().setValue(self._scrolled)
        description = f"{state_text}. {rows[0].value}"
        self.setAccessibleName(words)
        self.setAccessibleDescription(description)
        self.show()
        # The focus stays in the text, so the card must be announced.
        QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, f"{words}. {description}"))

    def _clear(self) -> None:
        for parts in self._rows:
            for part in parts:
                self._grid.removeWidget(part)
                part.setParent(None)
                part.deleteLater()
        self._rows.clear()

    def _add(self, name: str, value: QWidget) -> None:
        self._rows.append((_name(name), value))
        self._place_row(len(self._rows) - 1)

    def _place_row(self, number: int) -> None:
        """Place row `number`: the name before the value, or above it in a narrow card."""
        name, value = self._rows[number]
        top = Qt.AlignmentFlag.AlignTop
        if self._above:
            self._grid.addWidget(name, 2 * number, 0, 1, 2, top)
            self._grid.addWidget(value, 2 * number + 1, 0, 1, 2, top)
        else:
            self._grid.addWidget(name, number, 0, top)
            self._grid.addWidget(value, number, 1, top)
        name.setHidden(self._above and not name.text())

    def fit(self) -> None:
        """Move names above their values if there is too little room next to them."""
        names = max((name.sizeHint().width() for name, _ in self._rows), default=0)
        bar = self._body.verticalScrollBar().sizeHint().width()  # the body itself gets its size later
        available = self.width() - bar - names - 2 * _SIDE - self._grid.horizontalSpacing()
        above = available < _MIN_VALUE * QFontMetrics(font_at(13)).averageCharWidth()
        if above != self._above:
            self._above = above
            for number in range(len(self._rows)):
                self._place_row(number)

    def _restore_scroll_position(self) -> None:
        """Restore the scroll position: new rows are laid out step by step, with a smaller scroll range meanwhile."""
        if self._scrolled:
            self._body.verticalScrollBar().setValue(self._scrolled)

    def _forget_scrolled(self) -> None:
        self._scrolled = 0

    def close_card(self) -> None:
        """Close the card and emit `closed`, if it is open."""
        if self.isHidden():
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.isAncestorOf(focus)
        self.hide()
        self.closed.emit()
        if had_focus:
            self.left.emit()

    def _more_button(self) -> QPushButton:
        more = push_button(tr("More like this"), role="flush")
        more.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        more.clicked.connect(self.more_requested)
        Gate(more, "similar")
        return more

    def _copy_all(self) -> None:
        QGuiApplication.clipboard().setText(self._text)
        self.notified.emit(tr("Passage copied"))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_card()
        else:
            super().keyPressEvent(event)


def _name(text: str) -> QLabel:
    made = label(text, "muted")
    made.setAlignment(Qt.AlignmentFlag.AlignTop)
    return made


def _value(field: Field) -> QLabel:
    made = label(breakable(field.value), wrap=True)
    made.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    made.setAccessibleName(f"{field.label}: {field.value}")
    made.setMinimumWidth(1)
    return made
