"""The rotating log file.

In: messages of the program, and keys to mask (`hide`).
Out: a log file that only the user can read, with secrets masked.

Rule for log messages: names, counts and durations, never the text of a note, a passage or a query, nor an exception
whose message contains one. Long messages are cut, which limits the damage of a violation. Messages and tracebacks are
masked more strictly than sessions, since a log can do without words that only resemble secrets; keys in use are masked
in any form. Other packages log only warnings, since an environment variable makes some log whole requests.
"""

import sys
from pathlib import Path

from engine.base import before_first_message
from engine.base.private_files import user_folder

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


def log_path() -> Path:
    """Return the path of the log file."""
    return user_folder("log") / "mnemoscope.log"


def configure_logging() -> Path:
    """Log to a file in the user's log folder (three files of 1 MB at most) and return its path.

    May be called again, as by tests. A log that cannot be written never disturbs the program.
    """
    from engine.logs.log_file import log_to

    path = log_path()
    log_to(path, redact)
    return path


def configure_logging_late() -> None:
    """Configure logging before its first use, which may never come: importing it takes as long as a search."""
    if "logging" in sys.modules:
        configure_logging()
    else:
        before_first_message.append(configure_logging)
