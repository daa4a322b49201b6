"""Predicts what a first sync would index; opens no file."""

from collections import Counter
from pathlib import Path

from engine.base.cancellation import CancelToken
from engine.corpus.discovery import discover
from engine.corpus.transcripts.stores import find_transcripts
from engine.records import PreviewFolder, WorkspacePreview
from engine.settings import Settings

_FIRST = 12


def preview_workspace(workspace: Path, settings: Settings, *, cancel: CancelToken | None = None) -> WorkspacePreview:
    """Files and bytes by top-level folder, and what would be passed over. Raises `WorkspaceError`, `Cancelled`."""
    discovery = discover(workspace, settings, cancel=cancel)
    sessions = find_transcripts(settings, cancel=cancel)
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
        skipped=(*discovery.skipped, *sessions.skipped),
        session_files=len(sessions.files),
        session_bytes=sum(file.size for file in sessions.files),
        first=tuple(file.name for file in discovery.files[:_FIRST]),
    )
