"""The rows of a conversation: how far tool calls and thinking are unfolded, one by one and all together.

Where tools are short, consecutive calls are one row, the line of their group, until the group is opened.
"""

from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Literal, NamedTuple

from engine import tr, tr_count
from gui.conversation.display_entries import Conversation, Entry, SummaryLine, has_failed

Detail = Literal["hidden", "short", "full"]
DETAILS: tuple[Detail, ...] = ("hidden", "short", "full")
Fold = Literal["gone", "grouped", "folded", "clamped", "all"]
"""The first entry of a closed group is "grouped", and its others are "gone"."""

GROUP, SUMMARY = -2, -1
_SLOT_BITS = 24
MORE = (1 << _SLOT_BITS) - 3
"""Slots of rows without a piece: the line of a group, before its first entry; the summary of a folded entry; and the
"Show all" row below a long one."""

ROW_KINDS = {"user": b"u", "speech": b"s", "thinking": b"t", "tool": b"t", "branch": b"t"}


class Row(NamedTuple):
    entry: int
    slot: int
    """A piece counted from the entry's first, `GROUP`, `SUMMARY` or `MORE`. Rows are in ascending order."""


class PackedRows:
    """A sequence of rows stored as numbers in an array: objects would slow down each garbage collection."""

    def __init__(self, numbers: "array[int]") -> None:
        self.numbers = numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, position: int) -> Row:
        number = self.numbers[position]
        return Row(number >> _SLOT_BITS, (number & (1 << _SLOT_BITS) - 1) + GROUP)


def _packed(rows: Iterator[Row]) -> "array[int]":
    return array("Q", [_number(row) for row in rows])


def _number(row: Row) -> int:
    return (row.entry << _SLOT_BITS) + row.slot - GROUP


def call_group(entries: Sequence[Entry], first: int) -> range:
    """The consecutive tool calls of one speaker, day and branch from `first` on; empty for another kind of entry."""
    begin, after = entries[first], first
    same_group = ("tool", begin.speaker, begin.day, begin.branch)
    while after < len(entries):
        entry = entries[after]
        if (entry.kind, entry.speaker, entry.day, entry.branch) != same_group:
            break
        after += 1
    return range(first, after)


def group_summary(conversation: Conversation, group: range) -> SummaryLine:
    """Return the line for a group: "5 tool calls", "Bash, Read ×3, Grep", and how many lines they have."""
    entries = [conversation.entries[number] for number in group]
    tools = Counter(conversation.message(entry).tool or tr("Tool") for entry in entries)
    names = (name if count == 1 else tr("{tool} ×{count:,}", tool=name, count=count) for name, count in tools.items())
    calls = tr_count("{count:,} tool call", "{count:,} tool calls", len(entries))
    size = tr_count("{count:,} line", "{count:,} lines", sum(entry.lines for entry in entries))
    failures = sum(has_failed(conversation, entry) for entry in entries)
    failed = tr_count("{count:,} failed", "{count:,} failed", failures) if failures else ""
    return SummaryLine(calls, ", ".join(names), size, failed)


