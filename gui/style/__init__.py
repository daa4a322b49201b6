"""Theme, style sheet, fonts and sizes of the window.

In: the settings and the desktop's preference.
Out: palettes and a style sheet. The names of the themes are here, for the command line, which is read before Qt loads.
"""

from typing import Literal, get_args

from engine import marked

ThemeName = Literal["light", "dark", "high-contrast-light", "high-contrast-dark"]
ThemeChoice = Literal["system", ThemeName]
"""The user's choice; `system` follows the desktop, including high contrast."""

THEMES: tuple[ThemeName, ...] = get_args(ThemeName)
THEME_WORDS: dict[ThemeChoice, str] = {
    "system": marked("Follow the system"),
    "light": marked("Light"),
    "dark": marked("Dark"),
    "high-contrast-light": marked("High contrast, light"),
    "high-contrast-dark": marked("High contrast, dark"),
}
