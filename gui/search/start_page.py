"""The page before the first query: recent searches, recently changed notes, and an example of a search by meaning."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from engine import CancelToken, ChangedNote, MemoryProviderStatus, MemorySearchManager, QueryRecord, in_quotes, tr
from gui.core.capabilities import why_missing
from gui.core.jobs import Jobs, JobSlot
from gui.search.saved_search_cache import SavedSearchStore, limits, title
from gui.style.stylesheet import scaled
from gui.style.typography import Resized
from gui.text.formatting import ago
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.widgets.accessibility import insert_after, mark_position
from gui.widgets.labels import ElidedLabel, label
from gui.widgets.layouts import column_of
from gui.widgets.placeholder_page import LINK_PADDING, ElidedButton, KeyTable

_MAX_ROWS = 5
_MIN_REMARK = 84
"""Greatest width, at font scale 1, at which a remark is never shortened."""
_NARROW = 250
"""Width of the list, at font scale 1, below which remarks are below their links."""
_EXAMPLES = (
    ("spanish", "planes de viaje"),
    ("french", "recettes pour le dîner"),
    ("german", "Was muss ich noch erledigen?"),
    ("english", "ideas for dinner"),
    ("english", "what is left to do?"),
    ("spanish", "dormir mejor"),
    ("german", "Geld sparen"),
    ("english", "sleeping better"),
)
"""Queries that find something in most notes, with their languages as the text analysis names them."""
_MIN_SCORE, _MAX_WORDS = 0.45, 0.3
"""Least score of the best result, and the largest share of that score from words."""


@dataclass(frozen=True)
class StartContent:
    """The lists of the page before the first query; each may be empty."""

    recent: tuple[QueryRecord, ...] = ()
    notes: tuple[ChangedNote, ...] = ()
    example: str = ""
    """A query in another language that finds something by meaning."""
    has_map: bool = False
    """Whether a passage has a vector, so that the map shows something."""


class _Row(NamedTuple):
    label: str
    """Label of the button."""
    remark: str
    name: str
    """The button's name for screen readers."""
    act: Callable[[], None]
    tip: str = ""


class _Section(Resized, QWidget):
    """A heading with rows of a link and a remark, which is below the link in a narrow list; hidden without rows."""

    def __init__(self, heading: str) -> None:
        super().__init__()
        self._column = column = QVBoxLayout(self)
        column.setSpacing(6)
        title = label(heading, "section")
        title.setContentsMargins(margins(LINK_PADDING, 0, 0, 0))
        column.addWidget(title)
        self._list = column_of(spacing=4)
        column.addLayout(self._list)
        self._last: QWidget = mark_position(self)
        self._widgets: list[tuple[QBoxLayout, ElidedButton, ElidedLabel]] = []
        self._rows: Sequence[_Row] = ()

    def set_space_above(self, pixels: int) -> None:
        self._column.setContentsMargins(0, pixels, 0, 0)

    def show_rows(self, rows: Sequence[_Row]) -> None:
        """Replace the rows: their widgets are reused, since making them takes longer than a frame."""
        self._rows = rows
        while len(self._widgets) < len(rows):
            self._add(len(self._widgets))
        for index, (_layout, button, remark) in enumerate(self._widgets):
            button.setVisible(index < len(rows))
            if index < len(rows):
                row = rows[index]
                button.set_label(row.label)
                button.setAccessibleName(row.name)
                set_tip(button, row.tip)
                if remark.text() != row.remark:
                    remark.setText(row.remark)
                    remark.ensurePolished()  # the width depends on the text size
                    widest = scaled(_MIN_REMARK)
                    remark.setMinimumWidth(min(remark.sizeHint().width(), widest))
        self.fit()
        self.setVisible(bool(rows))

    def _add(self, index: int) -> None:
        button, remark = ElidedButton(""), ElidedLabel()
        button.setProperty("role", "link")
        button.clicked.connect(lambda _checked: self._rows[index].act())
        remark.setProperty("role", "meta")
        remark.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(remark, 1)
        self._list.addLayout(row)
        insert_after(self._last, [button])
        self._last = button
        self._widgets.append((row, button, remark))

    def fit(self) -> None:
        """Place remarks below their links in a narrow list."""
        narrow = self.width() < scaled(_NARROW)
        for index, (row, _button, remark) in enumerate(self._widgets):
            row.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
            row.setSpacing(0 if narrow else 12)
            remark.setContentsMargins(margins(LINK_PADDING if narrow else 0, 0, 0, 0))
            remark.setAlignment(Qt.AlignmentFlag.AlignLeft if narrow else Qt.AlignmentFlag.AlignRight)
            remark.setVisible(index < len(self._rows) and (bool(remark.text()) or not narrow))


