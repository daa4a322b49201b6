"""The views of the window: each declares everything about itself in a `ViewSpec`, and the window iterates over them.

Imports no Qt, since the command line reads the names of the views. For the same reason a view's package only names its
panel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, cast

from gui.commands import Context, Fixed

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from engine import MemoryProviderStatus, MemorySearchManager
    from gui.core.jobs import Jobs
    from gui.widgets.layouts import FoldingRow
    from gui.widgets.query_box import QueryBox

_Panel = TypeVar("_Panel")

PACKAGES = ("gui.search", "gui.sessions", "gui.index", "gui.facts", "gui.agent_edits")
"""Packages that declare a view as `VIEW`, in the order of their buttons; the first view is shown at the start."""


class ViewPanel:
    """Base class of a view's panel: its two widgets, and the methods that the window calls; most do nothing."""

    header: "FoldingRow"
    """Widget for the top bar; not needed by a view that shows the box of another view."""
    body: "QWidget"
    box: "QueryBox"
    """The box in the header."""

    @property
    def busy(self) -> bool:
        """Whether the panel is still loading what it shows."""
        return False

    def set_manager(self, manager: "MemorySearchManager | None", *, reopening: bool = False) -> None:
        """Set the memory to show; None when nothing is open.

        `reopening`: the same folder is being reopened, so the panel keeps its contents.
        """

    def show_status(self, status: "MemoryProviderStatus | None") -> None:
        """Show the latest status; called whenever it changes."""

    def refresh(self) -> None:
        """Update the contents, since the index has changed."""

    def focus_box(self) -> None:
        """Focus the box in the header, with its text selected."""
        self.box.focus_all()

    def focus_list(self) -> None:
        """Focus the panel's body, for example its list."""

    def search(self, text: str) -> None:
        """Enter `text` in the box and search for it."""

    def open_page(self, name: str) -> None:
        """Show the page with this name on the command line: one of `ViewSpec.pages`, or the view's own name."""


class MadePanels:
    """The panels that were made so far: most are made when they are first shown, and functions can wait for them."""

    def __init__(self) -> None:
        self._panels: list[object] = []
        self._waiting: list[tuple[type[object], Callable[[Any], object]]] = []

    def add(self, panel: object) -> None:
        """Add a panel that was just made, and pass it to the functions that wait for its class."""
        self._panels.append(panel)
        for kind, use in self._waiting:
            if isinstance(panel, kind):
                use(panel)

    def get(self, kind: type[_Panel]) -> _Panel | None:
        """Return the panel of a class; None while it isn't made."""
        return next((panel for panel in self._panels if isinstance(panel, kind)), None)

    def when(self, kind: type[_Panel], use: Callable[[_Panel], object]) -> None:
        """Call `use` with each panel of a class: now, or as soon as the panel is made."""
        self._waiting.append((kind, use))
        for panel in self._panels:
            if isinstance(panel, kind):
                use(panel)


@dataclass(frozen=True, kw_only=True)
class ViewSpec:
    """Describes a view of the window: its names, texts (`marked` for translation), keys and panel."""

    name: str
    """Stable name of the view, in the window's state, in `--view NAME` and in the command "view.NAME"."""
    label: str
    """Label of the view's button in the header."""
    tip: str
    """Tooltip of that button."""
    command: str
    """Label in the menu and the palette."""
    key: str
    """Default key of the command."""
    panel: str
    """Module and name of the class of its panel."""
    box: str = ""
    """Name of the view whose header and search box this view shows; empty for its own."""
    full_width: bool = False
    """Whether the body replaces both the list and the viewer."""
    lazy: bool = False
    """Whether the panel is given the memory, and refreshed, only while the view is current."""
    has_content: Callable[["MemorySearchManager"], bool] | None = None
    """Returns whether a memory has content for this view (pool thread); its button appears only then.

    None shows it always. Its command and key always work.
    """
    pages: tuple[str, ...] = ()
    """Further names for `--view` that open this view."""
    page_commands: Mapping[str, str] = field(default_factory=dict)
    """Labels of the commands that open a page of the view, by the page's name; they are not in the window's menu."""
    contexts: tuple[Context, ...] = ()
    """Contexts of its keys, in addition to the box and the readers."""
    fixed_keys: tuple[Fixed, ...] = ()
    """Keys that its widgets handle themselves."""
    guide: str = ""
    """Page of the guide about the view."""

    def make(self, jobs: "Jobs", parent: "QWidget") -> ViewPanel:
        """Create the panel and its body with this parent; called when the view is first shown, or before."""
        return cast("ViewPanel", named_class(self.panel)(jobs, parent=parent))

    @property
    def command_line(self) -> tuple[str, ...]:
        """The names for `--view` that open this view."""
        return (self.name, *self.pages)


def named_class(name: str) -> Any:
    """Import a class, given its module and name with a colon between them."""
    module, _, own_name = name.partition(":")
    return getattr(import_module(module), own_name)


@cache
def _view_of_package(package: str) -> ViewSpec:
    return cast("ViewSpec", import_module(package).VIEW)


def view_specs() -> tuple[ViewSpec, ...]:
    """Return all views in the order of their buttons."""
    return tuple(map(_view_of_package, PACKAGES))


def view_of(name: str) -> ViewSpec | None:
    """Return the view that `--view NAME` opens; None for other names."""
    return next((spec for spec in view_specs() if name in spec.command_line), None)
