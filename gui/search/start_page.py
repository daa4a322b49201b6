"""The page before the first query: recent searches, notes changed lately, and an example of a search by meaning."""

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from engine import (
    CancelToken,
    ChangedNote,
    MemoryProviderStatus,
    MemorySearchManager,
    QueryRecord,
    in_quotes,
    tr,
)
from gui.core.capabilities import MissingFeatures
from gui.core.jobs import Jobs, JobSlot
from gui.search.saved_search_cache import SavedSearchStore, limits, title
from gui.style.stylesheet import font_at
from gui.widgets.formatting import ago
from gui.widgets.labels import ElidedLabel, label
from gui.widgets.placeholder_page import ElidedButton, KeyTable
from gui.widgets.plain_text import set_tip
from gui.widgets.right_to_left import margins

_MOST = 5
_WIDEST = 420
_NARROW = 250
"""Width of the list, at font scale 1, below which remarks are below their links."""
_LINK_PADDING = 4
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
"""Queries that find something in most notes, with their language as the text analysis names it."""
_LEAST_SCORE, _MOST_WORDS = 0.45, 0.3
"""Least score of the best result, and the largest share of it by words."""


@dataclass(frozen=True)
class StartContent:
    """The lists of the page before the first query; each may be empty."""

    recent: tuple[QueryRecord, ...] = ()
    notes: tuple[ChangedNote, ...] = ()
    example: str = ""
    """A query in another language that finds something by its meaning."""
    has_map: bool = False
    """Whether passages have vectors, so that the map shows them."""


