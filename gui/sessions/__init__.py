"""The sessions view: a filtered list of all sessions.

In: summaries of all sessions.
Out: the filtered list; the selected session opens in `gui.conversation`.
"""

from engine import marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewSpec

VIEW = ViewSpec(
    name="sessions",
    label=marked("Sessions"),
    tip=marked("Browse past sessions"),
    command=marked("Browse past sessions"),
    key="Ctrl+2",
    panel="gui.sessions.panel:SessionsPanel",
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
