"""Taking a folder that is dropped on a widget."""

from pathlib import Path

from PySide6.QtCore import QMimeData


def dropped_folder(data: QMimeData) -> Path | None:
    """The one local folder in what is being dragged, None for anything else."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    folder = Path(urls[0].toLocalFile())
    return folder if folder.is_dir() else None
