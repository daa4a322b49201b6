"""A view that only tests register: what a new view declares, in one module."""

from typing import TYPE_CHECKING

from gui.commands import Context, Fixed
from gui.core.view_spec import ViewPanel, ViewSpec

if TYPE_CHECKING:
    from PySide6.QtCore import QObject

    from gui.core.jobs import Jobs


def _make(_jobs: "Jobs", parent: "QObject") -> ViewPanel:
    from tests.helpers.invented_panel import InventedPanel

    return InventedPanel(parent)


VIEW = ViewSpec(
    name="tides",
    label="Tides",
    tip="High and low water",
    command="Show the tides",
    key="Ctrl+9",
    make=_make,
    whole=True,
    pages=("neap",),
    contexts=(Context("tides", "Tide table", "Go to the tides first."),),
    fixed_keys=(Fixed("tides", ("Right",), "Next tide"),),
)
