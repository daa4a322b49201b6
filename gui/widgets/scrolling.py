"""A column of content in the middle of a page, which scrolls where large text meets a small window."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLayout, QScrollArea, QWidget


def scrolling_column(column: QLayout, width: int) -> QScrollArea:
    """`column`, at most `width` logical pixels wide."""
    middle = QWidget()
    middle.setLayout(column)
    middle.setMaximumWidth(width)
    page = QFrame()
    page.setProperty("role", "page")
    row = QHBoxLayout(page)
    row.addStretch(1)
    row.addWidget(middle, 100)
    row.addStretch(1)
    scroll = QScrollArea()
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    scroll.setWidget(page)
    return scroll
