"""The style sheet: what Fusion and a palette cannot say. Sizes are logical pixels at font scale 1.

Widgets choose a look by the dynamic property `role`. So a new font scale needs one new sheet for all of them, and a new
theme needs none:

    QLabel        meta (12, muted), muted, strong (semibold), section (semibold, above a group), group (15, above a
                  group of settings, or a page's sentence), degraded (12, in that state's colour), title and figure (21)
    QPushButton   primary (the one action of a page), flat (no border until hovered), link, link-degraded (text alone;
                  with the property `flush` aligned with text above it)
    QPlainTextEdit field (as a line to type in)
    QScrollArea   text (scrolled by keys, so that it shows the focus)
    QFrame        card (10 px corners), side (panels at the sides), page (base colour), line (one pixel),
                  quick (a window without a frame)
"""

from string import Template

from PySide6.QtGui import QFont, QFontMetrics, QGuiApplication
from PySide6.QtWidgets import QWidget

from gui.style.theme import SHEET_ROLES

BASE_PIXELS = 13

_SHEET = Template(
    """
QToolTip { background: $base; color: $text; border: 1px solid $line; padding: 4px 6px; }
QLabel { background: transparent; }
QLabel[role="meta"], QLabel[role="degraded"] { font-size: ${px12}px; }
QLabel[role="meta"], QLabel[role="muted"] { color: $muted; }
QLabel[role="degraded"] { color: $degraded; }
QLabel[role="strong"], QLabel[role="section"] { font-weight: 600; }
QLabel[role="group"] { font-size: ${px15}px; font-weight: 600; }
QLabel[role="title"] { font-size: ${px21}px; font-weight: 600; }
QLabel[role="figure"] { font-size: ${px21}px; font-weight: 600; }

QFrame[role="card"] { background: $base; border: 1px solid $line; border-radius: 10px; }
QFrame[role="quick"] { background: $alternate; border: 1px solid $off; }
QFrame[role="page"] { background: $base; border: none; }
QFrame[role="side"] { background: $alternate; border: none; }
QFrame[role="line"] { background: $line; border: none; }
QFrame[role="line-active"] { background: $accent; border: none; }
QScrollArea, QScrollArea > QWidget > QFrame { border: none; }
QScrollArea[role="text"] { border: 1px solid transparent; border-radius: 4px; }
QScrollArea[role="text"]:focus { border-color: $accent; }

QPushButton, QToolButton {
    background: $base; color: $text; border: 1px solid $edge; border-radius: 6px; padding: 4px 10px; outline: none; }
QPushButton:hover, QToolButton:hover { background: $hover; }
QPushButton:pressed, QToolButton:pressed, QPushButton:checked, QToolButton:checked {
    background: $accent_ground; color: $accent; border-color: $chosen_edge; }
QPushButton:focus, QToolButton:focus { border-color: $accent; }
QPushButton:checked:focus, QToolButton:checked:focus { border: 2px solid $accent; padding: 3px 9px; }
QPushButton:disabled, QToolButton:disabled { background: transparent; color: $off; }
QPushButton[role="primary"] { background: $accent; color: $base; border-color: $accent; padding: 4px 16px; }
QPushButton[role="primary"]:hover, QPushButton[role="primary"]:focus { border-color: $text; }
QPushButton[role="primary"]:disabled { background: $alternate; color: $off; border-color: $edge; }
QPushButton[role="flat"], QToolButton[role="flat"] {
    background: transparent; border: 1px solid transparent; padding: 3px 6px; }
QPushButton[role="flat"]:hover, QToolButton[role="flat"]:hover { background: $hover; }
QPushButton[role="flat"]:focus, QToolButton[role="flat"]:focus { border-color: $accent; }
QPushButton[role="flat"]:checked:focus, QToolButton[role="flat"]:checked:focus {
    border: 2px solid $accent; padding: 2px 5px; }
QPushButton[role="link"], QPushButton[role="link-degraded"] {
    background: transparent; color: $accent; border: 1px solid transparent; border-radius: 4px; padding: 0px 3px;
    font-size: ${px12}px; text-align: left; }
QPushButton[role="link"][flush="true"] { padding: 0px; }
QPushButton[role="link-degraded"] { color: $degraded; }
QPushButton[role="link"]:hover, QPushButton[role="link-degraded"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus, QPushButton[role="link-degraded"]:focus { border-color: $accent; }
QToolButton::menu-indicator, QPushButton::menu-indicator { image: none; width: 0px; }

QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }

QLineEdit {
    background: $base; color: $text; placeholder-text-color: $muted; border: 1px solid $edge; border-radius: 8px;
    padding: 4px 8px; }
QLineEdit:focus { border-color: $accent; }
QPlainTextEdit[role="field"] {
    background: $base; color: $text; border: 1px solid $edge; border-radius: 8px; padding: 3px 5px; }
QPlainTextEdit[role="field"]:focus { border-color: $accent; }
QLineEdit:disabled { background: $alternate; color: $off; }

QPlainTextEdit {
    background: $base; color: $text; border: 1px solid $edge; border-radius: 8px; padding: 4px 2px 4px 6px; }
QPlainTextEdit:focus { border-color: $accent; }

QComboBox {
    background: $base; color: $text; border: 1px solid $edge; border-radius: 8px; padding: 4px 8px; combobox-popup: 0; }
QComboBox:focus { border-color: $accent; }
QComboBox:disabled { color: $off; }
QComboBox::drop-down { border: none; width: 28px; }
QComboBox::down-arrow { image: none; }
QComboBox QLineEdit { border: none; padding: 0px; background: transparent; placeholder-text-color: $muted; }
QComboBox QAbstractItemView {
    background: $base; color: $text; border: 1px solid $edge; selection-background-color: $accent_ground;
    selection-color: $text; outline: none; }
QComboBox QAbstractItemView::item { padding: 4px 6px; border: none; border-left: 2px solid transparent; }
QComboBox QAbstractItemView::item:selected {
    background: $accent_ground; color: $text; border-left-color: $accent; }

QListWidget { background: $alternate; color: $text; border: none; outline: none; padding: 8px 0px; }
QListWidget::item { padding: 5px 13px; border: 1px solid transparent; }
QListWidget::item:selected { background: $accent_ground; color: $text; }
QListWidget::item:focus { border-color: $accent; }

QMenu { background: $base; color: $text; border: 1px solid $line; padding: 4px 0px; menu-scrollable: 1; }
QMenu::item { padding: 5px 24px 5px 24px; }
QMenu::item:selected { background: $accent_ground; color: $text; }
QMenu::item:disabled { color: $off; }
QMenu::separator { height: 1px; background: $line; margin: 4px 0px; }
QMenu::indicator { left: 6px; }

QListWidget#offers { background: $base; color: $text; border: 1px solid $line; border-radius: 8px; padding: 4px 0px; }
QListWidget#offers::item { padding: 4px 10px; }
QListWidget#offers::item:hover, QListWidget#offers::item:selected { background: $accent_ground; color: $text; }

QTableView, QTreeView {
    background: $base; border: 1px solid $line; border-radius: 6px; gridline-color: $line; outline: none; }
QTreeView { border-color: transparent; show-decoration-selected: 1; }
QTableView:focus, QTreeView:focus { border-color: $accent; }
QTableView::item { padding: 2px 3px; border: none; }
QTreeView::item { padding: 3px 0px; border: none; }
QTableView::item:selected, QTreeView::item:selected {
    background: $accent_ground; color: $text; }
QHeaderView { background: $alternate; border: none; }
QHeaderView::section {
    background: $alternate; color: $muted; border: none; border-bottom: 1px solid $line; padding: 4px 6px;
    font-size: ${px12}px; font-weight: 400; }
QHeaderView::up-arrow, QHeaderView::down-arrow { image: none; width: 0px; height: 0px; }

QSplitter::handle { background: $line; }
QScrollBar { background: transparent; border: none; margin: 0px; }
QScrollBar:vertical { width: 12px; }
QScrollBar:horizontal { height: 12px; }
QScrollBar::handle { background: $thumb; border: 3px solid $alternate; border-radius: 6px; }
QScrollBar::handle:hover { background: $off; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::add-line, QScrollBar::sub-line, QScrollBar::add-page, QScrollBar::sub-page {
    background: transparent; border: none; width: 0px; height: 0px; }
"""
)


