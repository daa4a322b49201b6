"""The one place where text becomes rich text, and where tooltips, documents and message boxes are made.

Qt takes any text that looks like HTML for HTML, in tooltips, labels, message boxes and documents, and reads the files
that its images name. Titles, file names and notes are other people's text: they are escaped here, and images are never
loaded. `tests/gui/test_plain_text_only.py` forbids the calls of Qt outside of this module.

Offsets are converted as well: the engine counts in code points; `QTextLayout`, `QTextCursor` and their kind count in
UTF-16 units, which differ after an emoji.
"""

import html
import re
from collections.abc import Iterable, Sequence
from typing import Any

from PySide6.QtCore import QPoint, QUrl
from PySide6.QtGui import QAction, QIcon, QImage, QStandardItem, Qt, QTextDocument
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
    """`text` for a tooltip, escaped where Qt would take it for HTML; `wrap` breaks long lines."""
    if wrap and text:
        return f"{_WRAPPED}{html.escape(text).replace(chr(10), _NEW_LINE)}{_WRAPPED_END}"
    return f"{_AS_IT_IS}{html.escape(text)}{_AS_IT_IS_END}" if Qt.mightBeRichText(text) else text


def set_tip(thing: WithTip, text: str) -> None:
    """Give a widget, an action or an item this tooltip."""
    thing.setToolTip(as_tip(text))


def tip_of(thing: WithTip) -> str:
    """The text that `set_tip` was given; for an action without one, its name."""
    tip = thing.toolTip()
    for start, end in ((_AS_IT_IS, _AS_IT_IS_END), (_WRAPPED, _WRAPPED_END)):
        if tip.startswith(start) and tip.endswith(end):
            return html.unescape(tip[len(start) : -len(end)].replace(_NEW_LINE, "\n"))
    return tip


def show_tip(at: QPoint, text: str, widget: QWidget) -> None:
    """Show a tooltip now; an empty text hides the one that is shown."""
    QToolTip.showText(at, as_tip(text), widget)


def set_status_tip(thing: QWidget | QAction, text: str) -> None:
    """Qt paints status tips as plain text: they need no escaping."""
    thing.setStatusTip(text)


def set_whats_this(thing: QWidget | QAction, text: str) -> None:
    thing.setWhatsThis(as_tip(text))


def whats_this_of(thing: QWidget | QAction) -> str:
    """The text that `set_whats_this` was given."""
    said = thing.whatsThis()
    return html.unescape(said[len(_AS_IT_IS) : -len(_AS_IT_IS_END)]) if said.startswith(_AS_IT_IS) else said


# --- rich text --------------------------------------------------------------------------------------------------------


def rich_text(parts: Styled) -> str:
    """The parts as HTML, with their text escaped."""
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
    """Return an empty image for any file or address that a text names: if `loadResource` returned nothing, Qt would
    read the file itself."""
    return QImage(1, 1, QImage.Format.Format_Alpha8) if kind == _IMAGE else ""


class SealedDocument(QTextDocument):
    """A document that reads no file and fetches nothing, whatever its text names."""

    def loadResource(self, kind: int, name: QUrl | str) -> Any:
        return no_resource(kind)


def rich_document(parts: Styled) -> SealedDocument:
    """One paragraph of text with styled parts."""
    document = SealedDocument()
    document.setUndoRedoEnabled(False)
    document.setHtml(rich_text(parts))
    return document


# --- boxes and messages -----------------------------------------------------------------------------------------------
def message_box(parent: QWidget | None, title: str, text: str, informative: str = "") -> QMessageBox:
    """A message box without buttons yet; both texts are plain."""
    box = QMessageBox(parent)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setWindowTitle(title)
    box.setText(text)
    box.setInformativeText(informative)
    return box


def progress_dialog(parent: QWidget | None, text: str, cancel: str, maximum: int) -> QProgressDialog:
    """A progress dialog from 0 to `maximum`; its text is plain."""
    dialog = QProgressDialog("", cancel, 0, maximum, parent)
    shown = QLabel()
    shown.setAlignment(Qt.AlignmentFlag.AlignCenter)
    set_plain(shown, text)
    dialog.setLabel(shown)
    return dialog


def set_progress_text(dialog: QProgressDialog, text: str) -> None:
    """Change the text of a dialog of `progress_dialog`, whose label stays plain."""
    dialog.setLabelText(text)


def as_notification(text: str) -> str:
    """Return `text` for a desktop notification, which may be read as HTML: without the characters that begin a tag or
    an entity.

    Escaping would be seen on desktops that show plain text, and Qt doesn't say which kind this is.
    """
    return _ENTITY.sub("\N{FULLWIDTH AMPERSAND}", text.translate(_BRACKETS))


def show_notification(icon: QSystemTrayIcon, title: str, text: str, picture: QIcon) -> None:
    """A message of the desktop next to the tray's icon."""
    icon.showMessage(as_notification(title), as_notification(text), picture)


def set_tray_tip(icon: QSystemTrayIcon, text: str) -> None:
    """The tooltip of the tray's icon, which the desktop shows."""
    icon.setToolTip(as_notification(text))


def utf16_length(text: str) -> int:
    """How many UTF-16 units Qt needs for `text`."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_ranges(text: str, ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Half-open code-point ranges of `text`, in ascending order, as UTF-16 ranges."""
    wide = [found.start() for found in _ASTRAL.finditer(text)]
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
    """The code-point offset of a UTF-16 offset; inside a surrogate pair, that of its start."""
    passed = 0
    for found in _ASTRAL.finditer(text):
        if found.start() + passed >= offset:
            break
        passed += 1
    return offset - passed