class Rows:
    """The rows of one conversation and its folding state; `kinds` has one byte per row for the scroll bar's map."""

    def __init__(self, conversation: Conversation) -> None:
        """Any thread; takes a moment for a long conversation."""
        self._conversation = conversation
        every = range(len(conversation.entries))
        self._group_of = _groups(conversation.entries)
        """By entry: the first entry of its group, or -1."""
        self._opened: set[int] = set()
        """First entries of the groups that were opened."""
        self._lines: dict[int, SummaryLine] = {}
        """Lines of groups by their first entry: they are painted in every frame."""
        self._all = {
            detail: self._lists(every, partial(self._default, detail), grouped=detail == "short") for detail in DETAILS
        }
        self._folds: dict[int, Fold] = {}
        self.detail: Detail = "short"
        self.rows = PackedRows(array("Q"))
        self.kinds = bytearray()
        self.set_detail("short")

    def set_detail(self, detail: Detail) -> None:
        """Fold or unfold all tool calls and all reasoning to this degree."""
        self.detail = detail
        self._folds.clear()
        self._opened.clear()
        rows, kinds = self._all[detail]
        self.rows, self.kinds = PackedRows(rows[:]), kinds.copy()

    def fold_like(self, other: "Rows") -> None:
        """Copy the folding state of the rows of an earlier state of the same conversation."""
        self.set_detail(other.detail)
        entries, other_entries = self._conversation.entries, other._conversation.entries
        for first in other._opened:
            if first < len(entries) and self._group_of[first] == first:
                self.set_group(first, opened=True)
        for entry, fold in other._folds.items():
            if entry < len(entries) and entries[entry].kind == other_entries[entry].kind:
                self.set_fold(entry, fold)
        for first in self._opened - other._opened:  # `set_fold` opened them
            if first < len(other_entries) and other._group_of[first] == first:
                self.set_group(first, opened=False)

    def fold(self, entry: int) -> Fold:
        branch = self._conversation.entries[entry].branch
        if branch >= 0 and self.fold(branch) == "folded":
            return "gone"
        first = self._group_of[entry]
        if self._is_closed(first):
            return "grouped" if entry == first else "gone"
        return self._folds.get(entry) or self._shown(entry, self.detail)

    def set_fold(self, entry: int, fold: Fold) -> None:
        """Unfold or fold one entry of the conversation; a closed group is opened for it."""
        self.set_group(entry, opened=True)
        self._folds[entry] = fold
        self._replace(range(entry, entry + 1 + self._conversation.entries[entry].members))

    def group(self, entry: int) -> range:
        """The consecutive tool calls that share one line while their group is closed; empty if calls aren't grouped."""
        first = self._group_of[entry]
        return range(0) if first < 0 or self.detail != "short" else call_group(self._conversation.entries, first)

    def group_line(self, entry: int) -> SummaryLine:
        """Return the line for the group of an entry, see `group_summary`; cached."""
        first = self._group_of[entry]
        if first not in self._lines:
            self._lines[first] = group_summary(self._conversation, self.group(entry))
        return self._lines[first]

    def _is_closed(self, first: int) -> bool:
        """Whether there is a closed group that begins with this entry, which may be -1 for none."""
        return first >= 0 and self.detail == "short" and first not in self._opened

    def set_group(self, entry: int, *, opened: bool) -> None:
        """Open or close the group of an entry, if it has one."""
        group = self.group(entry)
        if group and (group[0] in self._opened) != opened:
            (self._opened.add if opened else self._opened.discard)(group[0])
            self._replace(group)

    def _replace(self, entries: range) -> None:
        """Make the rows of these entries again."""
        first, after = self.position(Row(entries[0], GROUP)), self.position(Row(entries[-1] + 1, GROUP))
        rows, kinds = self._lists(entries, self.fold, grouped=self.detail == "short")
        self.rows.numbers[first:after] = rows
        self.kinds[first:after] = kinds

    def position(self, row: Row) -> int:
        """Return the position of a row, or the one at which it would be inserted."""
        return bisect_left(self.rows.numbers, _number(row))

    def after(self, position: int) -> int:
        """The number of the first entry after those that the row at this position shows."""
        row = self.rows[position]
        return (self.group(row.entry) or range(row.entry + 1)).stop if row.slot == GROUP else row.entry + 1

    def position_in_view(self, row: Row) -> int:
        """Return the `position` of a row, or of the line of the closed group that hides it."""
        first = self._group_of[row.entry] if row.entry < len(self._group_of) else -1
        return self.position(Row(first, GROUP) if self._is_closed(first) else row)

    def position_of_entry(self, entry: int) -> int:
        """Return the position of an entry's first row; for a hidden entry, that of its group or of the next one."""
        return self.position_in_view(Row(entry, GROUP))

    def reveal(self, piece: int) -> int:
        """Unfold the entry of a piece, open its group, and return its row."""
        conversation = self._conversation
        number = conversation.entry_of_piece[piece]
        branch = conversation.entries[number].branch
        if branch >= 0 and self.fold(branch) == "folded":
            self.set_fold(branch, "clamped")
        self.set_group(number, opened=True)
        entry, fold = conversation.entries[number], self.fold(number)
        if fold != "all":
            needed: Fold = "clamped" if piece in entry.clamped else "all"
            if fold != needed:
                self.set_fold(number, needed)
        return self.position(Row(number, piece - entry.first_piece))

    def _lists(
        self, numbers: Iterable[int], fold: Callable[[int], Fold], *, grouped: bool
    ) -> tuple["array[int]", bytearray]:
        """The rows of these entries, each folded like this, and their kinds; `grouped`: with the lines of groups."""
        rows = array("Q")
        kinds = bytearray()
        for number in numbers:
            new = _packed(self._rows_of(number, fold(number), heads=grouped and self._group_of[number] == number))
            rows += new
            kinds += ROW_KINDS[self._conversation.entries[number].kind] * len(new)
        return rows, kinds

    def _default(self, detail: Detail, number: int) -> Fold:
        """Branches are folded and groups are closed at first."""
        if self._conversation.entries[number].branch >= 0:
            return "gone"
        if detail == "short" and self._group_of[number] >= 0:
            return "grouped" if self._group_of[number] == number else "gone"
        return self._shown(number, detail)

    def _shown(self, number: int, detail: Detail) -> Fold:
        kind = self._conversation.entries[number].kind
        if kind in ("user", "speech"):
            return "all"
        if kind == "branch":
            return "folded"
        return {"hidden": "gone", "short": "folded", "full": "clamped"}[detail]  # type: ignore[return-value]

    def _rows_of(self, number: int, fold: Fold, *, heads: bool) -> Iterator[Row]:
        """The rows of an entry; `heads`: the line of its group is before them."""
        entry = self._conversation.entries[number]
        if fold == "gone":
            return
        if heads:
            yield Row(number, GROUP)
        if fold == "grouped":
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


def _groups(entries: Sequence[Entry]) -> "array[int]":
    """By entry: the first entry of its group of tool calls, or -1."""
    groups = array("l", [-1]) * len(entries)
    number = 0
    while number < len(entries):
        group = call_group(entries, number)
        for member in group if len(group) > 1 else ():
            groups[member] = number
        number = max(number + 1, group.stop)
    return groups
