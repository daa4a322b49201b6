"""Known workspaces, and folders and files on disk with their status in the index."""

from typing import Literal

from engine.records.base import Record, Source
from engine.records.sync import FileIssue, SyncSummary

PlaceKind = Literal["openclaw-workspace", "obsidian-vault", "sessions"]

PathStateKind = Literal[
    "indexed",
    "pending",
    "failed",
    "excluded",
    "outside",
    "too-large",
    "not-text",
    "gone",
    "missing",
    "folder",
]
PathRemedy = Literal["sync", "settings", "add", "open"]


class KnownWorkspace(Record, frozen=True):
    """A folder that was opened before, or has a table in the settings."""

    folder: str
    """Real path."""
    name: str
    """Last part of the path; for duplicates, with the parent folder in brackets. Never contains a slash."""
    present: bool
    """Whether the folder exists now."""
    index_bytes: int
    """Size of its index on disk; 0 if there is none."""


class WorkspaceState(Record, frozen=True):
    """Current content of its index."""

    files: int
    chunks: int
    pending_vectors: int
    """Chunks without a vector of the most-used model; 0 if there are no vectors."""
    last_sync: SyncSummary | None
    problem: str = ""
    """Empty, or why the index cannot be read, one sentence."""


class PreviewFolder(Record, frozen=True):
    path: str
    files: int
    bytes: int


class WorkspacePreview(Record, frozen=True):
    """What a first sync would index; made by reading directory entries only."""

    workspace: str
    layout: Literal["openclaw", "folder"]
    """`openclaw`: MEMORY.md, memory.md, memory/**; `folder`: a plain folder of notes, indexed whole."""
    files: int
    bytes: int
    folders: tuple[PreviewFolder, ...]
    """Top-level folders with files, most files first; the workspace's own files under `.`."""
    skipped: tuple[FileIssue, ...]
    session_files: int
    """In the session folders that the settings list."""
    session_bytes: int
    first: tuple[str, ...] = ()
    """Stable names of the first notes that would be indexed."""


class SettingsConsequences(Record, frozen=True):
    """What a change of the settings means for the index."""

    full_rebuild: bool
    """The whole index is rebuilt, because its chunks would differ."""
    other_files: bool
    """Other files or sessions are indexed than before."""
    other_index: bool
    """Another index is used, which the next update fills if it is empty."""

    @property
    def any(self) -> bool:
        return self.full_rebuild or self.other_files or self.other_index


class FoundPlace(Record, frozen=True):
    """A folder on this machine, or an export, that could be indexed; known by directory entries only."""

    kind: PlaceKind
    agent: str
    """Short name of the program that writes there; empty if unknown without reading."""
    name: str
    """The agent's own id, or the vault's name; empty if there is none."""
    path: str
    """Absolute and without links."""
    files: int
    """That would be indexed: notes, or what may be transcripts by their names."""
    bytes: int
    newest: float | None
    """Newest change of these files; None without one."""
    whole: bool
    """False where counting stopped at its limit: there are more files than these."""


class FoundPlaces(Record, frozen=True):
    places: tuple[FoundPlace, ...]
    issues: tuple[FileIssue, ...]
    """Places, and lists of places, that could not be read."""


class RuleOrigin(Record, frozen=True):
    """Where the rule that excludes a path is set."""

    key: str
    """Of the settings, such as `exclude`; empty for a rule that is built in."""
    value: str
    """Which of its patterns, or its value; empty for a rule that is built in."""
    layer: Literal["built-in", "defaults", "workspace"]
    """The layer of the settings that has it; `built-in` also for an option that is not set."""
    file: str
    """The settings file; empty for a built-in rule."""
    line: int
    """In that file, from 1; 0 for a built-in rule."""


class FolderContents(Record, frozen=True):
    """The files of a folder and all below it."""

    indexed: int
    waiting: int
    """New or changed: for the next sync."""
    failed: int
    gone: int
    """From the disk; indexed until the next sync."""
    passed: tuple[FileIssue, ...]
    """Files and folders excluded by a rule, like `skipped_files` of the status; the first ones."""
    passed_total: int
    whole: bool
    """False where the folder is so large that not all of it was looked at."""


class PathState(Record, frozen=True):
    """Why a path is found, or not."""

    asked: str
    state: PathStateKind
    sentence: str
    """The status in one or two plain sentences, with advice."""
    remedy: PathRemedy | None
    """What to offer: a sync, the settings file, an extra path, the file itself."""
    path: str
    """Stable name; empty outside of everything indexed, and for the workspace itself."""
    file: str
    """Absolute path, as far as it could be found out."""
    source: Source | None
    rule: str = ""
    """As in `FileIssue`; empty if no rule excludes it."""
    rule_path: str = ""
    """Stable name of the path that the rule applies to: the path, or a folder above it."""
    origin: RuleOrigin | None = None
    title: str = ""
    sessions: int = 0
    """That were read from a transcript."""
    chunks: int = 0
    vectors: int | None = None
    """How many of the chunks have a vector; None where no model is in use."""
    size: int = 0
    """Bytes, as indexed, as is the next."""
    modified: float | None = None
    changed: bool = False
    """Whether it is another now than when it was indexed."""
    contents: FolderContents | None = None
    """Of a folder that is indexed."""
