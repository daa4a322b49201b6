"""Moves an unusable settings file out of the way, without losing it."""

import itertools
import os
from datetime import datetime
from pathlib import Path

from engine.settings.loading import settings_path
from engine.settings.migration import SETTINGS_VERSION
from engine.settings.writing import write_aside


def set_settings_aside(config: Path | None = None, now: datetime | None = None) -> Path:
    """Rename the settings file to a dated name in its folder, create a new one, and return the path of the old one.

    An existing file of that name stays unchanged. Raises OSError, and then the settings are unchanged.
    """
    path = config or settings_path()
    day = f"{now or datetime.now():%Y-%m-%d}"
    for number in itertools.count(1):
        kept = path.with_name(f"{path.stem}-{day}{'' if number == 1 else f'-{number}'}{path.suffix}")
        if _moved(path, kept):
            break
    write_aside(path, f"# The previous contents are in {kept.name}.\nversion = {SETTINGS_VERSION}\n")
    return kept


def _moved(path: Path, kept: Path) -> bool:
    """Rename, unless there is something of the new name."""
    if os.path.lexists(kept):
        return False
    # Done in one step, so that two programs that do this concurrently can't replace each other's file.
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
