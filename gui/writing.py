"""Replaces small files of the program whole, so that a crash leaves the old or the new one."""

import contextlib
import os
from pathlib import Path


def replace_file(target: Path, content: bytes, *, private: bool = False) -> None:
    """Write aside, then replace; the folder is made where it is missing. Raises OSError, and leaves nothing behind.

    `private`: only the owner may read it.
    """
    aside = target.with_name(f"{target.name}.{os.getpid()}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with open(aside, "wb", opener=_private if private else None) as file:
            file.write(content)
        aside.replace(target)
    except OSError:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
