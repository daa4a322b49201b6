"""The sample workspace for `--demo`: a copy with an index of its own, and nothing left afterwards."""

import shutil
import tempfile
from importlib.resources import as_file, files
from pathlib import Path


class Demo:
    """Lives in one temporary folder. `close()` removes it; a second call does nothing.

    Attributes:
        workspace: the copied notes.
        store: where the index goes.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="mnemoscope-demo-", ignore_cleanup_errors=True)
        self.workspace = Path(self._folder.name, "sample-notes")
        self.store = Path(self._folder.name, "index")
        with as_file(files("resources").joinpath("sample")) as sample:
            shutil.copytree(sample, self.workspace, ignore=shutil.ignore_patterns("__pycache__"))

    def close(self) -> None:
        self._folder.cleanup()
