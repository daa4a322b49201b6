"""The index view with its pages: overview, health, duplicates, map.

In: records of `engine.insight`.
Out: charts, tables and repairs.
"""

from engine import marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewSpec

VIEW = ViewSpec(
    name="index",
    label=marked("Index"),
    tip=marked("See inside the index"),
    command=marked("See inside the index"),
    key="Ctrl+3",
    panel="gui.index.panel:IndexPanel",
    box="search",
    full_width=True,
    pages=("map", "duplicates", "health"),
    page_commands={
        "overview": marked("Index: Overview"),
        "map": marked("Index: Map"),
        "duplicates": marked("Index: Duplicates"),
        "health": marked("Index: Health"),
    },
    contexts=(
        Context("index", marked("Index"), marked("Go to the index first.")),
        Context("map", marked("Map"), marked("Go to the map of the index first.")),
        Context("duplicates", marked("Duplicates"), marked("Go to the duplicates first.")),
    ),
    fixed_keys=(
        Fixed(
            "index",
            ("Left", "Right", "Home", "End"),
            marked("Next and previous mark of a chart; expand and collapse folders"),
        ),
        Fixed("index", ("Return",), marked("Details of an update, and its errors")),
        Fixed("index", ("Esc",), marked("Back to the search box")),
        Fixed("map", ("Left", "Right", "Up", "Down"), marked("Move the map")),
        Fixed("map", ("+", "-", "0"), marked("Zoom in, zoom out, show all; the mouse wheel zooms too")),
        Fixed(
            "map",
            ("Ctrl+Left", "Ctrl+Right", "Ctrl+Up", "Ctrl+Down"),
            marked("Go to the next passage in the direction of the key"),
        ),
        Fixed("map", ("Return",), marked("Open the passage")),
        Fixed(
            "map", ("Space", "Ctrl+A"), marked("Select this passage, or all in view; drag with Shift to encircle some")
        ),
        Fixed("map", ("Esc",), marked("Leave the passage, then go back to the search box")),
        Fixed("duplicates", ("Return",), marked("Go from a group to its notes side by side")),
        Fixed("duplicates", ("N", "Shift+N"), marked("Next and previous difference")),
        Fixed("duplicates", ("Esc",), marked("Back to the groups, then to the search box")),
    ),
    guide="index-view",
)
