"""The settings dialog: a list of pages, and the page that is chosen."""

from pathlib import Path
from typing import Literal

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
from gui.lacking import TITLES, Lacks
from gui.settings.embedding_page import EmbeddingPage
from gui.settings.engine_page import EnginePage
from gui.settings.stored_page import StoredPage
from gui.style import font_at
from gui.widgets.labels import line
from gui.widgets.message import Action, MessagePage

SettingsPage = Literal["embedding", "stored", "engine"]

_WIDTH, _HEIGHT = 820, 690
_LIST_WIDTH = 150
_PAGES: tuple[tuple[SettingsPage, str], ...] = (
    ("embedding", "Embedding"),
    ("stored", "Kept vectors"),
    ("engine", "Engine"),
)
_NEED_MODELS: tuple[SettingsPage, ...] = ("embedding", "stored")


class SettingsDialog(QDialog):
    """For one workspace. It stays open while a page is tried out, and closes when one is saved.

    Signals:
        saved: the settings are others; the estimate that the person agreed to, None for none.
        purged: vectors were deleted.
    """

    saved = Signal(object)
    purged = Signal()

    def __init__(self, jobs: Jobs, config: Path | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Settings")
        self._manager: MemorySearchManager | None = None
        self._lacks: Lacks = {}
        self.embedding = EmbeddingPage(jobs, config)
        self.stored = StoredPage(jobs)
        self.engine = EnginePage(jobs, config)
        self._lack = MessagePage()
        self._list = QListWidget()
        self._list.setAccessibleName("Pages")
        self._list.addItems([title for _, title in _PAGES])
        self._list.setFrameShape(QListWidget.Shape.NoFrame)
        self._pages = QStackedWidget()
        for page in (self.embedding, self.stored, self.engine, self._lack):
            self._pages.addWidget(page)
        self._list.currentRowChanged.connect(self._show_page)
        self.embedding.saved.connect(self._saved)
        self.engine.saved.connect(self._saved)
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
        for page in (self.embedding, self.engine):
            foot.addWidget(page.save_button)
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
        return self.embedding.ready and self.stored.ready and self.engine.ready

    def begin(
        self,
        folder: Path,
        settings: Settings,
        manager: MemorySearchManager | None,
        page: SettingsPage | None = None,
    ) -> None:
        """Open with the settings in force in the workspace `folder`, whose memory is `manager`.

        `page` None for the first one that there is something to set on.
        """
        self._manager = manager
        self._lacks = {} if manager is None else manager.lacks
        wanted = page or ("engine" if "models" in self._lacks else "embedding")
        self._list.setCurrentRow([name for name, _ in _PAGES].index(wanted))
        self.open()
        self._list.scheduleDelayedItemsLayout()  # with the fonts and margins that the style sheet has brought by now
        self._list.setFixedWidth(font_at(_LIST_WIDTH).pixelSize())
        room = self.screen().availableSize()
        self.resize(QSize(font_at(_WIDTH).pixelSize(), font_at(_HEIGHT).pixelSize()).boundedTo(room))
        self.engine.begin(folder, settings)
        self.embedding.begin(folder, settings, None if "models" in self._lacks else manager)
        self._show_page()
        self._take_focus()

    def show_lacks(self, lacks: Lacks) -> None:
        """Another backend answers now."""
        self._lacks = lacks
        self._show_page()

    def refresh(self) -> None:
        """The index has changed, or another page is shown: look again at what depends on it."""
        shown = self._pages.currentWidget()
        if shown is self.stored:
            self.stored.begin(self._manager)
        elif shown is self.embedding:
            self.embedding.refresh()

    @Slot()
    def _show_page(self) -> None:
        name = _PAGES[max(0, self._list.currentRow())][0]
        page: QWidget = {"embedding": self.embedding, "stored": self.stored, "engine": self.engine}[name]
        if "models" in self._lacks and name in _NEED_MODELS:
            to_engine = Action("Choose another engine…", self._show_engine)
            self._lack.say(TITLES["models"], self._lacks["models"], to_engine)
            page = self._lack
        self._pages.setCurrentWidget(page)
        for other in (self.embedding, self.engine):
            other.save_button.setVisible(page is other)
        self.refresh()

    @Slot()
    def _show_engine(self) -> None:
        self._list.setCurrentRow([name for name, _ in _PAGES].index("engine"))
        self._take_focus()

    def _take_focus(self) -> None:
        """Into the page that is shown."""
        page = self._pages.currentWidget()
        if page is self.embedding or page is self.engine or page is self._lack:
            page.take_focus()

    @Slot()
    @Slot(object)
    def _saved(self, agreed: EmbeddingEstimate | None = None) -> None:
        self.accept()
        self.saved.emit(agreed)

    @Slot()
    def _stop(self) -> None:
        self._manager = None
        self.embedding.stop()
        self.stored.stop()
        self.engine.stop()
