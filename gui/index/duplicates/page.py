"""The page of notes that share text: searched when visible, shown as groups, compared side by side."""

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import QSplitter, QStyleOptionViewItem, QWidget

from engine import (
    CancelToken,
    DuplicateGroup,
    DuplicateReport,
    IndexInsight,
    MemorySearchManager,
    duplicate_title,
    tr,
    tr_count,
)
from gui.core.jobs import Jobs, JobSlot
from gui.index.base_page import IndexPage
from gui.index.duplicates.comparison import (
    NO_NOTES,
    NO_NOTES_MORE,
    NOTHING,
    NOTHING_MORE,
    ComparisonPane,
    attention_of,
    measure_text,
    names_text,
    summary_text,
)
from gui.style.stylesheet import character_width, font_at
from gui.style.theme import Tokens
from gui.style.typography import Resized
from gui.text.right_to_left import correct_margins
from gui.widgets.labels import label, line, write_line
from gui.widgets.layouts import PageStack, column_of, row_of
from gui.widgets.message_banner import NoticeBar
from gui.widgets.placeholder_page import Hint, StatePage
from gui.widgets.row_list import GUTTER, RowList
from gui.widgets.rows import Index, RowDelegate, RowModel, RowRole, paint_row_background

# --- The list of groups of notes that share text ---------------------------------------------------------------------

_PAD = 8


@dataclass(frozen=True)
class GroupRow:
    group: DuplicateGroup

    @property
    def key(self) -> str:
        return self.group.key


@dataclass(frozen=True)
class RecurringRow:
    """The row for all groups of text that recurs in many notes; opening it shows or hides them."""

    count: int
    folded: bool

    @property
    def key(self) -> str:
        return "recurring"

    @property
    def texts(self) -> tuple[str, str, str]:
        act = tr("Press Enter to show these groups") if self.folded else tr("Press Enter to hide these groups")
        title = tr_count("{count:,} text recurs in many notes", "{count:,} texts recur in many notes", self.count)
        return title, tr("Templates, headers, signatures"), act


class _Groups(RowModel):
    def spoken(self, row: GroupRow | RecurringRow) -> str:
        if isinstance(row, RecurringRow):
            return ". ".join(row.texts)
        return f"{duplicate_title(row.group)}. {measure_text(row.group)}. {names_text(row.group)}"

    def tip(self, row: GroupRow | RecurringRow) -> str:
        return "" if isinstance(row, RecurringRow) else "\n".join(member.path for member in row.group.members[:20])


class _Delegate(RowDelegate):
    """Paints a group of duplicates on three lines: kind, names, and shared text."""

    def restyle(self) -> None:
        self._fonts = (font_at(13, QFont.Weight.DemiBold), font_at(13), font_at(12))
        self._heights = [round(QFontMetrics(font).height() * 1.3) for font in self._fonts]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, sum(self._heights) + 2 * _PAD)

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        row = index.data(RowRole)
        paint_row_background(painter, option, colours)
        rect = option.rect.adjusted(GUTTER, _PAD, -GUTTER, 0)
        if isinstance(row, RecurringRow):
            texts, text_colours = row.texts, (colours.text, colours.muted, colours.accent)
        else:
            texts = (duplicate_title(row.group), names_text(row.group), measure_text(row.group))
            text_colours = (colours.text, colours.text, colours.muted)
        for font, height, text, text_colour in zip(self._fonts, self._heights, texts, text_colours, strict=True):
            rect.setHeight(height)
            write_line(painter, rect, text, (font, text_colour))
            rect.translate(0, height)


class GroupList(RowList):
    """The list of groups of duplicates."""

    def __init__(self) -> None:
        super().__init__(_Groups(), tr("Groups of notes that share text"))
        self.setItemDelegate(_Delegate(self))
        self._shown: tuple[DuplicateGroup, ...] = ()
        self._folded = True
        self.doubleClicked.connect(lambda index: self._click(index, 2))
        self.clicked.connect(lambda index: self._click(index, 1))

    def show_groups(self, groups: tuple[DuplicateGroup, ...]) -> None:
        """Show these groups, recurring text folded at the end; a group that the user has chosen stays current."""
        self._shown = groups
        copies = [GroupRow(group) for group in groups if group.kind != "recurring"]
        recurring = [GroupRow(group) for group in groups if group.kind == "recurring"]
        rows: list[GroupRow | RecurringRow] = [*copies]
        if copies and recurring:
            rows.append(RecurringRow(len(recurring), self._folded))
        rows += [] if copies and self._folded else recurring
        if self.rows.shows(rows):
            return
        position, held = self._remember() if self._moved_away else None, self._held
        self._set_rows(rows)
        if position is None:
            self._set_current(self.rows.nearest(0))
        else:
            self._return_to(position)
        self._held = held and bool(rows)
        if not rows:
            self.current_changed.emit(None)

    @property
    def current(self) -> DuplicateGroup | None:
        row = self.rows.row(self.currentIndex().row())
        return row.group if isinstance(row, GroupRow) else None

    def _activate(self, index: Index) -> None:
        if isinstance(self.rows.row(index.row()), RecurringRow):
            self._folded = not self._folded
            self.show_groups(self._shown)
        else:
            super()._activate(index)

    def _click(self, index: QModelIndex, clicks: int) -> None:
        if isinstance(self.rows.row(index.row()), RecurringRow) == (clicks == 1):
            self._activate(index)


