"""Write the log to a rotating file (three of 1 MB at most), and mask secrets in its lines.

Both are loaded with the first message, since most runs of the command line log nothing.
"""

import re
from io import TextIOWrapper
from logging import LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

from engine.base.private_files import create_private, make_folder, tidy_folder
from engine.redaction import secret_masking

_SECRETS = (
    # name = value, "name": "value", --name value, name: Bearer value
    re.compile(
        r"""((?:(?:key|token|secret|passw(?:or)?d)["']?\s*[=:]\s*|--[\w-]*(?:key|token|secret|password)\s+)"""
        r"""["']?(?:(?:bearer|basic)\s+)?)"""
        r"""(?!-----BEGIN)[^\s"',;&)]{4,}""",
        re.IGNORECASE,
    ),
    re.compile(
        r"""(authorization["']?\s*[=:]\s*["']?(?:[a-z][\w-]*\s+(?=\S))?)(?!-----BEGIN)(?:\*{3}|[^\s"',;&)]{4,})""",
        re.IGNORECASE,
    ),
    re.compile(r"(\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(\b[a-z][a-z+.-]*://[^\s/:@]*:)[^\s/@]+(?=@)", re.IGNORECASE),
    # forms that the well-known services use
    re.compile(
        r"()\b(?:sk-[\w*-]{8,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|gsk_\w{8,}"
        r"|pplx-\w{8,}|(?:pa|al)-[\w-]{20,}|hf_\w{20,}|npm_\w{20,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{16}|\d{6,}:[\w-]{30,})"
    ),
)


def masked(text: str) -> str:
    """Return `text` with everything masked that looks like a key, a token or a password."""
    text = secret_masking.redact(text, whole=True)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1***", text)
    return text


_FILE_BYTES = 1_000_000
_OLD_FILES = 2
_LINE = "mnemoscope_line"
"""Attribute of a record with its line in the file."""


class QuietFile(RotatingFileHandler):
    """Log file that creates its folder with the first message, and drops messages that can't be written."""

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

    def format(self, record: LogRecord) -> str:
        """Format a message once, though the rotation needs its length first: masking takes most of the time."""
        line = vars(record).get(_LINE)
        if line is None:
            line = vars(record)[_LINE] = super().format(record)
        return str(line)

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
