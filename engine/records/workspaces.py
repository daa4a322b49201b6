"""The workspaces that are known on this computer."""

from engine.records.base import Record
from engine.records.sync import SyncSummary


class KnownWorkspace(Record, frozen=True):
    """A folder that was opened once, or that the settings have a table for."""

    folder: str
    """Real path."""
    name: str
    """Its last part; where several are called the same, with the folder above it in brackets. Never with a slash."""
    present: bool
    """Whether the folder exists now."""
    index_bytes: int
    """What its index takes on disk; 0 where it has none."""


class WorkspaceState(Record, frozen=True):
    """What its index holds now."""

    files: int
    chunks: int
    pending_vectors: int
    """Chunks without a vector of the model that most have one of; 0 where none has."""
    last_sync: SyncSummary | None
    problem: str = ""
    """Empty, or why the index cannot be read, one sentence."""
