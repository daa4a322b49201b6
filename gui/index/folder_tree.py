"""Indexed sources and folders, as a table with expandable rows."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Slot
from PySide6.QtGui import QAction, QFocusEvent, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeView

from engine import FolderCount, marked, number, tr
from gui.commands.commands import COPY_TABLE, key_action
from gui.style.stylesheet import font_at
from gui.style.typography import FontSized, Resized
from gui.text.formatting import files_text, passages_text
from gui.text.plain_text import as_tip
from gui.text.right_to_left import in_reading_order
from gui.widgets.labels import label
from gui.widgets.layouts import column_of

_FIGURE_CHARACTERS = 9
_NAME_CHARACTERS = 18
Index = QModelIndex | QPersistentModelIndex
Key = tuple[str, str]

TITLES = (
    marked("Folder"),
    marked("Files"),
    marked("Passages"),
    marked("Pending"),
    marked("Failed"),
    marked("Skipped"),
)
SOURCES = {"memory": marked("Notes"), "sessions": marked("Sessions")}
_ROOT = QModelIndex()
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def numbers(folder: FolderCount) -> tuple[int, ...]:
    """Return the folder's counts in the order of the columns."""
    return folder.files, folder.chunks, folder.pending, folder.failed, folder.skipped


class FolderModel(QAbstractItemModel):
    """The Qt tree model of folders. An index is a position in `folders`, where each folder follows its parent."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: tuple[FolderCount, ...] = ()
        self._above: list[int] = []
        """Parent of each folder; -1 for a source."""
        self._inside: dict[int, list[int]] = {}
        self._rows: list[int] = []

    def key(self, index: Index) -> Key | None:
        """Return a value that identifies a row across updates."""
        return _key(self.folders[index.internalId()]) if index.isValid() else None

    def indexes(self, keys: set[Key]) -> list[QModelIndex]:
        """Return the model indexes of the rows with these keys that exist."""
        return [
            self.createIndex(self._rows[position], 0, position)
            for position, folder in enumerate(self.folders)
            if _key(folder) in keys
        ]

    def show_folders(self, folders: Sequence[FolderCount]) -> bool:
        """Replace the folders. Returns True if only numbers changed: the caller signals them with `touch`."""
        same = [_key(folder) for folder in folders] == [_key(folder) for folder in self.folders]
        if same:
            self.folders = tuple(folders)
            return True
        self.beginResetModel()
        self.folders = tuple(folders)
        self._above, self._rows, self._inside = [], [], {}
        path: list[int] = []
        for position, folder in enumerate(self.folders):
            del path[folder.depth :]
            above = path[-1] if path else -1
            siblings = self._inside.setdefault(above, [])
            self._above.append(above)
            self._rows.append(len(siblings))
            siblings.append(position)
            path.append(position)
        self.endResetModel()
        return False

    def touch(self, parent: QModelIndex) -> None:
        """Signal changed numbers in the rows below an expanded folder; signals for hidden rows would be slow."""
        inside = self._children(parent)
        if inside:
            last = self.createIndex(len(inside) - 1, len(TITLES) - 1, inside[-1])
            self.dataChanged.emit(self.createIndex(0, 0, inside[0]), last)

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def _children(self, parent: Index) -> list[int]:
        return self._inside.get(parent.internalId() if parent.isValid() else -1, [])

    def index(self, row: int, column: int, parent: Index = _ROOT) -> QModelIndex:
        inside = self._children(parent)
        return self.createIndex(row, column, inside[row]) if 0 <= row < len(inside) else QModelIndex()

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        above = self._above[index.internalId()] if index.isValid() else -1
        return QModelIndex() if above < 0 else self.createIndex(self._rows[above], 0, above)

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.column() > 0 else len(self._children(parent))

    def columnCount(self, parent: Index = _ROOT) -> int:
        return len(TITLES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        folder, column = self.folders[index.internalId()], index.column()
        name = folder.name or tr(SOURCES[folder.source])
        if role == Qt.ItemDataRole.ToolTipRole and not column:
            return as_tip(name)
        if role == Qt.ItemDataRole.TextAlignmentRole and column:
            return _AT_RIGHT
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        if not column:
            return in_reading_order(name.rpartition("/")[2])
        figure = numbers(folder)[column - 1]
        # Zeros of the last columns are hidden, so that exceptions stand out.
        return number(figure) if figure or column <= 2 else ""

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(TITLES[section])
        return _AT_RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and section else None


def _key(folder: FolderCount) -> Key:
    return folder.source, folder.name


_RARE = range(3, len(TITLES))
"""Columns whose zeros are hidden."""
_ROWS = 9
_MAX_DESCRIBED = 30
"""Maximum number of expanded folders whose changes are signalled individually; no screen shows more."""


class _Tree(QTreeView):
    """A tree whose current row is selected as soon as it has the focus: Qt's own focus frame is grey in every theme."""

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.setCurrentIndex(self.currentIndex())


