"""Compares two notes of a group side by side, with actions; no note is changed."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from engine import (
    CancelToken,
    DuplicateGroup,
    DuplicateKind,
    DuplicateMember,
    MemorySearchManager,
    MnemoscopeError,
    duplicate_title,
    marked,
    share_text,
    tr,
    tr_count,
)
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.index.attention_items import Attention
from gui.index.duplicates.diff_view import SideBySide
from gui.index.duplicates.line_comparison import MAX_LINES, Row, Text, side_by_side_rows
from gui.text.formatting import ago, duration, notes_text, size_text
from gui.text.right_to_left import runs_left
from gui.viewer.text_lines import LINE_LIMIT
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import ComboBox
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel, label, line
from gui.widgets.layouts import column_of, row_of

_DAY = 86_400

NOTHING = marked("No two notes share text")
NOTHING_MORE = marked(
    "Notes that are the same, nearly the same, or share a passage of some lines would be listed here."
)
NO_NOTES = marked("No note is indexed yet")
NO_NOTES_MORE = marked("Notes that share text will be listed here as soon as there are some.")

_COMPARISONS = {
    ("", ""): marked("Same age and length"),
    ("left", ""): marked("The note on the left is newer by {time}"),
    ("right", ""): marked("The note on the right is newer by {time}"),
    ("", "left"): marked("The note on the left is longer by {size}"),
    ("", "right"): marked("The note on the right is longer by {size}"),
    ("left", "left"): marked("The note on the left is newer by {time} and longer by {size}"),
    ("right", "right"): marked("The note on the right is newer by {time} and longer by {size}"),
    ("left", "right"): marked("The note on the left is newer by {time}; the one on the right is longer by {size}"),
    ("right", "left"): marked("The note on the right is newer by {time}; the one on the left is longer by {size}"),
}
"""Texts by which of two notes is newer, and which is longer."""


def names_text(group: DuplicateGroup) -> str:
    """Return the first names of the notes in a group, and how many more there are."""
    names = [member.path.rpartition("/")[2] for member in group.members]
    if len(set(names)) < len(names):
        names = [member.path for member in group.members]
    first_names = names[:3]
    more = group.files - len(first_names)
    listed = ", ".join(first_names)
    return tr("{names} and {count:,} more", names=listed, count=more) if more > 0 else listed


def measure_text(group: DuplicateGroup) -> str:
    words = tr_count("{count:,} word in common", "{count:,} words in common", group.words)
    return f"{notes_text(group.files)} · {words}"


def member_text(member: DuplicateMember) -> str:
    """Return the label of a note in the menu of notes to compare: path and lines."""
    first, last = member.start_line, member.end_line
    return f"{member.path} · " + (f"{first}\N{EN DASH}{last}" if last > first else str(first))


def member_details(member: DuplicateMember) -> str:
    """Return a note's age, size and shared part as text, shown below the menu."""
    shared = tr("{share} of this note also occurs in other notes", share=share_text(member.share))
    return f"{ago(member.modified)} · {size_text(member.size)} · {shared}"


def between_text(left: DuplicateMember, right: DuplicateMember) -> str:
    """Return which of two notes is newer, and which is longer."""
    age_difference = abs(left.modified - right.modified)
    if runs_left():
        left, right = right, left  # a mirrored window shows them in this order
    newer = "" if age_difference < 1 else "left" if left.modified > right.modified else "right"
    longer = "" if left.size == right.size else "left" if left.size > right.size else "right"
    return tr(_COMPARISONS[newer, longer], time=_time_text(age_difference), size=size_text(abs(left.size - right.size)))


def _time_text(seconds: float) -> str:
    if seconds < 2 * _DAY:
        return duration(seconds)
    return tr_count("{count} day", "{count} days", round(seconds / _DAY))


def attention_of(groups: Sequence[DuplicateGroup]) -> tuple[Attention, ...]:
    """Return the attention row for duplicates, which are not an error."""
    copies = [group for group in groups if group.kind != "recurring"]
    if not copies:
        return ()
    kinds: Counter[DuplicateKind] = Counter(group.kind for group in copies)
    named = [_kind_text(kind, kinds[kind]) for kind in ("identical", "similar", "contained", "passage") if kinds[kind]]
    if kinds["identical"]:
        title = tr_count("{count:,} duplicate", "{count:,} duplicates", len(copies))
    else:
        title = tr_count("{count:,} near-duplicate", "{count:,} near-duplicates", len(copies))
    return (Attention("duplicates", "off", title, ", ".join(named), (tr("Compare"), "duplicates")),)


