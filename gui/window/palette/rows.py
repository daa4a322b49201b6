"""The rows of the palette: the words with what was found in them, where it holds, and its keys."""

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from gui.style.stylesheet import font_at
from gui.style.theme import Tokens, tokens
from gui.widgets.elided import elide
from gui.widgets.mirrored import mirror, upright, write
from gui.widgets.plain_text import as_tip
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT, paint_ground
from gui.widgets.utf16 import utf16_ranges
from gui.window.palette.entries import Found

Index = QModelIndex | QPersistentModelIndex
FoundRole = Qt.ItemDataRole.UserRole
_ROOT = QModelIndex()
_SIDE, _GAP, _PAD = 14, 14, 7
_MOST_KEYS = 0.4
"""Share of a row's width."""


def spoken(found: Found) -> str:
    """All that the row shows, as words."""
    entry = found.entry
    return ", ".join(filter(None, (entry.words, entry.reason or entry.where, entry.keys)))


class PaletteModel(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.found: list[Found] = []

    def show_found(self, found: Sequence[Found]) -> None:
        self.beginResetModel()
        self.found = list(found)
        self.endResetModel()

    def rowCount(self, parent: Index = _ROOT) -> int:
        return 0 if parent.isValid() else len(self.found)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        found = self.found[index.row()]
        match role:
            case _ if role == FoundRole:
                return found
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.AccessibleTextRole:
                return spoken(found)
            case Qt.ItemDataRole.ToolTipRole:
                return as_tip(spoken(found))
        return None


class PaletteDelegate(QStyledItemDelegate):
    """One line each."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, QFontMetrics(font_at(13)).height() + 2 * _PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        found: Found = index.data(FoundRole)
        colours = tokens(option.palette)
        painter.save()
        mirror(painter, option.rect, option.direction)
        paint_ground(painter, option, colours)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        painter.setFont(font_at(12))
        painter.setPen(colours.muted)
        end = Qt.TextElideMode.ElideRight
        keys = elide(painter.fontMetrics(), found.entry.keys, end, int(rect.width() * _MOST_KEYS))
        write(painter, rect, AT_RIGHT, keys)
        if keys:
            rect = rect.adjusted(0, 0, -painter.fontMetrics().horizontalAdvance(keys) - _GAP, 0)
        left = self._paint_words(painter, rect, found, colours)
        painter.setFont(font_at(12))
        painter.setPen(colours.muted)
        rest = rect.adjusted(left + _GAP, 0, 0, 0)
        beside = found.entry.reason or found.entry.where
        write(painter, rest, AT_LEFT, elide(painter.fontMetrics(), beside, end, max(0, rest.width())))
        painter.restore()

    @staticmethod
    def _paint_words(painter: QPainter, rect: QRect, found: Found, colours: Tokens) -> int:
        """Those that were found are bold; returns the width."""
        bold = font_at(13, QFont.Weight.Bold)
        words, marks = found.entry.words, found.fit.marks
        shown = elide(QFontMetrics(bold if marks else font_at(13)), words, Qt.TextElideMode.ElideRight, rect.width())
        plain = colours.muted if found.entry.reason else colours.text
        layout = QTextLayout(shown, font_at(13))
        look = QTextCharFormat()
        look.setFontWeight(QFont.Weight.Bold)
        look.setForeground(plain if found.entry.reason else colours.accent)
        layout.setFormats([_format(start, end, look) for start, end in utf16_ranges(shown, _within(marks, len(shown)))])
        layout.beginLayout()
        line = layout.createLine()
        layout.endLayout()
        width = line.naturalTextWidth()
        painter.setPen(plain)
        with upright(painter, QRectF(rect.x(), rect.y(), width, rect.height())) as stands:
            layout.draw(painter, stands.topLeft() + QPointF(0, (rect.height() - line.height()) / 2))
        return round(width)


def _within(marks: Sequence[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    return [(start, min(end, length)) for start, end in marks if start < length]


def _format(start: int, end: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
    span = QTextLayout.FormatRange()
    span.start, span.length, span.format = start, end - start, look
    return span
