"""What is indexed by source and folder, as a table whose rows can be unfolded."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QFrame, QHeaderView, QMenu, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from engine import FolderCount
from gui.style import font_at
from gui.widgets.keys import key_action
from gui.widgets.labels import label
from gui.widgets.wording import counted, grouped

_SOURCES = {"memory": "Notes", "sessions": "Sessions"}
_TITLES = ("Folder", "Files", "Chunks", "Pending", "Failed", "Skipped")
_FIGURE_LETTERS = 9
_ROWS = 9
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
_FOLDER = Qt.ItemDataRole.UserRole


class FolderCard(QFrame):
    """A row of a source stands open at first, those of folders are closed; what a person opens stays open."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._folders: tuple[FolderCount, ...] = ()
        self.tree = QTreeWidget()
        self.tree.setHeaderLabels(list(_TITLES))
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setUniformRowHeights(True)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setAccessibleName("Folders of the index")
        self.tree.header().setStretchLastSection(False)
        self.tree.header().setAccessibleName("Column titles")
        self.tree.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for place in range(1, len(_TITLES)):
            self.tree.headerItem().setTextAlignment(place, _AT_RIGHT)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 10, 14, 12)
        column.setSpacing(8)
        column.addWidget(label("Folders", "strong"))
        column.addWidget(self.tree)
        key_action(self, "Copy table", QKeySequence.StandardKey.Copy).triggered.connect(self.copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._show_menu)
        self.setAccessibleName("Folders")
        self._measure()

    def show_folders(self, folders: Sequence[FolderCount]) -> None:
        """In their order, each after the folder that it is in. Rows that stay keep their place and what is open."""
        if tuple(folders) == self._folders:
            return
        same = [_key(folder) for folder in folders] == [_key(folder) for folder in self._folders]
        self._folders = tuple(folders)
        if not same:
            self._build()
        for item, folder in zip(self._items(), self._folders, strict=True):
            _fill(item, folder)
        self.setAccessibleDescription(
            "; ".join(
                f"{_SOURCES[folder.source]}: {counted(folder.files, 'file')}, {counted(folder.chunks, 'chunk')}"
                for folder in self._folders
                if not folder.depth
            )
        )

    @Slot()
    def copy(self) -> None:
        """The whole table, closed rows too, as text that a spreadsheet takes."""
        rows: list[tuple[str, ...]] = [("Source", *_TITLES)]
        rows += [(_SOURCES[folder.source], folder.name, *map(str, _numbers(folder))) for folder in self._folders]
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))

    def _build(self) -> None:
        open_before = {_key(item.data(0, _FOLDER)): item.isExpanded() for item in self._items()}
        current = self.tree.currentItem()
        chosen = None if current is None else _key(current.data(0, _FOLDER))
        self.tree.clear()
        above: list[QTreeWidgetItem] = [self.tree.invisibleRootItem()]
        for folder in self._folders:
            item = QTreeWidgetItem(above[folder.depth])
            item.setData(0, _FOLDER, folder)
            del above[folder.depth + 1 :]
            above.append(item)
            if _key(folder) == chosen:
                self.tree.setCurrentItem(item)
        for item in self._items():
            item.setExpanded(open_before.get(_key(item.data(0, _FOLDER)), item.parent() is None))

    def _items(self) -> Iterator[QTreeWidgetItem]:
        """All rows from top to bottom."""
        waiting = [self.tree.topLevelItem(place) for place in reversed(range(self.tree.topLevelItemCount()))]
        while waiting:
            item = waiting.pop()
            if item is not None:
                yield item
                waiting += [item.child(place) for place in reversed(range(item.childCount()))]

    def _measure(self) -> None:
        metrics = QFontMetrics(font_at(13))
        for place in range(1, len(_TITLES)):
            self.tree.header().resizeSection(place, metrics.averageCharWidth() * _FIGURE_LETTERS)
        self.tree.setFixedHeight((_ROWS + 1) * (metrics.height() + 10))

    @Slot(QPoint)
    def _show_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.addAction("Unfold all", self.tree.expandAll)
        menu.addAction("Fold all", self.tree.collapseAll)
        menu.addAction("Copy table", self.copy)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.mapToGlobal(at))


def _key(folder: FolderCount) -> tuple[str, str]:
    return folder.source, folder.name


def _numbers(folder: FolderCount) -> tuple[int, ...]:
    return folder.files, folder.chunks, folder.pending, folder.failed, folder.skipped


def _fill(item: QTreeWidgetItem, folder: FolderCount) -> None:
    item.setData(0, _FOLDER, folder)
    item.setText(0, folder.name.rpartition("/")[2] or _SOURCES[folder.source])
    item.setToolTip(0, folder.name or _SOURCES[folder.source])
    for place, figure in enumerate(_numbers(folder), 1):
        # A zero in the last columns says nothing: what stands out there is what someone looks for.
        item.setText(place, grouped(figure) if figure or place <= 2 else "")
        item.setTextAlignment(place, _AT_RIGHT)
