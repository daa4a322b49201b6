"""The main part of the facts view: the list and the editor next to it, or one of them in a narrow window."""

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize, Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QKeySequence, QPainter
from PySide6.QtWidgets import QFrame, QPushButton, QSplitter, QStyleOptionViewItem, QWidget

from engine import Fact, tr
from gui.commands.commands import menu_entry, show_key_in_tooltip
from gui.commands.keymap import command
from gui.facts.editor import FactEditor
from gui.facts.wording import age_text, meta_text
from gui.search.result_list import copy_text
from gui.style.stylesheet import character_width, font_at
from gui.style.theme import Tokens
from gui.style.typography import Resized
from gui.text.right_to_left import correct_margins, margins
from gui.widgets.labels import AT_RIGHT, ElidedLabel, line, write_line
from gui.widgets.layouts import PageStack, column_of, row_of
from gui.widgets.message_banner import NoticeBar
from gui.widgets.placeholder_page import Action, StatePage
from gui.widgets.row_list import GUTTER, RowList
from gui.widgets.rows import Index, RowDelegate, RowModel, RowRole, paint_row_background

NEW = command("facts.new", "New fact", "facts", "Ctrl+N")
_MIN_CHARACTERS = 96
"""Minimum width of list and editor side by side, in characters; with less room, one replaces the other."""
_LIST_SHARE = (3, 2)


_COPY = command("facts.copy", "Copy the fact", "facts", QKeySequence.StandardKey.Copy)
_FORGET = command("facts.forget", "Forget the fact", "facts", "Delete")
_PAD = 8
_GAP = 12


@dataclass(frozen=True)
class FactRow:
    fact: Fact

    @property
    def key(self) -> str:
        return self.fact.id


class FactModel(RowModel):
    """The Qt model of the list of facts, without headings."""

    def spoken(self, row: FactRow) -> str:
        return f"{row.fact.text}. {meta_text(row.fact)}, {age_text(row.fact)}"

    def tip(self, row: FactRow) -> str:
        return row.fact.text


class _Delegate(RowDelegate):
    """Paints a fact on two lines: its text and its details."""

    def restyle(self) -> None:
        """Recompute row heights after a change of the font."""
        self._fonts = font_at(13), font_at(12)
        self._heights = [round(QFontMetrics(font).height() * 1.3) for font in self._fonts]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, sum(self._heights) + 2 * _PAD)

    def paint_row(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, colours: Tokens) -> None:
        fact = index.data(RowRole).fact
        is_forgotten = fact.forgotten is not None
        paint_row_background(painter, option, colours)
        rect = option.rect.adjusted(GUTTER, _PAD, -GUTTER, 0)
        rect.setHeight(self._heights[0])
        text, small = self._fonts
        write_line(painter, rect, " ".join(fact.text.split()), (text, colours.muted if is_forgotten else colours.text))
        rect.translate(0, self._heights[0])
        rect.setHeight(self._heights[1])
        age = write_line(painter, rect, age_text(fact), (small, colours.muted), at=AT_RIGHT)
        rect.setRight(rect.right() - age - _GAP)
        colour = colours.degraded if fact.pending and not is_forgotten else colours.muted
        write_line(painter, rect, meta_text(fact), (small, colour))


class FactList(RowList):
    """Widget that lists facts and offers actions on them.

    Signals:
        forget_requested: forget the fact, by Delete or the menu.
    """

    forget_requested = Signal(object)

    def __init__(self) -> None:
        super().__init__(FactModel(), tr("Facts"))
        self.setUniformItemSizes(True)
        self.setItemDelegate(_Delegate(self))
        self.doubleClicked.connect(self._activate)
        self.add_action(_COPY, lambda fact: copy_text(fact.text))
        self.add_action(_FORGET, self.forget_requested.emit)
        self.menu_requested.connect(self._show_menu)

    def show_facts(self, facts: Sequence[Fact]) -> None:
        """Show these facts. The current fact stays current if it still exists, else the one at its position."""
        rows = [FactRow(fact) for fact in facts]
        if self.rows.shows(rows):
            return
        position = self._remember()
        before = self.current
        with self._rearranging():
            self._set_rows(rows)
            if rows:
                self._return_to(position)
        if self.current != before:
            self.current_changed.emit(self.current)

    @property
    def current(self) -> Fact | None:
        row = self.rows.row(self.currentIndex().row())
        return None if row is None else row.fact

    def go_to(self, id_: str) -> bool:
        """Select the fact with this id; returns False if it isn't listed."""
        number = self.rows.position(id_)
        if number >= 0:
            self._set_current(number)
            self.scrollTo(self.rows.index(number))
        return number >= 0

    def _show_menu(self, at: QPoint) -> None:
        fact = self.current
        if fact is None:
            return
        edit = menu_entry(tr("Edit") if fact.forgotten is None else tr("Show"), self.open_current)
        edit.setShortcut("Return")
        self.open_menu(at, edit, _COPY, *((_FORGET,) if fact.forgotten is None else ()))


