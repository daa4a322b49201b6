"""The panes: results, file, diagnostics, and views that replace the first two.

The dock is hidden before a narrow window would cut text; opened there, it replaces the file.
"""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSplitter, QWidget

from gui.style.stylesheet import letter_width
from gui.widgets.mirrored import keep_inside

_VIEWER_LETTERS = 62
_LIST_LETTERS = 36
_DOCK_LETTERS = 36
_FEWEST_LETTERS = 102
"""Of all three together: with fewer, none of them could be read."""
_MOST_RESULTS = 0.45
"""Share of the results where the window is too narrow for the width that was chosen for them."""


class Panes(QSplitter):
    """Widths in logical pixels; the file takes the rest.

    Signals: dock_shown: whether the dock is visible now.
    """

    dock_shown = Signal(bool)

    def __init__(
        self, results: QWidget, viewer: QWidget, whole: QWidget, dock: QWidget, parent: QWidget | None = None
    ) -> None:
        """`whole`: replaces results and file while `show_whole` is on."""
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._results, self._viewer, self._whole, self._dock = results, viewer, whole, dock
        self._wanted = True
        self._forced = self._covered = self._whole_wanted = False
        self._widths = (400, 330)
        for pane in (results, viewer, whole, dock):
            self.addWidget(pane)
        whole.hide()
        self.setHandleWidth(1)
        keep_inside(self)
        self.setChildrenCollapsible(False)
        self.setStretchFactor(0, 0)
        self.setStretchFactor(1, 1)
        self.setStretchFactor(2, 1)
        self.setStretchFactor(3, 0)
        self.splitterMoved.connect(self._remember)

    def restore(self, results_width: int, dock_width: int, *, dock_wanted: bool) -> None:
        """Take up the widths of an earlier run."""
        self._widths = (max(results_width, 120), max(dock_width, 120))
        self._wanted = dock_wanted
        self._fold()
        self._spread()

    @property
    def dock_wanted(self) -> bool:
        """Whether the user wants the dock, with or without room for it."""
        return self._wanted

    @property
    def widths(self) -> tuple[int, int]:
        """Of the results and the dock, as last set by hand."""
        return self._widths

    @Slot()
    def toggle_dock(self) -> None:
        self.show_dock(self._dock.isHidden())

    def show_dock(self, wanted: bool) -> None:
        """Show or hide it; opened by the user, it stays even in a narrow window."""
        self._wanted = self._forced = wanted
        self._fold()

    def show_whole(self, wanted: bool) -> None:
        """Let the other view replace results and file, or end that."""
        self._whole_wanted = wanted
        self._fold()

    def _fold(self) -> None:
        letter = letter_width()
        room = self.width() >= letter * (_LIST_LETTERS + _VIEWER_LETTERS + _DOCK_LETTERS)
        shown = self._wanted and (room or self._forced)
        self._covered = shown and self.width() < letter * _FEWEST_LETTERS
        moved = shown == self._dock.isHidden()
        parts = {
            self._results: not self._whole_wanted,
            self._viewer: not (self._whole_wanted or self._covered),
            self._whole: self._whole_wanted,
            self._dock: shown,
        }
        if any(part.isHidden() == visible for part, visible in parts.items()):
            for part, visible in parts.items():
                part.setVisible(visible)
            self._spread()
        if moved:
            self.dock_shown.emit(shown)

    def show_viewer(self) -> None:
        """Show the file: the dock is closed if it replaces it."""
        if self._covered:
            self.show_dock(False)

    def _spread(self) -> None:
        results, dock = self._widths
        if self._dock.isHidden():
            dock = 0
        elif self._covered:
            dock = self.width() // 2
            results = self.width() - dock
        results = min(results, int((self.width() - dock) * (1 if self._covered else _MOST_RESULTS)))
        rest = max(1, self.width() - results - dock)
        self.setSizes([0, 0, results + rest, dock] if self._whole_wanted else [results, rest, 0, dock])

    @Slot()
    def _remember(self) -> None:
        if self._covered:
            return  # widths of a makeshift
        results, _, _, dock = self.sizes()
        self._widths = (
            self._widths[0] if self._whole_wanted else results,
            self._widths[1] if self._dock.isHidden() else dock,
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()
        self._spread()
