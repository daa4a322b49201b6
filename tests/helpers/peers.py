"""Third-party programs for the tests, if installed by `packaging/dev.py test --peers`."""

import os
import shutil
import sqlite3
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def qmd_command() -> Path | None:
    """Return the path of the real `qmd`, or None if it is not installed."""
    folder = Path(os.environ.get("MNEMOSCOPE_PEERS") or _ROOT / ".peers")
    command = folder / "node_modules" / ".bin" / ("qmd.cmd" if os.name == "nt" else "qmd")
    return command if command.exists() else None


def indexed(data: Path, tmp_path: Path) -> dict[str, str]:
    """Return the texts in `qmd`'s index by collection and path, from a copy of it."""
    copy = Path(shutil.copytree(data / "xdg-cache" / "qmd", tmp_path / "copy", dirs_exist_ok=True)) / "index.sqlite"
    with sqlite3.connect(copy) as connection:
        query = "SELECT collection || '/' || path, doc FROM documents JOIN content USING (hash) WHERE active = 1"
        found = dict(connection.execute(query))
    connection.close()
    return found
