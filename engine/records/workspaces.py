"""Known workspaces, folders and files on disk with their status in the index, and names of other workspaces' files."""

from typing import Literal

from engine.records.base import Record, Source
from engine.records.sync import FileIssue, SyncSummary

SourceKind = Literal["openclaw-workspace", "obsidian-vault", "logseq-graph", "sessions"]

PathStateKind = Literal[
    "indexed",
    "pending",
    "failed",
    "excluded",
    "outside",
    "too-large",
    "not-text",
    "deleted",
    "missing",
    "folder",
]
PathRemedy = Literal["sync", "settings", "add", "open"]


class KnownWorkspace(Record, frozen=True):
    """A workspace that was opened before, or has a table in the settings."""

    folder: str
    """Real path of the workspace's folder."""
    name: str
    """Name for display: last part of the path; for duplicates, with the parent folder in brackets. Never contains a
    slash.
    """
    present: bool
    """Whether the folder exists now."""
    index_bytes: int
    """Size of the workspace's index on disk; 0 if there is none."""


class WorkspaceState(Record, frozen=True):
    """Numbers of files and chunks in a workspace's index."""

    files: int
    chunks: int
    pending_vectors: int
    """Number of chunks without a vector of the most-used model; 0 if there are no vectors."""
    last_sync: SyncSummary | None
    problem: str = ""
    """Why the index cannot be read, one sentence; empty if it can."""


class PreviewFolder(Record, frozen=True):
    """A folder that would be indexed: its path, and number and bytes of its files."""

    path: str
    files: int
    bytes: int


class PreviewKind(Record, frozen=True):
    """Number of files with one extension in a folder."""

    extension: str
    files: int
    indexed: bool
    missing: str = ""
    """The package that has to be installed first, as a sentence in English."""


class WorkspacePreview(Record, frozen=True):
    """Files that a first sync would index, known from directory entries only."""

    workspace: str
    layout: Literal["openclaw", "folder"]
    """`openclaw`: MEMORY.md, memory.md, memory/**; `folder`: a plain folder of notes, indexed whole."""
    files: int
    bytes: int
    folders: tuple[PreviewFolder, ...]
    """Top-level folders with files, most files first; the workspace's own files under `.`."""
    skipped: tuple[FileIssue, ...]
    session_files: int
    """Number of session files in the folders of the settings."""
    session_bytes: int
    first: tuple[str, ...] = ()
    """Stable names of the first notes that would be indexed."""
    kinds: tuple[PreviewKind, ...] = ()
    """Indexed extensions, and others that can be indexed, most files first."""
    program: Literal["", "obsidian", "logseq"] = ""
    """The program whose settings are in the folder; empty if it has none of a known program."""


class SettingsConsequences(Record, frozen=True):
    """How changed settings affect the index."""

    full_rebuild: bool
    """Whether the whole index is rebuilt, because its chunks would differ."""
    other_files: bool
    """Whether other files or sessions are indexed."""
    other_index: bool
    """Whether another index is used, which the next update fills if it is empty."""

    @property
    def any(self) -> bool:
        return self.full_rebuild or self.other_files or self.other_index


class FoundSource(Record, frozen=True):
    """A folder on this machine, or an export, that could be indexed; known by directory entries only."""

    kind: SourceKind
    agent: str
    """Short name of the program that writes there; empty if only reading would show it."""
    name: str
    """The agent's own id, or the vault's name; empty if there is none."""
    path: str
    """Absolute path without links."""
    files: int
    """Number of files to index: notes, or possible transcripts by name."""
    bytes: int
    newest: float | None
    """Time of the latest change of these files; None if there are none."""
    complete: bool
    """Whether all files were counted; False if counting stopped at its limit."""


class FoundSources(Record, frozen=True):
    sources: tuple[FoundSource, ...]
    issues: tuple[FileIssue, ...]
    """Folders, and lists of folders, that could not be read."""


class RuleOrigin(Record, frozen=True):
    """Location in the settings of the rule that excludes a path."""

    key: str
    """Settings key, such as `exclude`; empty for a built-in rule."""
    value: str
    """Matching pattern of the setting, or its value; empty for a built-in rule."""
    layer: Literal["built-in", "defaults", "workspace"]
    """Part of the settings that has the rule; `built-in` also for an option that is not set."""
    file: str
    """The settings file; empty for a built-in rule."""
    line: int
    """Line in that file, from 1; 0 for a built-in rule."""


class FolderContents(Record, frozen=True):
    """Numbers of files in a folder and its subfolders, by status."""

    indexed: int
    pending: int
    """Number of new or changed files, for the next sync."""
    failed: int
    deleted: int
    """Number of deleted files, which stay indexed until the next sync."""
    skipped: tuple[FileIssue, ...]
    """First files and folders excluded by a rule, like `skipped_files` of the status."""
    skipped_total: int
    complete: bool
    """Whether all files were listed; False if the folder is too large for that."""


class PathState(Record, frozen=True):
    """Why a path is indexed, or not."""

    requested: str
    state: PathStateKind
    sentence: str
    """The status in one or two plain sentences, with advice."""
    remedy: PathRemedy | None
    """Remedy to offer to the user: a sync, the settings file, an extra path, the file itself."""
    path: str
    """Stable name; empty for a path outside of everything indexed, and for the workspace itself."""
    file: str
    """Absolute path, if known."""
    source: Source | None
    rule: str = ""
    """Rule that excludes the path, as in `FileIssue`; empty if none does."""
    rule_path: str = ""
    """Stable name of the path that the rule applies to: the path, or a folder above it."""
    origin: RuleOrigin | None = None
    title: str = ""
    sessions: int = 0
    """Number of sessions read from a transcript."""
    chunks: int = 0
    vectors: int | None = None
    """Number of chunks with a vector; None without a model."""
    size: int = 0
    """Size in bytes when the file was indexed; `modified` is its time then."""
    modified: float | None = None
    changed: bool = False
    """Whether the file has changed since it was indexed."""
    contents: FolderContents | None = None
    """Contents of an indexed folder."""


_OTHER_WORKSPACE = "///"
"""Start of the name of a file in another workspace: `///garden/daily/2026-05-31.md`. No stable name begins with three
slashes; two mark another machine's file in a shared table."""


def name_in(workspace: str, path: str) -> str:
    """Return the name of another workspace's file, or its citation: `///garden/daily/2026-05-31.md`."""
    return f"{_OTHER_WORKSPACE}{workspace}/{path}"


def split_name(name: str) -> tuple[str, str]:
    """Split a file's name into workspace name (empty for the open workspace) and stable name."""
    if not name.startswith(_OTHER_WORKSPACE):
        return "", name
    workspace, _, path = name.removeprefix(_OTHER_WORKSPACE).partition("/")
    return workspace, path
