"""The current message of a conversation: steps from one to the next, and how far it is unfolded."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, Signal
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget

from gui.conversation.entries import Conversation
from gui.conversation.rows import SUMMARY, Detail, Fold, Row, Rows
from gui.conversation.scroll_area import Goal
from gui.conversation.selection import SelectableConversation
from gui.conversation.wording import spoken
from gui.core.jobs import Jobs
from gui.widgets.accessible_painting import Part
from gui.widgets.announcer import announce

ABOVE = 24
"""Pixels of preceding text that stay visible above the target of a jump."""


class ConversationWithCurrent(SelectableConversation):
    """One message at a time is current.

    Signals:
        current_changed: another message is current (number of the entry).
    """

    current_changed = Signal(int)

    spoken_role = QAccessible.Role.List

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._current: int | None = None

    def set_conversation(self, conversation: Conversation | None, rows: Rows | None) -> None:
        self._current = None
        super().set_conversation(conversation, rows)
        if conversation is not None and conversation.entries:
            self._set_current(0)

    def grow(self, conversation: Conversation, rows: Rows, same: int) -> None:
        super().grow(conversation, rows, same)
        if self._current is not None and self._current >= len(conversation.entries):
            self._set_current(len(conversation.entries) - 1)

    # --- the current message --------------------------------------------------------------------------------------

    @property
    def current(self) -> int | None:
        """Number of the current entry."""
        return self._current

    def go_to_entry(self, number: int) -> None:
        """Make an entry current and bring it to the top of the view."""
        self._set_current(number)
        self.go_to(Goal(Row(number, SUMMARY), ABOVE))

    def step(self, *, forward: bool, prompts: bool = False) -> None:
        """Go to the next or previous visible message; `prompts`: only to the user's."""
        if self._rows is None or self._conversation is None or not self._count:
            return
        rows = self._rows.rows
        in_view = [rows[position].entry for position, _ in self._visible()]
        here = self._current if self._current in in_view else None
        if here is None:
            here = in_view[0] - 1 if forward else in_view[0] + 1
        if prompts:
            found = [number for number in self._conversation.prompts if (number > here if forward else number < here)]
            target = None if not found else found[0] if forward else found[-1]
        else:
            position = (
                self._rows.position(Row(here + 1, SUMMARY)) if forward else self._rows.position_of_entry(here) - 1
            )
            target = rows[position].entry if 0 <= position < len(rows) else None
        if target is not None:
            self._set_current(target)
            self._show_entry(target)

    def _show_entry(self, number: int) -> None:
        """Scroll as little as needed, but show the beginning of an entry that is taller than the view."""
        assert self._rows is not None
        tops = {self._rows.rows[position].entry: (position, top) for position, top in reversed(list(self._visible()))}
        if number in tops and self._layout is not None:
            position, top = tops[number]
            after = self._rows.position(Row(number + 1, SUMMARY))
            height = sum(self._layout.height(place) for place in range(position, min(after, position + 60)))
            begins = self._rows.position_of_entry(number) == position
            if begins and top >= 0 and top + height <= self.viewport().height():
                self.viewport().update()
                return
        self.go_to(Goal(Row(number, SUMMARY), ABOVE))

    def _set_current(self, number: int) -> None:
        if number == self._current or self._conversation is None:
            return
        self._current = number
        self._announce()
        self.current_changed.emit(number)
        self.viewport().update()

    def _announce(self) -> None:
        """Announce the current message to a screen reader."""
        if self._conversation is None or self._current is None or self._rows is None:
            return
        text = spoken(self._conversation, self._current, folded=self._rows.fold(self._current) == "folded")
        self.setAccessibleDescription(text)
        if self.hasFocus():
            announce(self, text)

    def spoken_parts(self) -> Sequence[Part]:
        """The visible messages, without folded parts."""
        if self._conversation is None or self._rows is None or self._layout is None:
            return []
        places: dict[int, QRect] = {}
        for position, top in self._visible():
            entry = self._rows.rows[position].entry
            row = QRect(0, top, self.viewport().width(), self._layout.height(position))
            places[entry] = places[entry].united(row) if entry in places else row
        rows, conversation = self._rows, self._conversation
        return [
            Part(spoken(conversation, entry, folded=rows.fold(entry) == "folded"), place)
            for entry, place in places.items()
        ]

    def _current_entry(self) -> int | None:
        return self._current

    def select_message(self) -> None:
        """Select all text of the current message."""
        if self._conversation is not None and self._current is not None:
            entry = self._conversation.entries[self._current]
            last = entry.first_piece + entry.piece_count - 1
            self._selection.select((entry.first_piece, 0), (last, 1 << 40))
            self.viewport().update()

    # --- folding --------------------------------------------------------------------------------------------------

    def set_detail(self, detail: Detail) -> None:
        """Fold all tools and reasoning; the top of the view stays in place if it is still visible."""
        if self._rows is None or not self._count:
            return
        position, top = next(self._visible(), (0, 0))
        entry = self._rows.rows[position].entry
        self._rows.set_detail(detail)
        self._selection.clear()
        self._rows_changed()
        self.go_to(Goal(Row(entry, SUMMARY), max(0, top)))

    def toggle(self, number: int) -> None:
        """Unfold one call or one thought, or fold it again."""
        if self._rows is not None:
            self._fold(number, "clamped" if self._rows.fold(number) == "folded" else "folded")

    def _show_all(self, number: int, *, everything: bool) -> None:
        self._fold(number, "all" if everything else "clamped")

    def _fold(self, number: int, fold: Fold) -> None:
        """Fold or unfold an entry whose beginning stays in place, or is scrolled into view."""
        if self._rows is None or self._conversation is None:
            return
        if self._conversation.entries[number].kind in ("user", "speech") or self._rows.fold(number) == fold:
            return
        first = self._rows.position_of_entry(number)
        top = next((top for position, top in self._visible() if position == first), None)
        self._rows.set_fold(number, fold)
        self._rows_changed()
        self._set_current(number)
        self.go_to(Goal(Row(number, SUMMARY), ABOVE if top is None or top < 0 else top))
        self._announce()

    def _unfold_more(self, *, more: bool) -> None:
        """One step towards everything, or back."""
        if self._current is None or self._rows is None:
            return
        folds: tuple[Fold, ...] = ("folded", "clamped", "all")
        fold = self._rows.fold(self._current)
        if fold in folds:
            index = folds.index(fold) + (1 if more else -1)
            if 0 <= index < len(folds):
                self._fold(self._current, folds[index])
