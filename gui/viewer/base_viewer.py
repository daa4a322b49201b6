"""Base of the viewers of files and sessions: a header above pages, finding, keys, and the focus."""

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from engine import tr
from gui.commands.binding import key_action
from gui.commands.commands import FIND, NEXT_HIT, PREVIOUS_HIT
from gui.core.jobs import Jobs
from gui.viewer.chunks.card import ChunkCard
from gui.viewer.find_in_text import FindInText
from gui.viewer.find_messages import FindMessages
from gui.viewer.notice_page import EmptyPage, Hint
from gui.widgets.message import Banner


class BaseViewer(QWidget):
    """One page at a time, including an empty one with a message; the page has the panel's focus.

    Signals: escape_pressed: Esc without an open find bar; the window moves the focus back to the list.
    """

    escape_pressed = Signal()

    def __init__(self, jobs: Jobs, words: FindMessages, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.empty_page = EmptyPage()
        self.page: QWidget = self.empty_page
        self.card: ChunkCard | None = None
        self._stack = QStackedWidget()
        self.hint = Hint(self._stack)
        self.banner = Banner()
        self.banner.left.connect(self.setFocus)
        self.finding = FindInText(jobs, self, words)
        self.finding.closed.connect(self._close_find)
        self.finding.notice.connect(self.hint.say)
        self.find_action = key_action(self, FIND, tr(words.find))
        self.find_action.triggered.connect(self._open_find)
        for hit, forward in ((NEXT_HIT, True), (PREVIOUS_HIT, False)):
            step = key_action(self, hit)
            step.triggered.connect(lambda _=False, forward=forward: self.finding.step(forward))

    def _put_together(self, header: QWidget, show_active: Callable[[bool], None], *pages: QWidget) -> None:
        """Stack the header, messages, the find bar, and one of `pages` or the empty one.

        `show_active` is called with whether one of `pages` has the focus.
        """
        self._show_active = show_active
        for page in (self.empty_page, *pages):
            self._stack.addWidget(page)
        for page in pages:
            page.installEventFilter(self)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (header, self.banner, self.finding.bar):
            column.addWidget(part)
        column.addWidget(self._stack, 1)

    def _put_below(self, card: ChunkCard) -> None:
        """A card below the pages, which Esc closes first."""
        self.card = card
        self._column.addWidget(card)
        card.left.connect(self.setFocus)

    def _show_page(self, page: QWidget) -> None:
        had_focus = self.page.hasFocus()
        self.page = page
        self._stack.setCurrentWidget(page)
        if had_focus:
            page.setFocus()

    def _open_find(self) -> None:
        """Open the find bar, if there is something to find in."""
        raise NotImplementedError

    def _close_find(self) -> None:
        if self.finding.open and self.finding.close():
            self.page.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show_active(event.type() == QEvent.Type.FocusIn)
        return super().eventFilter(watched, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The page takes it; a focus proxy would make Tab pass over the buttons above."""
        self.page.setFocus(event.reason())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys that the page does not use itself."""
        match event.key():
            case Qt.Key.Key_N:
                self.finding.step(not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            case Qt.Key.Key_Escape if self.finding.open:
                self._close_find()
            case Qt.Key.Key_Escape if self.card is not None and not self.card.isHidden():
                self.card.close_card()
            case Qt.Key.Key_Escape:
                self.escape_pressed.emit()
            case _:
                super().keyPressEvent(event)
