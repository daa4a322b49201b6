"""What is indexed by source and folder, as a table whose rows can be unfolded."""

from collections.abc import Iterator, Sequence
from itertools import islice

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QResizeEvent
from PySide6.QtWidgets import QFrame, QHeaderView, QMenu, QTreeView, QVBoxLayout, QWidget

from engine import FolderCount, tr, tr_count
from gui.commands.binding import key_action, show_keys_of
from gui.commands.shared import COPY_TABLE
from gui.index.folder_model import SOURCES, TITLES, FolderModel, Key, numbers
from gui.style.stylesheet import font_at
from gui.widgets.labels import label

_FIGURE_LETTERS = 9
_NAME_LETTERS = 18
_RARE = range(3, len(TITLES))
"""The columns whose zeros are not written."""
_ROWS = 9
_TOLD = 30
"""Open folders of which a change is told one by one, for assistive tools; more cannot be on the screen."""


class FolderCard(QFrame):
    """A row of a source stands open at first, those of folders are closed; what a person opens stays open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self.model = FolderModel()
        self.model.setParent(self)
        self.tree = QTreeView()
        self.tree.setModel(self.model)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setAccessibleName(tr("Folders of the index"))
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setAccessibleName(tr("Column titles"))
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(8)
        column.addWidget(label(tr("Folders"), "strong"))
        column.addWidget(self.tree)
        key_action(self, COPY_TABLE).triggered.connect(self.copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.setAccessibleName(tr("Folders"))
        self._measure()

    def show_folders(self, folders: Sequence[FolderCount]) -> None:
        """In their order, each after the folder that it is in. Rows that stay keep their place and what is open."""
        if tuple(folders) == self.model.folders:
            return
        opened, closed = self._states()
        chosen = self.model.key(self.tree.currentIndex())
        if self.model.show_folders(folders):
            for parent in (QModelIndex(), *islice(self._open(QModelIndex()), _TOLD)):
                self.model.touch(parent)
            self.tree.viewport().update()
        else:
            for index in self.model.indexes(opened | ({chosen} if chosen else set())):
                if self.model.key(index) in opened:
                    self.tree.expand(index)
                if self.model.key(index) == chosen:
                    self.tree.setCurrentIndex(index)
            for row in range(self.model.rowCount()):
                source = self.model.index(row, 0)
                self.tree.setExpanded(source, self.model.key(source) not in closed)
        self._fit()
        self.setAccessibleDescription(
            "; ".join(f"{tr(SOURCES[one.source])}: {_counts(one)}" for one in self.model.folders if not one.depth)
        )

    @Slot()
    def copy(self) -> None:
        """The whole table, closed rows too, as text that a spreadsheet takes."""
        rows: list[tuple[str, ...]] = [(tr("Kind of source"), *map(tr, TITLES))]
        rows += [(tr(SOURCES[folder.source]), folder.name, *map(str, numbers(folder))) for folder in self.model.folders]
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))

    def _states(self) -> tuple[set[Key], set[Key]]:
        """The rows that are open, and the sources that were closed."""
        opened = {key for index in self._open(QModelIndex()) if (key := self.model.key(index))}
        sources = (self.model.index(row, 0) for row in range(self.model.rowCount()))
        return opened, {key for index in sources if not self.tree.isExpanded(index) and (key := self.model.key(index))}

    def _open(self, parent: QModelIndex) -> Iterator[QModelIndex]:
        """Only into what is open: most folders are not."""
        for row in range(self.model.rowCount(parent)):
            index = self.model.index(row, 0, parent)
            if self.tree.isExpanded(index):
                yield index
                yield from self._open(index)

    def _measure(self) -> None:
        metrics = QFontMetrics(font_at(13))
        header, least = self.tree.header(), metrics.averageCharWidth() * _FIGURE_LETTERS
        header.ensurePolished()
        self._widths = {place: max(least, header.sectionSizeHint(place)) for place in range(1, len(TITLES))}
        for place, width in self._widths.items():
            header.resizeSection(place, width)
        self.tree.setFixedHeight((_ROWS + 1) * (metrics.height() + 10))
        self._fit()

    def _fit(self) -> None:
        """Leave the names their room: where there is little, columns without a figure go; else one scrolls sideways."""
        header, least = self.tree.header(), QFontMetrics(font_at(13)).averageCharWidth() * _NAME_LETTERS
        room = self.tree.viewport().width() - sum(self._widths.values()) - least
        for place in _RARE:
            empty = not any(numbers(folder)[place - 1] for folder in self.model.folders)
            self.tree.setColumnHidden(place, room < 0 and empty)
        room += sum(self._widths[place] for place in _RARE if self.tree.isColumnHidden(place))
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch if room >= 0 else QHeaderView.ResizeMode.Fixed)
        if room < 0:
            header.resizeSection(0, least)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._measure()

    @Slot(QPoint)
    def _show_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction(tr("Unfold all"), self.tree.expandAll)
        menu.addAction(tr("Fold all"), self.tree.collapseAll)
        show_keys_of(menu.addAction(COPY_TABLE.words, self.copy), COPY_TABLE.name)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(at))


def _counts(folder: FolderCount) -> str:
    files = tr_count("{count:,} file", "{count:,} files", folder.files)
    return ", ".join((files, tr_count("{count:,} chunk", "{count:,} chunks", folder.chunks)))