class FolderCard(Resized, FontSized, QFrame):
    """A card with the tree of folders and their counts. Sources are expanded initially."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.model = FolderModel()
        self.model.setParent(self)
        self.tree = _Tree()
        self.tree.setModel(self.model)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setUniformRowHeights(True)
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.tree.setAccessibleName(tr("Folders of the index"))
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setAccessibleName(tr("Titles of the table's columns"))
        column_of(label(tr("Folders"), "strong"), self.tree, spacing=8, margins=(14, 10, 14, 12), parent=self)
        for words, run in (
            (tr("Expand all folders"), self.tree.expandAll),
            (tr("Collapse all folders"), self.tree.collapseAll),
        ):
            action = QAction(words, self)
            action.triggered.connect(run)
            self.addAction(action)
        key_action(self, COPY_TABLE).triggered.connect(self.copy)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)
        self.setAccessibleName(tr("Folders"))
        self.measure()

    def show_folders(self, folders: Sequence[FolderCount]) -> None:
        """Set the folders in order, each after its parent. Existing rows keep their position and expansion."""
        if tuple(folders) == self.model.folders:
            return
        opened, closed = self._states()
        chosen = self.model.key(self.tree.currentIndex())
        if self.model.show_folders(folders):
            for parent in (QModelIndex(), *islice(self._open(QModelIndex()), _MAX_DESCRIBED)):
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
        self.fit()
        self.setAccessibleDescription(
            "; ".join(
                f"{tr(SOURCES[folder.source])}: {_counts(folder)}" for folder in self.model.folders if not folder.depth
            )
        )

    @Slot()
    def copy(self) -> None:
        """Copy the whole table, including collapsed rows, as text for a spreadsheet."""
        rows: list[tuple[str, ...]] = [(tr("Kind of source"), *map(tr, TITLES))]
        rows += [(tr(SOURCES[folder.source]), folder.name, *map(str, numbers(folder))) for folder in self.model.folders]
        QGuiApplication.clipboard().setText("\n".join("\t".join(row) for row in rows))

    def _states(self) -> tuple[set[Key], set[Key]]:
        """Return the keys of expanded folders, and of collapsed sources."""
        opened = {key for index in self._open(QModelIndex()) if (key := self.model.key(index))}
        sources = (self.model.index(row, 0) for row in range(self.model.rowCount()))
        return opened, {key for index in sources if not self.tree.isExpanded(index) and (key := self.model.key(index))}

    def _open(self, parent: QModelIndex) -> Iterator[QModelIndex]:
        """Yield the expanded rows below `parent`, at any depth."""
        for row in range(self.model.rowCount(parent)):
            index = self.model.index(row, 0, parent)
            if self.tree.isExpanded(index):
                yield index
                yield from self._open(index)

    def measure(self) -> None:
        metrics = QFontMetrics(font_at(13))
        header, least = self.tree.header(), metrics.averageCharWidth() * _FIGURE_CHARACTERS
        header.ensurePolished()
        self._widths = {section: max(least, header.sectionSizeHint(section)) for section in range(1, len(TITLES))}
        for section, width in self._widths.items():
            header.resizeSection(section, width)
        self.tree.setFixedHeight((_ROWS + 1) * (metrics.height() + 10))
        self.fit()

    def fit(self) -> None:
        """Fit the columns to the width: in a narrow card, columns without values are hidden before it scrolls."""
        header, least = self.tree.header(), QFontMetrics(font_at(13)).averageCharWidth() * _NAME_CHARACTERS
        available = self.tree.viewport().width() - sum(self._widths.values()) - least
        for section in _RARE:
            empty = not any(numbers(folder)[section - 1] for folder in self.model.folders)
            self.tree.setColumnHidden(section, available < 0 and empty)
        available += sum(self._widths[section] for section in _RARE if self.tree.isColumnHidden(section))
        header.setSectionResizeMode(
            0, QHeaderView.ResizeMode.Stretch if available >= 0 else QHeaderView.ResizeMode.Fixed
        )
        if available < 0:
            header.resizeSection(0, least)


def _counts(folder: FolderCount) -> str:
    return f"{files_text(folder.files)}, {passages_text(folder.chunks)}"
