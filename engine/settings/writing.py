"""Replaces a text file as a whole or not at all."""

import os
import tempfile
from pathlib import Path


def write_aside(path: Path, text: str) -> None:
    """Write `text` (UTF-8, line ends as they are) beside `path`, flush it to the disk, then rename it over `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise
