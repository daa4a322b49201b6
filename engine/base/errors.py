"""Every error that the engine raises on purpose.

Each message is one sentence that a person can act on: the window and the command line show it as it is.
"""

from engine.base.language import tr


class MnemoscopeError(Exception):
    """Base of all expected failures; `str(error)` is one clear sentence."""


class Cancelled(MnemoscopeError):
    """The caller's token was cancelled; nothing half-done was kept."""

    def __init__(self) -> None:
        super().__init__(tr("Cancelled."))


class Closed(MnemoscopeError):
    """The memory was closed while, or before, it was asked."""

    def __init__(self) -> None:
        super().__init__(tr("This memory is closed."))


class PathRefused(MnemoscopeError):
    """A name that is neither in the index nor acceptable to discovery. One message, whatever the cause."""

    def __init__(self) -> None:
        super().__init__(tr("This path is not part of the index."))


class Unsupported(MnemoscopeError):
    """The backend in use cannot do this; the message says why, and which one can."""


class BackendError(MnemoscopeError):
    """What keeps the index outside of this program cannot be used, or failed; the message says why and what to do."""


class LinkRefused(MnemoscopeError):
    """A link of this program that is not opened, or cannot be written; the message says why."""


class QueryTooLong(MnemoscopeError):
    """A query of more than `LONGEST_QUERY` characters; the message names both numbers."""


class PassageMissing(MnemoscopeError):
    """Lines of which nothing is indexed: the file has changed or gone since, or never had them."""


class TranscriptUnreadable(MnemoscopeError):
    """A transcript that is there, but damaged, or being written all the time; the message says why."""


class NoteError(MnemoscopeError):
    """A note of a session cannot be made, written or taken back; what was there before is as it was."""


class SettingsError(MnemoscopeError):
    """A setting that cannot be used; the message names the file, the line and the key."""


class WorkspaceError(MnemoscopeError):
    """The workspace folder is missing, is no folder or cannot be listed."""


class ProviderError(MnemoscopeError):
    """An embedding provider cannot be used, or failed while it was."""


class FactRefused(MnemoscopeError):
    """A fact that is not kept: it is empty or too long, or it holds a secret."""


class StoreError(MnemoscopeError):
    """The index cannot be opened or written."""


class IndexTooNew(StoreError):
    """The index was written by a newer version of the program; it is left alone."""


class IndexCorrupt(StoreError):
    """The index file is damaged; the message says so, or where it was set aside."""

    file: tuple[int, int] | None = None
    """Device and inode of the damaged file where they are known: a new file may have taken its place since."""


class IndexReadOnly(StoreError):
    """The folder of the index cannot be written."""


class DiskFull(StoreError):
    """No room left on the disk of the index; what was committed before stays."""


class IndexBusy(StoreError):
    """Another process is writing the index."""