def _kind_text(kind: DuplicateKind, count: int) -> str:
    match kind:
        case "identical":
            return tr_count("{count:,} note exists twice", "{count:,} notes exist twice or more", count)
        case "similar":
            return tr_count("{count:,} nearly the same", "{count:,} nearly the same", count)
        case "contained":
            return tr_count("{count:,} note contained in another one", "{count:,} notes contained in others", count)
        case "passage" | "recurring":
            return tr_count("{count:,} shared passage", "{count:,} shared passages", count)


def summary_text(shown: int, found: int, files: int, hidden: int) -> str:
    """Return the summary above the list."""
    groups = tr_count("{count:,} group", "{count:,} groups", found)
    parts = [tr_count("{groups} among {count:,} note", "{groups} among {count:,} notes", files, groups=groups)]
    if shown < found - hidden:
        parts.append(tr("the first {count:,} groups are listed", count=shown))
    if hidden:
        parts.append(tr("{count:,} hidden", count=hidden))
    return " · ".join(parts)


_CONTEXT = 2
"""Lines of context around a passage."""
_SIDE = 16


@dataclass(frozen=True)
class _Compared:
    rows: list[Row]
    cut: bool


class ComparisonPane(JobOwner, QWidget):
    """Shows two notes of a group side by side, with actions.

    Signals:
        open_requested: name and line of a note to open.
        hide_requested: the group, and whether to hide or show it.
        notified: a message about the result.
    """

    open_requested = Signal(str, object)
    hide_requested = Signal(object, bool)
    notified = Signal(str)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._job = JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._group: DuplicateGroup | None = None
        self._hidden: frozenset[str] = frozenset()
        self._title = ElidedLabel()
        self._title.setProperty("role", "strong")
        self.back = push_button(tr("Back"), role="flat", tip=tr("Back to the list (Esc)"))
        # Paths differ at their ends.
        self._choices = tuple(
            ComboBox(name, Qt.TextElideMode.ElideLeft) for name in (tr("Left note"), tr("Right note"))
        )
        self._details = (label("", "meta", wrap=True), label("", "meta", wrap=True))
        self._between = label("", "meta", wrap=True)
        self._problem = label("", "muted", wrap=True)
        self._problem.hide()
        self.view = SideBySide()
        self._before = IconButton("chevron-up", tr("Previous difference (Shift+N)"))
        self._after = IconButton("chevron-down", tr("Next difference (N)"))
        copy = QPushButton(tr("Copy paths"))
        self._hide = push_button(
            tr("Not a duplicate"), tip=tr("Leave this group out of the list from now on, or list it again")
        )
        self._buttons: list[QWidget] = [self._before, self._after, copy, self._hide]
        """They act on the group."""
        self._arrange(copy)
        self._clear()
        self._before.clicked.connect(lambda: self._next_difference(forward=False))
        self._after.clicked.connect(lambda: self._next_difference(forward=True))
        copy.clicked.connect(self._copy_paths)
        self._hide.clicked.connect(self._request_hide)
        for choice in self._choices:
            choice.activated.connect(self._compare)

    def _arrange(self, copy: QPushButton) -> None:
        buttons = self._before, self._after, copy, self._hide
        head = row_of(self.back, (self._title, 1), *buttons, spacing=6, margins=(_SIDE, 8, _SIDE, 4))
        sides = QGridLayout()
        sides.setContentsMargins(_SIDE, 0, _SIDE, 6)
        sides.setHorizontalSpacing(_SIDE)
        sides.setVerticalSpacing(2)
        for side, (choice, text) in enumerate(zip(self._choices, self._details, strict=True)):
            read = push_button(
                tr("Open"),
                partial(self._open, side),
                name=tr("Open the note on the right") if bool(side) != runs_left() else tr("Open the note on the left"),
            )
            self._buttons.append(read)
            sides.addLayout(row_of((choice, 1), read, spacing=6), 0, side)
            sides.addWidget(text, 1, side)
            sides.setColumnStretch(side, 1)
        sides.addWidget(self._between, 2, 0, 1, 2)
        column_of(head, sides, line(), self._problem, (self.view, 1), spacing=0, parent=self)
        self._problem.setContentsMargins(_SIDE, 8, _SIDE, 8)

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory to read the notes from."""
        self._manager = manager
        self.show_group(None)

    def show_hidden(self, keys: frozenset[str]) -> None:
        """Set the keys of the groups that the user has hidden, which can be shown again."""
        self._hidden = keys
        self._name_hiding()

    def _name_hiding(self) -> None:
        hidden = self._group is not None and self._group.key in self._hidden
        self._hide.setText(tr("List this group again") if hidden else tr("Not a duplicate"))

    @Slot(object)
    def show_group(self, group: DuplicateGroup | None) -> None:
        """Compare the newest note of a group with the next one; if the group is shown already, nothing changes."""
        if group == self._group:
            return
        self._group = group
        self._job.cancel()
        self.view.set_rows([])
        if group is None:
            self._clear()
            return
        for widget in (*self._buttons, *self._choices):
            widget.setEnabled(True)
        self._name_hiding()
        self._title.setText(f"{duplicate_title(group)} · {measure_text(group)}")
        for index, choice in enumerate(self._choices):
            choice.clear()
            choice.addItems([member_text(member) for member in group.members])
            choice.setCurrentIndex(min(index, len(group.members) - 1))
        self._compare()

    def _clear(self) -> None:
        for text in (self._title, self._between, *self._details):
            text.setText("")
        self._problem.hide()
        for choice in self._choices:
            choice.clear()
        for widget in (*self._buttons, *self._choices):
            widget.setEnabled(False)

    def _pair(self) -> tuple[DuplicateMember, DuplicateMember] | None:
        if self._group is None:
            return None
        left, right = (self._group.members[max(0, choice.currentIndex())] for choice in self._choices)
        return left, right

    @Slot()
    def _compare(self) -> None:
        pair, manager, group = self._pair(), self._manager, self._group
        if pair is None or manager is None or group is None:
            return
        for text, member in zip(self._details, pair, strict=True):
            text.setText(member_details(member))
        self._between.setText(between_text(*pair))
        whole = group.kind in ("identical", "similar")
        self._job.read(lambda token: _compared(manager, pair, token, whole=whole), self._show, self._fail)

    def _show(self, found: _Compared) -> None:
        self._problem.setVisible(found.cut)
        self._problem.setText(tr("Only the first {count:,} lines are compared.", count=MAX_LINES))
        self.view.set_rows(found.rows)
        same = not any(row.differs for row in found.rows)
        self._before.setDisabled(same)
        self._after.setDisabled(same)

    def _fail(self, sentence: str) -> None:
        self.view.set_rows([])
        self._problem.setText(sentence)
        self._problem.show()

    # --- actions ----------------------------------------------------------------------------------------------------

    def _next_difference(self, *, forward: bool) -> None:
        if not self.view.step(forward=forward):
            self.notified.emit(tr("That was the last difference.") if forward else tr("That was the first difference."))

    def _open(self, side: int) -> None:
        pair = self._pair()
        if pair is not None:
            self.open_requested.emit(pair[side].path, pair[side].start_line)

    @Slot()
    def _copy_paths(self) -> None:
        if self._group is not None:
            QGuiApplication.clipboard().setText("\n".join(member.path for member in self._group.members) + "\n")
            self.notified.emit(tr("Paths copied"))

    @Slot()
    def _request_hide(self) -> None:
        if self._group is not None:
            self.hide_requested.emit(self._group, self._group.key not in self._hidden)


def _compared(
    manager: MemorySearchManager, pair: tuple[DuplicateMember, DuplicateMember], token: CancelToken, *, whole: bool
) -> _Compared:
    """Read and compare two notes on a pool thread; `whole`: all lines, not only shared parts with some context."""
    texts = [_read(manager, member, token, whole=whole) for member in pair]
    rows = side_by_side_rows(texts[0][0], texts[1][0], token.checkpoint)
    while not whole and rows and _is_context_alone(rows[-1], pair):
        rows.pop()
    while not whole and rows and _is_context_alone(rows[0], pair):
        rows.pop(0)
    return _Compared(rows, texts[0][1] or texts[1][1])


def _is_context_alone(row: Row, pair: tuple[DuplicateMember, DuplicateMember]) -> bool:
    """Whether a row is context that only one of the notes has.

    The other one may continue with the same text, after the part that is shown.
    """
    return not any(
        side is not None and member.start_line <= side.number <= member.end_line
        for side, member in zip((row.left, row.right), pair, strict=True)
    ) and (row.left is None or row.right is None)


def _read(
    manager: MemorySearchManager, member: DuplicateMember, token: CancelToken, *, whole: bool
) -> tuple[Text, bool]:
    """Return the lines of a note to compare, and whether the note has more."""
    first = 1 if whole else max(1, member.start_line - _CONTEXT)
    try:
        with manager.open_file(member.path, cancel=token) as text:
            last = text.line_count if whole else min(text.line_count, member.end_line + _CONTEXT)
            end = min(last, first + MAX_LINES - 1)
            return Text(first, tuple(text.lines(first, end, limit=LINE_LIMIT))), end < last
    except FileNotFoundError as problem:
        raise MnemoscopeError(tr("{path} no longer exists.", path=member.path)) from problem
