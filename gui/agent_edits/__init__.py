"""The edits view: files that agents changed, by project.

In: changes from the tool calls of all sessions.
Out: a filtered list; the message that made the selected change opens in `gui.conversation`.
"""

from typing import TYPE_CHECKING

from engine import marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewPanel, ViewSpec

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gui.core.jobs import Jobs


def _make(jobs: "Jobs", parent: "QWidget") -> ViewPanel:
    from gui.agent_edits.panel import EditsPanel

    return EditsPanel(jobs, parent)


VIEW = ViewSpec(
    name="edits",
    label=marked("Edits"),
    tip=marked("Files that agents changed"),
    command=marked("Recent edits"),
    key="Ctrl+5",
    make=_make,
    lazy=True,
    contexts=(Context("edits", marked("List of changed files"), marked("Open the view of changed files first.")),),
    fixed_keys=(
        Fixed("edits", ("Down", "Up"), marked("Move along the list, and back to the search box")),
        Fixed("edits", ("Return",), marked("Go to the message that changed the file")),
        Fixed("edits", ("Esc",), marked("Back to the search box; in the box, clear the text")),
    ),
    guide="edits",
)
