"""The panels of all views, each made when it is first needed, and the widgets that show one of them at a time."""

from functools import partial
from typing import TypeVar

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from engine import MemoryProviderStatus, MemorySearchManager
from gui.agent_edits.panel import EditsPanel
from gui.conversation.panel import ConversationPanel
from gui.core.jobs import Jobs, JobSlot
from gui.core.view_spec import MadePanels, ViewPanel, view_specs
from gui.facts.panel import FactsPanel
from gui.index.panel import IndexPanel
from gui.search.panel import SearchPanel
from gui.sessions.panel import SessionsPanel
from gui.viewer.base_viewer import BaseViewer
from gui.viewer.panel import ViewerPanel
from gui.widgets.accessibility import insert_after, mark_position, stops
from gui.widgets.layouts import PageStack

_Panel = TypeVar("_Panel", bound=ViewPanel)


class ViewPanels(QObject):
    """Makes the panels of views and the two viewers, and passes the memory, its status and its changes to them.

    The first view and the viewer are made immediately, the others when they are first shown or by `PanelPreloader`.
    """

    content_known = Signal(str, bool)
    """Name of a view whose button appears on demand, and whether it has content."""

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.specs = {spec.name: spec for spec in view_specs()}
        self.made = MadePanels()
        self.panels: dict[str, ViewPanel] = {}
        """The panels that were made, by the name of the view."""
        self.lists = PageStack()
        self.readers = PageStack()
        self.full_width_bodies = PageStack()
        self._marks = {stack: mark_position(stack) for stack in (self.lists, self.readers, self.full_width_bodies)}
        self._manager: MemorySearchManager | None = None
        self._status: MemoryProviderStatus | None = None
        self._unloaded: set[str] = set()
        """Lazy views that haven't received the memory yet."""
        self._stale: set[str] = set()
        """Lazy views to refresh, since the index has changed."""
        self._content_job = JobSlot(self, jobs)
        self.search = self._panel(SearchPanel, "search")
        self.viewer = ViewerPanel(jobs)
        self._add_viewer(self.viewer)
        self.empty_reader = QWidget()
        """Shown until the conversation is made, so that no note appears among the sessions."""
        self.readers.addWidget(self.empty_reader)
        self.made.when(FactsPanel, lambda facts: facts.content_known.connect(partial(self.content_known.emit, "facts")))

    # --- making -----------------------------------------------------------------------------------------------------

    @property
    def sessions(self) -> SessionsPanel:
        """The panel of the sessions view; like the following ones, it is made when first needed."""
        return self._panel(SessionsPanel, "sessions")

    @property
    def index(self) -> IndexPanel:
        return self._panel(IndexPanel, "index")

    @property
    def facts(self) -> FactsPanel:
        return self._panel(FactsPanel, "facts")

    @property
    def edits(self) -> EditsPanel:
        return self._panel(EditsPanel, "edits")

    @property
    def conversation(self) -> ConversationPanel:
        return self.made.get(ConversationPanel) or self._make_conversation()

    def _make_conversation(self) -> ConversationPanel:
        panel = ConversationPanel(self._jobs, self.readers)
        panel.set_manager(self._manager)
        self._add_viewer(panel)
        return panel

    def panel_of(self, name: str) -> ViewPanel:
        """Return the panel of a view, which is made when first needed."""
        if name not in self.panels:
            spec = self.specs[name]
            # Inside the window from the start: Qt applies the style sheet again to all widgets of a part that it gets.
            panel = self.panels[name] = spec.make(self._jobs, self._stack(name))
            self._add_page(self._stack(name), panel.body)
            if not spec.lazy and self._manager is not None:
                panel.set_manager(self._manager)
            panel.show_status(self._status)
            self.made.add(panel)
        return self.panels[name]

    def with_box(self, name: str) -> ViewPanel:
        """Return the panel whose search box a view shows: its own or that of another view."""
        return self.panel_of(self.specs[name].box or name)

    def _panel(self, kind: type[_Panel], name: str) -> _Panel:
        panel = self.panel_of(name)
        assert isinstance(panel, kind)
        return panel

    def _add_viewer(self, viewer: BaseViewer) -> None:
        self._add_page(self.readers, viewer)
        self.made.add(viewer)

    def _add_page(self, stack: PageStack, page: QWidget) -> None:
        """Add a page, in a window at its position in the tab order: the next widgets in it exist already."""
        stack.addWidget(page)
        if stack.parentWidget() is not None:
            insert_after(self._marks[stack], stops(page))

    def _stack(self, name: str) -> PageStack:
        return self.full_width_bodies if self.specs[name].full_width else self.lists

    # --- the memory -------------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Use this memory in all views from now on.

        `reopening`: the same folder is being reopened: results, selection and the open document stay.
        """
        self._manager = manager
        self._unloaded = {name for name, spec in self.specs.items() if spec.lazy}
        for name, panel in self.panels.items():
            panel.set_manager(None if name in self._unloaded else manager, reopening=reopening)
        for viewer in self._viewers:
            viewer.set_manager(manager, reopening=reopening)
        self._find_content()

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Show the latest status in every view; called whenever it changes."""
        self._status = status
        for panel in self.panels.values():
            panel.show_status(status)

    def _refresh_panels(self) -> None:
        """Update all panels after a change of the index; those of lazy views only when they are shown."""
        for name, panel in self.panels.items():
            if self.specs[name].lazy:
                self._stale.add(name)
            else:
                panel.refresh()
        for viewer in self._viewers:
            viewer.refresh()
        self._find_content()

    def _load(self, name: str) -> None:
        """Load a lazy view when it is first shown, and refresh it if the index has changed since."""
        if self._manager is None:
            return
        if name in self._unloaded:
            self._unloaded.remove(name)
            self.panel_of(name).set_manager(self._manager)
        elif name in self._stale:
            self.panel_of(name).refresh()
        self._stale.discard(name)

    @property
    def _viewers(self) -> tuple[ViewerPanel | ConversationPanel, ...]:
        conversation = self.made.get(ConversationPanel)
        return (self.viewer,) if conversation is None else (self.viewer, conversation)

    def _find_content(self) -> None:
        """Find out which views have content, so that their buttons appear; made panels report it themselves."""
        self._content_job.cancel()
        manager = self._manager
        checks = {
            name: spec.has_content
            for name, spec in self.specs.items()
            if spec.has_content is not None and name not in self.panels
        }
        if manager is not None and checks:
            self._content_job.read(
                lambda _: {name: has_content(manager) for name, has_content in checks.items()}, self._store_content
            )

    def _store_content(self, found: dict[str, bool]) -> None:
        for name, has_content in found.items():
            if name not in self.panels:
                self.content_known.emit(name, has_content)
