"""Draw the program's icon in the sizes and formats of each desktop from `resources/icons/mnemoscope.svg`.

    python packaging/building/icons.py FOLDER

FOLDER gets `hicolor/` as the icon theme specification lays it out, `mnemoscope.ico` and `mnemoscope.icns`.
"""

import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

DRAWING = Path(__file__).resolve().parents[2] / "resources" / "icons" / "mnemoscope.svg"
SIZES = (16, 22, 24, 32, 48, 64, 128, 256, 512)


def draw_icons(folder: Path) -> None:
    """Write all icons into `folder`. Raises `OSError` if one can't be written."""
    application = QGuiApplication.instance() or QGuiApplication([])  # the .ico and .icns formats are image plugins
    theme = folder / "hicolor"
    for size in SIZES:
        _save(size, theme / f"{size}x{size}" / "apps" / "mnemoscope.png")
    scalable = theme / "scalable" / "apps" / "mnemoscope.svg"
    scalable.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DRAWING, scalable)
    _save(256, folder / "mnemoscope.ico")
    _save(512, folder / "mnemoscope.icns")
    del application


def _save(size: int, path: Path) -> None:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(str(DRAWING)).render(painter)
    painter.end()
    path.parent.mkdir(parents=True, exist_ok=True)
    if not image.save(str(path)):
        raise OSError(f"{path} could not be written")


if __name__ == "__main__":
    draw_icons(Path(sys.argv[1]))
