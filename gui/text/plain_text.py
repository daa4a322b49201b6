"""The only module that turns text into rich text, and that makes tooltips, documents and message boxes.

Qt takes any text that looks like HTML for HTML, in tooltips, labels, message boxes and documents, and reads the files
that its images name. Titles, file names and notes are other people's text: they are escaped here, and images are never
loaded. `tests/gui/test_plain_text_only.py` forbids the calls of Qt outside of this module.

Offsets are converted as well: the engine counts in code points; `QTextLayout` and `QTextCursor` count in UTF-16 units,
which differ after an emoji.
"""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QObject, QPoint, QUrl
from PySide6.QtGui import QAction, QHelpEvent, QIcon, QImage, QStandardItem, Qt, QTextDocument
from PySide6.QtWidgets import (
    QLabel,
    QListWidgetItem,
    QMessageBox,
    QProgressDialog,
    QSystemTrayIcon,
    QTableWidgetItem,
    QToolTip,
    QWidget,
)

from gui.text.right_to_left import in_reading_order

WithTip = QWidget | QAction | QListWidgetItem | QTableWidgetItem | QStandardItem

_AS_IT_IS, _AS_IT_IS_END = '<p style="white-space:pre">', "</p>"
_WRAPPED, _WRAPPED_END = "<qt>", "</qt>"
_NEW_LINE = "<br>"
_BRACKETS = {ord("<"): "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}"}
_BRACKETS[ord(">")] = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
_ENTITY = re.compile(r"&(?=#?\w+;)")

Styled = Sequence[tuple[str, str]]
"""Parts of a text, each with its style in CSS or ""."""

_IMAGE = QTextDocument.ResourceType.ImageResource.value

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


# --- tooltips ---------------------------------------------------------------------------------------------------------
def as_tip(text: str, *, wrap: bool = False) -> str:
    """Return `text` for a tooltip, escaped where Qt would take it for HTML; `wrap` breaks long lines."""
    text = in_reading_order(text)
    if wrap and text:
        return f"{_WRAPPED}{html.escape(text).replace(chr(10), _NEW_LINE)}{_WRAPPED_END}"
    return f"{_AS_IT_IS}{html.escape(text)}{_AS_IT_IS_END}" if Qt.mightBeRichText(text) else text


def set_tip(control: WithTip, text: str) -> None:
    """Set the tooltip of a widget, an action or an item to plain text."""
    tip = as_tip(text)
    if not isinstance(control, QWidget) or control.toolTip() != tip:  # Qt notifies a widget of an equal one, too
        control.setToolTip(tip)


def tip_of(control: WithTip) -> str:
    """Return the tooltip that `set_tip` has set; for an action without one, its text."""
    tip = control.toolTip()
    for start, end in ((_AS_IT_IS, _AS_IT_IS_END), (_WRAPPED, _WRAPPED_END)):
        if tip.startswith(start) and tip.endswith(end):
            return html.unescape(tip[len(start) : -len(end)].replace(_NEW_LINE, "\n"))
    return tip


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip now; an empty text hides the one that is shown."""
    QToolTip.showText(at, as_tip(text), widget)


class PositionTip(QObject):
    """Shows a tooltip that depends on the position in a widget.

    A filter, since an override of `event` would deliver paint events too: before Python 3.12, an error that C code
    raises in an override within another one ends the process.
    """

    def __init__(self, widget: QWidget, text_at: Callable[[QPoint], str]) -> None:
        """`text_at`: returns the text at a position, or "" for the widget's own tooltip."""
        super().__init__(widget)
        self._text_at = text_at
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QHelpEvent) or event.type() != QEvent.Type.ToolTip or not isinstance(watched, QWidget):
            return False
        text = self._text_at(event.pos())
        if text:
            show_tip(event.globalPos(), text, watched)
        return bool(text)


def set_status_tip(control: QWidget | QAction, text: str) -> None:
    """Set the status tip, which needs no escaping: Qt paints status tips as plain text."""
    control.setStatusTip(text)


def set_whats_this(control: QWidget | QAction, text: str) -> None:
    control.setWhatsThis(as_tip(text))


