"""The folders of an index as a tree for Qt: no object a row, since there may be thousands."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt

from engine import FolderCount, marked, tr
from gui.widgets.formatting import grouped
from gui.widgets.plain_text import as_tip

Index = QModelIndex | QPersistentModelIndex
Key = tuple[str, str]

TITLES = (
    marked("Folder"),
    marked("Files"),
    marked("Chunks"),
    marked("Pending"),
    marked("Failed"),
    marked("Skipped"),
)
SOURCES = {"memory": marked("Notes"), "sessions": marked("Sessions")}
_ROOT = QModelIndex()
_AT_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


def numbers(folder: FolderCount) -> tuple[int, ...]:
    """Its figures in the order of the columns."""
    return folder.files, folder.chunks, folder.pending, folder.failed, folder.skipped


class FolderModel(QAbstractItemModel):
    """A row is known by its place in `folders`, where each folder stands after the one that it is in."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: tuple[FolderCount, ...] = ()
        self._above: list[int] = []
        """Of each folder the one that it is in; -1 for a source."""
        self._inside: dict[int, list[int]] = {}
        self._rows: list[int] = []

    def key(self, index: Index) -> Key | None:
        """What a row is known by when others come."""
        return _key(self.folders[index.internalId()]) if index.isValid() else None

    def indexes(self, keys: set[Key]) -> list[QModelIndex]:
        """The rows of these keys that are there."""
        return [
            self.createIndex(self._rows[place], 0, place)
            for place, folder in enumerate(self.folders)
            if _key(folder) in keys
        ]

    def show_folders(self, folders: Sequence[FolderCount]) -> bool:
        """Whether the rows are still the same ones, and `touch` is to tell of their figures; else all are new."""
        same = [_key(folder) for folder in folders] == [_key(folder) for folder in self.folders]
        if same:
            self.folders = tuple(folders)
            return True
        self.beginResetModel()
        self.folders = tuple(folders)
        self._above, self._rows, self._inside = [], [], {}
        path: list[int] = []
        for place, folder in enumerate(self.folders):
            del path[folder.depth :]
            above = path[-1] if path else -1
            siblings = self._inside.setdefault(above, [])
            self._above.append(above)
            self._rows.append(len(siblings))
            siblings.append(place)
            path.append(place)
        self.endResetModel()
        return False

    def touch(self, parent: QModelIndex) -> None:
        """The figures of the rows in this one are others now. Views take long to hear of those they do not show."""
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
            return name.rpartition("/")[2]
        figure = numbers(folder)[column - 1]
        # A zero in the last columns says nothing: what stands out there is what someone looks for.
        return grouped(figure) if figure or column <= 2 else ""

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return tr(TITLES[section])
        return _AT_RIGHT if role == Qt.ItemDataRole.TextAlignmentRole and section else None


def _key(folder: FolderCount) -> Key:
    return folder.source, folder.name
