"""The dock at the right of the window: the diagnostics, or the explanation of the answer."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QStackedWidget, QWidget

from gui.diagnostics.panel import DiagnosticsPanel
from gui.explanation.panel import ExplanationPanel


class Dock(QStackedWidget):
    """The dock at the side: shows the diagnostics or the explanation; when hidden, it returns to the diagnostics."""

    requested = Signal(bool)
    """Whether the dock should be shown."""
    left = Signal()
    """Leave the diagnostics, back to the previous focus."""

    def __init__(self, diagnostics: DiagnosticsPanel, explanation: ExplanationPanel) -> None:
        super().__init__()
        self.diagnostics, self.explanation = diagnostics, explanation
        for page in (diagnostics, explanation):
            self.addWidget(page)
        explanation.close_requested.connect(self.toggle_explanation)

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
            self.setCurrentWidget(self.diagnostics)

    def _toggle(self, page: QWidget) -> None:
        if self.isHidden() or self.currentWidget() is not page:
            self._show(page)
        else:
            focus = QApplication.focusWidget()
            if focus is not None and page.isAncestorOf(focus):  # else the keys would go anywhere
                (self.explanation.left if page is self.explanation else self.left).emit()
            self.requested.emit(False)

    def _show(self, page: QWidget) -> None:
        self.setCurrentWidget(page)
        self.requested.emit(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