# ---------------------------------------------------------------------------------------------------------------------

_POLL_MS = 100
_READ_AHEAD_MS = 1_500
"""Time on the overview before duplicates are searched, which uses a core for seconds."""
_QUICK_SECONDS = 2.0
"""Seconds up to which a search is repeated when notes change; a longer one is repeated on request."""
_MIN_CHARACTERS = 100
"""Minimum number of characters of both together; with less room, one replaces the other."""
_SIZES = (340, 700)


class ListAndDetail(Resized, QSplitter):
    """A list and a comparison side by side, or one of them in a narrow window.

    Signals:
        folded: whether only one of them is shown now.
    """

    folded = Signal(bool)

    def __init__(self, listed: QWidget, read: QWidget) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        correct_margins(self)
        self._listed, self._read = listed, read
        self._reading = False
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.addWidget(listed)
        self.addWidget(read)
        self.setStretchFactor(0, 0)
        self.setStretchFactor(1, 1)
        self.setSizes(list(_SIZES))
        self.setMinimumWidth(1)  # it folds where both are too wide

    def show_reading(self, reading: bool) -> None:
        """Show the comparison (True) or the list, where a narrow window has room for one."""
        self._reading = reading
        self.fit()

    def fit(self) -> None:
        narrow = self.width() < character_width() * _MIN_CHARACTERS
        self._listed.setHidden(narrow and self._reading)
        self._read.setHidden(narrow and not self._reading)
        self.folded.emit(narrow)


@dataclass(frozen=True)
class Duplicates:
    """The report of duplicates, and when it was made."""

    report: DuplicateReport
    hidden: frozenset[str]


