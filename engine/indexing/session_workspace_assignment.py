"""Decides which of the listed sessions belong to a workspace: each transcript is indexed in one workspace only.

A session store such as `~/.claude/projects` is listed for all workspaces, and no workspace should index a session of
another one. The rule, in this order:

1. A session belongs to the workspace in whose folder its agent worked; of nested ones, to the innermost.
2. Otherwise it belongs to the first workspace that indexed it.

A store that only one workspace lists is therefore indexed by that one. A file with many sessions (export, database)
stays whole, by rule 2. Each workspace decides for itself when it is synced, and takes over sessions to which it has a
better claim; the other one keeps its copy until its next sync, so that a session can always be found. Sessions of a
workspace whose folder or index was deleted, or which no longer lists them, pass to the next workspace that sees them.
"""

import logging
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import apsw

from engine.base import skip_reasons
from engine.base.errors import StoreError
from engine.corpus.folder_walk import FoundFile
from engine.corpus.transcripts.transcript_files import transcript_of
from engine.records import FileIssue
from engine.redaction.secret_masking import redact
from engine.store.index_paths import IndexFiles
from engine.store.session_workspaces import Homes, SessionOwner, SessionOwnership

log = logging.getLogger(__name__)

INDEXED_ELSEWHERE = "kept-elsewhere"
"""Rule of a transcript that is skipped because another workspace indexes it."""


def ownership_message(workspace: str, sessions: int = 0) -> str:
    """Return a sentence that says which workspace indexes a transcript, or this number of sessions of a store."""
    fields = {"name": os.path.basename(workspace) or workspace, "path": workspace}
    if not sessions:
        return skip_reasons.INDEXED_ELSEWHERE.message(**fields)
    return skip_reasons.SESSIONS_INDEXED_ELSEWHERE.message(count=sessions, **fields)


def ownership_issues(owners: Mapping[str, str]) -> list[FileIssue]:
    """Return one issue for each session store and workspace, from the result of `elsewhere`."""
    counts = Counter(("/".join(name.split("/")[:2]), workspace) for name, workspace in owners.items())
    return [
        FileIssue(path=store, rule=INDEXED_ELSEWHERE, detail=ownership_message(workspace, count))
        for (store, workspace), count in sorted(counts.items())
    ]


def elsewhere(
    files: Sequence[FoundFile],
    projects: Mapping[str, str],
    workspace: Path,
    index: IndexFiles,
    project_of: Callable[[FoundFile], str],
) -> dict[str, str]:
    """Return the transcripts that belong to other workspaces: the workspace's real path by transcript name.

    Claims all other `files` for this workspace, and releases its former claims. `projects`: known folders by transcript
    name; `project_of` reads the folder of a transcript that is neither there nor in the list of claims. If the list of
    claims can't be used, every file belongs to this workspace: a duplicate hit is better than a missing one. Raises the
    errors of `project_of`; an OSError counts as an unusable list.
    """
    owners = SessionOwnership(index.homes)
    try:
        if not files and not index.homes.exists():
            return {}
        known = owners.read()
        claims = _Claims(str(workspace), index)
        worked = {transcript_of(file.path): _project(file, projects, known, project_of) for file in files}
        decided = claims.decide(worked, known)  # nearly always empty, and then nothing is locked
        homes = owners.change(lambda rows: claims.decide(worked, rows)) if decided else known
    except (apsw.Error, OSError, StoreError) as error:
        log.warning("The list of where sessions belong cannot be used: %s", type(error).__name__)
        return {}
    own_path = str(workspace)
    if all([homes[transcript].workspace == own_path for transcript in worked]):  # true of nearly all transcripts
        return {}
    return {file.name: home for file in files if (home := homes[transcript_of(file.path)].workspace) != own_path}


def _project(
    file: FoundFile,
    projects: Mapping[str, str],
    known: Homes,
    project_of: Callable[[FoundFile], str],
) -> str:
    if project := projects.get(file.name):
        return project
    home = known.get(transcript_of(file.path))
    return project_of(file) if home is None else home.project


class _Claims:
    """Decides which transcripts one workspace may index."""

    def __init__(self, workspace: str, index: IndexFiles) -> None:
        self._workspace = workspace
        self._index = index
        self._existing: dict[str, bool] = {}
        self._owners: dict[str, SessionOwner] = {}

    def decide(self, worked: Mapping[str, str], rows: Homes) -> dict[str, SessionOwner | None]:
        """Return the transcripts whose owner changes, with the new owner; None for those that this
        workspace gives up.

        `worked`: the agent's folder for each transcript that was found.
        """
        changes: dict[str, SessionOwner | None] = {
            transcript: None
            for transcript, home in rows.items()
            if transcript not in worked and home.workspace == self._workspace
        }
        for transcript, project in worked.items():
            own = self._owner_of(project)
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
        if project not in self._owners:
            self._owners[project] = SessionOwner(self._workspace, self._rank(project), redact(project))
        return self._owners[project]

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
