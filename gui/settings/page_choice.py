"""Which page of the settings: a list at the side or, where there is little room, a box above."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QListWidget, QSizePolicy

from engine import tr
from gui.settings.page_layout import PAGES, SettingsPage
from gui.style.stylesheet import font_at
from gui.widgets.combo import ComboBox
from gui.widgets.labels import line

_LIST_WIDTH = 150
_NARROW = 600
"""Logical pixels at scale 1 from which on there is room for the list."""


class PageChoice(QObject):
    """Its widgets are placed by the dialog.

    Signals:
        chosen: another page.
    """

    chosen = Signal()

    def __init__(self, names: Sequence[SettingsPage], parent: QObject) -> None:
        super().__init__(parent)
        self._names = tuple(names)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Pages"))
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.edge = line(vertical=True)
        self.box = ComboBox(tr("Page"))
        self.box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)  # no title is cut
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        for name in names:
            self.list.addItem(tr(PAGES[name]))
            self.box.addItem(tr(PAGES[name]), name)
        self.list.currentRowChanged.connect(lambda _: self.chosen.emit())
        self.box.activated.connect(self.list.setCurrentRow)

    @property
    def any(self) -> bool:
        """Whether a page was chosen yet."""
        return self.list.currentRow() >= 0

    @property
    def name(self) -> SettingsPage:
        """The page that is chosen, else the first."""
        return self._names[max(0, self.list.currentRow())]

    def choose(self, name: SettingsPage) -> None:
        self.list.setCurrentRow(self._names.index(name))

    def show_chosen(self, on: bool) -> None:
        """Whether the page that is chosen is what is shown."""
        item = self.list.currentItem()
        if item is not None:
            item.setSelected(on)
        self.box.choose(self.name)

    def fold(self, width: int) -> None:
        """Have what there is room for in a dialog of this width."""
        narrow = width < font_at(_NARROW).pixelSize()
        self.list.scheduleDelayedItemsLayout()  # with the fonts and margins that the style sheet has brought by now
        titles = self.list.sizeHintForColumn(0) + 2 * self.list.frameWidth()
        self.list.setFixedWidth(max(font_at(_LIST_WIDTH).pixelSize(), titles))
        for widget in (self.list, self.edge):
            widget.setVisible(not narrow)
        self.box.setVisible(narrow)
