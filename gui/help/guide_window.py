"""The window of the guide: a search box, its pages or the search results, and the current page with marked words."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, QUrl, Signal, Slot
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
    QListWidget,
    QListWidgetItem,
    QPushButton,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from engine import CancelToken, NumberedText, current_language, tr, tr_count
from gui.core.jobs import Jobs, JobSlot
from gui.help.pages import LANGUAGES, GuidePage, Section, search_pages
from gui.style.stylesheet import character_width, font_at, set_role
from gui.style.typography import FontSized, resize_with_text
from gui.viewer.match_list import query_finder
from gui.viewer.outline import HeadingPosition, Outline, heading_key
from gui.viewer.rendered_view import RenderedView
from gui.viewer.text_lines import FileLines
from gui.widgets.accessibility import announce
from gui.widgets.buttons import push_button
from gui.widgets.labels import label, line
from gui.widgets.layouts import column_of, row_of
from gui.widgets.query_box import SearchField

_WIDTH, _HEIGHT = 880, 640
_MIN_CHARACTERS = 92
"""Minimum width of list and page side by side, in characters; with less room, one replaces the other."""
_LIST_CHARACTERS = 30

_LOCATION = Qt.ItemDataRole.UserRole

GuideLocation = tuple[str, str]
"""Name of a page and one of its headings; an empty heading is its top."""

_WEB = ("http", "https")


class GuideWindow(FontSized, QDialog):
    """The guide's window, non-modal next to the main window."""

    def __init__(self, jobs: Jobs, main: QWidget) -> None:
        super().__init__()  # no child of the main window: a dialog of that would block it
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setWindowTitle(tr("Guide"))
        self._job = JobSlot(self, jobs)
        self.location: GuideLocation = ("", "")
        """The page and the heading that are shown."""
        self._before: list[GuideLocation] = []
        self._reads = False
        self._box = SearchField(tr("Search the guide"))
        self._counts = label("", "meta")
        self._counts.hide()
        self._list = GuidePageList()
        self.text = GuidePageView(jobs)
        self._remark = label("", "meta", wrap=True)
        self._back = self._button(tr("Back"), self.back)
        self._contents = self._button(tr("Contents"), self._show_contents)
        self._close = self._button(tr("Close"), self.reject)
        self._lay_out()
        for widget in (self._list, self.text):
            widget.installEventFilter(self)
        self._box.list_requested.connect(self._go_to_list)
        self._box.textChanged.connect(self._find)
        self._list.reached.connect(self._follow_list)
        self._list.entered.connect(self._enter)
        self.text.page_requested.connect(self._follow_link)
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._focus_box)
        QShortcut(QKeySequence("Alt+Left"), self, self.back)
        resize_with_text(self, _WIDTH, _HEIGHT, main)

    @staticmethod
    def _button(words: str, run: Callable[[], object]) -> QPushButton:
        button = push_button(words, run)
        button.setAutoDefault(False)
        return button

    def _lay_out(self) -> None:
        top = row_of((self._box, 1), self._counts, spacing=10, margins=(16, 12, 16, 10))
        self._side = QWidget()
        column_of(self._list, parent=self._side)
        self._between = line(vertical=True)
        middle = row_of(self._side, self._between, (self.text, 1), spacing=0)
        foot = row_of(self._back, self._contents, (self._remark, 1), self._close, spacing=8, margins=(16, 8, 16, 10))
        self._line = line()
        column_of(top, self._line, (middle, 1), line(), foot, spacing=0, parent=self)

    # --- for the owner ----------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the requested page is shown."""
        return bool(self.text.pages) and self.text.shown_page == self.location[0] and not self._job.busy

    def set_pages(self, pages: tuple[GuidePage, ...]) -> None:
        """Set the pages of the guide; they contain the current keys."""
        self.text.set_pages(pages)
        self._find()
        if self.location[0]:
            self._render()

    def go_to(self, page: str, heading: str = "") -> None:
        """Show a page at a heading; Back returns to the previous one."""
        if self.location[0] and self.location != (page, heading):
            self._before.append(self.location)
        self._read((page, heading))

    @Slot()
    def back(self) -> None:
        if self._before:
            self._read(self._before.pop())

    def take_focus(self, *, reading: bool) -> None:
        """Focus the page if `reading`, else the search box."""
        (self.text if reading else self._box).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_message(self, sentence: str) -> None:
        """Show a message below the page, until another page is opened."""
        self._remark.setText(sentence)
        if sentence:
            announce(self, sentence)

    # --- the list ---------------------------------------------------------------------------------------------------

    @Slot()
    def _find(self) -> None:
        """List the sections that contain the typed text; without a text, all pages."""
        query, pages, language = self._box.text().strip(), self.text.pages, self.text.language
        if self._box.hasFocus():
            self._reads = not self._narrow
            self.measure()
        if not query:
            self._job.cancel()
            self._list.show_pages(pages, self.location)
            self._show_counts("")
            self.text.mark("")
            return

        def work(token: CancelToken) -> list[Section]:
            token.checkpoint()
            return search_pages(pages, query, language)

        self._job.read(work, partial(self._show_found, query))

    def _show_found(self, query: str, sections: Sequence[Section]) -> None:
        self._show_counts(
            tr_count("{count:,} match in the guide", "{count:,} matches in the guide", len(sections))
            if sections
            else tr("Nothing found")
        )
        self._list.show_found(sections, self.location)
        self.text.mark(query)

    def _show_counts(self, words: str) -> None:
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
        self.text.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- the page ---------------------------------------------------------------------------------------------------

    def _read(self, location: GuideLocation) -> None:
        self.location = location
        self._reads = True
        self._back.setEnabled(bool(self._before))
        self.show_message("")
        self._list.set_current(location)
        self.measure()
        self._render()

    def _render(self) -> None:
        page = self.text.show_location(self.location)
        if page is not None:
            self.setWindowTitle(tr("{page} – Guide", page=page.title))

    @Slot(str, str)
    def _follow_link(self, page: str, heading: str) -> None:
        self.go_to(page or self.location[0], heading)

    # --- layout and focus -------------------------------------------------------------------------------------------

    @property
    def _narrow(self) -> bool:
        return self.width() < character_width() * _MIN_CHARACTERS

    def measure(self) -> None:
        narrow = self._narrow
        letter = QFontMetrics(font_at(13)).averageCharWidth()
        self._side.setFixedWidth(self.width() if narrow else letter * _LIST_CHARACTERS)
        self._side.setHidden(narrow and self._reads)
        self.text.setHidden(narrow and not self._reads)
        self._between.setHidden(narrow)
        self._contents.setVisible(narrow and self._reads)
        self._back.setEnabled(bool(self._before))

    @Slot()
    def _show_contents(self) -> None:
        """Show the list of pages."""
        self._reads = not self._narrow
        self.measure()
        self._list.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _go_to_list(self) -> None:
        if self._list.count():
            self._show_contents()
            self._list.setCurrentRow(max(0, self._list.currentRow()))

    @Slot()
    def _focus_box(self) -> None:
        self._reads = not self._narrow
        self.measure()
        self._box.setFocus(Qt.FocusReason.OtherFocusReason)
        self._box.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.text and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            reading = event.type() == QEvent.Type.FocusIn  # the same line as above a note's text shows the focus
            set_role(self._line, "line-active" if reading else "line")
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._handle_key(watched, Qt.Key(event.key()))
        return False

    def _handle_key(self, watched: QObject, key: Qt.Key) -> bool:
        """Move back to the previous part of the window by Escape; returns whether the key was used."""
        if key == Qt.Key.Key_Escape:
            (self._show_contents if watched is self.text else self._focus_box)()
        return key == Qt.Key.Key_Escape

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.location[0] and self.text.shown_page != self.location[0]:
            self._render()

    def hideEvent(self, event: QHideEvent) -> None:
        """Cancel the window's running jobs when it is hidden."""
        super().hideEvent(event)
        self._job.cancel()
        self.text.cancel()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.measure()


