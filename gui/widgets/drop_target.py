"""Taking folders, and exports of sessions, that are dropped on a widget."""

from pathlib import Path

from PySide6.QtCore import QMimeData

EXPORTS = (".zip", ".json", ".jsonl", ".db")
"""Endings of files that may hold sessions."""


def dropped_folder(data: QMimeData) -> Path | None:
    """The one local folder in a drag, None for anything else."""
    urls = data.urls()
    if len(urls) != 1 or not urls[0].isLocalFile():
        return None
    folder = Path(urls[0].toLocalFile())
    return folder if folder.is_dir() else None


def dropped_sessions(data: QMimeData) -> list[Path]:
    """The local folders and exports in a drag; none if it contains anything else."""
    urls = data.urls()
    paths = [Path(url.toLocalFile()) for url in urls if url.isLocalFile()]
    fitting = [path for path in paths if path.is_dir() or path.suffix.lower() in EXPORTS]
    return fitting if len(fitting) == len(urls) else []
