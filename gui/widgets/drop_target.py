"""Finds folders and session exports in a drag, and the card on which a folder can be dropped."""

from pathlib import Path

from PySide6.QtCore import QMimeData, QRectF, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from engine import tr
from gui.style.theme import tokens
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import label

_ICON = 32
EXPORTS = (".zip", ".json", ".jsonl", ".db")
"""Extensions of files that may contain sessions."""


def dropped_folder(data: QMimeData) -> Path | None:
    """Return the only item of a drag if it is a local folder, else None."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    folder = Path(urls[0].toLocalFile())
    return folder if folder.is_dir() else None


def dropped_sessions(data: QMimeData) -> list[Path]:
    """Return the local folders and exports in a drag; none if it contains anything else."""
    urls = data.urls()
    paths = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    fitting = [path for path in paths if path.is_dir() or path.suffix.lower() in EXPORTS]
    return fitting if len(fitting) == len(urls) else []


class DropZone(QWidget):
    """A dashed card on which a folder can be dropped."""

    dropped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._over = False
        self.choose = QPushButton(tr("Choose a folder…"))
        self.choose.setProperty("role", "primary")
        self.choose.setAutoDefault(True)
        self.choose.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        hint = label(tr("or drop a folder here"), "meta")
        hint.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        column = QVBoxLayout(self)
        column.setContentsMargins(24, 28 + _ICON, 24, 24)
        column.setSpacing(10)
        column.addSpacing(8)
        column.addWidget(self.choose, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addWidget(hint)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = QPen(colours.accent if self._over else colours.off, 1, Qt.PenStyle.DashLine)
        pen.setDashPattern([4, 4])
        painter.setPen(pen)
        painter.setBrush(colours.accent_ground if self._over else colours.base)
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 10, 10)
        drawing = icon_pixmap("folder", colours.muted, _ICON, self.devicePixelRatioF())
        painter.drawPixmap((self.width() - _ICON) // 2, 24, drawing)

    def _set_over(self, over: bool) -> None:
        self._over = over
        self.update()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_folder(event.mimeData()):
            event.acceptProposedAction()
            self._set_over(True)

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self._set_over(False)

    def dropEvent(self, event: QDropEvent) -> None:
        self._set_over(False)
        folder = dropped_folder(event.mimeData())
        if folder is not None:
            event.acceptProposedAction()
            self.dropped.emit(folder)
