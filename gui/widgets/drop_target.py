"""Finds folders and session exports in a drag."""

from pathlib import Path

from PySide6.QtCore import QMimeData

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
