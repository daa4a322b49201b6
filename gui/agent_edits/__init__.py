"""The edits view: files that agents changed, by project.

In: changes from the tool calls of all sessions.
Out: a filtered list; the message that made the selected change opens in `gui.conversation`.
"""

from engine import marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewSpec

VIEW = ViewSpec(
    name="edits",
    label=marked("Edits"),
    tip=marked("Files that agents changed"),
    command=marked("Recent edits"),
    key="Ctrl+5",
    panel="gui.agent_edits.panel:EditsPanel",
    lazy=True,
    contexts=(Context("edits", marked("List of changed files"), marked("Go to the changed files first.")),),
    fixed_keys=(
        Fixed("edits", ("Down", "Up"), marked("Move along the list, and back to the search box")),
        Fixed("edits", ("Return",), marked("Go to the message that changed the file")),
        Fixed("edits", ("Esc",), marked("Back to the search box; in the box, clear the text")),
    ),
    guide="edits",
)