class StartLists(QWidget):
    """The widget of the page before the first query: lists of searches and notes, with keyboard navigation."""

    def __init__(
        self,
        content: StartContent,
        choose_recent: Callable[[QueryRecord], None],
        choose_note: Callable[[ChangedNote], None],
        choose_example: Callable[[str], None],
        show_map: Callable[[], None],
    ) -> None:
        super().__init__()
        self.setMaximumWidth(_WIDEST)
        self._rows: list[tuple[QBoxLayout, ElidedLabel]] = []
        """The row of each link, and its remark."""
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        if content.example or content.has_map:
            rows = self._section(tr("Examples"))
        if content.example:
            words, name = in_quotes(content.example), tr("Search for {query}", query=content.example)
            button = self._add(rows, words, tr("a search by meaning"), name)
            button.clicked.connect(lambda: choose_example(content.example))
        if content.has_map:
            words = tr("Map of your notes")
            button = self._add(rows, words, tr("grouped by similarity"), words)
            button.clicked.connect(lambda _checked: show_map())
        if content.recent:
            rows = self._section(tr("Recent searches"))
            for question in content.recent:
                name = tr("Search for {query}", query=title(question))
                button = self._add(rows, title(question), limits(question), name)
                button.clicked.connect(lambda _=False, chosen=question: choose_recent(chosen))
        if content.notes:
            rows = self._section(tr("Recently changed"))
            for note in content.notes:
                name = tr("Open {title}, changed {when}", title=note.title, when=ago(note.modified))
                button = self._add(rows, note.title, ago(note.modified), name)
                set_tip(button, note.path)
                button.clicked.connect(lambda _=False, chosen=note: choose_note(chosen))
        column.addSpacing(10)
        column.addWidget(KeyTable())

    def _section(self, heading: str) -> QVBoxLayout:
        if self._column.count():
            self._column.addSpacing(8)
        self._column.addWidget(label(heading, "section"))
        rows = QVBoxLayout()
        rows.setSpacing(4)
        self._column.addLayout(rows)
        return rows

    def _add(self, rows: QVBoxLayout, words: str, remark: str, name: str) -> ElidedButton:
        button = ElidedButton(words)
        button.setProperty("role", "link")
        button.setAutoDefault(True)
        button.setAccessibleName(name)
        remark_label = ElidedLabel(remark)
        remark_label.setProperty("role", "meta")
        remark_label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        remark_label.ensurePolished()  # the width depends on the text size
        remark_label.setMinimumWidth(min(remark_label.sizeHint().width(), font_at(_WIDEST // 5).pixelSize()))
        row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        row.addWidget(remark_label, 1)
        rows.addLayout(row)
        self._rows.append((row, remark_label))
        return button

    def _fold(self) -> None:
        """Place remarks below their links in a narrow list."""
        narrow = self.width() < font_at(_NARROW).pixelSize()
        for row, remark in self._rows:
            row.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
            row.setSpacing(0 if narrow else 12)
            remark.setContentsMargins(margins(_LINK_PADDING if narrow else 0, 0, 0, 0))
            remark.setAlignment(Qt.AlignmentFlag.AlignLeft if narrow else Qt.AlignmentFlag.AlignRight)
            remark.setVisible(bool(remark.text()) or not narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()


class StartPage(QObject):
    """Reads the content of the page before the first query, while that page is shown."""

    changed = Signal(object)
    """StartContent to show."""

    def __init__(self, jobs: Jobs, store: SavedSearchStore, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._store = store
        self._manager: MemorySearchManager | None = None
        self._unsupported: MissingFeatures = {}
        self._status: MemoryProviderStatus | None = None
        self._read: object = None
        """The state of the index that was read last."""
        self._notes: tuple[ChangedNote, ...] = ()
        self._example = ""
        self._has_map = False
        self._example_requested = False
        self._job = JobSlot(self)
        self._trial = JobSlot(self)
        store.changed.connect(self._show)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self._job.cancel()
        self._trial.cancel()
        self._manager, self._status, self._read = manager, None, None
        self._notes, self._example, self._has_map, self._example_requested = (), "", False, False
        self._show()

    @property
    def busy(self) -> bool:
        """Whether a list or the example may still arrive."""
        return self._job.busy or self._trial.busy

    def show_unsupported(self, unsupported: MissingFeatures) -> None:
        self._unsupported = unsupported

    def refresh(self, status: MemoryProviderStatus | None) -> None:
        """Read the changed notes again if the index has changed; look for an example query once the index is
        complete."""
        self._status = status
        insight = None if self._manager is None or "insight" in self._unsupported else self._manager.insight
        if status is None or insight is None or not status.files:
            return
        has_map = status.provider != "none" and status.chunks > status.pending_vectors
        if has_map != self._has_map:
            self._has_map = has_map
            self._show()
        state = status.last_sync and status.last_sync.started, status.files, status.generation
        # During a long sync the notes differ each second, and showing a full list again takes longer than a frame.
        if state != self._read and (status.syncing is None or len(self._notes) < _MOST):
            self._read = state
            read = self._jobs.read(
                lambda token: insight.changed_notes(_MOST, token), self._set_notes, lambda _sentence: self._job.done()
            )
            self._job.put(read)
        self._find_example()

    def _find_example(self) -> None:
        """Look for an example query if the user has no search history and the embedding model runs on this computer."""
        status, manager = self._status, self._manager
        if self._example_requested or manager is None or status is None or self._store.recent:
            return
        if status.provider != "embedded" or not status.chunks or status.pending_vectors or status.syncing is not None:
            return
        self._example_requested = True
        trial = self._jobs.read(
            lambda token: _example(manager, token), self._set_example, lambda _sentence: self._trial.done()
        )
        self._trial.put(trial)

    def _set_notes(self, notes: tuple[ChangedNote, ...]) -> None:
        self._job.done()
        self._notes = notes
        self._show()

    def _set_example(self, example: str) -> None:
        self._trial.done()
        self._example = example
        self._show()

    @Slot()
    def _show(self) -> None:
        recent = tuple(search.question for search in self._store.recent[:_MOST])
        self.changed.emit(StartContent(recent, self._notes, "" if recent else self._example, self._has_map))


def _example(manager: MemorySearchManager, token: CancelToken) -> str:
    """Return the first example query that finds a passage in another language by its meaning.

    Empty if none does, or if there is a search history.
    """
    insight = manager.insight
    if insight is None or manager.saved_searches.recent():
        return ""
    for language, query in _EXAMPLES:
        found = manager.search(query, max_results=1, correct=False, cancel=token).results
        if not found or found[0].score < _LEAST_SCORE or found[0].text_share > _MOST_WORDS:
            continue
        file = insight.chunks_of(found[0].path, token)
        if file is not None and file.language != language:
            return query
    return ""
