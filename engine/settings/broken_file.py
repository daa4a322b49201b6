"""Puts a settings file that cannot be used out of the way, without losing it."""

import itertools
import os
from datetime import datetime
from pathlib import Path

from engine.settings.loading import settings_path
from engine.settings.migration import SETTINGS_VERSION
from engine.settings.writing import write_aside


def set_settings_aside(config: Path | None = None, now: datetime | None = None) -> Path:
    """Give the settings file a dated name beside it, put a fresh one in its place, and return where the old one is.

    A file that has that name already stays what it is. Raises OSError, and then the settings are where they were.
    """
    path = config or settings_path()
    day = f"{now or datetime.now():%Y-%m-%d}"
    for number in itertools.count(1):
        kept = path.with_name(f"{path.stem}-{day}{'' if number == 1 else f'-{number}'}{path.suffix}")
        if _moved(path, kept):
            break
    write_aside(path, f"# What stood here before is in {kept.name}.\nversion = {SETTINGS_VERSION}\n")
    return kept


def _moved(path: Path, kept: Path) -> bool:
    """Rename, unless there is something of the new name."""
    if os.path.lexists(kept):
        return False
    # Taken in one step, so that two programs which do this at once cannot replace each other's file.
    try:
        os.close(os.open(kept, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        return False
    try:
        os.replace(path, kept)
    except OSError:
        os.unlink(kept)
        raise
    return True
