"""The three panes: results, file, diagnostics. The dock folds away before a narrow window would cut text; one that is
asked for there stands in the place of the file."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from gui.style import font_at

_VIEWER_LETTERS = 62
_LIST_LETTERS = 36
_DOCK_LETTERS = 36
_FEWEST_LETTERS = 102
"""Of all three together: with fewer, none of them could be read."""
_MOST_RESULTS = 0.45
"""Share of the results where the window is too narrow for the width that was chosen for them."""


class Panes(QSplitter):
    """Widths in logical pixels; the file takes what the others leave.

    Signals:
        dock_shown: whether the dock stands in the window now.
    """

    dock_shown = Signal(bool)

    def __init__(self, results: QWidget, viewer: QWidget, dock: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._results, self._viewer, self._dock = results, viewer, dock
        self._wanted = True
        self._forced = False
        self._widths = (400, 330)
        for pane in (results, viewer, dock):
            self.addWidget(pane)
        self.setHandleWidth(1)
        self.setChildrenCollapsible(False)
        self.setStretchFactor(0, 0)
        self.setStretchFactor(1, 1)
        self.setStretchFactor(2, 0)
        self.splitterMoved.connect(self._remember)

    def restore(self, results_width: int, dock_width: int, *, dock_wanted: bool) -> None:
        """Take up the widths of an earlier run."""
        self._widths = (max(results_width, 120), max(dock_width, 120))
        self._wanted = dock_wanted
        self._fold()
        self._spread()

    @property
    def dock_wanted(self) -> bool:
        """Whether the person wants the dock, be there room or not."""
        return self._wanted

    @property
    def widths(self) -> tuple[int, int]:
        """Of the results and the dock, as last set by hand."""
        return self._widths

    @Slot()
    def toggle_dock(self) -> None:
        self.show_dock(self._dock.isHidden())

    def show_dock(self, wanted: bool) -> None:
        """Show or hide it; asked for by a person, it stays even where it is narrow."""
        self._wanted = self._forced = wanted
        self._fold()

    def _fold(self) -> None:
        letter = QFontMetrics(font_at(13)).averageCharWidth()
        room = self.width() >= letter * (_LIST_LETTERS + _VIEWER_LETTERS + _DOCK_LETTERS)
        shown = self._wanted and (room or self._forced)
        covered = shown and self.width() < letter * _FEWEST_LETTERS
        moved = shown == self._dock.isHidden()
        if moved or covered != self._viewer.isHidden():
            self._viewer.setHidden(covered)
            self._dock.setVisible(shown)
            self._spread()
        if moved:
            self.dock_shown.emit(shown)

    def show_viewer(self) -> None:
        """The file is to be read: where the dock stands in its place, it goes."""
        if self._viewer.isHidden():
            self.show_dock(False)

    def _spread(self) -> None:
        results, dock = self._widths
        if self._dock.isHidden():
            dock = 0
        elif self._viewer.isHidden():
            dock = self.width() // 2
            results = self.width() - dock
        results = min(results, int((self.width() - dock) * (1 if self._viewer.isHidden() else _MOST_RESULTS)))
        self.setSizes([results, max(1, self.width() - results - dock), dock])

    @Slot()
    def _remember(self) -> None:
        if self._viewer.isHidden():
            return  # widths of a makeshift
        sizes = self.sizes()
        self._widths = (sizes[0], self._widths[1] if self._dock.isHidden() else sizes[2])

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
        self._spread()
