"""The themes by name, for the command line too, which is read before Qt loads."""

from typing import Literal, get_args

ThemeName = Literal["light", "dark", "high-contrast-light", "high-contrast-dark"]
ThemeChoice = Literal["system", ThemeName]
"""What a person chooses; `system` follows the desktop, its wish for high contrast too."""

THEMES: tuple[ThemeName, ...] = get_args(ThemeName)
THEME_WORDS: dict[ThemeChoice, str] = {
    "system": "Follow the system",
    "light": "Light",
    "dark": "Dark",
    "high-contrast-light": "High contrast, light",
    "high-contrast-dark": "High contrast, dark",
}
