"""Replaces a text file as a whole or not at all."""

import os
import shutil
import tempfile
from pathlib import Path


def write_aside(path: Path, text: str) -> None:
    """Write `text` (UTF-8, line ends as they are) beside `path`, flush it to the disk, then rename it over `path`.

    A link stays a link, a file keeps its mode. Raises OSError, and then nothing has changed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, aside)
        aside.replace(target)
    except BaseException:
        aside.unlink()
        raise