class DuplicatesPage(IndexPage):
    """The page of duplicates; it searches for them when visible, or after some time on the overview."""

    ends_when_hidden = True

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(jobs, parent)
        self._found: Duplicates | None = None
        self._show_hidden = False
        self._ahead = QTimer(self, singleShot=True, interval=_READ_AHEAD_MS)
        self._ahead.timeout.connect(self._read_ahead)
        self._reads_ahead = False
        self._share = [0.0]
        """Progress, written by the pool thread: a plain value, no Qt object."""
        self._change = JobSlot(self, jobs)
        self._message = StatePage()
        self._summary = label("", "meta")
        self._notice = NoticeBar()
        self.groups = GroupList()
        self.comparison = ComparisonPane(jobs)
        self._stack = PageStack()
        column_of(self._stack, margins=(0, 8, 0, 0), parent=self)
        self._sides = ListAndDetail(self._left_side(), self.comparison)
        self._hint = Hint(self._stack)
        self._clock = QTimer(self, interval=_POLL_MS)
        self._clock.timeout.connect(self._show_progress)
        self._stack.addWidget(self._message)
        self._stack.addWidget(self._sides)
        self._sides.folded.connect(self.comparison.back.setVisible)
        self.groups.current_changed.connect(self.comparison.show_group)
        self.groups.opened.connect(self._go_to_pane)
        self.groups.left.connect(self.left)
        self.comparison.open_requested.connect(self.open_requested)
        self.comparison.notified.connect(self._hint.show_message)
        self.comparison.back.clicked.connect(self._go_to_list)
        self.comparison.hide_requested.connect(lambda group, hidden: self._hide(group, hidden=hidden))

    def _left_side(self) -> QWidget:
        left = QWidget()
        head = row_of((self._summary, 1), margins=(16, 8, 16, 8))
        column_of(head, line(), self._notice, (self.groups, 1), spacing=0, parent=left)
        return left

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        return super().busy or self.comparison.busy or self._change.busy

    @property
    def is_shown(self) -> bool:
        return super().is_shown or self._reads_ahead

    def show_overview(self, shown: bool) -> None:
        """Set whether the overview, which includes duplicates, is visible."""
        if shown and self._found is None:
            self._ahead.start()
        elif not shown:
            self._ahead.stop()
            if self._reads_ahead and not self.isVisible():
                self._read_job.cancel()
                self._stale = self.insight is not None
            self._reads_ahead = False

    @Slot()
    def _read_ahead(self) -> None:
        self._reads_ahead = True
        self._read_if_due()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self.comparison.set_manager(manager)
        super().set_manager(manager)

    @Slot()
    def refresh(self) -> None:
        """Search again after a change of the index or, if that takes long, offer a button for it."""
        if self._found is not None and self._found.report.seconds > _QUICK_SECONDS:
            self._notice.show_notice(
                tr("The index has changed since these groups were found."), tr("Compare again"), self.compare
            )
        else:
            super().refresh()

    @property
    def outdated(self) -> bool:
        """Whether the index has changed since the shown groups were found, and a button offers to search again."""
        return not self._notice.isHidden()

    @Slot()
    def compare(self) -> None:
        """Search for duplicates now."""
        self._notice.show_notice("")
        super().refresh()

    def read(self, insight: IndexInsight, cancel: CancelToken) -> Duplicates:
        share = self._share

        def note(done: float) -> None:
            share[0] = done

        return Duplicates(insight.duplicates(cancel, note), insight.hidden_duplicates())

    def _read_if_due(self) -> None:
        before = self._read_job.busy
        if not before:
            self._share = [0.0]  # set before the thread begins, which updates it
        super()._read_if_due()
        if self._read_job.busy and not before:
            self._clock.start()

    @Slot()
    def _show_progress(self) -> None:
        if not self._read_job.busy:
            self._clock.stop()
        elif self._found is None:
            done = tr("{share:.0%} compared. The results stay until a note changes.", share=self._share[0])
            self._show_message(tr("Comparing the notes…"), done, stop=True)
        else:
            again = tr("Comparing the notes again… {share:.0%}", share=self._share[0])
            self._notice.show_notice(again, tr("Stop"), self._stop)

    @Slot()
    def _stop(self) -> None:
        self._read_job.cancel()
        self._clock.stop()
        if self._found is None:
            self._message.show_state(
                tr("Stopped"),
                tr("The comparison was not completed."),
                actions=((tr("Compare again"), self.compare),),
            )
        else:
            self._notice.show_notice(
                tr("Comparison stopped. These results are from the previous one."), tr("Compare again"), self.compare
            )

    def show_read(self, duplicates: Duplicates) -> None:
        self._clock.stop()
        self._reads_ahead = False
        self._found = duplicates
        self._notice.show_notice("")
        self._show()

    def show_problem(self, sentence: str) -> None:
        self._clock.stop()
        self._reads_ahead = False
        self._stack.setCurrentWidget(self._message)
        again = (tr("Try again"), self.compare)
        self._message.show_state(tr("The notes could not be compared"), sentence, actions=(again,))

    def clear(self) -> None:
        self._clock.stop()
        self._found = None
        self._show_hidden = False
        self._notice.show_notice("")
        self.groups.show_groups(())
        self._show_message(tr("Comparing the notes…"), "", stop=False)
        self.attention_changed.emit(())

    def _show_message(self, title: str, sentence: str, *, stop: bool) -> None:
        self._stack.setCurrentWidget(self._message)
        self._message.show_state(title, sentence, actions=((tr("Stop"), self._stop),) if stop else ())

    # --- showing ----------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        if self._found is None:
            return
        report, hidden = self._found.report, self._found.hidden
        there = [group for group in report.groups if group.key not in hidden]
        hidden_groups = len(report.groups) - len(there)
        listed = report.groups if self._show_hidden else tuple(there)
        self.attention_changed.emit(attention_of(there))
        self._summary.setText(summary_text(len(listed), report.found, report.files, hidden_groups))
        if not listed:
            if report.files:
                see = ((tr("Show hidden"), self._toggle_hidden),) if hidden_groups else ()
                self._message.show_state(tr(NOTHING), tr(NOTHING_MORE), actions=see)
            else:
                sync = (tr("Update now"), lambda: self.action_requested.emit("sync"))
                self._message.show_state(tr(NO_NOTES), tr(NO_NOTES_MORE), actions=(sync,))
            self.groups.show_groups(())
            self._stack.setCurrentWidget(self._message)
            return
        if hidden_groups and not self._notice.isVisible():
            words, act = tr("{count:,} hidden.", count=hidden_groups), tr("Show")
            if self._show_hidden:
                words, act = tr("Groups that you have hidden are listed, too."), tr("Hide these groups")
            self._notice.show_notice(words, act, self._toggle_hidden)
        self.comparison.show_hidden(hidden)
        self.groups.show_groups(listed)
        self._stack.setCurrentWidget(self._sides)

    @Slot()
    def _toggle_hidden(self) -> None:
        self._show_hidden = not self._show_hidden
        self._notice.show_notice("")
        self._show()

    def _hide(self, group: DuplicateGroup, *, hidden: bool) -> None:
        insight = self.insight
        if insight is not None:
            self._change.save(
                lambda _: insight.hide_duplicates(group.key, hidden=hidden),
                lambda _: self._was_hidden(group, hidden=hidden),
                self._hint.show_message,
            )

    def _was_hidden(self, group: DuplicateGroup, *, hidden: bool) -> None:
        if self._found is None:
            return
        keys = self._found.hidden | {group.key} if hidden else self._found.hidden - {group.key}
        self._found = Duplicates(self._found.report, keys)
        self._notice.show_notice("")
        self._show()
        if hidden:
            self._notice.show_notice(tr("The group is hidden."), tr("Undo"), lambda: self._hide(group, hidden=False))

    # --- between list and viewer -----------------------------------------------------------------------------------

    @Slot()
    def _go_to_pane(self) -> None:
        self._sides.show_reading(True)
        self.comparison.view.setFocus()

    @Slot()
    def _go_to_list(self) -> None:
        self._sides.show_reading(False)
        self.groups.take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.comparison.isAncestorOf(self.focusWidget() or self):
            self._go_to_list()
        else:
            super().keyPressEvent(event)
