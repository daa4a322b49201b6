"""A column of content in the middle of a page, which may scroll where large text meets a small window."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QScrollArea, QWidget


def column_page(column: QLayout, width: int) -> QFrame:
    """`column`, at most `width` logical pixels wide, in the middle of a page."""
    middle = QWidget()
    middle.setLayout(column)
    middle.setMaximumWidth(width)
    page = QFrame()
    page.setProperty("role", "page")
    row = QHBoxLayout(page)
    row.addStretch(1)
    row.addWidget(middle, 100)
    row.addStretch(1)
    return page


def scrolling_column(column: QLayout, width: int) -> QScrollArea:
    """The same, which scrolls where it is higher than its place."""
    scroll = QScrollArea()
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setWidget(column_page(column, width))
    return scroll
