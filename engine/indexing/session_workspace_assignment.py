"""Decides which sessions belong to a workspace, also before its first sync: each is indexed in one workspace only.

A session store such as `~/.claude/projects` is listed for all workspaces, and no workspace should index a session of
another one. The rule, in this order:

1. A session belongs to the workspace in whose folder its agent worked; of nested ones, to the innermost.
2. Otherwise it belongs to the first workspace that indexed it.

A store that only one workspace lists is therefore indexed by that one. A file with many sessions (export, database)
stays whole, by rule 2. Each workspace decides for itself when it is synced, and takes over sessions to which it has a
better claim; the other one keeps its copy until its next sync, so that a session can always be found. Sessions of a
workspace whose folder or index was deleted, or which no longer lists them, pass to the next workspace that sees them.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

import apsw
import msgspec

from engine.base import lazy_logger, skip_reasons
from engine.base.cancellation import CancelToken
from engine.base.errors import StoreError
from engine.corpus.discovery import READABLE_EXTENSIONS, Discovery, discover
from engine.corpus.documents import is_readable
from engine.corpus.folder_walk import FoundFile
from engine.corpus.ignore_rules import printable_name
from engine.corpus.transcripts.session_stores import find_transcripts
from engine.corpus.transcripts.transcript_files import transcript_of
from engine.records import FileIssue, PreviewFolder, PreviewKind, WorkspacePreview
from engine.redaction.secret_masking import redact
from engine.settings import Settings
from engine.store.index_paths import IndexFiles, index_files
from engine.store.session_workspaces import SessionOwner, SessionOwners, SessionOwnership

log = lazy_logger(__name__)

INDEXED_ELSEWHERE = "kept-elsewhere"
"""Rule of a transcript that is skipped because another workspace indexes it."""


def ownership_message(workspace: str, sessions: int = 0) -> str:
    """Return a sentence that says which workspace indexes a transcript, or this number of sessions of a store."""
    fields = {"name": os.path.basename(workspace) or workspace, "path": workspace}
    if not sessions:
        return skip_reasons.INDEXED_ELSEWHERE.message(**fields)
    return skip_reasons.SESSIONS_INDEXED_ELSEWHERE.message(count=sessions, **fields)


def ownership_issues(owners: Mapping[str, str]) -> list[FileIssue]:
    """Return one issue for each session store and workspace, from the result of `claim_transcripts`."""
    counts = Counter(("/".join(name.split("/")[:2]), workspace) for name, workspace in owners.items())
    return [
        FileIssue(path=store, rule=INDEXED_ELSEWHERE, detail=ownership_message(workspace, count))
        for (store, workspace), count in sorted(counts.items())
    ]


def claim_transcripts(
    files: Sequence[FoundFile],
    projects: Mapping[str, str],
    workspace: Path,
    index: IndexFiles,
    projects_of: Callable[[Sequence[FoundFile]], Iterable[tuple[FoundFile, str]]],
) -> dict[str, str]:
    """Claim transcripts for this workspace; return those of other workspaces, with the workspace's real path, by name.

    Releases the former claims of this workspace. `projects`: known folders by transcript
    name; `projects_of` reads those of transcripts that are neither there nor in the list of claims. If the list of
    claims can't be used, every file belongs to this workspace: a duplicate hit is better than a missing one. Raises the
    errors of `projects_of`; an OSError counts as an unusable list.
    """
    ownership = SessionOwnership(index.session_owners)
    try:
        if not files and not index.session_owners.exists():
            return {}
        known = ownership.read()
        claims = _Claims(str(workspace), index)
        worked: dict[str, str] = {}
        unknown: list[FoundFile] = []
        for file in files:
            transcript = transcript_of(file.path)
            if project := projects.get(file.name):
                worked[transcript] = project
            elif transcript in known:
                worked[transcript] = known[transcript].project
            else:
                unknown.append(file)
        worked |= {transcript_of(file.path): project for file, project in projects_of(unknown)}
        decided = claims.decide(worked, known)  # nearly always empty, and then nothing is locked
        owner_of = ownership.change(lambda rows: claims.decide(worked, rows)) if decided else known
    except (apsw.Error, OSError, StoreError) as error:
        log.warning("The list of session owners cannot be used: %s", type(error).__name__)
        return {}
    own_path = str(workspace)
    if all([owner_of[transcript].workspace == own_path for transcript in worked]):  # true of nearly all transcripts
        return {}
    owners = {file.name: owner_of[transcript_of(file.path)].workspace for file in files}
    return {name: owner for name, owner in owners.items() if owner != own_path}


class _Claims:
    """Decides which transcripts one workspace may index."""

    def __init__(self, workspace: str, index: IndexFiles) -> None:
        self._workspace = workspace
        self._index = index
        self._existing: dict[str, bool] = {}
        self._owners: dict[str, SessionOwner] = {}

    def decide(self, worked: Mapping[str, str], rows: SessionOwners) -> dict[str, SessionOwner | None]:
        """Return the transcripts whose owner changes, with the new one; None if this workspace gives them up.

        `worked`: the agent's folder for each transcript that was found.
        """
        changes: dict[str, SessionOwner | None] = {
            transcript: None
            for transcript in rows.keys() - worked.keys()
            if rows[transcript].workspace == self._workspace
        }
        for transcript, project in worked.items():
            own = self._owners.get(project) or self._owner_of(project)
            current = rows.get(transcript)
            if own != current and (current is None or self._may_take(own, current)):
                changes[transcript] = own
        return changes

    def _may_take(self, own: SessionOwner, current: SessionOwner) -> bool:
        return current.workspace == self._workspace or own.rank > current.rank or not self._exists(current.workspace)

    def _exists(self, workspace: str) -> bool:
        if workspace not in self._existing:
            folder = Path(workspace)
            self._existing[workspace] = folder.is_dir() and self._index.of_workspace(folder).database.exists()
        return self._existing[workspace]

    def _owner_of(self, project: str) -> SessionOwner:
        own = self._owners[project] = SessionOwner(self._workspace, self._rank(project), redact(project))
        return own

    def _rank(self, project: str) -> int:
        """Return the depth of the workspace's folder if it contains the project; else 0."""
        named = os.path.expanduser(project)
        if not os.path.isabs(named):
            return 0
        # A path with a secret in it is stored masked, and then compared with our own path masked likewise.
        inside = Path(os.path.realpath(named)).is_relative_to(self._workspace) or Path(named).is_relative_to(
            redact(self._workspace)
        )
        return len(Path(self._workspace).parts) if inside else 0


