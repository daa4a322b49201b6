"""The named colours of each theme, and the palettes made from them.

A painter calls `tokens(palette)` for the colours of its palette, so a change of theme needs no signal to any delegate.
Hex values are in `resources/palettes.toml`.
"""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette, QPen

from gui.style import THEMES, ThemeName


@dataclass(frozen=True)
class Tokens:
    """The named colours of one theme."""

    window: QColor
    base: QColor
    alternate: QColor
    text: QColor
    muted: QColor
    line: QColor
    """Lines between areas, and the empty part of bars."""
    edge: QColor
    """Border of controls."""
    chosen_edge: QColor
    """Border of checked controls, around `accent_ground`."""
    hover: QColor
    """Background of a button under the mouse."""
    thumb: QColor
    """Handle of a scroll bar."""
    accent: QColor
    accent_ground: QColor
    meaning: QColor
    mark: QColor
    mark_edge: QColor
    """Border of `mark`; the same colour if the background alone is distinct enough."""
    mark_tick: QColor
    """Border of marks of a few pixels."""
    mark_text: QColor
    line_highlight: QColor
    fine: QColor
    working: QColor
    degraded: QColor
    off: QColor


@cache
def _table(name: ThemeName) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads(files("resources").joinpath("palettes.toml").read_text("utf-8"))[name]
    return table


@cache
def theme_tokens(name: ThemeName) -> Tokens:
    return Tokens(**{field.name: QColor(_table(name)[field.name]) for field in fields(Tokens)})


def tokens(palette: QPalette) -> Tokens:
    """Return the named colours of the theme that a palette belongs to, perhaps the palette of a styled widget."""
    return theme_tokens(_theme_of(palette))


def mark_pen(colours: Tokens) -> QPen:
    """Return the pen for the edge of a highlight, whose fill is the colour `mark`."""
    return edge_pen(colours, colours.mark)


def edge_pen(colours: Tokens, background: QColor | None) -> QPen:
    """Return the pen for the outline of marked text on a `background`; without one it gets a frame."""
    if background is None:
        return QPen(colours.accent, 1.5)
    if background == colours.mark != colours.mark_edge:
        return QPen(colours.mark_edge, 1)
    return QPen(Qt.PenStyle.NoPen)


def group_colours(palette: QPalette) -> tuple[QColor, ...]:
    """Return colours for unordered categories, distinguishable on `base`; the last one is for the rest."""
    return tuple(map(QColor, _table(_theme_of(palette))["groups"]))


def _theme_of(palette: QPalette) -> ThemeName:
    # A style sheet writes its backgrounds into Base, Button and Window and its text into the others, never into Mid.
    line = palette.color(QPalette.ColorRole.Mid)
    known = _themes_by_line().get(line.rgb())
    return known or ("dark" if line.lightness() < 128 else "light")  # a palette of another origin


@cache
def _themes_by_line() -> dict[int, ThemeName]:
    return {theme_tokens(name).line.rgb(): name for name in THEMES}


SHEET_ROLES = {
    "base": "light",
    "alternate": "alternate-base",
    "text": "highlighted-text",
    "muted": "dark",
    "line": "mid",
    "edge": "tooltip-base",
    "chosen_edge": "tooltip-text",
    "accent": "link",
    "accent_ground": "highlight",
    "degraded": "bright-text",
    "off": "link-visited",
    "hover": "midlight",
    "thumb": "shadow",
}
"""Palette roles from which the style sheet reads each colour. They are roles that it never writes itself, unlike Base,
Button, Window and most texts of a styled widget, whose children inherit them. So a new theme is a new palette and no
new sheet, which Qt would match with every widget again (0.2 s)."""


def make_palette(name: ThemeName) -> QPalette:
    """Return the application palette of a theme, for the Fusion style and for the style sheet."""
    colours = theme_tokens(name)
    role = QPalette.ColorRole
    palette = QPalette()
    for target, colour in {
        role.Window: colours.window,
        role.WindowText: colours.text,
        role.Base: colours.base,
        role.AlternateBase: colours.alternate,
        role.ToolTipBase: colours.edge,
        role.ToolTipText: colours.chosen_edge,
        role.PlaceholderText: colours.muted,
        role.Text: colours.text,
        role.Button: colours.base,
        role.ButtonText: colours.text,
        role.BrightText: colours.degraded,
        role.Highlight: colours.accent_ground,
        role.HighlightedText: colours.text,
        role.Link: colours.accent,
        role.LinkVisited: colours.off,
        role.Accent: colours.accent,
        role.Light: colours.base,
        role.Midlight: colours.hover,
        role.Mid: colours.line,
        role.Dark: colours.muted,
        role.Shadow: colours.thumb,
    }.items():
        palette.setColor(target, colour)
    for target in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, target, colours.off)
    return palette
