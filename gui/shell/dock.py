"""The dock at the right of the window: the diagnostics, or the explanation of the answer."""

from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QWidget

from engine import MemoryProviderStatus, MemorySearchManager
from gui.core.jobs import Jobs
from gui.core.view_spec import MadePanels
from gui.diagnostics.panel import DiagnosticsPanel
from gui.explanation.panel import ExplanationPanel
from gui.widgets.accessibility import insert_after, mark_position, stops
from gui.widgets.layouts import PageStack


class Dock(PageStack):
    """The dock at the side: shows the diagnostics or the explanation; when hidden, it returns to the diagnostics.

    The diagnostics are made when they are first shown.
    """

    requested = Signal(bool)
    """Whether the dock should be shown."""
    left = Signal()
    """Leave the dock, back to the list of the current view."""

    def __init__(self, jobs: Jobs, config: Path | None) -> None:
        """`config`: settings file in place of the user's own."""
        super().__init__()
        self.made = MadePanels()
        self.explanation = ExplanationPanel()
        self._jobs = jobs
        self._config = config
        self._manager: MemorySearchManager | None = None
        self._status: MemoryProviderStatus | None = None
        self._mark = mark_position(self)
        self._nothing = QWidget()  # in place of the diagnostics until they are made
        for page in (self._nothing, self.explanation):
            self.addWidget(page)
        self.explanation.close_requested.connect(self.toggle_explanation)
        self.explanation.close_requested.connect(self.left)

    @property
    def diagnostics(self) -> DiagnosticsPanel:
        """The panel of the diagnostics, made when first needed."""
        panel = self.made.get(DiagnosticsPanel)
        if panel is None:
            panel = DiagnosticsPanel(self._jobs, self._config, self)
            panel.set_manager(self._manager)
            panel.show_status(self._status)
            self.addWidget(panel)
            insert_after(self._mark, stops(panel))
            self.made.add(panel)
        return panel

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory that is shown. `reopening`: the folder is the same, and the values stay until updated."""
        self._manager = manager
        if not reopening:
            self._status = None
        if (panel := self.made.get(DiagnosticsPanel)) is not None:
            panel.set_manager(manager, reopening=reopening)

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Show the latest status in the diagnostics."""
        self._status = status
        if (panel := self.made.get(DiagnosticsPanel)) is not None:
            panel.show_status(status)

    @Slot()
    def toggle_diagnostics(self) -> None:
        self._toggle(self.diagnostics)

    @Slot()
    def toggle_explanation(self) -> None:
        self._toggle(self.explanation)

    @property
    def explains(self) -> bool:
        """Whether the dock shows the explanation."""
        return self.currentWidget() is self.explanation

    @Slot()
    def show_diagnostics(self) -> None:
        self._show(self.diagnostics)

    @Slot()
    def show_explanation(self) -> None:
        self._show(self.explanation)

    @Slot(bool)
    def note_shown(self, shown: bool) -> None:
        """Return to the diagnostics when the dock was hidden."""
        if not shown:
            self.setCurrentWidget(self.made.get(DiagnosticsPanel) or self._nothing)

    def _toggle(self, page: QWidget) -> None:
        if self.isHidden() or self.currentWidget() is not page:
            self._show(page)
        else:
            focus = QApplication.focusWidget()
            if focus is not None and page.isAncestorOf(focus):  # else the keys would go anywhere
                self.left.emit()
            self.requested.emit(False)

    def _show(self, page: QWidget) -> None:
        self.setCurrentWidget(page)
        self.requested.emit(True)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self.explains:
            self.setCurrentWidget(self.diagnostics)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
