"""The facts view: a list, an editor, filters, undo.

In: the facts of the open memory.
Out: saved, changed and forgotten facts.
"""

from typing import TYPE_CHECKING

from engine import MnemoscopeError, marked
from gui.commands import Context, Fixed
from gui.core.view_spec import ViewSpec

if TYPE_CHECKING:
    from engine import MemorySearchManager


def _has_facts(manager: "MemorySearchManager") -> bool:
    """Return whether there is a fact, or a problem to show."""
    try:
        return bool(manager.facts.all())
    except (MnemoscopeError, OSError):
        return True


VIEW = ViewSpec(
    name="facts",
    label=marked("Facts"),
    tip=marked("Facts for agents to remember"),
    command=marked("Facts"),
    key="Ctrl+4",
    panel="gui.facts.panel:FactsPanel",
    full_width=True,
    has_content=_has_facts,
    contexts=(Context("facts", marked("Facts"), marked("Go to the facts first.")),),
    fixed_keys=(
        Fixed("facts", ("Return",), marked("Go from the list to the text of the fact")),
        Fixed("facts", ("Ctrl+Return",), marked("Save")),
        Fixed("facts", ("Esc",), marked("Back to the list, then to the search box")),
    ),
    guide="facts",
)
