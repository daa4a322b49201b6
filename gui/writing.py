"""Replaces small files of the program whole, so that a crash leaves the old or the new one."""

import contextlib
import os
from pathlib import Path


def replace_file(target: Path, content: bytes) -> None:
    """Write aside, then replace; the folder is made where it is missing. Raises OSError, and leaves nothing behind."""
    aside = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside.write_bytes(content)
        aside.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
