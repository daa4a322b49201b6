"""The file of the log: three of 1 MB at most."""

from io import TextIOWrapper
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

from engine.base.private_files import create_private, make_folder, tidy_folder

_FILE_BYTES = 1_000_000
_OLD_FILES = 2


class QuietFile(RotatingFileHandler):
    """Makes its folder with the first message, and drops messages that cannot be written (full disk, no rights)."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            path,
            maxBytes=_FILE_BYTES,
            backupCount=_OLD_FILES,
            encoding="utf-8",
            errors="backslashreplace",
            delay=True,
        )

    def _open(self) -> TextIOWrapper:
        create_private(self.baseFilename)
        return super()._open()

    def emit(self, record: LogRecord) -> None:
        if self.stream is None:
            try:
                make_folder(Path(self.baseFilename).parent)
                tidy_folder(Path(self.baseFilename).parent)
            except OSError:
                return
        super().emit(record)

    def handleError(self, record: LogRecord) -> None:  # noqa: N802 - the base's name
        pass
