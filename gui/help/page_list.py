"""What can be read in the guide: its pages, or the places that were found in them."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from engine import tr
from gui.help.pages import GuidePage, Section

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
