"""Theme and font scale of the application, chosen by the user or taken from the desktop."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QFont, QGuiApplication, QStyleHints
from PySide6.QtWidgets import QApplication

from gui.style import ThemeChoice, ThemeName
from gui.style.stylesheet import BASE_PIXELS, style_sheet
from gui.style.theme import make_palette

SCALES = (0.8, 0.9, 1.0, 1.15, 1.3, 1.5, 1.75, 2.0)


class Appearance(QObject):
    """Applies palette, style sheet and font to the application, and again when the desktop's colours change."""

    changed = Signal()
    """The user has chosen another theme or text size."""

    def __init__(self, app: QApplication, theme: ThemeChoice = "system", font_scale: float = 1.0) -> None:
        super().__init__(app)
        self._app = app
        self.theme: ThemeChoice = theme
        """The theme that the user chose, perhaps "as the desktop"; `theme_in_use` is the theme in use."""
        self.font_scale = _limited(font_scale)
        """Size of the text, as a multiple of the desktop's."""
        self._without_sheet = False
        app.setStyle("Fusion")
        hints = _style_hints()
        hints.colorSchemeChanged.connect(self._desktop_changed)
        if hasattr(hints, "accessibility"):
            hints.accessibility().contrastPreferenceChanged.connect(self._desktop_changed)
        self._apply()

    @property
    def theme_in_use(self) -> ThemeName:
        if self.theme == "system":
            dark = self._app.styleHints().colorScheme() == Qt.ColorScheme.Dark
            if _prefers_contrast():
                return "high-contrast-dark" if dark else "high-contrast-light"
            return "dark" if dark else "light"
        return self.theme

    def set_theme(self, theme: ThemeChoice) -> None:
        self.show(theme, self.font_scale)
        self.changed.emit()

    def set_font_scale(self, scale: float) -> None:
        self.show(self.theme, scale)
        self.changed.emit()

    def show(self, theme: ThemeChoice, scale: float) -> None:
        """Set theme and scale from the settings, without emitting a signal."""
        self.theme, self.font_scale = theme, _limited(scale)
        self._apply()

    def enlarge(self, steps: int) -> None:
        """Increase the text size by a number of steps, negative to decrease; 0 resets it."""
        if steps == 0:
            self.set_font_scale(1.0)
            return
        nearest = min(range(len(SCALES)), key=lambda index: abs(SCALES[index] - self.font_scale))
        self.set_font_scale(SCALES[min(max(nearest + steps, 0), len(SCALES) - 1)])

    @contextmanager
    def bare(self) -> Iterator[None]:
        """Context manager that removes the style sheet while a window is built, then applies it, which is faster.

        With a sheet, each widget that gets a parent has all its children polished again: a window took four times as
        long.
        """
        self._without_sheet = True
        self._app.setStyleSheet("")
        try:
            yield
        finally:
            self._without_sheet = False
            self._apply()

    @Slot()
    def _desktop_changed(self) -> None:
        if self.theme == "system":
            self._apply()

    def _apply(self) -> None:
        """Apply palette, style sheet and font if they differ: each makes Qt look at every widget again."""
        font = QFont(self._app.font())
        font.setPixelSize(round(BASE_PIXELS * self.font_scale))
        font.setFeature(QFont.Tag("tnum"), 1)  # digits of equal width, so that running counts don't move
        palette = make_palette(self.theme_in_use)
        sheet = "" if self._without_sheet else style_sheet(self.font_scale)
        repainted = palette != self._app.palette()
        if sheet != self._app.styleSheet():
            # via an empty one: from sheet to sheet a change of size took four times as long
            self._app.setStyleSheet("")
        if font != self._app.font():
            self._app.setFont(font)
        if repainted:
            self._app.setPalette(palette)
        if sheet != self._app.styleSheet():
            self._app.setStyleSheet(sheet)
        elif repainted:
            self._apply_palette()

    def _apply_palette(self) -> None:
        """Make every widget read its colours from the new palette, ten times as fast as a new style sheet."""
        for widget in self._app.allWidgets():
            widget.style().polish(widget)
            widget.update()


@cache
def _style_hints() -> QStyleHints:
    """Return the application's style hints. Cached, since PySide would delete the object without a reference."""
    return QGuiApplication.styleHints()


def _prefers_contrast() -> bool:
    """Return whether the desktop requests high contrast; Qt reports it since 6.10."""
    if not hasattr(QStyleHints, "accessibility"):
        return False
    return _style_hints().accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast


def _limited(scale: float) -> float:
    return min(max(scale, SCALES[0]), SCALES[-1])
