"""Layouts: rows and columns, lines of widgets that wrap, a centred column that scrolls, a small dialog."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeVar, cast

from PySide6.QtCore import QCoreApplication, QEvent, QMargins, QObject, QPoint, QRect, QSize, Qt, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication, QRegion
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QScrollBar,
    QStackedWidget,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from gui.style.stylesheet import font_at, scaled
from gui.style.typography import FontSized, Resized
from gui.text.right_to_left import margins
from gui.widgets.labels import line

Part = QWidget | QLayout | int | None | tuple[QWidget | QLayout | None, int]
"""A widget or a layout, a distance in pixels, or None for a stretch; in a pair with its stretch factor, otherwise 0."""
Margins = QMargins | tuple[int, int, int, int]
_Box = TypeVar("_Box", bound=QBoxLayout)


def row_of(
    *parts: Part, spacing: int = -1, margins: Margins = (0, 0, 0, 0), parent: QWidget | None = None
) -> QHBoxLayout:
    """Return a layout of `parts` next to each other, installed on `parent` if given; `spacing`: -1 for the style's."""
    return _filled(QHBoxLayout(), parts, spacing, margins, parent)


def column_of(
    *parts: Part, spacing: int = -1, margins: Margins = (0, 0, 0, 0), parent: QWidget | None = None
) -> QVBoxLayout:
    """Return a layout with `parts` below each other; see `row_of`."""
    return _filled(QVBoxLayout(), parts, spacing, margins, parent)


def _filled(box: _Box, parts: Iterable[Part], spacing: int, margins: Margins, parent: QWidget | None) -> _Box:
    if parent is not None:
        parent.setLayout(box)
    box.setContentsMargins(margins if isinstance(margins, QMargins) else QMargins(*margins))
    box.setSpacing(spacing)
    for part in parts:
        content, stretch = part if isinstance(part, tuple) else (part, int(part is None))
        if isinstance(content, QWidget):
            box.addWidget(content, stretch)
        elif isinstance(content, QLayout):
            box.addLayout(content, stretch)
        elif content is None:
            box.addStretch(stretch)
        else:
            box.addSpacing(content)
    return box