def whats_this_of(control: QWidget | QAction) -> str:
    """Return the text that `set_whats_this` has set."""
    whats_this = control.whatsThis()
    return (
        html.unescape(whats_this[len(_AS_IT_IS) : -len(_AS_IT_IS_END)])
        if whats_this.startswith(_AS_IT_IS)
        else whats_this
    )


# --- rich text --------------------------------------------------------------------------------------------------------


def rich_text(parts: Styled) -> str:
    """Return styled parts as HTML, with their text escaped."""
    return "".join(
        f'<span style="{html.escape(style)}">{html.escape(text)}</span>' if style else html.escape(text)
        for text, style in parts
    )


def set_rich(label: QLabel, parts: Styled) -> None:
    """Show text with styled parts in a label."""
    label.setTextFormat(Qt.TextFormat.RichText)
    label.setText(rich_text(parts))


def set_plain(label: QLabel, text: str) -> None:
    """Show `text` in a label as plain text."""
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setText(text)


def no_resource(kind: int) -> object:
    """Return an empty image for any file or URL in a text: without a result, Qt would read the file itself."""
    return QImage(1, 1, QImage.Format.Format_Alpha8) if kind == _IMAGE else ""


class SealedDocument(QTextDocument):
    """A QTextDocument that loads no files or URLs, whatever its text contains."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return no_resource(kind)


def rich_document(parts: Styled) -> SealedDocument:
    """Return a document with one paragraph of styled parts."""
    document = SealedDocument()
    document.setUndoRedoEnabled(False)
    document.setHtml(rich_text(parts))
    return document


# --- boxes and messages -----------------------------------------------------------------------------------------------
def message_box(parent: QWidget | None, title: str, text: str, informative: str = "") -> QMessageBox:
    """Return a message box without buttons; both texts are plain."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(text)
    box.setInformativeText(informative)
    return box


def progress_dialog(parent: QWidget | None, text: str, cancel: str, maximum: int) -> QProgressDialog:
    """Return a progress dialog from 0 to `maximum`; its text is plain."""
    dialog = QProgressDialog("", cancel, 0, maximum, parent)
    text_label = QLabel()
    text_label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    set_plain(text_label, text)
    dialog.setLabel(text_label)
    return dialog


def set_progress_text(dialog: QProgressDialog, text: str) -> None:
    """Set the plain text of a dialog that `progress_dialog` has made."""
    dialog.setLabelText(text)


def as_notification(text: str) -> str:
    """Return `text` for a desktop notification, without the characters that begin an HTML tag or entity.

    Desktops that show plain text would show escapes, and Qt doesn't say which kind a desktop is.
    """
    return _ENTITY.sub("\N{FULLWIDTH AMPERSAND}", text.translate(_BRACKETS))


def show_notification(icon: QSystemTrayIcon, title: str, text: str, picture: QIcon) -> None:
    """Show a desktop notification next to the tray icon."""
    icon.showMessage(as_notification(title), as_notification(text), picture)


def set_tray_tip(icon: QSystemTrayIcon, text: str) -> None:
    """Set the tooltip of the tray icon."""
    icon.setToolTip(as_notification(text))


def utf16_length(text: str) -> int:
    """Return the length of `text` in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_ranges(text: str, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Convert half-open ranges in `text` from code points to UTF-16 units; they have to be ascending."""
    wide = [match.start() for match in _ASTRAL.finditer(text)]
    if not wide:
        return [(start, end) for start, end in ranges]
    moved = []
    passed = 0
    for start, end in ranges:
        while passed < len(wide) and wide[passed] < start:
            passed += 1
        inside = passed
        while inside < len(wide) and wide[inside] < end:
            inside += 1
        moved.append((start + passed, end + inside))
    return moved


def code_point_offset(text: str, offset: int) -> int:
    """Convert an offset in `text` from UTF-16 units to code points; inside a surrogate pair, to that of its start."""
    passed = 0
    for match in _ASTRAL.finditer(text):
        if match.start() + passed >= offset:
            break
        passed += 1
    return offset - passed
