"""The first page of a first start: what the program does, and the one thing to do."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from engine import tr
from gui.core.jobs import Jobs
from gui.sources.found_places import FoundSection
from gui.style.theme import tokens
from gui.widgets.drop_target import dropped_folder
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import label
from gui.widgets.scrolling import scrolling_column

_WIDTH = 560
_ICON = 32


class DropZone(QWidget):
    """A dashed card that takes a folder."""

    dropped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._over = False
        self.choose = QPushButton(tr("Choose a folder…"))
        self.choose.setProperty("role", "primary")
        self.choose.setAutoDefault(True)
        self.choose.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        hint = label(tr("or drop one here"), "meta")
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


class WelcomePage(QFrame):
    """Signals: `choose_wanted`; `named` with the Path of a folder that was dropped, or chosen of those found."""

    choose_wanted = Signal()
    named = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        zone = DropZone()
        self._choose = zone.choose
        self._choose.clicked.connect(self.choose_wanted)
        zone.dropped.connect(self.named)
        self.found = FoundSection(jobs)
        self.found.place_chosen.connect(self.named)
        what = label(
            tr(
                "Mnemoscope searches your notes and past AI sessions by their words and by their meaning, and shows "
                "each hit in its file."
            ),
            wrap=True,
        )
        promise = label(
            tr(
                "You see what would be indexed before anything is read. Nothing is ever written to your folder, and "
                "nothing leaves this computer."
            ),
            "meta",
            wrap=True,
        )
        column = QVBoxLayout()
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(label(tr("Find things in your notes"), "title", wrap=True))
        column.addWidget(what)
        column.addSpacing(8)
        column.addWidget(zone)
        column.addSpacing(4)
        column.addWidget(promise)
        column.addSpacing(16)
        column.addWidget(self.found)
        column.addStretch(3)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scrolling_column(column, _WIDTH))

    def showEvent(self, event: QShowEvent) -> None:
        """Enter does what most are here for."""
        super().showEvent(event)
        self._choose.setFocus(Qt.FocusReason.OtherFocusReason)
