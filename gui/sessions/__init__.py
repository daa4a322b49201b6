"""The sessions view: a filtered list of all sessions.

In: summaries of all sessions.
Out: the filtered list; the selected session opens in `gui.conversation`.
"""

from typing import TYPE_CHECKING

from engine import marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewPanel, ViewSpec

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from gui.core.jobs import Jobs


def _make(jobs: "Jobs", parent: "QWidget") -> ViewPanel:
    from gui.sessions.panel import SessionsPanel

    return SessionsPanel(jobs, parent=parent)


VIEW = ViewSpec(
    name="sessions",
    label=marked("Sessions"),
    tip=marked("Browse past sessions"),
    command=marked("Browse past sessions"),
    key="Ctrl+2",
    make=_make,
    lazy=True,
    contexts=(Context("sessions", marked("List of sessions"), marked("Go to the sessions first.")),),
    fixed_keys=(
        Fixed("sessions", ("Down", "Up"), marked("Move along the list, and back to the search box")),
        Fixed("sessions", ("Return",), marked("Go to the session")),
        Fixed("sessions", ("Right", "Left"), marked("Show and hide the sessions of its sub-agents")),
        Fixed("sessions", ("Esc",), marked("Back to the search box; in the box, clear the text, then the filters")),
    ),
    guide="sessions",
)
