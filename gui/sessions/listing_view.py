"""The body of the sessions panel: counts, a notice, and the list or a page instead of it."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from engine import marked, tr, usual_folders
from gui.sessions import messages
from gui.sessions.rows import Row
from gui.sessions.session_list import SessionList
from gui.widgets.labels import breakable, label
from gui.widgets.list_header import ListHeader, Order
from gui.widgets.message import NoticeBar
from gui.widgets.state_page import Action, StatePage

ORDERS = (
    Order("newest", marked("Newest"), marked("newest"), marked("Last used first")),
    Order("oldest", marked("Oldest"), marked("oldest"), marked("Last used last")),
    Order("longest", marked("Longest"), marked("longest"), marked("Most messages first")),
    Order("project", marked("Project"), marked("project"), marked("By the folder that the agent worked in")),
)


class ListingView(QWidget):
    """Shows one page at a time: a sentence with actions, or sessions."""

    order_chosen = Signal(str)
    parts_wanted = Signal(bool)
    """Whether the sessions of all sub-agents are to be shown."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.header = ListHeader(ORDERS)
        self.header.sort_button.add_option(tr("Show sub-agents"), self.parts_wanted.emit)
        self.notice = NoticeBar()
        self.list = SessionList()
        self.page = StatePage()
        self._content: tuple[object, ...] = ()
        self._counts = ""
        self._stack = QStackedWidget()
        self._stack.addWidget(self.page)
        self._stack.addWidget(self.list)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.header, self.notice, self._stack):
            column.addWidget(widget)
        self.header.order_chosen.connect(self.order_chosen)

    @property
    def has_rows(self) -> bool:
        return self._stack.currentWidget() is self.list

    def show_rows(
        self,
        rows: Sequence[Row],
        counts: tuple[str, ...],
        *,
        words: Sequence[str] = (),
        keep: bool = False,
        sortable: bool = True,
    ) -> None:
        """The list, with `words` marked. `counts`: the same at length and shorter."""
        self.header.show_counts(*counts, legend=False, sortable=sortable)
        self.list.setAccessibleDescription(counts[0])
        self._stack.setCurrentWidget(self.list)
        self.list.show_rows(rows, words, keep=keep)
        self._announce(counts[0])

    def show_page(
        self,
        words: tuple[str, str],
        counts: str = "",
        *,
        actions: Sequence[Action] = (),
        make_table: Callable[[], QWidget] | None = None,
    ) -> None:
        """A title and a sentence in place of the list."""
        content = (words, counts, tuple(text for text, _ in actions))
        if not self.has_rows and content == self._content:
            return  # a repeat must not take a focused button away
        self._content = content
        self.header.show_counts(counts, legend=False, sortable=False)
        self.page.show_state(*words, actions=actions, table=make_table() if make_table else None)
        self._stack.setCurrentWidget(self.page)
        self.list.show_rows((), (), keep=False)
        self._announce(" ".join(part for part in words if part))

    def _announce(self, sentence: str) -> None:
        if sentence != self._counts and QAccessible.isActive():
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self, sentence))
        self._counts = sentence


def make_place_table() -> QWidget:
    """Where the agents keep their sessions."""
    table = QWidget()
    column = QVBoxLayout(table)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    for agent, folder in usual_folders():
        column.addWidget(label(agent))
        column.addWidget(label(breakable(folder or tr(messages.DOWNLOADED)), "meta", wrap=True))
        column.addSpacing(6)
    return table
