"""Creates labels and lines in the look of the program, and paints lines of text."""

import re
from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QLabel, QSizePolicy, QStyle, QWidget

from gui.style.theme import tokens
from gui.style.typography import Resized
from gui.text.plain_text import set_plain, set_tip
from gui.text.right_to_left import at_start, in_reading_order, line_direction, write

AT_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)
AT_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine)

_JOINTS = re.compile(r"[/\\](?=[\w.])|[_-](?=\w)|(?<=\w)\.(?=[^\W\d])")
_PART = 12
_NO_WORD = re.compile(rf"\w{{{_PART}}}(?=\w{{{_PART // 2}}})")
"""Matches the beginning of a text longer than any word, such as a hash or an unhyphenated name."""


def label(text: str = "", role: str = "", *, wrap: bool = False, parent: QWidget | None = None) -> QLabel:
    """Create a plain-text label; `role` selects its style in the style sheet."""
    text_label = QLabel(parent)
    set_plain(text_label, text)
    text_label.setWordWrap(wrap)
    text_label.setAlignment(at_start(Qt.AlignmentFlag.AlignVCenter))
    if role:
        text_label.setProperty("role", role)
    return text_label


def breakable(text: str) -> str:
    """Return `text` with invisible break opportunities in long paths and names."""
    return _NO_WORD.sub("\\g<0>\u200b", _JOINTS.sub("\\g<0>\u200b", text))


def line(*, vertical: bool = False) -> QFrame:
    """Create a one-pixel line between two areas."""
    frame = QFrame()
    frame.setProperty("role", "line")
    if vertical:
        frame.setFixedWidth(1)
    else:
        frame.setFixedHeight(1)
    return frame


# --- A label that shortens its text to its width and shows the whole text in the tooltip -----------------------------


_HEADING = " › "
"""Separates a path and the headings in its file."""


def elide(metrics: QFontMetrics, text: str, mode: Qt.TextElideMode, width: int) -> str:
    """Shorten `text` with an ellipsis if it doesn't fit, with the rounding of size hints, unlike Qt's own function.

    A path that is cut at its left, and one with headings after it, loses whole names as long as the last one fits.
    """
    if metrics.horizontalAdvance(text) <= width:
        return text
    path, *headings = text.split(_HEADING) if mode == Qt.TextElideMode.ElideMiddle else [text]
    if headings or mode == Qt.TextElideMode.ElideLeft:
        starts = [at for at, sign in enumerate(path) if sign == "/"]
        starts += [at for at in range(len(path), len(text)) if text.startswith(_HEADING, at)] if headings else []
        cuts = (f"\N{HORIZONTAL ELLIPSIS}{text[start:]}" for start in starts)
        if cut := next((cut for cut in cuts if metrics.horizontalAdvance(cut) <= width), ""):
            return cut
    if headings:
        text, mode = headings[-1], Qt.TextElideMode.ElideRight
    return metrics.elidedText(text, mode, width)


def write_line(
    painter: QPainter,
    rect: QRect,
    text: str,
    look: tuple[QFont, QColor],
    *,
    at: int = AT_LEFT,
    cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
) -> int:
    """Write a line of text, shortened to the width of `rect`; returns its width."""
    painter.setFont(look[0])
    painter.setPen(look[1])
    metrics = painter.fontMetrics()
    words = elide(metrics, text, cut, rect.width())
    write(painter, rect, at, words)
    return metrics.horizontalAdvance(words)


class ElidedLabel(Resized, QLabel):
    """A label with one line of plain text, shortened with an ellipsis. `mode`: its position, middle for paths.

    Requests the width of the whole text and accepts any smaller width. If fewer than `fewest` characters fit, the text
    is hidden, since the rest would be meaningless.
    """

    def __init__(
        self,
        text: str = "",
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        parent: QWidget | None = None,
        *,
        fewest: int = 0,
    ) -> None:
        super().__init__(parent)
        self._mode = mode
        self._fewest = fewest
        self._tip = ""
        set_plain(self, "")
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setText(text)

    def setText(self, text: str) -> None:
        text = in_reading_order(text)
        if text == self.text():
            return
        super().setText(text)
        self.setAccessibleName(text)
        self.fit()

    def set_tip(self, tip: str) -> None:
        """Set a tooltip that is shown whether the text is shortened or not."""
        self._tip = tip
        self.fit()

    def minimumSizeHint(self) -> QSize:
        return QSize(0, super().minimumSizeHint().height())

    def _cut(self) -> str:
        metrics, width = self.fontMetrics(), self.contentsRect().width()
        cut = elide(metrics, self.text(), self._mode, width)
        return cut if cut == self.text() or width >= self._fewest * metrics.averageCharWidth() else ""

    def fit(self) -> None:
        cut = self.text() if self._cut() != self.text() else ""
        set_tip(self, "\n".join(part for part in (cut, self._tip) if part))

    def text_colour(self) -> QColor:
        """Return the text colour of the label."""
        return self.palette().color(QPalette.ColorRole.WindowText)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(self.text_colour())
        where = QStyle.visualAlignment(self.layoutDirection(), self.alignment()) | Qt.AlignmentFlag.AlignAbsolute
        # In the text's own direction: ellipsis and punctuation are at its end.
        painter.setLayoutDirection(line_direction(self.text()))
        painter.drawText(self.contentsRect(), int(where | Qt.TextFlag.TextSingleLine), self._cut())


_CAP_PAD, _CAP_GAP = 6, 4
_FAR = 100_000


def key_caps_width(metrics: QFontMetrics, keys: Sequence[str]) -> int:
    """Return the width in pixels of keys that are painted as key caps in one line."""
    return sum(metrics.horizontalAdvance(key) + 2 * _CAP_PAD + _CAP_GAP for key in keys) - _CAP_GAP


class KeyCaps(QLabel):
    """Paints keys as key caps, in lines that wrap; the widget's text is for screen readers."""

    def __init__(self, text: str, keys: Sequence[str]) -> None:
        super().__init__()
        set_plain(self, text)
        self._keys = keys

    def _caps(self, width: int) -> list[QRect]:
        """Return the rectangles of the key caps within `width` pixels."""
        metrics = self.fontMetrics()
        height = metrics.height() + 2
        left = top = 0
        caps = []
        for key in self._keys:
            wide = metrics.horizontalAdvance(key) + 2 * _CAP_PAD
            if left and left + wide > width:
                left, top = 0, top + height + _CAP_GAP
            caps.append(QRect(left, top, wide, height))
            left += wide + _CAP_GAP
        return caps

    def sizeHint(self) -> QSize:
        last = self._caps(_FAR)[-1]
        return QSize(last.right() + 1, last.bottom() + 1)

    def minimumSizeHint(self) -> QSize:
        caps = self._caps(_FAR)
        return QSize(max(cap.width() for cap in caps), caps[0].height())

    def heightForWidth(self, width: int) -> int:
        return self._caps(width)[-1].bottom() + 1

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setLayoutDirection(Qt.LayoutDirection.LeftToRight)  # otherwise "Ctrl+," becomes ",+Ctrl"
        for key, cap in zip(self._keys, self._caps(self.width()), strict=True):
            mirrored = QStyle.visualRect(self.layoutDirection(), self.rect(), cap)
            painter.setPen(colours.edge)
            painter.setBrush(colours.alternate)
            painter.drawRoundedRect(QRectF(mirrored).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4)
            painter.setPen(colours.text)
            painter.drawText(mirrored, Qt.AlignmentFlag.AlignCenter, key)
