"""Contrast of every text colour, and that a widget finds its colours whatever the style sheet did to its palette."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QPushButton

from gui.appearance import SCALES
from gui.style import font_at
from gui.theme import theme_tokens, tokens

THEMES = ("light", "dark")


def _luminance(colour: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("ink", ["text", "muted", "accent"])
@pytest.mark.parametrize("ground", ["window", "base", "alternate", "accent_ground", "line_highlight"])
def test_text_is_readable_on_every_ground(theme, ink, ground):
    colours = theme_tokens(theme)
    assert _contrast(getattr(colours, ink), getattr(colours, ground)) >= 4.5 - 0.35 * (ground == "accent_ground")


@pytest.mark.parametrize("theme", THEMES)
def test_marks_and_warnings_are_readable(theme):
    colours = theme_tokens(theme)
    assert _contrast(colours.mark_text, colours.mark) >= 4.5
    for ground in (colours.window, colours.base, colours.alternate):
        assert _contrast(colours.degraded, ground) >= 4.2


@pytest.mark.parametrize("theme", THEMES)
def test_a_styled_widget_finds_its_colours(qtbot, appearance, theme):
    appearance.set_theme(theme)
    button = QPushButton("x")
    button.setProperty("role", "flat")
    qtbot.addWidget(button)
    button.show()
    assert tokens(button.palette()) is theme_tokens(theme)


def test_following_the_system_listens_only_while_it_follows(qapp, appearance, monkeypatch):
    appearance.set_theme("system")
    monkeypatch.setattr(type(qapp.styleHints()), "colorScheme", lambda _: Qt.ColorScheme.Dark)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert appearance.shown == "dark"
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme_tokens("dark").window
    appearance.set_theme("light")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme_tokens("light").window


def test_the_text_grows_and_shrinks_in_steps_and_stops_at_the_ends(qapp, appearance):
    appearance.enlarge(1)
    assert appearance.font_scale == 1.15
    assert qapp.font().pixelSize() == 15
    assert font_at(12).pixelSize() == 14
    for _ in range(20):
        appearance.enlarge(1)
    assert appearance.font_scale == SCALES[-1]
    for _ in range(20):
        appearance.enlarge(-1)
    assert appearance.font_scale == SCALES[0]
    appearance.enlarge(0)
    assert appearance.font_scale == 1.0
