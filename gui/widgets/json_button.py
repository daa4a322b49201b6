"""A button that puts a whole record on the clipboard, for a report or another program."""

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton, QWidget

from engine import to_json, tr
from gui.widgets.plain_text import set_tip

_COPIED_MS = 1500


class CopyJsonButton(QPushButton):
    """Shows for a moment that it was done."""

    def __init__(self, record: Callable[[], Any], what: str, parent: QWidget | None = None) -> None:
        """`record` returns the record to copy, None if there is none; `what` describes it."""
        super().__init__(tr("Copy as JSON"), parent)
        self._record = record
        self.setAutoDefault(True)
        set_tip(self, what)
        self._copied = QTimer(self, singleShot=True, interval=_COPIED_MS)
        self._copied.timeout.connect(self._name)
        self.clicked.connect(self._copy)

    @Slot()
    def _copy(self) -> None:
        record = self._record()
        if record is not None:
            QGuiApplication.clipboard().setText(to_json(record, indent=2))
            self.setText(tr("Copied"))
            self._copied.start()

    @Slot()
    def _name(self) -> None:
        self.setText(tr("Copy as JSON"))
