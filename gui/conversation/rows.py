"""The rows of a conversation, which depend on how far tool calls and reasoning are unfolded."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Literal, NamedTuple

from gui.conversation.entries import Conversation

Detail = Literal["hidden", "short", "full"]
DETAILS: tuple[Detail, ...] = ("hidden", "short", "full")
Fold = Literal["gone", "folded", "clamped", "all"]

SUMMARY = -1
_SLOT_BITS = 24
MORE = (1 << _SLOT_BITS) - 2
"""Slots of rows without a piece: the summary of a folded entry, and the "Show all" row below a long one."""

ROW_KINDS = {"user": b"u", "speech": b"s", "thinking": b"t", "tool": b"t", "branch": b"t"}


class Row(NamedTuple):
    entry: int
    slot: int
    """A piece counted from the entry's first, `SUMMARY` or `MORE`. Rows are in ascending order."""


class PackedRows:
    """A sequence of rows stored as numbers in an array: objects would slow down each garbage collection."""

    def __init__(self, numbers: "array[int]") -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: int) -> Row:
        number = self.numbers[position]
        return Row(number >> _SLOT_BITS, (number & (1 << _SLOT_BITS) - 1) - 1)


def _packed(rows: Iterator[Row]) -> "array[int]":
    return array("Q", [_number(row) for row in rows])


def _number(row: Row) -> int:
    return (row.entry << _SLOT_BITS) + row.slot + 1


class Rows:
    """The rows of one conversation and its folding state; `kinds` has one byte per row for the scroll bar's map."""

    def __init__(self, conversation: Conversation) -> None:
        """Any thread; takes a moment for a long conversation."""
        self._conversation = conversation
        every = range(len(conversation.entries))
        self._all = {detail: self._lists(every, partial(self._default, detail)) for detail in DETAILS}
        self._folds: dict[int, Fold] = {}
        self.detail: Detail = "short"
        self.rows = PackedRows(array("Q"))
        self.kinds = bytearray()
        self.set_detail("short")

    def set_detail(self, detail: Detail) -> None:
        """Fold or unfold all tool calls and all reasoning to this degree."""
        self.detail = detail
        self._folds.clear()
        rows, kinds = self._all[detail]
        self.rows, self.kinds = PackedRows(rows[:]), kinds.copy()

    def fold_like(self, other: "Rows") -> None:
        """Copy the folding state of the rows of an earlier state of the same conversation."""
        self.set_detail(other.detail)
        mine, theirs = self._conversation.entries, other._conversation.entries
        for entry, fold in other._folds.items():
            if entry < len(mine) and mine[entry].kind == theirs[entry].kind:
                self.set_fold(entry, fold)

    def fold(self, entry: int) -> Fold:
        branch = self._conversation.entries[entry].branch
        if branch >= 0 and self.fold(branch) == "folded":
            return "gone"
        return self._folds.get(entry) or self._shown(entry, self.detail)

    def set_fold(self, entry: int, fold: Fold) -> None:
        """Fold or unfold one entry; the heading of a branch also hides or shows the branch's entries."""
        until = entry + 1 + self._conversation.entries[entry].members
        first, after = self.position(Row(entry, SUMMARY)), self.position(Row(until, SUMMARY))
        self._folds[entry] = fold
        rows, kinds = self._lists(range(entry, until), self.fold)
        self.rows.numbers[first:after] = rows
        self.kinds[first:after] = kinds

    def position(self, row: Row) -> int:
        """Return the position of a row, or the one at which it would be inserted."""
        return bisect_left(self.rows.numbers, _number(row))

    def position_of_entry(self, entry: int) -> int:
        """Return the position of an entry's first row; for a hidden entry, that of the next one."""
        return self.position(Row(entry, SUMMARY))

    def reveal(self, piece: int) -> int:
        """Unfold the entry of a piece, and return its row."""
        conversation = self._conversation
        number = conversation.entry_of_piece[piece]
        branch = conversation.entries[number].branch
        if branch >= 0 and self.fold(branch) == "folded":
            self.set_fold(branch, "clamped")
        entry, fold = conversation.entries[number], self.fold(number)
        if fold != "all":
            needed: Fold = "clamped" if piece in entry.clamped else "all"
            if fold != needed:
                self.set_fold(number, needed)
        return self.position(Row(number, piece - entry.first_piece))

    def _lists(self, numbers: Iterable[int], fold: Callable[[int], Fold]) -> tuple["array[int]", bytearray]:
        """Return the rows of these entries as packed numbers, and their kinds; `fold` gives the folding of an entry."""
        rows = array("Q")
        kinds = bytearray()
        for number in numbers:
            new = _packed(self._rows_of(number, fold(number)))
            rows += new
            kinds += ROW_KINDS[self._conversation.entries[number].kind] * len(new)
        return rows, kinds

    def _default(self, detail: Detail, number: int) -> Fold:
        """Return how an entry is folded initially; entries of branches are hidden."""
        return "gone" if self._conversation.entries[number].branch >= 0 else self._shown(number, detail)

    def _shown(self, number: int, detail: Detail) -> Fold:
        kind = self._conversation.entries[number].kind
        if kind in ("user", "speech"):
            return "all"
        if kind == "branch":
            return "folded"
        return {"hidden": "gone", "short": "folded", "full": "clamped"}[detail]  # type: ignore[return-value]

    def _rows_of(self, number: int, fold: Fold) -> Iterator[Row]:
        entry = self._conversation.entries[number]
        if fold == "gone":
            return
        if entry.kind in ("user", "speech"):
            yield from (Row(number, slot) for slot in range(entry.piece_count))
            return
        yield Row(number, SUMMARY)
        if fold == "folded" or entry.kind == "branch":
            return
        if fold == "all":
            yield from (Row(number, slot) for slot in range(entry.piece_count))
        else:
            yield from (Row(number, piece - entry.first_piece) for piece in entry.clamped)
        if len(entry.clamped) < entry.piece_count:
            yield Row(number, MORE)