# --- Preview of a first sync ------------------------------------------------------------------------------------------

_FIRST = 12


def preview_workspace(workspace: Path, settings: Settings, *, cancel: CancelToken | None = None) -> WorkspacePreview:
    """Return files and bytes by top-level folder, and skipped files. Raises `WorkspaceError`, `Cancelled`.

    Sessions that other workspaces index are skipped, as far as this is known without reading a session.
    """
    discovery = _readable(discover(workspace, settings, cancel=cancel))
    sessions = find_transcripts(settings, cancel=cancel)
    owners = _recorded_elsewhere(sessions.files, workspace, settings)
    own = [file for file in sessions.files if file.name not in owners]
    files: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for file in discovery.files:
        folder, slash, _ = file.name.partition("/")
        folder = folder if slash else "."
        files[folder] += 1
        sizes[folder] += file.size
    folders = [PreviewFolder(path=name, files=number, bytes=sizes[name]) for name, number in files.most_common()]
    return WorkspacePreview(
        workspace=str(workspace),
        layout=discovery.layout,
        files=len(discovery.files),
        bytes=sizes.total(),
        folders=tuple(folders),
        skipped=(*discovery.skipped, *sessions.skipped, *ownership_issues(owners)),
        session_files=len(own),
        session_bytes=sum(file.size for file in own),
        first=tuple(file.name for file in discovery.files[:_FIRST]),
        kinds=tuple(sorted(_kinds(discovery), key=lambda kind: (-kind.files, kind.extension))),
        program=_program_of(workspace),
    )


def _readable(discovery: Discovery) -> Discovery:
    """Return the discovery with files that the user may not read among the skipped ones, as reading would find out."""
    denied = [file.name for file in discovery.files if not os.access(file.path, os.R_OK)]
    if not denied:
        return discovery
    reason, names = skip_reasons.NO_PERMISSION.message(), frozenset(denied)
    issues = [FileIssue(path=printable_name(name), rule="unreadable", detail=reason) for name in denied]
    files = [file for file in discovery.files if file.name not in names]
    return msgspec.structs.replace(discovery, files=files, skipped=[*discovery.skipped, *issues])


def _program_of(workspace: Path) -> Literal["", "obsidian", "logseq"]:
    """Return the program whose settings are in a folder of notes."""
    if (workspace / ".obsidian").is_dir():
        return "obsidian"
    return "logseq" if (workspace / "logseq" / "config.edn").is_file() else ""


def _kinds(discovery: Discovery) -> Iterator[PreviewKind]:
    indexed = Counter(os.path.splitext(file.name)[1].lower() for file in discovery.files)
    for ending, number in indexed.items():
        yield PreviewKind(extension=ending, files=number, indexed=True, missing=_missing_package(ending))
    for ending in READABLE_EXTENSIONS:
        if ending not in indexed and (number := discovery.endings.get(ending, 0)):
            yield PreviewKind(extension=ending, files=number, indexed=False, missing=_missing_package(ending))


def _missing_package(ending: str) -> str:
    """Return the package to install for reading files with this ending."""
    return "" if is_readable(ending) else skip_reasons.NO_PDF_READER.message()


def _recorded_elsewhere(files: Sequence[FoundFile], workspace: Path, settings: Settings) -> dict[str, str]:
    """Return the other workspace of each session that is known to have one; reads and assigns no session."""
    own_path, index = os.path.realpath(workspace), index_files(workspace, settings.store.path)
    if not index.session_owners.exists():
        return {}
    try:
        known = SessionOwnership(index.session_owners).read()
    except (apsw.Error, OSError, StoreError):
        return {}
    listed = {file.name: transcript_of(file.path) for file in files}
    worked = {transcript: known[transcript].project for transcript in listed.values() if transcript in known}
    taken = _Claims(own_path, index).decide(worked, known)
    return {
        name: known[transcript].workspace
        for name, transcript in listed.items()
        if transcript in worked and transcript not in taken and known[transcript].workspace != own_path
    }
