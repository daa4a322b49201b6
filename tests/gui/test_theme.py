"""Contrast of every text colour; widgets get their colours whatever the style sheet does to their palette."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFrame, QLineEdit, QPushButton, QScrollBar, QVBoxLayout

from gui.style import THEMES, ThemeName
from gui.style.appearance import SCALES
from gui.style.stylesheet import character_width, font_at
from gui.style.theme import SHEET_ROLES, Tokens, group_colours, make_palette, theme_tokens, tokens
from gui.viewer.line_painter import FOUND_OPACITY, SELECTED_OPACITY, faded
from gui.widgets.labels import label

PLAIN: tuple[ThemeName, ...] = ("light", "dark")
HIGH = tuple(name for name in THEMES if name not in PLAIN)


def _luminance(colour: QColor) -> float:
    parts = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (colour.redF(), colour.greenF(), colour.blueF())
    ]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


def _contrast(one: QColor, other: QColor) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


GROUNDS = ("window", "base", "alternate", "accent_ground", "line_highlight")
CONTROLS_STAND_ON = ("window", "base", "alternate")
PAIRS = [
    *((ink, ground) for ink in ("text", "muted", "accent", "fine", "working", "degraded") for ground in GROUNDS),
    *(("off", ground) for ground in ("window", "base", "alternate")),  # disabled controls have no other background
    *((ink, "hover") for ink in ("text", "accent", "degraded")),
    *(("mark_text", ground) for ground in ("mark", "found", "selected", "selected mark")),
    *(("text", ground) for ground in ("mark", "found", "selected")),
    ("base", "accent"),  # the one action of a page
]


def _over(ground: QColor, veil: QColor) -> QColor:
    """Return the visible colour after painting a translucent one."""
    share = veil.alphaF()
    parts = zip(ground.getRgbF()[:3], veil.getRgbF()[:3], strict=True)
    return QColor.fromRgbF(*(below * (1 - share) + above * share for below, above in parts))


def _grounds(colours: Tokens) -> dict[str, QColor]:
    """Return every background of text; selections and matches at their darkest, on highlighted lines."""
    found, selected = faded(colours.accent, FOUND_OPACITY), faded(colours.accent, SELECTED_OPACITY)
    grounds = {name: getattr(colours, name) for name in (*GROUNDS, "mark", "accent")}
    return grounds | {
        "hover": colours.hover,
        "found": _over(colours.line_highlight, found),
        "selected": _over(colours.line_highlight, selected),
        "selected mark": _over(colours.mark, selected),
    }


@pytest.mark.parametrize("theme", THEMES)
def test_text_contrast_is_sufficient_on_every_ground(theme):
    colours, least = theme_tokens(theme), 7 if theme in HIGH else 4.5
    contrasts = {(ink, ground): _contrast(getattr(colours, ink), _grounds(colours)[ground]) for ink, ground in PAIRS}
    assert not {pair: contrast for pair, contrast in contrasts.items() if contrast < least}


@pytest.mark.parametrize("theme", THEMES)
def test_focus_and_tick_contrast_is_sufficient(theme):
    colours = theme_tokens(theme)
    for edge in (colours.accent, colours.off):
        for ground in (*CONTROLS_STAND_ON, "hover"):
            assert _contrast(edge, getattr(colours, ground)) >= 3
    assert _contrast(colours.accent, colours.accent_ground) >= 3  # a row with the focus, a chip that is on


@pytest.mark.parametrize("theme", HIGH)
def test_high_contrast_edges_are_visible(theme):
    colours = theme_tokens(theme)
    for edge in (colours.edge, colours.line, colours.thumb, colours.chosen_edge, colours.mark_tick, colours.meaning):
        for ground in CONTROLS_STAND_ON:
            assert _contrast(edge, getattr(colours, ground)) >= 3
    assert _contrast(colours.chosen_edge, colours.accent_ground) >= 3
    assert all(_contrast(filled, colours.line) >= 3 for filled in (colours.accent, colours.meaning))  # bars
    for ground in (*GROUNDS, "mark"):
        assert _contrast(colours.mark_edge, getattr(colours, ground)) >= 3


@pytest.mark.parametrize("theme", THEMES)
def test_tokens_of_palette_return_its_theme(theme):
    assert tokens(make_palette(theme)) is theme_tokens(theme)


@pytest.mark.parametrize("theme", THEMES)
def test_palette_text_colours_are_readable(theme):
    colours, palette, role = theme_tokens(theme), make_palette(theme), QPalette.ColorRole
    inks = (role.WindowText, role.Text, role.ButtonText, role.PlaceholderText, role.BrightText, role.Link)
    for ink in (*inks, role.LinkVisited, role.HighlightedText):
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive, QPalette.ColorGroup.Disabled):
            for ground in (colours.window, colours.base, colours.alternate):
                assert _contrast(palette.color(group, ink), ground) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
def test_group_colours_differ_from_ground_and_each_other(theme):
    found, base = group_colours(make_palette(theme)), theme_tokens(theme).base
    assert len({colour.name() for colour in found}) == len(found) == 8
    assert all(_contrast(colour, base) >= 3 for colour in found)


@pytest.mark.parametrize("theme", THEMES)
def test_styled_widget_keeps_theme_tokens(qtbot, appearance, theme):
    appearance.set_theme(theme)
    button = QPushButton("x")
    button.setProperty("role", "flat")
    qtbot.addWidget(button)
    button.show()
    assert tokens(button.palette()) is theme_tokens(theme)


def _styled(qtbot) -> QFrame:
    side = QFrame()
    side.setProperty("role", "side")
    column = QVBoxLayout(side)
    for role in ("muted", "degraded", "strong"):
        column.addWidget(label("Some words", role))
    for role in ("primary", "flat", "link", ""):
        button = QPushButton("Press")
        button.setProperty("role", role)
        column.addWidget(button)
    column.addWidget(QLineEdit("Written"))
    off = QPushButton("Off")
    off.setEnabled(False)
    column.addWidget(off)
    scroll = QScrollBar(Qt.Orientation.Horizontal)
    column.addWidget(scroll)
    qtbot.addWidget(side)
    side.show()
    return side


@pytest.mark.parametrize("theme", THEMES)
def test_existing_widget_adopts_new_theme(qtbot, appearance, theme):
    appearance.set_theme(next(other for other in THEMES if other != theme))
    before = _styled(qtbot)
    other = before.grab().toImage()
    appearance.set_theme(theme)
    assert before.grab().toImage() == _styled(qtbot).grab().toImage() != other


@pytest.mark.parametrize("theme", THEMES)
def test_style_sheet_uses_palette_colours(qtbot, appearance, theme):
    appearance.set_theme(theme)
    side = _styled(qtbot)
    assert side.grab().toImage().pixelColor(1, 1) == theme_tokens(theme).alternate
    primary = next(button for button in side.findChildren(QPushButton) if button.property("role") == "primary")
    assert primary.grab().toImage().pixelColor(8, primary.height() // 2) == theme_tokens(theme).accent
    palette = make_palette(theme)
    for name, role in SHEET_ROLES.items():
        if hasattr(theme_tokens(theme), name):
            key = "".join(part.capitalize() for part in role.split("-")).replace("Tooltip", "ToolTip")
            assert palette.color(QPalette.ColorRole[key]) == getattr(theme_tokens(theme), name)


def test_system_colour_scheme_applies_only_in_system_theme(qapp, appearance, monkeypatch):
    appearance.set_theme("system")
    monkeypatch.setattr(type(qapp.styleHints()), "colorScheme", lambda _: Qt.ColorScheme.Dark)
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert appearance.theme_in_use == "dark"
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme_tokens("dark").window
    appearance.set_theme("light")
    qapp.styleHints().colorSchemeChanged.emit(Qt.ColorScheme.Dark)
    assert qapp.palette().color(QPalette.ColorRole.Window) == theme_tokens("light").window


def test_system_theme_follows_contrast_preference(qapp, appearance, monkeypatch):
    if not hasattr(qapp.styleHints(), "accessibility"):
        pytest.skip("Qt reports the desktop's contrast since 6.10.")
    hints = qapp.styleHints().accessibility()
    monkeypatch.setattr(type(hints), "contrastPreference", lambda _: Qt.ContrastPreference.HighContrast)
    assert appearance.theme_in_use == "light"
    appearance.set_theme("system")
    assert appearance.theme_in_use == "high-contrast-light"
    monkeypatch.setattr(type(qapp.styleHints()), "colorScheme", lambda _: Qt.ColorScheme.Dark)
    hints.contrastPreferenceChanged.emit(Qt.ContrastPreference.HighContrast)
    assert qapp.palette().color(QPalette.ColorRole.WindowText) == theme_tokens("high-contrast-dark").text


def test_font_scale_changes_in_steps_between_limits(qapp, appearance):
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


def test_letter_width_does_not_shrink_below_default(appearance):
    usual = character_width()
    appearance.set_font_scale(0.8)
    assert character_width() == usual
    appearance.set_font_scale(2.0)
    assert character_width() > usual
