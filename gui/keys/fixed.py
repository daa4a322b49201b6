"""Keys that stay as they are: those that lists, texts and fields hear themselves, as everywhere on the desktop."""

from dataclasses import dataclass

from gui.keys.places import Place


@dataclass(frozen=True)
class Fixed:
    """`keys` do the same or the two directions of it; written as in `Command`."""

    place: Place
    keys: tuple[str, ...]
    words: str


FIXED: tuple[Fixed, ...] = (
    Fixed("window", ("Tab", "Shift+Tab"), "Next and previous control"),
    Fixed("window", ("Shift+F10", "Menu"), "Menu of what has the keys"),
    Fixed("box", ("Down",), "Into the list"),
    Fixed("box", ("Return",), "Search at once, or open the best result"),
    Fixed("box", ("Alt+Up", "Alt+Down"), "Earlier and later questions"),
    Fixed("box", ("Up", "Down"), "Saved and recent searches, in the empty box; Delete removes one, F2 renames it"),
    Fixed("box", ("Ctrl+Space",), "Complete an operator"),
    Fixed("box", ("Esc",), "Clear the box, then leave what the results are kept to"),
    Fixed("results", ("Down", "Up"), "Along the list, and back to the box"),
    Fixed("results", ("Shift+Down", "Shift+Up"), "Select several, to drag, copy or export them together"),
    Fixed("results", ("Return",), "Go to the file"),
    Fixed("results", ("Esc",), "Back to the box"),
    Fixed("sessions", ("Down", "Up"), "Along the list, and back to the box"),
    Fixed("sessions", ("Return",), "Go to the session"),
    Fixed("sessions", ("Right", "Left"), "Show and hide the sessions of its sub-agents"),
    Fixed("sessions", ("Esc",), "Back to the box; there clear the text, then what was chosen"),
    Fixed("conversation", ("J", "K"), "Next and previous message; with Shift only your own"),
    Fixed("conversation", ("Return", "Right", "Left"), "Unfold and fold tools and thinking"),
    Fixed("conversation", ("N", "Shift+N"), "Next and previous hit"),
    Fixed("conversation", ("Ctrl+A",), "Select the message"),
    Fixed("conversation", ("Esc",), "Back to the list"),
    Fixed("file", ("N", "Shift+N"), "Next and previous hit"),
    Fixed("file", ("Esc",), "Back to the results"),
    Fixed("index", ("Left", "Right", "Home", "End"), "From mark to mark of a chart; unfold and fold folders"),
    Fixed("index", ("Return",), "What a sync did, and what failed"),
    Fixed("index", ("Esc",), "Back to the box"),
    Fixed("map", ("Left", "Right", "Up", "Down"), "Move the map"),
    Fixed("map", ("+", "-", "0"), "Larger, smaller, all of it; the wheel does the same"),
    Fixed("map", ("Ctrl+Left", "Ctrl+Right", "Ctrl+Up", "Ctrl+Down"), "Go to the next chunk in that direction"),
    Fixed("map", ("Return",), "Open the chunk"),
    Fixed("map", ("Space", "Ctrl+A"), "List this chunk, or all in view; drag with Shift to encircle some"),
    Fixed("map", ("Esc",), "Leave the chunk, then go back to the box"),
    Fixed("duplicates", ("Return",), "From a group to its notes side by side"),
    Fixed("duplicates", ("N", "Shift+N"), "Next and previous difference, there"),
    Fixed("duplicates", ("Esc",), "Back to the groups, then to the box"),
    Fixed("facts", ("Return",), "From the list into the text of the fact"),
    Fixed("facts", ("Ctrl+Return",), "Save what was typed"),
    Fixed("facts", ("Esc",), "Back to the list, then to the box"),
    Fixed("remember", ("Ctrl+Return", "Ctrl+S"), "Save the note"),
    Fixed("remember", ("Esc",), "Leave the note; what was written goes only when you say so twice"),
    Fixed("settings", ("Ctrl+F",), "Search all settings"),
    Fixed("settings", ("Ctrl+Z",), "Take back the last change"),
    Fixed("settings", ("Return",), "Keep what was typed; in a field of several lines with Ctrl"),
    Fixed("settings", ("Up", "Down"), "Larger and smaller number"),
    Fixed("settings", ("Esc",), "Take back what was typed, then leave what was searched for, then close"),
)
