"""The list of workspaces: name and state, below it the folder."""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import KnownWorkspace, WorkspaceState, tr
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.elided import elide
from gui.widgets.mirrored import mirror, write
from gui.widgets.plain_text import set_tip
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT, GUTTER, paint_ground
from gui.workspaces.wording import state_text

_KNOWN = Qt.ItemDataRole.UserRole
_STATE = Qt.ItemDataRole.UserRole + 1
_PAD, _BETWEEN, _GAP = 9, 3, 14
_MOST_STATE = 0.6
"""Share of the row that the state may take."""


class WorkspaceList(QListWidget):
    """One is current as long as there is one."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(tr("Workspaces"))
        self.setItemDelegate(_Rows(self))
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_spaces(
        self, spaces: Sequence[KnownWorkspace], states: Mapping[str, WorkspaceState], open_folder: str
    ) -> None:
        """These, with the same one current as before, else the first that can be opened."""
        before = self.current()
        self.clear()
        for known in spaces:
            item = QListWidgetItem(self)
            is_open = known.folder == open_folder
            state = state_text(known, states.get(known.folder))
            text = tr("Open now · {state}", state=state) if is_open else state
            item.setData(_KNOWN, known)
            item.setData(_STATE, text)
            item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{known.name}, {text}, {known.folder}")
            set_tip(item, known.folder)
        wanted = [row for row, known in enumerate(spaces) if before is not None and known.folder == before.folder]
        others = [row for row, known in enumerate(spaces) if known.present and known.folder != open_folder]
        self.setCurrentRow(next(iter([*wanted, *others]), 0))

    def current(self) -> KnownWorkspace | None:
        item = self.currentItem()
        known: KnownWorkspace | None = None if item is None else item.data(_KNOWN)
        return known

    def step(self, by: int) -> None:
        """So many rows on, without going round."""
        if self.count():
            self.setCurrentRow(max(0, min(self.currentRow() + by, self.count() - 1)))

    @property
    def said(self) -> str:
        """What the current row says, for those who hear it."""
        item = self.currentItem()
        return "" if item is None else str(item.data(Qt.ItemDataRole.AccessibleTextRole))


class _Rows(QStyledItemDelegate):
    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        lines = QFontMetrics(font_at(13)).height() + QFontMetrics(font_at(12)).height()
        return QSize(0, lines + _BETWEEN + 2 * _PAD)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        colours = tokens(option.palette)
        known: KnownWorkspace = index.data(_KNOWN)
        painter.save()
        mirror(painter, option.rect, option.direction)
        paint_ground(painter, option, colours)
        rect = option.rect.adjusted(GUTTER, _PAD, -GUTTER, -_PAD)
        name_font, meta = font_at(13, QFont.Weight.DemiBold), font_at(12)
        above = QRect(rect.left(), rect.top(), rect.width(), QFontMetrics(name_font).height())
        below = QRect(rect.left(), above.bottom() + 1 + _BETWEEN, rect.width(), QFontMetrics(meta).height())
        painter.setFont(meta)
        painter.setPen(colours.muted if known.present else colours.degraded)
        end = Qt.TextElideMode.ElideRight
        state = elide(painter.fontMetrics(), index.data(_STATE), end, int(rect.width() * _MOST_STATE))
        write(painter, above, AT_RIGHT, state)
        room = rect.width() - painter.fontMetrics().horizontalAdvance(state) - _GAP
        painter.setPen(colours.muted)
        write(
            painter,
            below,
            AT_LEFT,
            elide(painter.fontMetrics(), known.folder, Qt.TextElideMode.ElideMiddle, rect.width()),
        )
        painter.setFont(name_font)
        painter.setPen(colours.text if known.present else colours.muted)
        write(painter, above, AT_LEFT, elide(painter.fontMetrics(), known.name, end, room))
        painter.restore()
