"""The first page of a first start: what the program does, and the one thing to do."""

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent, QPainter, QPaintEvent, QPen, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gui.theme import tokens
from gui.widgets.drop import dropped_folder
from gui.widgets.icons import icon_pixmap
from gui.widgets.labels import label

_WIDTH = 560
_ICON = 32


class DropZone(QWidget):
    """A dashed card that takes a folder."""

    dropped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAcceptDrops(True)
        self._over = False
        self.choose = QPushButton("Choose a folder…")
        self.choose.setProperty("role", "primary")
        self.choose.setAutoDefault(True)
        self.choose.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        hint = label("or drop one here", "meta")
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
    """Signals: `choose_wanted`, and `dropped` with a Path."""

    choose_wanted = Signal()
    dropped = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "page")
        zone = DropZone()
        self._choose = zone.choose
        self._choose.clicked.connect(self.choose_wanted)
        zone.dropped.connect(self.dropped)
        what = label(
            "Mnemoscope searches your notes and past AI sessions by their words and by their meaning, and shows each "
            "hit in its file.",
            wrap=True,
        )
        promise = label(
            "You see what would be indexed before anything is read. Nothing is ever written to your folder, and "
            "nothing leaves this computer.",
            "meta",
            wrap=True,
        )
        column = QVBoxLayout()
        column.setSpacing(12)
        column.addStretch(2)
        column.addWidget(label("Find things in your notes", "title", wrap=True))
        column.addWidget(what)
        column.addSpacing(8)
        column.addWidget(zone)
        column.addSpacing(4)
        column.addWidget(promise)
        column.addStretch(3)
        middle = QWidget()
        middle.setLayout(column)
        middle.setMaximumWidth(_WIDTH)
        page = QFrame()
        page.setProperty("role", "page")
        row = QHBoxLayout(page)
        row.addStretch(1)
        row.addWidget(middle, 100)
        row.addStretch(1)
        scroll = QScrollArea()  # large text in a small window
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        scroll.setWidget(page)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.addWidget(scroll)

    def showEvent(self, event: QShowEvent) -> None:
        """There is one thing to do here, so Enter does it."""
        super().showEvent(event)
        self._choose.setFocus(Qt.FocusReason.OtherFocusReason)
