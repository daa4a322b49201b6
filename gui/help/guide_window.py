"""The window of the guide: a search box, its pages or the search results, and the current page."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import (
    QFontMetrics,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from engine import CancelToken, tr, tr_count
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.help.page_view import GuidePageList, GuidePageView, Spot
from gui.help.pages import GuidePage, Section, find
from gui.style.stylesheet import font_at, letter_width, set_role
from gui.style.typography import resize_with_text
from gui.widgets.announcer import announce
from gui.widgets.labels import label, line

_WIDTH, _HEIGHT = 880, 640
_FEWEST_LETTERS = 92
"""Fewest characters of list and page together; with less room, one replaces the other."""
_LIST_LETTERS = 30


class GuideWindow(QDialog):
    """Non-modal, next to the main window.

    Signals: command_wanted: name of a command, by a link. setting_wanted: name of a setting, by a link.
    """

    command_wanted = Signal(str)
    setting_wanted = Signal(str)

    def __init__(self, jobs: Jobs, main: QWidget) -> None:
        super().__init__()  # no child of the main window: a dialog of that would block it
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setWindowTitle(tr("Guide"))
        self._jobs = jobs
        self._job = JobSlot(self)
        self._location: Spot = ("", "")
        self._before: list[Spot] = []
        self._reads = False
        self._box = QLineEdit()
        self._box.setPlaceholderText(tr("Search the guide"))
        self._box.setAccessibleName(tr("Search the guide"))
        self._box.setClearButtonEnabled(True)
        self._counts = label("", "meta")
        self._counts.hide()
        self._list = GuidePageList()
        self._text = GuidePageView(jobs)
        self._remark = label("", "meta", wrap=True)
        self._back = self._button(tr("Back"), self.back)
        self._contents = self._button(tr("Contents"), self._show_contents)
        self._close = self._button(tr("Close"), self.reject)
        self._lay_out()
        for widget in (self._box, self._list, self._text):
            widget.installEventFilter(self)
        self._box.textChanged.connect(self._find)
        self._list.reached.connect(self._follow_list)
        self._list.entered.connect(self._enter)
        self._text.page_wanted.connect(self._follow_link)
        self._text.command_wanted.connect(self.command_wanted)
        self._text.setting_wanted.connect(self.setting_wanted)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._focus_box)
        QShortcut(QKeySequence("Alt+Left"), self, self.back)
        resize_with_text(self, _WIDTH, _HEIGHT, main)

    @staticmethod
    def _button(words: str, run: Callable[[], object]) -> QPushButton:
        made = QPushButton(words)
        made.setAutoDefault(False)
        made.clicked.connect(lambda _checked: run())
        return made

    def _lay_out(self) -> None:
        top = QHBoxLayout()
        top.setContentsMargins(16, 12, 16, 10)
        top.setSpacing(10)
        top.addWidget(self._box, 1)
        top.addWidget(self._counts)
        self._side = QWidget()
        side = QVBoxLayout(self._side)
        side.setContentsMargins(0, 0, 0, 0)
        side.addWidget(self._list)
        self._between = line(vertical=True)
        middle = QHBoxLayout()
        middle.setSpacing(0)
        middle.addWidget(self._side)
        middle.addWidget(self._between)
        middle.addWidget(self._text, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 8, 16, 10)
        foot.setSpacing(8)
        foot.addWidget(self._back)
        foot.addWidget(self._contents)
        foot.addWidget(self._remark, 1)
        foot.addWidget(self._close)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addLayout(top)
        self._line = line()
        page.addWidget(self._line)
        page.addLayout(middle, 1)
        page.addWidget(line())
        page.addLayout(foot)

    # --- for the owner ----------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the requested page is shown."""
        return bool(self._text.pages) and self._text.shown == self._location[0] and not self._job.busy

    @property
    def location(self) -> Spot:
        """What is read."""
        return self._location

    def take_pages(self, pages: tuple[GuidePage, ...]) -> None:
        """Set the pages, with the current keys."""
        self._text.take_pages(pages)
        self._find()
        if self._location[0]:
            self._render()

    def go_to(self, page: str, heading: str = "") -> None:
        """Show a page at a heading; Back returns to the previous one."""
        if self._location[0] and self._location != (page, heading):
            self._before.append(self._location)
        self._read((page, heading))

    @Slot()
    def back(self) -> None:
        if self._before:
            self._read(self._before.pop())

    def take_focus(self, *, reading: bool) -> None:
        """Into the page, or the box."""
        (self._text if reading else self._box).setFocus(Qt.FocusReason.OtherFocusReason)

    def say(self, sentence: str) -> None:
        """Show a message below the page, until another page is opened."""
        self._remark.setText(sentence)
        if sentence:
            announce(self, sentence)

    # --- the list ---------------------------------------------------------------------------------------------------

    @Slot()
    def _find(self) -> None:
        """List sections with the typed text; without it all pages."""
        query, pages, language = self._box.text().strip(), self._text.pages, self._text.language
        if self._box.hasFocus():
            self._reads = not self._narrow
            self._fold()
        if not query:
            self._job.cancel()
            self._list.show_pages(pages, self._location)
            self._say_counts("")
            self._text.mark("")
            return

        def work(token: CancelToken) -> list[Section]:
            token.checkpoint()
            return find(pages, query, language)

        self._job.put(self._jobs.read(work, partial(self._show_found, query)))

    def _show_found(self, query: str, found: Sequence[Section]) -> None:
        self._job.done()
        self._say_counts(tr_count("{count:,} place", "{count:,} places", len(found)) if found else tr("Nothing found"))
        self._list.show_found(found, self._location)
        self._text.mark(query)

    def _say_counts(self, words: str) -> None:
        self._counts.setText(words)
        self._counts.setVisible(bool(words))
        if words:
            announce(self, words)

    @Slot(str, str)
    def _follow_list(self, page: str, heading: str) -> None:
        if not self._narrow:
            self.go_to(page, heading)

    @Slot(str, str)
    def _enter(self, page: str, heading: str) -> None:
        self.go_to(page, heading)
        self._text.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- the page ---------------------------------------------------------------------------------------------------

    def _read(self, spot: Spot) -> None:
        self._location = spot
        self._reads = True
        self._back.setEnabled(bool(self._before))
        self.say("")
        self._list.stand_at(spot)
        self._fold()
        self._render()

    def _render(self) -> None:
        page = self._text.show_spot(self._location)
        if page is not None:
            self.setWindowTitle(tr("{page} – Guide", page=page.title))

    @Slot(str, str)
    def _follow_link(self, page: str, heading: str) -> None:
        self.go_to(page or self._location[0], heading)

    # --- layout and focus -------------------------------------------------------------------------------------------

    @property
    def _narrow(self) -> bool:
        return self.width() < letter_width() * _FEWEST_LETTERS

    def _fold(self) -> None:
        narrow = self._narrow
        letter = QFontMetrics(font_at(13)).averageCharWidth()
        self._side.setFixedWidth(self.width() if narrow else letter * _LIST_LETTERS)
        self._side.setHidden(narrow and self._reads)
        self._text.setHidden(narrow and not self._reads)
        self._between.setHidden(narrow)
        self._contents.setVisible(narrow and self._reads)
        self._back.setEnabled(bool(self._before))

    @Slot()
    def _show_contents(self) -> None:
        """To the list."""
        self._reads = not self._narrow
        self._fold()
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _focus_box(self) -> None:
        self._reads = not self._narrow
        self._fold()
        self._box.setFocus(Qt.FocusReason.OtherFocusReason)
        self._box.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._text and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            reading = event.type() == QEvent.Type.FocusIn  # as above the text of a note
            set_role(self._line, "line-active" if reading else "line")
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._take_key(watched, Qt.Key(event.key()))
        return False

    def _take_key(self, watched: QObject, key: Qt.Key) -> bool:
        """Down and Enter move forward, Esc moves back."""
        into_list = watched is self._box and key in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if into_list and self._list.count():
            self._show_contents()
            if self._list.currentRow() < 0:
                self._list.setCurrentRow(0)
        elif key == Qt.Key.Key_Escape and watched is self._text:
            self._show_contents()
        elif key == Qt.Key.Key_Escape and watched is self._list:
            self._focus_box()
        elif key == Qt.Key.Key_Escape and self._box.text():
            self._box.clear()
        else:
            return into_list
        return True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._location[0] and self._text.shown != self._location[0]:
            self._render()

    def hideEvent(self, event: QHideEvent) -> None:
        """Nobody waits for anything any more."""
        super().hideEvent(event)
        self._job.cancel()
        self._text.cancel()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fold()
