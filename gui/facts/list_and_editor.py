"""What the view of facts shows below the top bar: the list and the editor beside it, or in its place."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from engine import Fact, tr
from gui.commands.binding import tell_key
from gui.commands.keymap import command
from gui.facts.editor import FactEditor
from gui.facts.fact_list import FactList
from gui.style.stylesheet import letter_width
from gui.widgets.elided import ElidedLabel
from gui.widgets.labels import line
from gui.widgets.mirrored import keep_inside, margins
from gui.widgets.notice_bar import NoticeBar
from gui.widgets.state_page import Action, StatePage

NEW = command("facts.new", "New fact", "facts", "Ctrl+N")
_FEWEST_LETTERS = 96
"""Of list and editor together; with fewer, one stands in the other's place."""
_LIST_SHARE = (3, 2)


class FactsBody(QWidget):
    """Arranges its parts; the panel fills them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.list = FactList()
        self.editor = FactEditor()
        self.notice = NoticeBar()
        """What was done, and the way back from it."""
        self._remark = NoticeBar()
        self.new_button = QPushButton(tr("New fact"))
        tell_key(self.new_button, tr("Write a fact"), NEW.name)
        self._counts = ElidedLabel()
        self._counts.setProperty("role", "meta")
        self.page = StatePage()
        self._stack = QStackedWidget()
        self._editing = False
        head = QHBoxLayout()
        head.setContentsMargins(margins(16, 8, 12, 8))
        head.addWidget(self._counts, 1)
        head.addWidget(self.new_button)
        self._left = QWidget()
        column = QVBoxLayout(self._left)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(line())
        column.addWidget(self._remark)
        self._stack.addWidget(self.page)
        self._stack.addWidget(self.list)
        column.addWidget(self._stack, 1)
        side = QFrame()
        side.setProperty("role", "side")
        inside = QVBoxLayout(side)
        inside.setContentsMargins(0, 0, 0, 0)
        inside.addWidget(self.editor)
        self._side = side
        self._split = QSplitter(Qt.Orientation.Horizontal)
        self._split.setHandleWidth(1)
        keep_inside(self._split)
        self._split.setChildrenCollapsible(False)
        for place, (part, stretch) in enumerate(zip((self._left, side), _LIST_SHARE, strict=True)):
            self._split.addWidget(part)
            self._split.setStretchFactor(place, stretch)
        self._split.setSizes([600, 400])
        self._split.setMinimumWidth(1)  # it folds where both are too wide
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self.notice)
        page.addWidget(self._split, 1)
        self._fold()

    def show_facts(self, facts: Sequence[Fact], counts: str) -> None:
        """The list."""
        self._counts.setText(counts)
        self._stack.setCurrentWidget(self.list)
        self.list.show_facts(facts)
        self.list.setAccessibleDescription(counts)
        if not self.list.currentIndex().isValid():
            self.list.go_to(facts[0].id)
        self._fold()

    def show_page(self, title: str, sentence: str, actions: Sequence[Action] = (), counts: str = "") -> None:
        """Words in place of the list."""
        self._counts.setText(counts)
        self.list.show_facts(())
        self.page.show_state(title, sentence, actions=actions)
        self._stack.setCurrentWidget(self.page)
        self._fold()

    def note(self, sentence: str) -> None:
        """What qualifies the list; nothing for an empty sentence."""
        self._remark.show_notice(sentence)

    def begin_new(self, text: str = "") -> None:
        """Write a fact that there is not yet."""
        self._editing = True
        self.editor.begin_new(text)
        self._fold()
        self.editor.take_focus()

    @Slot()
    def go_to_editor(self) -> None:
        self._editing = True
        self._fold()
        self.editor.take_focus()

    def go_to_list(self) -> None:
        """Leave the editor; the focus goes where `focus_list` says."""
        self._editing = False
        self._fold()

    def focus_list(self) -> bool:
        """Into the list, or to what can be done without facts; False where there is nothing."""
        self.go_to_list()
        if self._stack.currentWidget() is self.list:
            self.list.take_focus()
            return True
        return self.page.take_focus()

    def _fold(self) -> None:
        narrow = self.width() < letter_width() * _FEWEST_LETTERS
        empty = self.editor.fact is None and not self.editor.is_new
        self._left.setHidden(narrow and self._editing and not empty)
        self._side.setHidden(empty or (narrow and not self._editing))
        self.editor.back.setVisible(narrow)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
