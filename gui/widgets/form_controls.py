"""Form controls in the look of the program: check boxes, radio buttons, combo boxes, chips and text fields."""

from PySide6.QtCore import QMimeData, QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QRadioButton,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
)

from gui.style.stylesheet import font_at, scaled
from gui.style.theme import Tokens, tokens
from gui.text.right_to_left import draw_pixmap, line_direction, mirrored_painter, write
from gui.widgets.buttons import Toggle
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import elide

_SIDE = 15
_GAP = 8
_EDGE = 3
"""Pixels for the focus frame."""
_MIN_CHARACTERS = 4

_DOT = 0.25
"""Gap on each side of the dot, as a share of the ring's width."""

_CHEVRON = 12
_RIGHT = 10
_TEXT_PADS = 4
"""Pixels that the style adds at the sides of a text."""

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def indent() -> int:
    """Return the pixels from a control's edge to its label, to align text below."""
    return _EDGE + scaled(_SIDE) + _GAP


def _size(width: int) -> QSize:
    height = max(QFontMetrics(font_at(13)).height(), scaled(_SIDE))
    return QSize(indent() + width + _EDGE, height + 2 * _EDGE)


class Checkable(Toggle):
    """Mixin that paints a check box or radio button, listed before the Qt class; call `begin()` in the constructor.

    An ampersand in the label is shown, and marks no mnemonic.
    """

    label = ""
    """The visible label, shortened if there is no room."""

    def begin(self, text: str) -> None:
        self.connect_assistive_technology()
        self.label = text
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def paint_mark(self, painter: QPainter, rect: QRectF, colours: Tokens) -> None:
        """Paint the indicator at `rect`: its edge, its fill and, if checked, its mark."""
        raise NotImplementedError

    def sizeHint(self) -> QSize:
        """Return the size for the whole label."""
        return _size(QFontMetrics(font_at(13)).horizontalAdvance(self.label))

    def minimumSizeHint(self) -> QSize:
        """Return the size at which only the first few characters of the label are shown."""
        return _size(QFontMetrics(font_at(13)).averageCharWidth() * _MIN_CHARACTERS)

    def hitButton(self, at: QPoint) -> bool:
        return self.rect().contains(at)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the focus frame, the indicator and the label."""
        colours = tokens(self.palette())
        side = scaled(_SIDE)
        painter = mirrored_painter(self)
        if self.hasFocus():
            painter.setPen(QPen(colours.accent, 1))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
        painter.setPen(QPen(colours.accent if self.isChecked() or self.underMouse() else colours.off, 1))
        painter.setBrush(colours.base)
        rect = QRectF(_EDGE, (self.height() - side) // 2, side, side).adjusted(0.5, 0.5, -0.5, -0.5)
        self.paint_mark(painter, rect, colours)
        group = QPalette.ColorGroup.Normal if self.isEnabled() else QPalette.ColorGroup.Disabled
        painter.setPen(self.palette().color(group, QPalette.ColorRole.WindowText))
        painter.setFont(font_at(13))
        available = self.rect().adjusted(indent(), 0, -_EDGE, 0)
        text = elide(painter.fontMetrics(), self.label, Qt.TextElideMode.ElideRight, available.width())
        write(painter, available, int(Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine), text)


# --- A check box with a label, in the program's colours and text size ------------------------------------------------
class CheckBox(Checkable, QCheckBox):
    """A check box in the look of the program."""

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.begin(text)

    def paint_mark(self, painter: QPainter, box: QRectF, colours: Tokens) -> None:
        if self.isChecked():
            painter.setBrush(colours.accent)
        painter.drawRoundedRect(box, 3, 3)
        if self.isChecked():
            check = icon_pixmap("check", colours.base, round(box.width()) + 1, self.devicePixelRatioF())
            draw_pixmap(painter, int(box.left()), int(box.top()), check)


# --- A radio button with a label, in the program's colours and text size ---------------------------------------------


class RadioButton(Checkable, QRadioButton):
    """A radio button in the look of the program."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.begin(text)

    def paint_mark(self, painter: QPainter, ring: QRectF, colours: Tokens) -> None:
        painter.drawEllipse(ring)
        if self.isChecked():
            gap = ring.width() * _DOT
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours.accent)
            painter.drawEllipse(ring.adjusted(gap, gap, -gap, -gap))


