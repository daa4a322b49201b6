"""The rows of the palette: the words with what was found in them, where it holds, and its keys."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from gui.command_palette.entries import Found
from gui.style import font_at
from gui.theme import Tokens, tokens
from gui.widgets.elided import elide
from gui.widgets.row_painting import AT_LEFT, AT_RIGHT, paint_ground

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
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.ToolTipRole | Qt.ItemDataRole.AccessibleTextRole:
                return spoken(found)
        return None


class PaletteDelegate(QStyledItemDelegate):
    """One line each."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, QFontMetrics(font_at(13)).height() + 2 * _PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        found: Found = index.data(FoundRole)
        colours = tokens(option.palette)
        painter.save()
        paint_ground(painter, option, colours)
        rect = option.rect.adjusted(_SIDE, 0, -_SIDE, 0)
        painter.setFont(font_at(12))
        painter.setPen(colours.muted)
        end = Qt.TextElideMode.ElideRight
        keys = elide(painter.fontMetrics(), found.entry.keys, end, int(rect.width() * _MOST_KEYS))
        painter.drawText(rect, AT_RIGHT, keys)
        if keys:
            rect = rect.adjusted(0, 0, -painter.fontMetrics().horizontalAdvance(keys) - _GAP, 0)
        left = self._paint_words(painter, rect, found, colours)
        painter.setFont(font_at(12))
        painter.setPen(colours.muted)
        rest = rect.adjusted(left + _GAP, 0, 0, 0)
        beside = found.entry.reason or found.entry.where
        painter.drawText(rest, AT_LEFT, elide(painter.fontMetrics(), beside, end, max(0, rest.width())))
        painter.restore()

    @staticmethod
    def _paint_words(painter: QPainter, rect: QRect, found: Found, colours: Tokens) -> int:
        """In pieces, of which those that were found are bold; returns the width."""
        words, left = found.entry.words, 0
        ends = [0, *(end for mark in found.fit.marks for end in mark), len(words)]
        painter.setPen(colours.muted if found.entry.reason else colours.text)
        for number, (first, last) in enumerate(pairwise(ends)):
            marked = number % 2 == 1
            painter.setFont(font_at(13, QFont.Weight.Bold if marked else QFont.Weight.Normal))
            if marked and not found.entry.reason:
                painter.setPen(colours.accent)
            elif not found.entry.reason:
                painter.setPen(colours.text)
            metrics = painter.fontMetrics()
            piece = elide(metrics, words[first:last], Qt.TextElideMode.ElideRight, max(0, rect.width() - left))
            painter.drawText(rect.adjusted(left, 0, 0, 0), AT_LEFT, piece)
            left += metrics.horizontalAdvance(piece)
        return left
