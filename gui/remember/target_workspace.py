"""The workspace that a session is of, which its note goes to: the open one, or another that was searched with it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine import MemorySearchManager, Settings, name_in, split_name
from gui.core.workspace import Opened, Workspace


@dataclass(frozen=True)
class TargetWorkspace:
    """`session`: its stable name in this workspace."""

    manager: MemorySearchManager
    folder: Path
    settings: Settings
    session: str


def folder_of(opened: Opened, session: str) -> Path:
    """The folder that the note of a session goes to, as far as is known without waiting."""
    if not split_name(session)[0]:
        return opened.folder
    return Path(opened.everywhere.folder_of(session) or split_name(session)[0])


@contextmanager
def home_of(workspace: Workspace, opened: Opened, session: str) -> Iterator[TargetWorkspace]:
    """On a pool thread. Its memory stays open at least as long as the block.

    Raises `PathRefused` where that workspace is not there any more, and what opening it raises.
    """
    if not split_name(session)[0]:
        yield TargetWorkspace(opened.manager, opened.folder, opened.settings, session)
        return
    with opened.everywhere.home_of(session) as (manager, folder, there):
        yield TargetWorkspace(manager, folder, workspace.settings_of(folder), there)


def name_beside(session: str, path: str) -> str:
    """The name of a file that is in the workspace of a session."""
    workspace, _ = split_name(session)
    return name_in(workspace, path) if workspace else path