class ComboBox(QComboBox):
    """A combo box that ignores the mouse wheel while it has no focus, so that the page scrolls instead."""

    def __init__(self, name: str, cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> None:
        """`name`: accessible name. `cut`: where overlong text is shortened."""
        super().__init__()
        self._cut = cut
        self.setAccessibleName(name)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(12)

    def choose(self, data: object) -> None:
        """Select the entry with this data without a signal; nothing is selected if there is none."""
        blocked = self.blockSignals(True)
        self.setCurrentIndex(self.findData(data))
        self.blockSignals(blocked)

    def sizeHint(self) -> QSize:
        """Return a size for the longest entry with its padding, which Qt leaves out."""
        hint = super().sizeHint()
        own = self.sizeAdjustPolicy() == QComboBox.SizeAdjustPolicy.AdjustToContents
        return hint + QSize(_TEXT_PADS + 1, 0) if own else hint  # one more pixel, since it may round down

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        self._paint_box()
        colours = tokens(self.palette())
        side = scaled(_CHEVRON)
        colour = colours.muted if self.isEnabled() else colours.off
        right_to_left = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        left = _RIGHT if right_to_left else self.width() - side - _RIGHT
        painter = QPainter(self)
        pixmap = icon_pixmap("chevron-down", colour, side, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(left, (self.height() - side) // 2), pixmap)

    def shown_text(self) -> str:
        """The current text, shortened to the width with an ellipsis; Qt itself would cut it inside a letter."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        available = self.style().subControlRect(
            QStyle.ComplexControl.CC_ComboBox, option, QStyle.SubControl.SC_ComboBoxEditField, self
        )
        return elide(self.fontMetrics(), self.currentText(), self._cut, available.width() - _TEXT_PADS)

    def _paint_box(self) -> None:
        """Paint the box with its arrow, without the text."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.shown_text()
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        # In the text's own direction: the ellipsis of a path is at its beginning.
        painter.setLayoutDirection(line_direction(option.currentText))
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class TextField(QPlainTextEdit):
    """A multi-line text field. Tab moves the focus; Ctrl+Z goes to the parent when there is no typing to undo."""

    accepted = Signal()
    """Ctrl+Enter was pressed."""
    left = Signal()
    """Escape was pressed."""
    undo_requested = Signal()
    """Ctrl+Z was pressed with no typing to undo."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setTabChangesFocus(True)
        self.setProperty("role", "field")

    def replace_text(self, text: str) -> None:
        """Replace the whole text as one edit, so that Ctrl+Z restores the previous text."""
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.insertText(text)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert dropped or copied files as paths, one per line; Qt inserts their addresses."""
        paths = [url.toLocalFile() for url in source.urls() if url.isLocalFile()]
        if paths:
            source = QMimeData()
            source.setText("\n".join(paths))
        super().insertFromMimeData(source)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in _ENTER and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.accepted.emit()
        elif event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        elif event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable():
            self.undo_requested.emit()
        else:
            super().keyPressEvent(event)


_PAD = 12
_HEIGHT = 26
_ARROW = 12
_SYMBOL, _SYMBOL_GAP = 14, 5


class Chip(Toggle, QPushButton):
    """A rounded toggle button for a filter; with a menu, it opens the menu instead of toggling.

    Its width does not change when it is checked and its text becomes semibold. With `yields`, its text is shortened
    if there is too little room. `longest`: the longest text that it may get; there is always room for it. `symbol`:
    name of an icon before the text.
    """

    def __init__(
        self, text: str, menu: QMenu | None = None, *, yields: bool = False, longest: str = "", symbol: str = ""
    ) -> None:
        super().__init__(text)
        self._symbol = symbol
        self._yields = yields
        self._longest = longest
        self._narrows = False
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._opens_menu = menu is not None
        if menu is None:
            self.setCheckable(True)
        else:
            self.setMenu(menu)

    def set_narrows(self, narrows: bool) -> None:
        """Set whether the choice in the chip's menu filters anything; then the chip looks checked."""
        self._narrows = narrows
        self.update()

    def width_of(self, text: str) -> int:
        """Return the width of the chip with another text."""
        return QFontMetrics(self._font(bold=True)).horizontalAdvance(text) + 2 * _PAD + self._icons_width

    def sizeHint(self) -> QSize:
        self.ensurePolished()
        height = QFontMetrics(self._font(bold=True)).height() + 10
        width = max(self.width_of(self.text()), self.width_of(self._longest))
        return QSize(width, max(_HEIGHT, height))

    def minimumSizeHint(self) -> QSize:
        if not self._yields:
            return self.sizeHint()
        few = QFontMetrics(self._font(bold=True)).averageCharWidth() * _MIN_CHARACTERS
        hint = self.sizeHint()
        return QSize(min(hint.width(), few + 2 * _PAD + self._icons_width), hint.height())

    @property
    def _icons_width(self) -> int:
        arrow = self._arrow() + 4 if self._opens_menu else 0
        return arrow + (scaled(_SYMBOL) + _SYMBOL_GAP if self._symbol else 0)

    @staticmethod
    def _arrow() -> int:
        return scaled(_ARROW)

    @staticmethod
    def _font(*, bold: bool) -> QFont:
        return font_at(13, QFont.Weight.DemiBold if bold else QFont.Weight.Normal)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        on = self.isChecked() or self.isDown() or self._narrows
        thick = 2 if on and self.hasFocus() else 1  # a checked control's edge may already have the focus colour
        box = QRectF(self.rect()).adjusted(thick / 2, thick / 2, -thick / 2, -thick / 2)
        painter = mirrored_painter(self)
        edge = colours.chosen_edge if on else colours.edge
        painter.setPen(QPen(colours.accent if self.hasFocus() else edge, thick))
        if self.isEnabled():  # no fill if disabled: it would look almost like an unchecked control
            painter.setBrush(colours.accent_ground if on else colours.base)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        if on:
            text_colour = colours.accent
        else:
            text_colour = colours.text if self.underMouse() else colours.muted
        if not self.isEnabled():
            text_colour = self.palette().color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
        painter.setPen(text_colour)
        painter.setFont(self._font(bold=on))
        inner = self.rect().adjusted(_PAD, 0, -_PAD, 0)
        if self._symbol:
            side = scaled(_SYMBOL)
            symbol = icon_pixmap(self._symbol, text_colour, side, self.devicePixelRatioF())
            painter.drawPixmap(inner.left(), (self.height() - side) // 2, symbol)
            inner.adjust(side + _SYMBOL_GAP, 0, 0, 0)
        if self._opens_menu:
            side = self._arrow()
            arrow = icon_pixmap("chevron-down", text_colour, side, self.devicePixelRatioF())
            painter.drawPixmap(inner.right() - side + 3, (self.height() - side) // 2 + 1, arrow)
            inner.adjust(0, 0, -side - 2, 0)
        along = Qt.AlignmentFlag.AlignLeft if self._opens_menu else Qt.AlignmentFlag.AlignHCenter
        text = elide(painter.fontMetrics(), self.text(), Qt.TextElideMode.ElideRight, inner.width())
        write(painter, inner, Qt.AlignmentFlag.AlignVCenter | along, text)
