"""`mnemoscope search --all-workspaces`."""

from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.opening import Place
from engine.control import CancelToken
from engine.records import SearchOutcome
from engine.settings import load_settings

if TYPE_CHECKING:
    from engine.backends.base import MemorySearchManager, SearchOptions


def ask_all(
    manager: "MemorySearchManager",
    place: Place,
    query: str,
    options: "SearchOptions",
    token: CancelToken,
    config: Path | None,
) -> SearchOutcome:
    """This workspace and all others, whose indexes are asked as they are."""
    from engine.backends.opening import open_memory
    from engine.backends.spaces.asking import AllWorkspaces
    from engine.backends.spaces.known import here_and_others, known_workspaces
    from engine.backends.spaces.pool import MemoryPool

    def open_other(folder: str) -> "MemorySearchManager":
        return open_memory(folder, load_settings(Path(folder), config=config))

    known = known_workspaces(config=config, store_path=place.settings.store.path)
    here, others = here_and_others(known, place.folder)
    most = options.get("max_results") or place.settings.query.max_results
    pool = MemoryPool(open_other)
    try:
        return AllWorkspaces(pool).search(manager, here, others, query, options, most, token)
    finally:
        pool.close()