def style_sheet(scale: float) -> str:
    """Return the application's style sheet for a font scale; its colours are those of the palette."""
    return _SHEET.substitute(
        {name: f"palette({role})" for name, role in SHEET_ROLES.items()},
        px12=round(12 * scale),
        px15=round(15 * scale),
        px21=round(21 * scale),
    )


def font_scale() -> float:
    """Return the font scale of the interface, by its font; 1 is the size of the design."""
    pixels = QGuiApplication.font().pixelSize()
    return pixels / BASE_PIXELS if pixels > 0 else 1.0


def scaled(pixels: float) -> int:
    """Return a length that is `pixels` at font scale 1 in pixels of the current scale, at least 1."""
    return max(1, round(pixels * font_scale()))


def font_at(pixels: float, weight: QFont.Weight = QFont.Weight.Normal) -> QFont:
    """Return the interface font, `pixels` high at font scale 1, for widgets that paint text themselves."""
    font = QGuiApplication.font()
    font.setPixelSize(scaled(pixels))
    font.setWeight(weight)
    return font


def character_width() -> int:
    """Return the width of an average character of the interface font, by which layouts decide to fold.

    At least that of font scale 1, since margins and buttons do not shrink with the text.
    """
    font = font_at(BASE_PIXELS)
    font.setPixelSize(max(font.pixelSize(), BASE_PIXELS))
    return QFontMetrics(font).averageCharWidth()


def set_role(widget: QWidget, role: str) -> None:
    """Change the dynamic property `role` of a widget, which selects its look in the style sheet."""
    if widget.property("role") == role:
        return
    widget.setProperty("role", role)
    widget.style().unpolish(widget)
    widget.style().polish(widget)
