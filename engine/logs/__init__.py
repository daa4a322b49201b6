"""The rotating log file.

In: messages of the program, and keys to mask (`hide`).
Out: a log file that only the user can read, with secrets masked.

Rule for log messages: names, counts and durations, never the text of a note, a passage or a query, nor an exception
whose message contains one. Long messages are cut, which limits the damage of a violation. Messages and tracebacks are
masked more strictly than sessions, since a log can do without words that only resemble secrets; keys in use are masked
in any form. Other packages log only warnings, since an environment variable makes some log whole requests.
"""

import logging
from pathlib import Path

from engine.base.private_files import user_folder

_OURS = ("engine", "gui")
_NAME = "mnemoscope-file"
_LONGEST = 1000
_SHORTEST_HIDDEN = 12
"""Characters. Local servers accept any key, and users write `ollama` or `not-needed`: masking such a word everywhere
would only make the log unreadable."""

_hidden: dict[str, None] = {}


def hide(secret: str) -> None:
    """Mask this key in all messages from now on, even if it has no known form."""
    if len(secret) >= _SHORTEST_HIDDEN:
        _hidden[secret] = None


def redact(text: str) -> str:
    """Return `text` with everything masked that looks like a key, a token or a password, or is a key in use."""
    for secret in tuple(_hidden):
        text = text.replace(secret, "***")
    from engine.logs.log_file import masked  # most runs of the command line log nothing

    return masked(text)


def configure_logging() -> Path:
    """Log to a file in the user's log folder (three files of 1 MB at most) and return its path.

    May be called again, as by tests. A log that cannot be written never disturbs the program.
    """
    path = user_folder("log") / "mnemoscope.log"
    root = logging.getLogger()
    for old in [handler for handler in root.handlers if handler.name == _NAME]:
        root.removeHandler(old)
        old.close()
    handler = _LateFile(path)
    handler.name = _NAME
    handler.addFilter(_is_shown)
    handler.setFormatter(_Redacting("%(asctime)s %(levelname)s %(name)s [%(threadName)s] %(message)s"))
    root.addHandler(handler)
    for name in _OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    return path


def _is_shown(record: logging.LogRecord) -> bool:
    return record.levelno >= logging.WARNING or record.name.partition(".")[0] in _OURS


class _LateFile(logging.Handler):
    """Opens the log file with the first message, since most runs of the command line log nothing."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        if self._file is None:
            from engine.logs.log_file import QuietFile

            self._file = QuietFile(self._path)
            self._file.setFormatter(self.formatter)
        self._file.emit(record)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
        super().close()


class _Redacting(logging.Formatter):
    """Log formatter: one line per message, with secrets masked."""

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the base's name
        # Mask before cutting: half of a secret would not be recognised.
        message = redact(record.message).replace("\r", "\\r").replace("\n", "\\n")
        record.message = message if len(message) <= _LONGEST else f"{message[:_LONGEST]}… ({len(message)} characters)"
        return super().formatMessage(record)

    def format(self, record: logging.LogRecord) -> str:
        return redact(super().format(record))
