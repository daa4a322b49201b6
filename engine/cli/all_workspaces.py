"""`mnemoscope search --all-workspaces`, and saved searches that refer to another workspace."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError
from engine.cli.workspace import CliWorkspace
from engine.records import KnownWorkspace, SearchOutcome
from engine.settings import Settings, load_settings
from engine.workspaces.file_names import split_name

if TYPE_CHECKING:
    from engine.memory.contract import MemorySearchManager
    from engine.memory.requests import SearchOptions


def ask_all(
    manager: "MemorySearchManager",
    place: CliWorkspace,
    query: str,
    options: "SearchOptions",
    token: CancelToken,
    config: Path | None,
) -> SearchOutcome:
    """Search this workspace and the indexes of all others in their current state."""
    from engine.backends.opening import open_memory
    from engine.workspaces.memory_pool import MemoryPool
    from engine.workspaces.multi_search import AllWorkspaces
    from engine.workspaces.registry import here_and_others

    here, others = here_and_others(known_to(place, config), place.folder)
    most = options.get("max_results") or place.settings.query.max_results
    pool = MemoryPool(open_memory, partial(_settings_of, config=config))
    try:
        return AllWorkspaces(pool).search(manager, here, others, query, options, most, token)
    finally:
        pool.close()


@contextmanager
def asked_of(
    path: str, manager: "MemorySearchManager", place: CliWorkspace, config: Path | None
) -> "Iterator[tuple[MemorySearchManager, str, str]]":
    """Return the memory with the file of this name, the file's stable name there, and the folder (empty for this
    workspace).

    Raises `MnemoscopeError` for a workspace that is not there any more.
    """
    name, there = split_name(path)
    if not name:
        yield manager, path, ""
        return
    folder = next((one.folder for one in known_to(place, config) if one.name == name and one.present), None)
    if folder is None:
        raise MnemoscopeError(f"This search is in {there} of the workspace {name}, which is not there any more.")
    from engine.backends.opening import open_memory

    memory = open_memory(folder, _settings_of(folder, config))
    try:
        yield memory, there, folder
    finally:
        memory.close()


def known_to(place: CliWorkspace, config: Path | None) -> "tuple[KnownWorkspace, ...]":
    """All workspaces, this one among them."""
    from engine.workspaces.registry import known_workspaces

    return known_workspaces(config=config, store_path=place.settings.store.path)


def _settings_of(folder: str, config: Path | None) -> Settings:
    return load_settings(Path(folder), config=config)
