"""A page with a centred column of content, which scrolls if large text doesn't fit in a small window."""

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QScrollArea, QVBoxLayout, QWidget

from gui.style.stylesheet import font_at
from gui.widgets.labels import line

_MOST_FOOT = 0.4
"""Largest share of the height for the footer."""
_FOOT_SIDE = 20


class _Middle(QWidget):
    """Centres a column of readable width, which grows with larger text, but doesn't shrink with smaller text."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self._fit()

    def _fit(self) -> None:
        self.setMaximumWidth(max(self._width, font_at(self._width).pixelSize()))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._fit()


def column_page(column: QLayout, width: int) -> QFrame:
    """Return a page with `column` centred, at most `width` logical pixels wide at font scale 1."""
    middle = _Middle(width)
    middle.setLayout(column)
    page = QFrame()
    page.setProperty("role", "page")
    row = QHBoxLayout(page)
    row.addStretch(1)
    row.addWidget(middle, 100)
    row.addStretch(1)
    return page


def scrolling_column(column: QLayout, width: int) -> QScrollArea:
    """Return a page as `column_page`, in a scroll area."""
    scroll = QScrollArea()
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setWidget(column_page(column, width))
    return scroll


class FootedColumn(QWidget):
    """A column that scrolls above a fixed footer; if that leaves the column too little room, both scroll."""

    def __init__(self, column: QVBoxLayout, width: int, footer: QWidget, parent: QWidget | None = None) -> None:
        """`footer` may change its height at any time; `column` must end with a stretch."""
        super().__init__(parent)
        self._column, self._footer, self._footer_scrolls = column, footer, False
        self._scroll = scrolling_column(column, width)
        self._line = line()
        self._whole = QVBoxLayout(self)
        self._whole.setContentsMargins(0, 0, 0, 0)
        self._whole.setSpacing(0)
        self._whole.addWidget(self._scroll, 1)
        self._whole.addWidget(self._line)
        self._whole.addWidget(footer)
        footer.installEventFilter(self)
        self._place_footer()

    def minimumSizeHint(self) -> QSize:
        """Return a smaller size than the footer's, since the footer can scroll."""
        return self._scroll.minimumSizeHint()

    def _place_footer(self) -> None:
        """Place the footer below the scroll area or, if there is little room, inside it."""
        self._footer_scrolls = self._foot_height() > self.height() * _MOST_FOOT
        side = 0 if self._footer_scrolls else _FOOT_SIDE
        self._footer.setContentsMargins(side, 0, side, 0)
        inside = self._column.indexOf(self._footer) >= 0
        if inside == self._footer_scrolls:
            return
        self._line.setVisible(not self._footer_scrolls)
        if self._footer_scrolls:
            self._column.addWidget(self._footer)
        else:
            self._whole.addWidget(self._footer)
        self._footer.show()

    def _foot_height(self) -> int:
        return self._footer.heightForWidth(self.width()) if self._footer.hasHeightForWidth() else self._footer.height()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.LayoutRequest:
            self._place_footer()
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_footer()
