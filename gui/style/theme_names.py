"""The themes by name, for the command line too, which is read before Qt loads."""

from typing import Literal, get_args

from engine import marked

ThemeName = Literal["light", "dark", "high-contrast-light", "high-contrast-dark"]
ThemeChoice = Literal["system", ThemeName]
"""What a person chooses; `system` follows the desktop, its wish for high contrast too."""

THEMES: tuple[ThemeName, ...] = get_args(ThemeName)
THEME_WORDS: dict[ThemeChoice, str] = {
    "system": marked("Follow the system"),
    "light": marked("Light"),
    "dark": marked("Dark"),
    "high-contrast-light": marked("High contrast, light"),
    "high-contrast-dark": marked("High contrast, dark"),
}
