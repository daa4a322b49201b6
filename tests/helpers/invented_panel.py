"""The panel of the invented view: a box and a page."""

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QLabel, QWidget

from engine import MemoryProviderStatus, MemorySearchManager
from gui.commands.commands import key_action
from gui.commands.keymap import command
from gui.core.jobs import Jobs
from gui.core.view_spec import ViewPanel
from gui.widgets.layouts import FoldingRow
from gui.widgets.query_box import QueryBox


class InventedPanel(QObject, ViewPanel):
    def __init__(self, _jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self.box = QueryBox("By harbour", "Find a harbour")
        self.header = FoldingRow(self.box, QWidget(), 30)
        self.body = QLabel("high water")
        self.body.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.turn = key_action(self.body, command("tides.turn", "Turn the tide", "tides", "T"))
        self.manager: MemorySearchManager | None = None
        self.status: MemoryProviderStatus | None = None
        self.page = ""
        self.box.edit.list_requested.connect(self.focus_list)

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        self.manager = manager

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        self.status = status

    def focus_box(self) -> None:
        self.box.focus_all()

    def focus_list(self) -> None:
        self.body.setFocus()

    def search(self, text: str) -> None:
        self.box.edit.setText(text)

    def open_page(self, name: str) -> None:
        self.page = name
