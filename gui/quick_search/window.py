"""The window of the quick search: without a frame, on the screen where the mouse is, and away when it is not used."""

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Slot
from PySide6.QtGui import QCursor, QGuiApplication, QHideEvent, QKeySequence, QScreen, QShortcut
from PySide6.QtWidgets import QApplication, QFrame, QVBoxLayout

from engine import tr
from gui.quick_search.panel import RESULTS_HEIGHT, QuickPanel
from gui.style.stylesheet import font_at

_MOST = 0.9
"""Of the screen's width and height."""


class QuickWindow(QFrame):
    """Hidden, never closed, so that it opens immediately the next time."""

    def __init__(self, panel: QuickPanel) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint,
        )
        self.panel = panel
        self._was_active = False
        self.setWindowTitle(tr("Quick search – Mnemoscope"))
        self.setProperty("role", "quick")
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        column = QVBoxLayout(self)
        column.setContentsMargins(1, 1, 1, 1)
        column.addWidget(panel)
        panel.resized.connect(self._fit)
        QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.hide)

    def toggle(self) -> None:
        """Show it, or hide it if it is shown."""
        if self.isVisible():
            self.hide()
        else:
            self.call_up()

    def call_up(self, text: str = "") -> None:
        """Show it, ready to type; `text` is searched for."""
        if not self.isVisible():
            self._place(_screen())
        self.show()
        self.raise_()
        self.activateWindow()
        self.panel.begin(text)

    def _place(self, screen: QScreen) -> None:
        """Centre it as if it had its results already: it grows downwards only."""
        room = screen.availableGeometry()
        size = self._size(room)
        whole = size.height() if self.panel.is_wide else size.height() + font_at(RESULTS_HEIGHT).pixelSize()
        top = room.top() + max(0, (room.height() - whole) // 2)
        self.setGeometry(QRect(room.left() + (room.width() - size.width()) // 2, top, size.width(), size.height()))

    @Slot()
    def _fit(self) -> None:
        """To what it shows now."""
        for layout in (self.panel.layout(), self.layout()):
            if layout is not None:
                layout.activate()  # immediately: hidden widgets must not keep the window large
        self.resize(self._size(self.screen().availableGeometry()))

    def _size(self, room: QRect) -> QSize:
        self.ensurePolished()
        wanted = self.panel.sizeHint() + QSize(2, 2)
        return wanted.boundedTo(QSize(round(room.width() * _MOST), round(room.height() * _MOST)))

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._was_active = False
        self.panel.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange:
            if self._was_active and not self.isActiveWindow() and QApplication.activePopupWidget() is None:
                self.hide()  # the user switched to another program
            self._was_active = self.isActiveWindow()
        elif event.type() == QEvent.Type.FontChange:
            self._fit()


def _screen() -> QScreen:
    return QGuiApplication.screenAt(QCursor.pos()) or QGuiApplication.primaryScreen()
