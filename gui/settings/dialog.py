"""The settings dialog: a list of pages, and the page that is chosen."""

from pathlib import Path

from PySide6.QtCore import QSize, Signal, Slot
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QListWidget,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from engine import EmbeddingEstimate, MemorySearchManager, Settings
from gui.jobs import Jobs
from gui.settings.embedding_page import EmbeddingPage
from gui.settings.stored_page import StoredPage
from gui.style import font_at
from gui.widgets.labels import line

_WIDTH, _HEIGHT = 820, 690
_LIST_WIDTH = 150


class SettingsDialog(QDialog):
    """For one workspace. It stays open while a page is tried out, and closes when one is saved.

    Signals:
        embedding_saved: the estimate that the person agreed to, None for none.
        purged: vectors were deleted.
    """

    embedding_saved = Signal(object)
    purged = Signal()

    def __init__(self, jobs: Jobs, config: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._manager: MemorySearchManager | None = None
        self.embedding = EmbeddingPage(jobs, config)
        self.stored = StoredPage(jobs)
        self._list = QListWidget()
        self._list.setAccessibleName("Pages")
        self._list.addItems(["Embedding", "Kept vectors"])
        self._list.setFrameShape(QListWidget.Shape.NoFrame)
        self._pages = QStackedWidget()
        for page in (self.embedding, self.stored):
            self._pages.addWidget(page)
        self._list.currentRowChanged.connect(self._show_page)
        self.embedding.saved.connect(self._embedding_saved)
        self.stored.purged.connect(self.purged)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self._list)
        row.addWidget(line(vertical=True))
        row.addWidget(self._pages, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(16, 10, 16, 10)
        foot.setSpacing(8)
        foot.addStretch(1)
        foot.addWidget(self.embedding.save_button)
        foot.addWidget(buttons)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(row, 1)
        column.addWidget(line())
        column.addLayout(foot)
        self.finished.connect(self._stop)

    @property
    def ready(self) -> bool:
        """Nothing is being looked at, tried or saved."""
        return self.embedding.ready and self.stored.ready

    def begin(self, folder: Path, settings: Settings, manager: MemorySearchManager | None) -> None:
        """Open with the settings in force in the workspace `folder`, whose memory is `manager`."""
        self._manager = manager
        self._list.setCurrentRow(0)
        self.open()
        self._list.scheduleDelayedItemsLayout()  # with the fonts and margins that the style sheet has brought by now
        self._list.setFixedWidth(font_at(_LIST_WIDTH).pixelSize())
        room = self.screen().availableSize()
        self.resize(QSize(font_at(_WIDTH).pixelSize(), font_at(_HEIGHT).pixelSize()).boundedTo(room))
        self.embedding.begin(folder, settings, manager)

    def refresh(self) -> None:
        """The index has changed, or another page is shown: look again at what depends on it."""
        if self._pages.currentWidget() is self.stored:
            self.stored.begin(self._manager)
        else:
            self.embedding.refresh()

    @Slot(int)
    def _show_page(self, number: int) -> None:
        self._pages.setCurrentIndex(number)
        self.embedding.save_button.setVisible(self._pages.currentWidget() is self.embedding)
        self.refresh()

    @Slot(object)
    def _embedding_saved(self, agreed: EmbeddingEstimate | None) -> None:
        self.accept()
        self.embedding_saved.emit(agreed)

    @Slot()
    def _stop(self) -> None:
        self._manager = None
        self.embedding.stop()
        self.stored.stop()
