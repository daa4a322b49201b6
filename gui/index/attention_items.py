"""Items that need attention (a state, a sentence and an action), and the card that lists them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QWidget

from engine import NOT_EMBEDDED, FileIssue, MemoryProviderStatus, marked, number, tr, tr_count, tr_reason
from gui.text.formatting import estimate_text
from gui.text.status_texts import (
    IndexRemedy,
    State,
    index_remedy,
    nothing_indexed,
    rule_text,
    skipped_count,
    why_keywords_only,
    why_no_update,
    with_state,
)
from gui.widgets.accessibility import stop_before
from gui.widgets.buttons import push_button
from gui.widgets.labels import ElidedLabel, breakable, label, line
from gui.widgets.layouts import column_of, discard, row_of
from gui.widgets.state_dot import StateDot

_NAMED = 3
"""Failed files that have a row each; the others share one."""
_RULES = 3


@dataclass(frozen=True)
class Attention:
    """One item that needs attention. `action`: id of the action of its button, empty for none."""

    key: str
    state: State
    title: str
    detail: str = ""
    action: tuple[str, str] = ("", "")


_REPAIRS: dict[IndexRemedy, tuple[str, str]] = {
    "retry": (marked("Try again"), "retry"),
    "rebuild": (marked("Rebuild…"), "rebuild"),
    "sync": (marked("Try again"), "sync"),
}


def attention_of(status: MemoryProviderStatus) -> tuple[Attention, ...]:
    """Return the items that an index status gives rise to, most urgent first."""
    return tuple(_rows(status))


def _rows(status: MemoryProviderStatus) -> Iterator[Attention]:
    refused = bool(why_no_update(status))
    if status.index_error:
        words, act = _REPAIRS[index_remedy(status)]
        title = tr("The index cannot be written") if status.custom.get("readOnly") else tr("The index had a problem")
        yield Attention("index", "degraded", title, tr(status.index_error), (tr(words), act))
    if (data := status.user_data) is not None:
        restore = ("", "") if data.backup is None else (tr("Restore backup"), "restore-data")
        yield Attention(
            "user-data", "degraded", tr("Your facts and saved searches can't be read"), tr(data.problem), restore
        )
    if status.last_sync is not None and status.last_sync.error and status.syncing is None:
        again = ("", "") if refused else (tr("Try again"), "sync")
        yield Attention("sync", "degraded", tr("The last update failed"), tr(status.last_sync.error), again)
    if not status.files:
        yield _empty(status, refused)
    if reason := why_keywords_only(status):
        yield Attention("provider", "degraded", tr("No search by meaning"), reason, (tr("Settings…"), "settings"))
    yield from _failed(status.failed_files, refused)
    yield from _vectors(status, refused)
    for issue in [issue for issue in status.skipped_files if issue.rule == "missing"][:_NAMED]:
        show = (tr("Show"), "skipped")
        yield Attention(f"missing {issue.path}", "degraded", issue.path, tr_reason(issue.detail), show)
    if status.skipped_files:
        skipped = skipped_count(status.skipped_files)
        title = tr_count("{count:,} file or folder skipped", "{count:,} files and folders skipped", skipped)
        yield Attention("skipped", "off", title, _by_rule(status.skipped_files), (tr("Show"), "skipped"))


def _empty(status: MemoryProviderStatus, refused: bool) -> Attention:
    title = tr("Nothing is indexed yet")
    if status.syncing is not None:
        return Attention("empty", "working", title, tr("Results of the update appear here as it runs."))
    reason = nothing_indexed(status) if status.last_sync else tr("No update has run yet.")
    return Attention("empty", "off", title, reason, ("", "") if refused else (tr("Update now"), "sync"))


def _failed(failed: Sequence[FileIssue], refused: bool) -> Iterator[Attention]:
    retry = ("", "") if refused else (tr("Try again"), "sync")
    named = failed if len(failed) <= _NAMED + 1 else failed[:_NAMED]
    for issue in named:
        act = (tr("Show"), "failed") if issue.rule == NOT_EMBEDDED else retry
        yield Attention(f"failed {issue.path} {issue.detail}", "degraded", issue.path, tr_reason(issue.detail), act)
    if rest := failed[len(named) :]:
        title = tr_count("{count:,} more file failed", "{count:,} more files failed", len(rest))
        yield Attention("failed", "degraded", title, _by_rule(rest), (tr("Show"), "failed"))


def _vectors(status: MemoryProviderStatus, refused: bool) -> Iterator[Attention]:
    if not status.pending_vectors or status.provider == "none":
        return
    if status.awaiting_approval is not None:
        title = tr_count(
            "{count:,} passage waits for your approval to be embedded",
            "{count:,} passages wait for your approval to be embedded",
            status.pending_vectors,
        )
        yield Attention("awaiting", "degraded", title, estimate_text(status.awaiting_approval), (tr("Embed…"), "embed"))
    elif status.syncing is None:
        title = tr_count(
            "{count:,} passage is found by words only",
            "{count:,} passages are found by words only",
            status.pending_vectors,
        )
        act = ("", "") if refused else (tr("Update now"), "sync")
        yield Attention("pending", "working", title, tr("The next update creates the missing vectors."), act)


def _by_rule(issues: Sequence[FileIssue]) -> str:
    """Summarise skipped files by rule: "ignored folder (28), too large (3), 2 other rules"."""
    counted: Counter[str] = Counter()
    for issue in issues:
        counted[issue.rule] += skipped_count((issue,))
    rules = counted.most_common()
    named = [f"{rule_text(rule)} ({number(count)})" for rule, count in rules[:_RULES]]
    if rest := rules[_RULES:]:
        named.append(
            tr_count("{count:,} other rule for skipping files", "{count:,} other rules for skipping files", len(rest))
        )
    return ", ".join(named)


# --- The card of items that need attention ---------------------------------------------------------------------------

_DOT_TOP = 3

ALL_WELL = Attention("", "fine", marked("Nothing needs your attention."))


class _Row(QWidget):
    """A row with one item and a button.

    Signals: pressed: the action of its button.
    """

    pressed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._shown: Attention | None = None
        self._dot = StateDot()
        self._title = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._detail = label("", "meta", wrap=True)
        self.button = push_button("", self._press)
        words = column_of(self._title, self._detail, spacing=2)
        dot_column = column_of(self._dot, None, margins=(0, _DOT_TOP, 0, 0))  # the dot next to the first line
        row = row_of(dot_column, (words, 1), spacing=10, margins=(0, 8, 0, 8))
        row.addWidget(self.button, 0, Qt.AlignmentFlag.AlignVCenter)
        self._line = line()
        column_of(row, self._line, spacing=0, parent=self)

    def show_row(self, row: Attention, *, last: bool) -> None:
        self._line.setHidden(last)
        if row == self._shown:
            return
        self._shown = row
        words, _ = row.action
        self._dot.set_state(row.state)
        title = tr(row.title) if row == ALL_WELL else row.title
        self._title.setText(title)
        self._detail.setText(breakable(row.detail))
        self._detail.setVisible(bool(row.detail))
        self.button.setText(words)
        self.button.setVisible(bool(words))
        self.button.setAccessibleName(f"{words}: {title}")
        self.setAccessibleName(". ".join(part for part in (with_state(title, row.state), row.detail) if part))

    @Slot()
    def _press(self) -> None:
        if self._shown is not None:
            self.pressed.emit(self._shown.action[1])


class AttentionCard(QFrame):
    """The card of items that need attention, in groups; an unchanged row keeps its focus.

    Signals: action_requested: the action of a row's button.
    """

    action_requested = Signal(str)

    def __init__(self, groups: Sequence[str]) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._groups: dict[str, tuple[Attention, ...]] = dict.fromkeys(groups, ())
        self._rows: dict[str, _Row] = {}
        self._list = column_of(spacing=0)
        title = label(tr("Needs attention"), "strong")
        column_of(title, self._list, spacing=0, margins=(14, 10, 14, 12), parent=self)
        self.setAccessibleName(tr("Needs attention"))
        self._arrange()

    def show_rows(self, group: str, rows: Sequence[Attention]) -> None:
        """Replace the items of a group; an unchanged row keeps its focus."""
        if self._groups[group] != tuple(rows):
            self._groups[group] = tuple(rows)
            self._arrange()

    def _stop_before(self) -> QWidget:
        """Return the last widget of the card in tab order."""
        item = self._list.itemAt(0)
        first = item.widget() if item is not None else None
        return stop_before(first.button if isinstance(first, _Row) else self)

    def _arrange(self) -> None:
        rows_to_show = {f"{group} {row.key}": row for group, rows in self._groups.items() for row in rows}
        rows_to_show = rows_to_show or {"": ALL_WELL}
        before = self._stop_before()
        for key in self._rows.keys() - rows_to_show.keys():
            removed = self._rows.pop(key)
            self._list.removeWidget(removed)
            discard(removed)
        for index, (key, row) in enumerate(rows_to_show.items()):
            if key not in self._rows:
                self._rows[key] = _Row()
                self._rows[key].pressed.connect(self.action_requested)
            widget = self._rows[key]
            widget.show_row(row, last=index == len(rows_to_show) - 1)
            at = self._list.itemAt(index)
            if at is None or at.widget() is not widget:
                self._list.insertWidget(index, widget)
            QWidget.setTabOrder(before, widget.button)
            before = widget.button
