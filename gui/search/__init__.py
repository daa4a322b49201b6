"""The search view: filters, runner, results, saved searches.

In: the typed query and its options.
Out: a `Query` to the memory, and its results as rows.
"""

from engine import marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewSpec

VIEW = ViewSpec(
    name="search",
    label=marked("Search"),
    tip=marked("Search notes and sessions"),
    command=marked("Search notes and sessions"),
    key="Ctrl+1",
    panel="gui.search.panel:SearchPanel",
    pages=("viewer", "chunks", "explanation"),
    contexts=(Context("results", marked("Results"), marked("Search for something first.")),),
    fixed_keys=(
        Fixed("results", ("Down", "Up"), marked("Move along the list, and back to the search box")),
        Fixed("results", ("Shift+Down", "Shift+Up"), marked("Select several, to drag, copy or export them together")),
        Fixed("results", ("Return",), marked("Go to the file")),
        Fixed("results", ("Esc",), marked("Back to the search box")),
    ),
    guide="searching",
)
