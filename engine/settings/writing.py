"""Replaces a text file as a whole or not at all."""

from pathlib import Path

from engine.base.private_files import make_folder, remove_leftovers, replacing


def write_aside(path: Path, text: str) -> None:
    """Write `text` (UTF-8, line ends unchanged) to a temporary file next to `path`, sync it, then rename it to `path`.

    A link stays a link, a file keeps its mode. Raises OSError, and then nothing has changed.
    """
    target = path.resolve()
    if target.parent.is_dir():
        remove_leftovers(target.parent)
    else:
        make_folder(target.parent)
    with replacing(target, keep_mode=True) as file:
        file.write(text.encode())
