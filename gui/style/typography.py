"""Sizes of the source text: the platform's fixed font at 12.5 px on rows of 20 px, times the font scale."""

from dataclasses import dataclass

from PySide6.QtGui import QFont, QFontDatabase, QFontMetricsF, QGuiApplication

from gui.style.stylesheet import BASE_PIXELS

TEXT_PIXELS = 12.5
_ROW_PIXELS = 20
_POINTS_PER_INCH = 72


def font_scale() -> float:
    """How much larger than drawn the interface is, by its font."""
    pixels = QGuiApplication.font().pixelSize()
    return pixels / BASE_PIXELS if pixels > 0 else 1.0


def fixed_font(pixels: float = TEXT_PIXELS) -> QFont:
    """The platform's fixed font at a size that is given for font scale 1, not rounded to whole pixels."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    dots = QGuiApplication.primaryScreen().logicalDotsPerInchY()
    font.setPointSizeF(pixels * font_scale() * _POINTS_PER_INCH / dots)
    return font


@dataclass(frozen=True)
class Typography:
    """What the source view measures with, in logical pixels."""

    font: QFont
    row_height: int
    baseline: float
    """From the top of a row; the same for every script, so that lines of different fonts stay on one grid."""
    character_width: float
    scale: float

    @classmethod
    def current(cls) -> "Typography":
        font = fixed_font()
        metrics = QFontMetricsF(font)
        row_height = round(_ROW_PIXELS * font_scale())
        baseline = (row_height - metrics.ascent() - metrics.descent()) / 2 + metrics.ascent()
        return cls(font, row_height, round(baseline), metrics.horizontalAdvance("0"), font_scale())

    def scaled(self, pixels: float) -> int:
        """A distance that is given for font scale 1."""
        return round(pixels * self.scale)
