"""The file of the log: three of 1 MB at most."""

from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

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

    def emit(self, record: LogRecord) -> None:
        if self.stream is None:
            try:
                Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
            except OSError:
                return
        super().emit(record)

    def handleError(self, record: LogRecord) -> None:  # noqa: N802 - the base's name
        pass
