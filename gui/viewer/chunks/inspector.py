"""Reads the chunks of the shown file for the margin, and the details of the selected chunk for the card."""

from collections.abc import Set
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from engine import CancelToken, ChunkDetail, Feature, FileChunks, IndexInsight, MemorySearchManager, Passage, marked, tr
from gui.commands.commands import CHUNKS, NEXT_CHUNK, PREVIOUS_CHUNK, key_action
from gui.core.capabilities import Gate, capabilities, why_missing
from gui.core.jobs import Jobs, JobSlot
from gui.viewer.chunks.card import ChunkCard
from gui.viewer.chunks.view import ChunkLanes
from gui.viewer.text_lines import FileLines

_CHANGED = marked("This file has changed since it was indexed: the borders are those of the indexed version.")
_NOT_INDEXED = marked("This file is not in the index, so it has no passages.")


@dataclass(frozen=True)
class _Read:
    file: FileChunks
    lanes: ChunkLanes


class ChunkView(Protocol):
    """Protocol of a view that shows chunks next to a text. A `number` is that of a chunk in the file, from 0."""

    def current_line(self) -> int:
        """Return the line of the user's position."""

    def set_margin(self, shown: bool) -> None:
        """Show or hide the margin with the borders of chunks."""

    def set_chunks(self, file: FileChunks | None, lanes: ChunkLanes | None) -> None:
        """Set the chunks of the text; None for none."""

    def set_chosen(self, number: int | None) -> None:
        """Set the selected chunk, whose details the card shows; None for none."""

    def reveal_chunk(self, number: int) -> None:
        """Scroll the text to a chunk."""


