"""Write the log to a rotating file (three of 1 MB at most), and mask secrets in its lines."""

import contextlib
import logging
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from engine.base import lazy_pattern
from engine.base.private_files import create_private, make_folder, secure_folder

_OURS = ("engine", "gui")
_NAME = "mnemoscope-file"
_LONGEST = 1000
_FILE_BYTES = 1_000_000
_OLD_FILES = 2
_SECRETS = (
    # name = value, "name": "value", --name value, name: Bearer value
    lazy_pattern(
        r"""((?:(?:key|token|secret|passw(?:or)?d)["']?\s*[=:]\s*|--[\w-]*(?:key|token|secret|password)\s+)"""
        r"""["']?(?:(?:bearer|basic)\s+)?)"""
        r"""(?!-----BEGIN)[^\s"',;&)]{4,}""",
        re.IGNORECASE,
    ),
    lazy_pattern(
        r"""(authorization["']?\s*[=:]\s*["']?(?:[a-z][\w-]*\s+(?=\S))?)(?!-----BEGIN)(?:\*{3}|[^\s"',;&)]{4,})""",
        re.IGNORECASE,
    ),
    lazy_pattern(r"(\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    lazy_pattern(r"(\b[a-z][a-z+.-]*://[^\s/:@]*:)[^\s/@]+(?=@)", re.IGNORECASE),
    # forms that the well-known services use
    lazy_pattern(
        r"()\b(?:sk-[\w*-]{8,}|gh[pousr]_\w{20,}|github_pat_\w{20,}|xox[a-z]-[\w-]{8,}|xapp-[\w-]{8,}|gsk_\w{8,}"
        r"|pplx-\w{8,}|(?:pa|al)-[\w-]{20,}|hf_\w{20,}|npm_\w{20,}|AIza[\w-]{20,}|AKIA[A-Z0-9]{16}|\d{6,}:[\w-]{30,})"
    ),
)


def masked(text: str) -> str:
    """Return `text` with everything masked that looks like a key, a token or a password."""
    from engine.redaction import secret_masking  # most runs of the command line log nothing

    text = secret_masking.redact(text, whole=True)
    for pattern in _SECRETS:
        text = pattern.sub(r"\1***", text)
    return text


def log_to(path: Path, redact: Callable[[str], str]) -> None:
    """Write messages to this file instead of the previous one, with secrets masked by `redact`."""
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if handler.name == _NAME]:
        root.removeHandler(old)
        old.close()
    handler = _LogFile(path)
    handler.name = _NAME
    handler.addFilter(_is_shown)
    handler.setFormatter(_Redacting(redact))
    root.addHandler(handler)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO)


def _is_shown(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS


class _LogFile(logging.Handler):
    """Appends to a file that is opened with the first message; drops messages that can't be written.

    The standard library's rotating handler imports sockets and pickles, which takes longer than most commands.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: BinaryIO | None = None

    def emit(self, record: logging.LogRecord) -> None:
        try:
            line = f"{self.format(record)}\n".encode("utf-8", "backslashreplace")
            file = self._file or self._opened()
            if os.fstat(file.fileno()).st_size + len(line) > _FILE_BYTES:
                self._rotate(file)
                file = self._opened()
            file.write(line)
            file.flush()
        except Exception:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the base's name
        pass

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()

    def _opened(self) -> BinaryIO:
        make_folder(self._path.parent)
        secure_folder(self._path.parent)
        create_private(self._path)
        self._file = self._path.open("ab")
        return self._file

    def _rotate(self, file: BinaryIO) -> None:
        file.close()
        self._file = None
        for number in range(_OLD_FILES, 0, -1):
            newer = self._path.with_name(f"{self._path.name}.{number - 1}") if number > 1 else self._path
            with contextlib.suppress(FileNotFoundError):
                newer.replace(self._path.with_name(f"{self._path.name}.{number}"))


class _Redacting(logging.Formatter):
    """Log formatter: one line per message, with secrets masked."""

    def __init__(self, redact: Callable[[str], str]) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s [%(threadName)s] %(message)s")
        self._redact = redact

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base's name
        # Mask before cutting: half of a secret would not be recognised.
        message = self._redact(record.message).replace("\r", "\\r").replace("\n", "\\n")
        record.message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}… ({len(message)} characters)"
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return self._redact(super().format(record))
