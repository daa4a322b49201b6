"""A view that only tests register: what a new view declares, in one module."""

from gui.commands import Context, Fixed
from gui.core.view_spec import ViewSpec

VIEW = ViewSpec(
    name="tides",
    label="Tides",
    tip="High and low water",
    command="Show the tides",
    key="Ctrl+9",
    panel="tests.helpers.invented_panel:InventedPanel",
    full_width=True,
    pages=("neap",),
    contexts=(Context("tides", "Tide table", "Go to the tides first."),),
    fixed_keys=(Fixed("tides", ("Right",), "Next tide"),),
)