class ChunkInspector(QObject):
    """Reads and selects the chunks of one file; does nothing while `margin_action` is not checked.

    Signals:
        notified: a message for the user.
        source_requested: show the source, where alone the selection is visible.
        more_requested: find passages similar to this `Passage`, with its text.
    """

    notified = Signal(str)
    source_requested = Signal()
    more_requested = Signal(object, str)

    def __init__(self, jobs: Jobs, view: ChunkView, card: ChunkCard, panel: QWidget, action: str) -> None:
        """The keys for the next and previous chunk work anywhere in `panel`; `action` labels `margin_action`."""
        super().__init__(panel)
        self._view = view
        self._card = card
        self._rows, self._detail = JobSlot(self, jobs), JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._name = ""
        self._lines: FileLines | None = None
        self._read: _Read | None = None
        self._chosen: int | None = None
        self._text = ""
        """Of the chunk on the card."""
        self._requested_direction: bool | None = None
        """Direction that the user requested before the chunks were loaded."""
        self.margin_action = key_action(panel, CHUNKS, action)
        self.margin_action.setCheckable(True)
        self.margin_action.toggled.connect(self._show_margin)
        Gate(self.margin_action, "insight")
        for known, forward in ((NEXT_CHUNK, True), (PREVIOUS_CHUNK, False)):
            step = key_action(panel, known)
            step.triggered.connect(partial(self.select_next, forward))
            Gate(step, "insight")
        capabilities().changed.connect(self._follow_features)
        card.step_requested.connect(self.select_next)
        card.closed.connect(self._deselect)
        card.notified.connect(self.notified)
        card.more_requested.connect(self._request_more)

    @property
    def selection_pending(self) -> bool:
        """Whether a chunk will be selected when the chunks are loaded."""
        return self._requested_direction is not None

    @property
    def busy(self) -> bool:
        return self._rows.busy or self._detail.busy

    @property
    def card_open(self) -> bool:
        return not self._card.isHidden()

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory whose index is read, or None. `reopening`: the folder is the same, and the file stays."""
        self._manager = manager
        if not reopening:
            self.show_file("", None)
            return
        self._rows.cancel()
        self._detail.cancel()
        self.refresh()

    @Slot(object)
    def _follow_features(self, features: Set[Feature]) -> None:
        """Hide the margin if the memory gives no access to its index, else show it again."""
        if "insight" in features:
            self._show_margin(self.margin_action.isChecked() and not why_missing("insight"))

    def _show_margin(self, shown: bool) -> None:
        self._view.set_margin(shown)
        if shown:
            self._load()
        else:
            self._forget()

    def show_file(self, name: str, lines: FileLines | None) -> None:
        """Set the file whose chunks are shown, by its stable name; empty for none."""
        if name != self._name:
            self._forget()
        self._name, self._lines = name, lines
        self._load()

    @Slot()
    def refresh(self) -> None:
        """Read the chunks again after a change of the index."""
        self._load()

    def close_card(self) -> None:
        """Close the card and deselect its chunk."""
        self._card.close_card()

    @Slot(bool)
    def select_next(self, forward: bool) -> None:
        """Select the next or previous chunk; the first call selects the one at the user's position."""
        if not self._name or not self.margin_action.isEnabled():
            return
        self.source_requested.emit()
        if self._read is None:
            self._requested_direction = forward
            self.margin_action.setChecked(True)
            return
        lanes = self._read.lanes
        if self._chosen is None:
            number = lanes.next(self._view.current_line(), forward=forward)
        else:
            number = self._chosen + (1 if forward else -1)
        if number is None or not 0 <= number < len(lanes.chunks):
            self.notified.emit(tr("That was the last passage.") if forward else tr("That was the first passage."))
            return
        self._view.reveal_chunk(number)
        self.choose(number)

    # --- the rows of the file ---------------------------------------------------------------------------------------

    def _load(self) -> None:
        if why_missing("insight") or not self.margin_action.isChecked() or not self._name or self._manager is None:
            return
        insight, name = self._manager.insight, self._name
        if insight is None:
            return  # its action shows the reason
        self._rows.read(lambda token: _read(insight, name, token), self._show_chunks, self.notified.emit)

    def _show_chunks(self, read: _Read | None) -> None:
        before, self._read = self._read, read
        chosen = self._chosen
        if read is None:
            self._view.set_chunks(None, None)
            self._card.close_card()
            self._requested_direction = None
            self.notified.emit(tr(_NOT_INDEXED))
            return
        self._view.set_chunks(read.file, read.lanes)
        if read.file.changed and (before is None or not before.file.changed):
            self.notified.emit(tr(_CHANGED))
        if before is not None and chosen is not None:
            self._choose_again(before, chosen)
        if self._requested_direction is not None:
            forward, self._requested_direction = self._requested_direction, None
            self.select_next(forward)

    def _choose_again(self, before: _Read, chosen: int) -> None:
        """Select the same chunk after a change of the index or, if it is gone, the one now at its location."""
        assert self._read is not None
        old = before.file.chunks[chosen]
        number = self._read.lanes.position_of(old)
        if number is None:
            number = self._read.lanes.next(old.start_line, forward=True)
        if number is None:
            self._card.close_card()
        else:
            self.choose(number)

    # --- selecting a chunk ------------------------------------------------------------------------------------------

    @Slot(int)
    def choose(self, number: int) -> None:
        """Select a chunk and show its details in the card."""
        manager, read, lines = self._manager, self._read, self._lines
        if manager is None or manager.insight is None or read is None:
            return
        insight = manager.insight
        self._chosen = number
        self._view.set_chosen(number)
        chunk = read.file.chunks[number]
        self._detail.read(
            lambda token: _detail(insight, read.file.path, chunk.id, lines, token),
            lambda found: self._show(read.file, *found),
            self.notified.emit,
        )

    def _show(self, file: FileChunks, detail: ChunkDetail | None, same: bool | None) -> None:
        if detail is None:
            self._load()  # it was reindexed a moment ago
        else:
            self._text = detail.text
            self._card.show_chunk(detail, file, same_as_file=same)

    @Slot()
    def _deselect(self) -> None:
        """Deselect the chunk after its card was closed."""
        self._detail.cancel()
        self._chosen = None
        self._view.set_chosen(None)

    @Slot()
    def _request_more(self) -> None:
        if self._read is not None and self._chosen is not None:
            chunk = self._read.file.chunks[self._chosen]
            path = self._read.file.path
            passage = Passage(path=path, start_line=chunk.start_line, end_line=chunk.end_line)
            self.more_requested.emit(passage, self._text)

    def _forget(self) -> None:
        self._rows.cancel()
        self._read = None
        self._requested_direction = None
        self._card.close_card()
        self._deselect()
        self._view.set_chunks(None, None)


def _read(insight: IndexInsight, name: str, token: CancelToken) -> _Read | None:
    """Read a file's chunks and their positions in lanes; None if the index doesn't have the file. On a pool thread."""
    file = insight.chunks_of(name, token)
    return None if file is None else _Read(file, ChunkLanes(file.chunks))


def _detail(
    insight: IndexInsight, name: str, id_: int, lines: FileLines | None, token: CancelToken
) -> tuple[ChunkDetail | None, bool | None]:
    """Read one chunk by its id, and compare its stored text with the same lines of the file. On a pool thread.

    Returns the chunk, and whether the file still has its text; None if that is unknown.
    """
    detail = insight.chunk(name, id_, token)
    if detail is None or lines is None:
        return detail, None
    stored = detail.text.replace("\r\n", "\n").replace("\r", "\n")
    try:
        return detail, stored in lines.full_lines(detail.row.start_line, detail.row.end_line)
    except (OSError, ValueError):
        return detail, None  # the file was closed or deleted meanwhile