# --- The list of pages, or of the sections that a search found -------------------------------------------------------


ITEM_SIDES = 28
"""Padding and border of both sides of an item, from the style sheet."""


class _WrappedItems(QStyledItemDelegate):
    """Gives wrapped items their height; Qt's own forgets the padding, so that a title just too long would be cut.

    It also subtracts a scroll bar that the width excludes already, so that a shorter title would get an empty line.
    """

    def __init__(self, items: QListWidget) -> None:
        super().__init__(items)
        self._items = items

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        option.rect = QRect(0, 0, self._items.viewport().width() - ITEM_SIDES, option.rect.height())
        return super().sizeHint(option, index)


class GuidePageList(QListWidget):
    """A list of the guide's pages, or of the sections that a search found.

    Signals:
        reached: name of a page and a heading that became current.
        entered: the same, when the user opens it.
    """

    reached = Signal(str, str)
    entered = Signal(str, str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(tr("Pages of the guide"))
        self.setWordWrap(True)
        self.setItemDelegate(_WrappedItems(self))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.currentItemChanged.connect(self._emit_reached)
        self.itemActivated.connect(self._emit_entered)
        self.itemClicked.connect(self._emit_entered)

    def show_pages(self, pages: Sequence[GuidePage], current: GuideLocation) -> None:
        """List all pages of the guide, with the current one selected."""
        self._fill([(page.title, (page.name, "")) for page in pages], current)

    def show_found(self, sections: Sequence[Section], current: GuideLocation) -> None:
        """Show search results, best first; the first one becomes current and is emitted."""
        rows = []
        for section in sections:
            top = section.heading == section.title
            words = section.title if top else f"{section.heading}\n{section.title}"
            rows.append((words, (section.page, "" if top else section.heading)))
        self._fill(rows, current)
        if rows:
            self.setCurrentRow(0)

    def set_current(self, location: GuideLocation) -> None:
        """Select the row of a location, or else of its page, without a signal."""
        blocked = self.blockSignals(True)
        for row in range(self.count()):
            if self.item(row).data(_LOCATION) in (location, (location[0], "")):
                self.setCurrentRow(row)
                break
        self.blockSignals(blocked)

    def _fill(self, rows: Sequence[tuple[str, GuideLocation]], current: GuideLocation) -> None:
        blocked = self.blockSignals(True)
        self.clear()
        for words, location in rows:
            heading, _, title = words.partition("\n")
            accessible_text = tr("{heading}, in {page}", heading=heading, page=title) if title else words
            item = QListWidgetItem(words)
            item.setData(_LOCATION, location)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, accessible_text)
            self.addItem(item)
            if location == current:
                self.setCurrentItem(item)
        self.blockSignals(blocked)

    @Slot(QListWidgetItem)
    def _emit_reached(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.reached.emit(*item.data(_LOCATION))

    @Slot(QListWidgetItem)
    def _emit_entered(self, item: QListWidgetItem) -> None:
        self.entered.emit(*item.data(_LOCATION))


# ---------------------------------------------------------------------------------------------------------------------


class GuidePageView(RenderedView):
    """Shows a page of the guide; each page is rendered once.

    Signals:
        page_requested: a link to a page (its name, empty for this one) and a heading.
        command_requested: a link to a command (its name).
        setting_requested: a link to a setting (its name).
    """

    page_requested = Signal(str, str)
    command_requested = Signal(str)
    setting_requested = Signal(str)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs)
        self.setAccessibleName(tr("Page of the guide"))
        self.pages: Sequence[GuidePage] = ()
        self.language = LANGUAGES.get(current_language(), LANGUAGES["en"])
        """Language of the pages, as the text analysis names it."""
        self._query = ""
        self._drawn = ""
        """The page being loaded, or shown."""
        self.shown_page = ""
        """The page on the screen."""
        self.anchorClicked.connect(self._follow)
        self.rendered.connect(self._mark_page)

    def set_pages(self, pages: Sequence[GuidePage]) -> None:
        """Set the pages of the guide, and drop the rendered ones."""
        self.pages = pages
        self._drawn = self.shown_page = ""

    def show_location(self, location: GuideLocation) -> GuidePage | None:
        """Show a page at a heading; returns the page if it had to be rendered."""
        name, heading = location
        at = HeadingPosition(heading_key(heading)) if heading else None
        if self._drawn == name == self.shown_page:
            self.go_to_heading(at)
            return None
        page = next((page for page in self.pages if page.name == name), None)
        if page is not None:
            self._drawn, self.shown_page = name, ""
            lines = FileLines(NumberedText.of(page.text))
            self.show_markdown(lines, Outline.of(lines, CancelToken()), at)
        return page

    def mark(self, query: str) -> None:
        """Highlight the words of a query, now and in later pages; an empty text removes highlights."""
        self._query = query
        self.set_finders(query_finder(query, self.language) if query else None, None)

    @Slot()
    def _mark_page(self) -> None:
        self.shown_page = self._drawn
        self.mark(self._query)

    @Slot(QUrl)
    def _follow(self, url: QUrl) -> None:
        """Follow a link of the guide: to another page, a command, a setting, or the web."""
        if url.scheme() == "command":
            self.command_requested.emit(url.path())
        elif url.scheme() == "setting":
            self.setting_requested.emit(url.path())
        elif url.scheme() in _WEB:
            QDesktopServices.openUrl(url)
        else:
            self.page_requested.emit(url.path().removesuffix(".md"), url.fragment())