class StartLists(QWidget):
    """The widget of the page before the first query: lists of searches and notes, with keyboard navigation."""

    recent_chosen = Signal(object)
    """QueryRecord of a recent search."""
    note_chosen = Signal(object)
    """ChangedNote to open."""
    example_chosen = Signal(str)
    map_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        column = column_of(spacing=6, margins=(0, 8, 0, 0), parent=self)
        self._examples, self._recent = _Section(tr("Explore")), _Section(tr("Recent searches"))
        self._notes = _Section(tr("Recently changed"))
        self._sections = self._examples, self._recent, self._notes
        for section in self._sections:
            column.addWidget(section)
        column.addSpacing(10)
        keys = KeyTable()
        keys.setContentsMargins(margins(LINK_PADDING, 0, 0, 0))
        column.addWidget(keys)
        self.show_content(StartContent())

    def show_content(self, content: StartContent) -> None:
        """Replace the lists."""
        examples = []
        if content.example:
            name = tr("Search for {query}", query=content.example)
            search = partial(self.example_chosen.emit, content.example)
            examples.append(_Row(in_quotes(content.example), tr("a search by meaning"), name, search))
        if content.has_map:
            name = tr("Map")
            examples.append(_Row(name, tr("grouped by similarity"), name, self.map_requested.emit))
        self._examples.show_rows(examples)
        self._recent.show_rows([self._recent_row(search) for search in content.recent])
        self._notes.show_rows([self._note_row(note) for note in content.notes])
        visible = [section for section in self._sections if not section.isHidden()]
        for section in visible:
            section.set_space_above(0 if section is visible[0] else 8)

    def _recent_row(self, search: QueryRecord) -> _Row:
        name = tr("Search for {query}", query=title(search))
        return _Row(title(search), limits(search), name, partial(self.recent_chosen.emit, search))

    def _note_row(self, note: ChangedNote) -> _Row:
        when = ago(note.modified)
        name = tr("Open {title}, changed {when}", title=note.title, when=when)
        return _Row(note.title, when, name, partial(self.note_chosen.emit, note), note.path)


class StartPage(QObject):
    """Reads the content of the page before the first query, while that page is shown."""

    changed = Signal(object)
    """StartContent to show."""

    def __init__(self, jobs: Jobs, store: SavedSearchStore, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._manager: MemorySearchManager | None = None
        self._status: MemoryProviderStatus | None = None
        self._read: object = None
        """The state of the index that was read last."""
        self._notes: tuple[ChangedNote, ...] = ()
        self._example = ""
        self._has_map = False
        self._example_requested = False
        self._job = JobSlot(self, jobs)
        self._trial = JobSlot(self, jobs)
        store.changed.connect(self._show)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._job.cancel()
        self._trial.cancel()
        self._manager, self._status, self._read = manager, None, None
        self._notes, self._example, self._has_map, self._example_requested = (), "", False, False
        self._show()

    @property
    def busy(self) -> bool:
        """Whether the lists or the example query are still being loaded."""
        return self._job.busy or self._trial.busy

    def refresh(self, status: MemoryProviderStatus | None) -> None:
        """Read the changed notes again if the index has changed; look for an example query once the index is
        complete."""
        self._status = status
        insight = None if self._manager is None or why_missing("insight") else self._manager.insight
        if status is None or insight is None or not status.files:
            return
        has_map = status.provider != "none" and status.chunks > status.pending_vectors
        if has_map != self._has_map:
            self._has_map = has_map
            self._show()
        state = status.last_sync and status.last_sync.started, status.files, status.generation
        # While files are indexed the notes differ each second, and showing a full list again takes longer than a frame.
        indexing = status.syncing is not None and status.syncing.phase == "indexing"
        if state != self._read and (not indexing or len(self._notes) < _MAX_ROWS):
            self._read = state
            self._job.read(lambda token: insight.changed_notes(_MAX_ROWS, token), self._set_notes)
        self._find_example()

    def _find_example(self) -> None:
        """Look for an example query if the user has no search history and the embedding model runs on this machine."""
        status, manager = self._status, self._manager
        if self._example_requested or manager is None or status is None or self._store.recent:
            return
        if status.provider != "embedded" or not status.chunks or status.pending_vectors or status.syncing is not None:
            return
        self._example_requested = True
        self._trial.read(lambda token: _example(manager, token), self._set_example)

    def _set_notes(self, notes: tuple[ChangedNote, ...]) -> None:
        self._notes = notes
        self._show()

    def _set_example(self, example: str) -> None:
        self._example = example
        self._show()

    @Slot()
    def _show(self) -> None:
        recent = tuple(search.query for search in self._store.recent[:_MAX_ROWS])
        self.changed.emit(StartContent(recent, self._notes, "" if recent else self._example, self._has_map))


def _example(manager: MemorySearchManager, token: CancelToken) -> str:
    """Return the first example query that finds a passage in another language by its meaning.

    Empty if none does, or if there is a search history.
    """
    insight = manager.insight
    if insight is None or manager.saved_searches.recent():
        return ""
    for language, query in _EXAMPLES:
        results = manager.search(query, max_results=1, correct=False, cancel=token).results
        if not results or results[0].score < _MIN_SCORE or results[0].text_share > _MAX_WORDS:
            continue
        file = insight.chunks_of(results[0].path, token)
        if file is not None and file.language != language:
            return query
    return ""
