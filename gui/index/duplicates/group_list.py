"""The list of groups of notes that share text."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from engine import DuplicateGroup, duplicate_title, tr
from gui.index.duplicates.wording import measure_text, names_text
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.widgets.labels import elide
from gui.widgets.mirrored import mirror, write
from gui.widgets.row_list import AT_LEFT, GUTTER, RowList, paint_ground
from gui.widgets.row_model import Index, RowModel, RowRole

_PAD = 8


@dataclass(frozen=True)
class GroupRow:
    group: DuplicateGroup

    @property
    def key(self) -> str:
        return self.group.key


class _Groups(RowModel):
    def told(self, row: GroupRow) -> str:
        return f"{duplicate_title(row.group)}. {measure_text(row.group)}. {names_text(row.group)}"

    def tip(self, row: GroupRow) -> str:
        return "\n".join(member.path for member in row.group.members[:20])


class _Delegate(QStyledItemDelegate):
    """Kind, names, and how much is shared: one line each."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.restyle()

    def restyle(self) -> None:
        """The font changed: measure again."""
        self._fonts = (font_at(13, QFont.Weight.DemiBold), font_at(13), font_at(12))
        self._metrics = [QFontMetrics(font) for font in self._fonts]
        self._heights = [round(metrics.height() * 1.3) for metrics in self._metrics]

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, sum(self._heights) + 2 * _PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        group = index.data(RowRole).group
        colours = tokens(option.palette)
        painter.save()
        mirror(painter, option.rect, option.direction)
        paint_ground(painter, option, colours)
        rect = option.rect.adjusted(GUTTER, _PAD, -GUTTER, 0)
        texts = (duplicate_title(group), names_text(group), measure_text(group))
        inks = (colours.text, colours.text, colours.muted)
        rows = zip(self._fonts, self._metrics, self._heights, texts, inks, strict=True)
        for font, metrics, height, text, ink in rows:
            painter.setFont(font)
            painter.setPen(ink)
            rect.setHeight(height)
            write(painter, rect, AT_LEFT, elide(metrics, text, Qt.TextElideMode.ElideRight, rect.width()))
            rect.translate(0, height)
        painter.restore()


class GroupList(RowList):
    """Signals:
    chosen: the `DuplicateGroup` that is current now, or None.
    activated_group: Enter or a double click.
    """

    chosen = Signal(object)
    activated_group = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(_Groups(), tr("Groups of notes that share text"), parent)
        self._paint = _Delegate(self)
        self.setItemDelegate(self._paint)
        self.doubleClicked.connect(self._activate)

    def show_groups(self, groups: tuple[DuplicateGroup, ...]) -> None:
        """The same group stays current if it still exists."""
        rows = [GroupRow(group) for group in groups]
        if self.rows.shows(rows):
            return
        place = self._remember()
        self._put(rows)
        self._return_to(place)
        if not rows:
            self.chosen.emit(None)

    @property
    def current(self) -> DuplicateGroup | None:
        row = self.rows.row(self.currentIndex().row())
        return None if row is None else row.group

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.chosen.emit(self.current)

    def _activate(self, index: Index) -> None:
        if index.isValid():
            self.activated_group.emit()

    def _show_menu(self, at: QPoint) -> None:
        """No menu: the actions are next to the comparison."""

    def _restyle(self) -> None:
        self._paint.restyle()
