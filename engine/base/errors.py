"""Exceptions that the engine raises.

Each message is one sentence that the user can act on; the window and the command line show it unchanged.
"""

from engine.base.language import tr

PARSER_FAULTS = (
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    EOFError,
    MemoryError,
)
"""Errors of a parser that meets text it doesn't expect: only this file is given up."""


class MnemoscopeError(Exception):
    """Base of all expected failures; `str(error)` is one clear sentence."""


class Cancelled(MnemoscopeError):
    """The caller's token was cancelled; no partial result was saved."""

    def __init__(self) -> None:
        super().__init__(tr("Cancelled."))


class Closed(MnemoscopeError):
    """The memory was closed before or during the call."""

    def __init__(self) -> None:
        super().__init__(tr("This workspace is closed: open it again."))


class PathRefused(MnemoscopeError):
    """A path is neither in the index nor accepted by discovery. The message is the same for every cause."""

    def __init__(self) -> None:
        super().__init__(tr("This path is not part of the index."))


class Unsupported(MnemoscopeError):
    """The current backend does not support this; the message gives the reason and a backend that does."""


class BackendError(MnemoscopeError):
    """The external program that stores the index is unavailable or failed; the message gives cause and remedy."""


class LinkRefused(MnemoscopeError):
    """A link of this program is not opened or cannot be written; the message gives the reason."""


class QueryTooLong(MnemoscopeError):
    """A query of more than `LONGEST_QUERY` characters; the message names both numbers."""


class PassageMissing(MnemoscopeError):
    """The requested lines are not indexed: the file was changed or removed, or never had them."""


class TranscriptUnreadable(MnemoscopeError):
    """A transcript exists but is damaged or constantly being written; the message gives the reason."""


class NoteError(MnemoscopeError):
    """A note of a session cannot be created, written or reverted; the previous content is unchanged."""


class SettingsError(MnemoscopeError):
    """A setting or the settings file cannot be used; the message names the file, the line and the key."""


class WorkspaceError(MnemoscopeError):
    """The workspace folder is missing, isn't a folder or can't be listed."""


class ProviderError(MnemoscopeError):
    """An embedding provider is unavailable or failed."""


class FactRefused(MnemoscopeError):
    """A fact is not saved because it is empty, too long or contains a secret."""


class StoreError(MnemoscopeError):
    """The index cannot be opened or written."""


class IndexTooNew(StoreError):
    """The index was written by a newer version of the program; it is not changed."""


class IndexCorrupt(StoreError):
    """The index file is damaged; the message reports the damage or the path it was moved to."""

    file: tuple[int, int] | None = None
    """Device and inode of the damaged file, if known; a new file may have replaced it since."""


class IndexReadOnly(StoreError):
    """The folder of the index cannot be written."""


class DiskFull(StoreError):
    """The disk of the index is full; committed data is preserved."""


class IndexBusy(StoreError):
    """Another process is writing the index."""
