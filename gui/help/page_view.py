"""The current page of the guide, with highlighted search words and distinguishable links."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from engine import CancelToken, NumberedText, spoken, tr
from gui.core.jobs import Jobs
from gui.help.pages import LANGUAGES, GuidePage, Section
from gui.viewer.lines import FileLines
from gui.viewer.matches import query_finder
from gui.viewer.outline import HeadingPlace, Outline, heading_key
from gui.viewer.rendered_view import RenderedView

# --- The list of pages, or of the sections that a search found -------------------------------------------------------

_PLACE = Qt.ItemDataRole.UserRole

Spot = tuple[str, str]
"""Name of a page and one of its headings; an empty heading is its top."""


class GuidePageList(QListWidget):
    """Each row is a location in the guide.

    Signals: reached: name of a page and a heading that became current. entered: the same, when the user opens it.
    """

    reached = Signal(str, str)
    entered = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Pages of the guide"))
        self.setWordWrap(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.currentItemChanged.connect(self._tell_reached)
        self.itemActivated.connect(self._tell_entered)
        self.itemClicked.connect(self._tell_entered)

    def show_pages(self, pages: Sequence[GuidePage], current: Spot) -> None:
        """All there is to read."""
        self._fill([(page.title, (page.name, "")) for page in pages], current)

    def show_found(self, found: Sequence[Section], current: Spot) -> None:
        """Show the results, best first; the first becomes current and is signalled."""
        rows = []
        for section in found:
            top = section.heading == section.title
            words = section.title if top else f"{section.heading}\n{section.title}"
            rows.append((words, (section.page, "" if top else section.heading)))
        self._fill(rows, current)
        if rows:
            self.setCurrentRow(0)

    def stand_at(self, spot: Spot) -> None:
        """Make the row of this location, or of its page, current without a signal."""
        blocked = self.blockSignals(True)
        for row in range(self.count()):
            if self.item(row).data(_PLACE) in (spot, (spot[0], "")):
                self.setCurrentRow(row)
                break
        self.blockSignals(blocked)

    def _fill(self, rows: Sequence[tuple[str, Spot]], current: Spot) -> None:
        blocked = self.blockSignals(True)
        self.clear()
        for words, spot in rows:
            heading, _, title = words.partition("\n")
            told = tr("{heading}, in {page}", heading=heading, page=title) if title else words
            item = QListWidgetItem(words)
            item.setData(_PLACE, spot)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, told)
            self.addItem(item)
            if spot == current:
                self.setCurrentItem(item)
        self.blockSignals(blocked)

    @Slot(QListWidgetItem)
    def _tell_reached(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.reached.emit(*item.data(_PLACE))

    @Slot(QListWidgetItem)
    def _tell_entered(self, item: QListWidgetItem) -> None:
        self.entered.emit(*item.data(_PLACE))


# ---------------------------------------------------------------------------------------------------------------------

_WEB = ("http", "https")


class GuidePageView(RenderedView):
    """Draws a page once, and scrolls in it after that.

    Signals:
        page_wanted: name of a page, empty for this one, and one of its headings, by a link.
        command_wanted: name of a command, by a link.
        setting_wanted: name of a setting, by a link.
    """

    page_wanted = Signal(str, str)
    command_wanted = Signal(str)
    setting_wanted = Signal(str)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs)
        self.setAccessibleName(tr("Page of the guide"))
        self.pages: Sequence[GuidePage] = ()
        self.language = LANGUAGES.get(spoken(), LANGUAGES["en"])
        """Of the pages, as the analysis names it."""
        self._query = ""
        self._drawn = ""
        """The page being loaded, or shown."""
        self.shown = ""
        """The page on the screen."""
        self.followed.connect(self._follow)
        self.rendered.connect(self._take_page)

    def take_pages(self, pages: Sequence[GuidePage]) -> None:
        """These are the pages from now on; none of them is drawn yet."""
        self.pages = pages
        self._drawn = self.shown = ""

    def show_spot(self, spot: Spot) -> GuidePage | None:
        """Show this location. Returns the page if it must be rendered again."""
        name, heading = spot
        at = HeadingPlace(heading_key(heading)) if heading else None
        if self._drawn == name == self.shown:
            self.go_to_heading(at)
            return None
        page = next((page for page in self.pages if page.name == name), None)
        if page is not None:
            self._drawn, self.shown = name, ""
            lines = FileLines(NumberedText.of(page.text))
            self.show_markdown(lines, Outline.of(lines, CancelToken()), at)
        return page

    def mark(self, query: str) -> None:
        """Highlight these words, now and in later pages; an empty text removes highlights."""
        self._query = query
        self.set_finders(query_finder(query, self.language) if query else None, None)

    @Slot()
    def _take_page(self) -> None:
        self.shown = self._drawn
        self.mark(self._query)

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
            self.page_wanted.emit(url.path().removesuffix(".md"), url.fragment())
