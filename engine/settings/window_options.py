"""Options of the window: nothing that the engine itself reads."""

from typing import Annotated, Literal

import msgspec

from engine.settings.section import Section, option

Theme = Literal["system", "light", "dark", "high-contrast-light", "high-contrast-dark"]
Language = Literal["system", "en", "de"]


class WindowSettings(Section, frozen=True):
    keep_searches: Annotated[bool, option("Keep what was searched for, on this computer, to come back to it.")] = True
    theme: Annotated[Theme, option("Colours of the window; system follows the desktop, in contrast too.")] = "system"
    font_scale: Annotated[float, option("Size of the text, as a multiple of the desktop's.", 0.8, 2)] = 1.0
    editor: Annotated[
        str,
        option("Command that opens a file in an editor, with {path} and {line}; empty takes one that is installed."),
    ] = ""
    language: Annotated[
        Language, option("Language of the window; system follows the desktop. It changes with the next start.")
    ] = "system"
    keys: Annotated[
        dict[str, tuple[str, ...]],
        option("Keys in place of the program's own, by the name of a command; an empty list takes them away."),
    ] = msgspec.field(default_factory=dict)
    tray: Annotated[bool, option("Keep an icon in the desktop's tray, where the desktop has one.")] = True
    close_to_tray: Annotated[
        bool,
        option("Closing the window leaves the program in the tray, where it goes on indexing and answers at once."),
    ] = False
    notify: Annotated[
        bool, option("Tell when an index that took long is ready, if another program is in front by then.")
    ] = True