class FlowLayout(QLayout):
    """A layout of lines that wrap. Widgets get their preferred size, at most one line; hidden ones take no room."""

    def __init__(self, spacing: int, parent: QWidget | None = None, *, at_end: bool = False) -> None:
        """`at_end`: align incomplete lines at their end."""
        super().__init__(parent)
        self._at_end = at_end
        self._items: list[QLayoutItem] = []
        self._heights: dict[int, int] = {}
        """Cached heights by width, since Qt asks many times."""
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        if width not in self._heights:
            self._heights[width] = self._arrange(QRect(0, 0, width, 0), place=False)
        return self._heights[width]

    def invalidate(self) -> None:
        self._heights.clear()
        super().invalidate()

    def sizeHint(self) -> QSize:
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        gaps = self.spacing() * max(0, len(hints) - 1)
        return QSize(sum(hint.width() for hint in hints) + gaps, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:
        return QSize(0, max((item.sizeHint().height() for item in self._items), default=0))

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        """Return the height that the widgets need in `rect`; with `place`, also position them."""
        top, gap = rect.top(), self.spacing()
        owner = self.parentWidget()
        direction = Qt.LayoutDirection.LeftToRight if owner is None else owner.layoutDirection()
        for widgets in self._lines(rect.width()):
            height = max(hint.height() for _, hint in widgets)
            free = rect.width() - sum(hint.width() for _, hint in widgets) - gap * (len(widgets) - 1)
            left = rect.left() + (max(0, free) if self._at_end else 0)
            for item, hint in widgets if place else ():
                at = QRect(QPoint(left, top + (height - hint.height()) // 2), hint)
                item.setGeometry(QStyle.visualRect(direction, rect, at))
                left += hint.width() + gap
            top += height + gap
        return max(0, top - gap - rect.top())

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """Break the widgets into lines of at most `width` pixels; returns each with its size."""
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint()
            hint = hint.boundedTo(QSize(max(1, width), hint.height()))
            if not lines or used + self.spacing() + hint.width() > width:
                lines.append([])
                used = -self.spacing()
            lines[-1].append((item, hint))
            used += self.spacing() + hint.width()
        return lines


# --- Two widgets side by side, or the second below the first where the window is too narrow for both -----------------

_MARGIN, _TOP = 16, 12
_GAP = 12


class FoldingRow(QWidget):
    """Two widgets side by side, or stacked if `wide` would get room for fewer than `characters` characters.

    If `whole` is not 0, they are stacked when the row itself has room for fewer characters than that. Then a longer
    text in `narrow` is shortened, and moves nothing.
    """

    def __init__(
        self, wide: QWidget, narrow: QWidget, characters: int, whole: int = 0, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._wide, self._narrow = wide, narrow
        self._characters, self._whole = characters, whole
        self._folded = False
        self._before = self._after = self._later = 0
        self._first, self._second = row_of((wide, 1), spacing=_GAP), row_of(spacing=_GAP)
        around = _MARGIN, _TOP, _MARGIN, _TOP
        self._lines = column_of(self._first, self._second, None, spacing=10, margins=around, parent=self)
        self._place()
        self.installEventFilter(self)

    @property
    def least_width(self) -> int:
        """Width of a first line in which `wide` has its preferred width, without reserved space."""
        return self._wide.sizeHint().width() + 2 * _MARGIN

    def reserve(self, after: int, before: int = 0, later: int = 0) -> None:
        """Reserve `after` pixels at the end of the first line and `before` at its beginning.

        A second line begins below the first, or at the edge if it needs the width. `later`: pixels that may be added
        to `before`; they count when the row decides whether to stack, so that its height doesn't change later.
        """
        if (after, before, later) != (self._after, self._before, self._later):
            self._after, self._before, self._later = after, before, later
            self._first.setContentsMargins(margins(before, 0, after, 0))
            self._fold()

    def _place(self) -> None:
        if self._folded:
            self._second.addWidget(self._narrow, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            self._first.addWidget(self._narrow)

    def _fold(self) -> None:
        letter = QFontMetrics(font_at(13)).averageCharWidth()
        least = self._narrow.minimumSizeHint() if self._whole else self._narrow.sizeHint()
        available = self.width() - 2 * _MARGIN - self._before
        after = available - _GAP - self._after - self._later
        whole = self.width() - self._before - self._later
        folded = after < self._characters * letter + least.width() or whole < self._whole * letter
        if self._whole:
            self._wide.setMinimumWidth(0 if folded else self._characters * letter)
        if folded != self._folded:
            self._folded = folded
            self._place()
        below = self._before if folded and self._narrow.sizeHint().width() <= available else 0
        self._second.setContentsMargins(margins(below, 0, 0, 0))
        if self._before:  # a click there is meant for the widget below, which comes earlier for screen readers
            first_line = _TOP + self._wide.sizeHint().height() if folded else self.height()
            left_out = QRect(0, 0, self._before, first_line)
            self.setMask(QRegion(self.rect()) - QStyle.visualRect(self.layoutDirection(), self.rect(), left_out))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, super().minimumSizeHint().height())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Resize, QEvent.Type.LayoutRequest):
            self._fold()
        return False


_MAX_FOOT = 0.4
"""Largest share of the height for the footer."""


class _CentredColumn(FontSized, QWidget):
    """Centres a column of readable width that grows with larger text, but doesn't shrink with smaller text."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self._width = width
        self.measure()

    def measure(self) -> None:
        self.setMaximumWidth(max(self._width, scaled(self._width)))


def column_page(column: QLayout, width: int) -> QFrame:
    """Return a page with `column` centred, at most `width` logical pixels wide at font scale 1."""
    page = _CentredPage(width)
    page.middle.setLayout(column)
    return page


class _CentredPage(QFrame):
    """A page with a centred column, at least as high as the column's minimum height.

    Qt's height for a width ignores widgets with an ignored height, and its minimum height counts wrapped text as one
    line.
    """

    _SIDE, _MIDDLE = 1, 100

    def __init__(self, width: int) -> None:
        super().__init__()
        self.setProperty("role", "page")
        self.middle = _CentredColumn(width)
        self._row = row = QHBoxLayout(self)
        row.addStretch(self._SIDE)
        row.addWidget(self.middle, self._MIDDLE)
        row.addStretch(self._SIDE)

    def heightForWidth(self, width: int) -> int:
        height, column = super().heightForWidth(width), self.middle.layout()
        if column is None:
            return height
        around = self._row.contentsMargins()
        available = width - around.left() - around.right() - 2 * self._row.spacing()
        inner = available * self._MIDDLE // (self._MIDDLE + 2 * self._SIDE)
        least = column.totalMinimumHeightForWidth(min(inner, self.middle.maximumWidth()))
        return max(height, least + around.top() + around.bottom())


class PageStack(QStackedWidget):
    """A stack of pages that paints the widgets of a newly shown page only once.

    Qt turns updates off and on again around a change of the page. That marks each widget of the page as changed, and
    widgets on an opaque page are painted twice: with the page, and alone. Here only the stack turns them off.
    """

    def setCurrentIndex(self, index: int) -> None:
        off, enabled = Qt.WidgetAttribute.WA_UpdatesDisabled, self.updatesEnabled()
        self.setAttribute(off)
        super().setCurrentIndex(index)
        self.setAttribute(off, not enabled)

    def setCurrentWidget(self, page: QWidget) -> None:
        self.setCurrentIndex(self.indexOf(page))


class VerticalScrollArea(QScrollArea):
    """A scroll area that scrolls only vertically, and shows the focused control.

    Qt shows a control only if the focus was in the area before.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        cast("QApplication", QApplication.instance()).focusChanged.connect(self._show_focused)

    @Slot(QWidget, QWidget)
    def _show_focused(self, before: QWidget | None, focused: QWidget | None) -> None:
        if before is None or QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            return  # the window was activated, or the control was pressed and so is visible
        if focused is not None and self.isVisible() and self.viewport().isAncestorOf(focused):
            area = QRect(focused.mapTo(self.viewport(), QPoint()), focused.size())
            if not self.viewport().rect().contains(area):
                self.ensureWidgetVisible(focused)


def scrolling_column(column: QLayout, width: int, parent: QWidget | None = None) -> QScrollArea:
    """Return a page as `column_page` does, in a scroll area."""
    scroll = VerticalScrollArea(parent)
    scroll.setFrameShape(QFrame.Shape.NoFrame)
    page = _CentredPage(width)
    scroll.setWidget(page)
    page.middle.setLayout(column)  # last: Qt applies the style sheet to its widgets again with each parent above them
    scroll.verticalScrollBar().rangeChanged.connect(partial(_balance, page, scroll.verticalScrollBar()))
    return scroll


def _balance(page: QFrame, bar: QScrollBar, _least: int, most: int) -> None:
    """Keep the column of a page in the same position with and without a scroll bar."""
    row = page.layout()
    if row is not None:
        side = row.contentsMargins().top()
        row.setContentsMargins(margins(side + (bar.sizeHint().width() if most else 0), side, side, side))


@contextmanager
def keeping_focus(moved: QWidget) -> Iterator[None]:
    """Restore the focus after `moved` has got another parent: Qt takes the focus from the widgets in it."""
    focused = QApplication.focusWidget()
    yield
    if focused is not None and moved.isAncestorOf(focused):
        focused.setFocus()


def add_shown(column: QBoxLayout, widget: QWidget) -> None:
    """Add a widget to a visible column and show it; Qt would do so after the next layout."""
    column.addWidget(widget)
    widget.show()


def lay_out_now(scroller: QScrollArea) -> None:
    """Give the page in `scroller` the height for the widgets that were just added to it and shown.

    Qt first lays them out in the height that the page had before, and would paint all of them squashed.
    """
    QCoreApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)
    QCoreApplication.sendEvent(scroller, QEvent(QEvent.Type.LayoutRequest))  # of a page that was hidden, none is posted


class ColumnWithFooter(Resized, QWidget):
    """A column that scrolls above a fixed footer; if that leaves the column too little room, both scroll."""

    def __init__(self, column: QVBoxLayout, width: int, footer: QWidget, parent: QWidget | None = None) -> None:
        """`footer` may change its height at any time; `column` must end with a stretch."""
        super().__init__(parent)
        self._column, self._footer, self._footer_scrolls = column, footer, False
        self._footer_shown = True
        self._scroll = scrolling_column(column, width, self)
        self._line = line()
        self._whole = column_of((self._scroll, 1), self._line, footer, spacing=0, parent=self)
        for watched in (footer, self._middle):
            watched.installEventFilter(self)
        self.fit()

    def minimumSizeHint(self) -> QSize:
        """Return a smaller size than the footer's, since the footer can scroll."""
        return self._scroll.minimumSizeHint()

    @property
    def _middle(self) -> QWidget:
        """The widget that holds the column."""
        middle = self._column.parentWidget()
        assert middle is not None
        return middle

    def show_footer(self, shown: bool) -> None:
        """Show or hide the footer and the line above it."""
        self._footer_shown = shown
        self.fit()

    def fit(self) -> None:
        """Place the footer below the scroll area or, if there is little room, inside it."""
        self._footer_scrolls = self._footer_shown and self._foot_height() > self.height() * _MAX_FOOT
        self._align_footer()
        self._line.setVisible(self._footer_shown and not self._footer_scrolls)
        inside = self._column.indexOf(self._footer) >= 0
        with keeping_focus(self._footer):
            if inside != self._footer_scrolls:
                (self._column if self._footer_scrolls else self._whole).addWidget(self._footer)
            self._footer.setVisible(self._footer_shown)

    def _align_footer(self) -> None:
        """Give a footer below the scroll area the side margins of the column, which may have a scroll bar."""
        left = self._middle.mapTo(self, QPoint()).x()
        side = 0 if self._footer_scrolls else max(0, min(left, self.width() - left - self._middle.width()))
        self._footer.setContentsMargins(side, 0, side, 0)

    def _foot_height(self) -> int:
        """Return the height that the footer needs, the same inside and below the area: else it could move endlessly."""
        layout = self._footer.layout()
        if layout is None or not layout.hasHeightForWidth():
            return self._footer.height()
        return layout.heightForWidth(min(self.width(), self._middle.maximumWidth()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._footer and event.type() == QEvent.Type.LayoutRequest:
            self.fit()
        elif watched is not self._footer and event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._align_footer()  # moving the footer here would resize the column again
        return super().eventFilter(watched, event)


def clear_layout(layout: QLayout) -> None:
    """Hide and delete the widgets of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            discard(widget)


def discard(widget: QWidget) -> None:
    """Hide a widget, clear its focus, and delete it later."""
    widget.hide()
    focused = widget.focusWidget()
    if focused is not None:
        focused.clearFocus()  # a hidden page remembers it, and would focus it when it is shown
    widget.deleteLater()


def open_dialog(title: str, content: QWidget, parent: QWidget) -> QDialog:
    """Open a dialog with `content` and a close button; closing it deletes it."""
    dialog = QDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    buttons.rejected.connect(dialog.reject)
    column_of(content, buttons, spacing=14, margins=(20, 18, 20, 14), parent=dialog)
    close = buttons.button(QDialogButtonBox.StandardButton.Close)
    close.setDefault(True)
    dialog.open()
    close.setFocus()
    return dialog


class BottomCard(QFrame):
    """A card below a text, with a preferred height of `rows` rows of text, and a least height of four."""

    _MIN_ROWS = 4

    def __init__(self, rows: int) -> None:
        super().__init__()
        self._rows_shown = rows
        self.setProperty("role", "side")

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), self._height(self._rows_shown))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self._height(self._MIN_ROWS))

    def _height(self, rows: int) -> int:
        return rows * round(1.75 * scaled(13))
