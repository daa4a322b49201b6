"""The window of the guide: a box to search it, its pages or what was found, and the page that is read."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Signal, Slot
from PySide6.QtGui import (
    QDesktopServices,
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
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from engine import CancelToken, NumberedText, spoken, tr, tr_count
from gui.guide.finding import LANGUAGES, find
from gui.guide.pages import GuidePage, Section
from gui.job_slot import JobSlot
from gui.jobs import Jobs
from gui.style import font_at, set_role
from gui.viewer.finders import query_finder
from gui.viewer.lines import FileLines
from gui.viewer.outline import HeadingPlace, Outline, heading_key
from gui.viewer.rendered_view import RenderedView
from gui.viewer.typography import font_scale
from gui.widgets.announcing import announce
from gui.widgets.labels import label, line

_WIDTH, _HEIGHT = 880, 640
_FEWEST_LETTERS = 92
"""Of list and page together; with fewer, one stands in the other's place."""
_LIST_LETTERS = 30
_WEB = ("http", "https")
_PLACE = Qt.ItemDataRole.UserRole

Spot = tuple[str, str]
"""Name of a page and one of its headings; an empty heading is its top."""


class GuideWindow(QDialog):
    """Stands beside the main window, which can be used meanwhile.

    Signals:
        command_wanted: name of a command, by a link.
        setting_wanted: name of a setting, by a link.
    """

    command_wanted = Signal(str)
    setting_wanted = Signal(str)

    def __init__(self, jobs: Jobs, main: QWidget) -> None:
        super().__init__()  # no child of the main window: a dialog of that would block it
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setWindowTitle(tr("Guide"))
        self._jobs = jobs
        self._job = JobSlot(self)
        self._pages: tuple[GuidePage, ...] = ()
        self._language = LANGUAGES.get(spoken(), LANGUAGES["en"])
        """Of the pages, as the analysis names it."""
        self._spot: Spot = ("", "")
        self._wanted = ""
        """The page that is being made, or stands there."""
        self._shown = ""
        """The page on the screen."""
        self._before: list[Spot] = []
        self._reads = False
        self._box = QLineEdit()
        self._box.setPlaceholderText(tr("Search the guide"))
        self._box.setAccessibleName(tr("Search the guide"))
        self._box.setClearButtonEnabled(True)
        self._counts = label("", "meta")
        self._counts.hide()
        self._list = QListWidget()
        self._list.setAccessibleName(tr("Pages of the guide"))
        self._list.setWordWrap(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._text = RenderedView(jobs)
        self._text.setAccessibleName(tr("Page of the guide"))
        self._remark = label("", "meta", wrap=True)
        self._back = self._button(tr("Back"), self.back)
        self._contents = self._button(tr("Contents"), self._show_contents)
        self._close = self._button(tr("Close"), self.reject)
        self._lay_out()
        for widget in (self._box, self._list, self._text):
            widget.installEventFilter(self)
        self._box.textChanged.connect(self._find)
        self._list.currentItemChanged.connect(self._follow_list)
        self._list.itemActivated.connect(self._enter)
        self._list.itemClicked.connect(self._enter)
        self._text.followed.connect(self._follow)
        self._text.rendered.connect(self._take_page)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._focus_box)
        QShortcut(QKeySequence("Alt+Left"), self, self.back)
        self.resize(round(_WIDTH * font_scale()), round(_HEIGHT * font_scale()))
        self.resize(self.size().boundedTo(main.size()))

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
        """Whether the page that is wanted is on the screen."""
        return bool(self._pages) and self._shown == self._spot[0] and not self._job.busy

    @property
    def spot(self) -> Spot:
        """What is read."""
        return self._spot

    def take_pages(self, pages: tuple[GuidePage, ...]) -> None:
        """These are the pages, with the keys as they are now."""
        self._pages = pages
        self._wanted = self._shown = ""
        self._find()
        if self._spot[0]:
            self._render()

    def go_to(self, page: str, heading: str = "") -> None:
        """Read a page from here on; with Back one comes to what was read before."""
        if self._spot[0] and self._spot != (page, heading):
            self._before.append(self._spot)
        self._read((page, heading))

    @Slot()
    def back(self) -> None:
        if self._before:
            self._read(self._before.pop())

    def take_focus(self, *, reading: bool) -> None:
        """Into the page, or the box."""
        (self._text if reading else self._box).setFocus(Qt.FocusReason.OtherFocusReason)

    def say(self, sentence: str) -> None:
        """Below the page, until another one is read."""
        self._remark.setText(sentence)
        if sentence:
            announce(self, sentence)

    # --- the list ---------------------------------------------------------------------------------------------------

    @Slot()
    def _find(self) -> None:
        """Sections with what was typed; without it all pages."""
        query, pages, language = self._box.text().strip(), self._pages, self._language
        if self._box.hasFocus():
            self._reads = not self._narrow
            self._fold()
        if not query:
            self._job.cancel()
            self._fill([(page.title, (page.name, "")) for page in pages])
            self._say_counts("")
            self._mark()
            return

        def work(token: CancelToken) -> list[Section]:
            token.checkpoint()
            return find(pages, query, language)

        self._job.put(self._jobs.read(work, self._show_found))

    def _show_found(self, found: Sequence[Section]) -> None:
        self._job.done()
        rows = []
        for section in found:
            top = section.heading == section.title
            words = section.title if top else f"{section.heading}\n{section.title}"
            rows.append((words, (section.page, "" if top else section.heading)))
        self._say_counts(tr_count("{count:,} place", "{count:,} places", len(rows)) if rows else tr("Nothing found"))
        self._fill(rows)
        if rows:
            self._list.setCurrentRow(0)
        self._mark()

    def _say_counts(self, words: str) -> None:
        self._counts.setText(words)
        self._counts.setVisible(bool(words))
        if words:
            announce(self, words)

    def _fill(self, rows: Sequence[tuple[str, Spot]]) -> None:
        blocked = self._list.blockSignals(True)
        self._list.clear()
        for words, spot in rows:
            heading, _, title = words.partition("\n")
            told = tr("{heading}, in {page}", heading=heading, page=title) if title else words
            item = QListWidgetItem(words)
            item.setData(_PLACE, spot)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, told)
            self._list.addItem(item)
            if spot == self._spot:
                self._list.setCurrentItem(item)
        self._list.blockSignals(blocked)

    @Slot(QListWidgetItem)
    def _follow_list(self, item: QListWidgetItem | None) -> None:
        if item is not None and not self._narrow:
            self.go_to(*item.data(_PLACE))

    @Slot(QListWidgetItem)
    def _enter(self, item: QListWidgetItem) -> None:
        self.go_to(*item.data(_PLACE))
        self._text.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- the page ---------------------------------------------------------------------------------------------------

    def _read(self, spot: Spot) -> None:
        self._spot = spot
        self._reads = True
        self._back.setEnabled(bool(self._before))
        self.say("")
        blocked = self._list.blockSignals(True)
        for row in range(self._list.count()):
            if self._list.item(row).data(_PLACE) in (spot, (spot[0], "")):
                self._list.setCurrentRow(row)
                break
        self._list.blockSignals(blocked)
        self._fold()
        if self._pages:
            self._render()

    def _render(self) -> None:
        name, heading = self._spot
        at = HeadingPlace(heading_key(heading)) if heading else None
        if self._wanted == name == self._shown:
            self._text.go_to_heading(at)
            return
        page = next((page for page in self._pages if page.name == name), None)
        if page is not None:
            self._wanted, self._shown = name, ""
            self.setWindowTitle(tr("{page} – Guide", page=page.title))
            lines = FileLines(NumberedText.of(page.text))
            self._text.show_markdown(lines, Outline.of(lines, CancelToken()), at)

    @Slot()
    def _take_page(self) -> None:
        self._shown = self._wanted
        self._mark()

    @Slot()
    def _mark(self) -> None:
        """Mark what was searched for."""
        query = self._box.text().strip()
        self._text.set_finders(query_finder(query, self._language) if query else None, None)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        """A link of the guide's own text: to another page, a command, a setting, or the web."""
        if url.scheme() == "command":
            self.command_wanted.emit(url.path())
        elif url.scheme() == "setting":
            self.setting_wanted.emit(url.path())
        elif url.scheme() in _WEB:
            QDesktopServices.openUrl(url)
        else:
            self.go_to(url.path().removesuffix(".md") or self._spot[0], url.fragment())

    # --- room and keys ----------------------------------------------------------------------------------------------

    @property
    def _narrow(self) -> bool:
        return self.width() < QFontMetrics(font_at(13)).averageCharWidth() * _FEWEST_LETTERS

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
        """Down and Enter lead on, Esc leads back."""
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
        if self._pages and self._spot[0] and self._shown != self._spot[0]:
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