class FactsBody(Resized, QWidget):
    """The layout of list, editor and notices; the panel sets their contents."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.notice = NoticeBar(self)
        """Messages with an undo action."""
        self._split = QSplitter(Qt.Orientation.Horizontal, self)
        self._list_side = QWidget(self._split)
        self.new_button = QPushButton(tr("New fact"), self._list_side)
        show_key_in_tooltip(self.new_button, tr("Write a fact"), NEW.name)
        self._counts = ElidedLabel(parent=self._list_side)
        self._counts.setProperty("role", "meta")
        self._remark = NoticeBar(self._list_side)
        self._stack = PageStack(self._list_side)
        self.page = StatePage(self._stack)
        self.list = FactList()
        self._editing = False
        head = row_of((self._counts, 1), self.new_button, margins=margins(16, 8, 12, 8))
        column_of(head, line(), self._remark, (self._stack, 1), spacing=0, parent=self._list_side)
        self._stack.addWidget(self.page)
        self._stack.addWidget(self.list)
        self._side = side = QFrame(self._split)
        side.setProperty("role", "side")
        self.editor = FactEditor(side)
        column_of(self.editor, parent=side)
        self._split.setHandleWidth(1)
        correct_margins(self._split)
        self._split.setChildrenCollapsible(False)
        for index, stretch in enumerate(_LIST_SHARE):  # of the list and the editor
            self._split.setStretchFactor(index, stretch)
        self._split.setSizes([600, 400])
        self._split.setMinimumWidth(1)  # it folds where both are too wide
        column_of(self.notice, (self._split, 1), spacing=0, parent=self)
        self.fit()

    def show_facts(self, facts: Sequence[Fact], counts: str) -> None:
        """Show these facts in the list."""
        self._counts.setText(counts)
        self._stack.setCurrentWidget(self.list)
        self.list.show_facts(facts)
        self.list.setAccessibleDescription(counts)
        if not self.list.currentIndex().isValid():
            self.list.go_to(facts[0].id)
        self.fit()

    def show_page(self, title: str, sentence: str, actions: Sequence[Action] = (), counts: str = "") -> None:
        """Show a message in place of the list."""
        self._counts.setText(counts)
        self.list.show_facts(())
        self.page.show_state(title, sentence, actions=actions)
        self._stack.setCurrentWidget(self.page)
        self.fit()

    def note(self, sentence: str) -> None:
        """Show a note above the list; an empty sentence hides it."""
        self._remark.show_notice(sentence)

    def begin_new(self, text: str = "") -> None:
        """Start a new fact with this text in the editor."""
        self._editing = True
        self.editor.begin_new(text)
        self.fit()
        self.editor.take_focus()

    @Slot()
    def go_to_editor(self) -> None:
        self._editing = True
        self.fit()
        self.editor.take_focus()

    def go_to_list(self) -> None:
        """Show the list instead of the editor in a narrow window; `focus_list` moves the focus."""
        self._editing = False
        self.fit()

    def focus_list(self) -> bool:
        """Focus the list, or the buttons shown without facts; returns False if there are none."""
        self.go_to_list()
        if self._stack.currentWidget() is self.list:
            self.list.take_focus()
            return True
        return self.page.take_focus()

    def fit(self) -> None:
        narrow = self.width() < character_width() * _MIN_CHARACTERS
        empty = self.editor.fact is None and not self.editor.is_new
        self._list_side.setHidden(narrow and self._editing and not empty)
        self._side.setHidden(empty or (narrow and not self._editing))
        self.editor.back.setVisible(narrow)
