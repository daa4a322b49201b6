"""Find the workspace of a command, open its memory or those of all workspaces, and handle Ctrl+C."""

import signal
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import MnemoscopeError, StoreError, WorkspaceError
from engine.records import SearchOutcome
from engine.settings import Settings, load_settings, settings_path
from engine.store.index_paths import index_files

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager
    from engine.memory.search_requests import SearchOptions
    from engine.records import KnownWorkspace


_LAST_OPENED = "the settings"


class CliWorkspace(msgspec.Struct, frozen=True):
    """The workspace that a verb works on, with its settings."""

    folder: Path
    origin: str
    """Where the folder comes from, for messages: `--workspace`, the settings or the current directory."""
    settings: Settings

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is the last opened folder, although the current directory is outside it."""
        if self.origin != _LAST_OPENED:
            return False
        try:
            return not Path.cwd().is_relative_to(self.folder)
        except OSError:  # removed
            return True


def find_workspace(arguments: Namespace) -> CliWorkspace:
    """Find the workspace of a command: `--workspace`, else the last opened folder, else the current directory.

    Raises `SettingsError`, and `WorkspaceError` if there is no such folder.
    """
    if arguments.workspace:
        folder, origin = arguments.workspace, "--workspace"
    elif remembered := load_settings(config=arguments.config).workspace:
        folder, origin = Path(remembered), _LAST_OPENED
    else:
        folder, origin = _current(), "the current directory"
    try:
        folder = folder.expanduser().resolve()
        folder.stat()
    except FileNotFoundError:
        pass
    except (RuntimeError, ValueError, OSError) as error:  # an unknown home, a loop of links, a NUL byte
        wrong = f"The folder {folder} (from {origin}) cannot be found: {getattr(error, 'strerror', None) or error}"
        raise WorkspaceError(f"{wrong}. Name another with --workspace.") from None
    if not folder.is_dir():
        wrong = f"{folder} (from {origin}) is not a folder"
        if not folder.exists():
            wrong = f"The folder {folder} (from {origin}) does not exist"
        raise WorkspaceError(f"{wrong}: name another with --workspace.")
    settings = load_settings(folder, config=arguments.config)
    if not index_files(folder, settings.store.path).folder.exists():
        from engine.store.workspace_record import adopt_renamed

        if renamed := adopt_renamed(folder, settings, arguments.config):
            print(renamed, file=sys.stderr)
            settings = load_settings(folder, config=arguments.config)
    return CliWorkspace(folder, origin, settings)


def _current() -> Path:
    try:
        return Path.cwd()
    except OSError:  # removed, or on an unplugged drive
        raise WorkspaceError("The current directory no longer exists: name a folder with --workspace.") from None


@contextmanager
def opened(workspace: CliWorkspace) -> Iterator["MemorySearchManager"]:
    """Yield the memory of the folder, without watcher or timers; it is closed at the end."""
    from engine.backends.opening import open_memory

    manager = open_memory(workspace.folder, workspace.settings, background=False)
    try:
        yield manager
    finally:
        manager.close()


def refuse_unreadable(problem: str) -> None:
    """Raise `StoreError` for a problem of the user's data: an empty list or export would look like a complete one."""
    if problem:
        raise StoreError(f"{problem} To see what can be restored, run mnemoscope doctor.")


@contextmanager
def interruptible() -> Iterator[CancelToken]:
    """Yield a token that the first Ctrl+C cancels, so that work ends cleanly; the second one interrupts immediately."""
    token = CancelToken()
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is not signal.default_int_handler:
        yield token
        return

    def cancel(_number: int, _frame: FrameType | None) -> None:
        if token.cancelled:
            raise KeyboardInterrupt
        # From a separate thread: the handler interrupts the main thread, which may hold a lock that cancelling needs.
        threading.Thread(target=token.cancel, daemon=True).start()

    signal.signal(signal.SIGINT, cancel)
    try:
        yield token
    finally:
        signal.signal(signal.SIGINT, before)


def search_all(
    manager: "MemorySearchManager",
    workspace: CliWorkspace,
    query: str,
    options: "SearchOptions",
    token: CancelToken,
    config: Path | None,
) -> SearchOutcome:
    """Search this workspace and the indexes of all others in their current state."""
    from engine.backends.opening import open_memory
    from engine.workspaces.known_workspaces import current_and_others
    from engine.workspaces.memory_pool import MemoryPool
    from engine.workspaces.multi_search import AllWorkspaces

    here, others = current_and_others(all_known_workspaces(workspace, config), workspace.folder)
    most = options.get("max_results") or workspace.settings.query.max_results
    pool = MemoryPool(open_memory, partial(_settings_of, config=config))
    try:
        return AllWorkspaces(manager, pool).search(here, others, query, options, most, token)
    finally:
        pool.close()


@contextmanager
def memory_of(
    path: str, manager: "MemorySearchManager", workspace: CliWorkspace, config: Path | None
) -> "Iterator[tuple[MemorySearchManager, str, str]]":
    """Open the workspace of a file; yield its memory, the file's name there, and the folder (empty for this workspace).

    Raises `MnemoscopeError` if that workspace no longer exists.
    """
    from engine.records.workspaces import split_name

    name, own_path = split_name(path)
    if not name:
        yield manager, path, ""
        return
    folder = next(
        (known.folder for known in all_known_workspaces(workspace, config) if known.name == name and known.present),
        None,
    )
    if folder is None:
        raise MnemoscopeError(f"This search is in {own_path} of the workspace {name}, which no longer exists.")
    from engine.backends.opening import open_memory

    memory = open_memory(folder, _settings_of(folder, config))
    try:
        yield memory, own_path, folder
    finally:
        memory.close()


def all_known_workspaces(workspace: CliWorkspace, config: Path | None) -> "tuple[KnownWorkspace, ...]":
    """Return all known workspaces, including this one."""
    from engine.workspaces.known_workspaces import known_workspaces

    return known_workspaces(config=config, store_path=workspace.settings.store.path)


def found_session_folders(cancel: CancelToken) -> list[str]:
    """Return the folders on this machine with sessions of AI agents. Raises `Cancelled`."""
    from engine.corpus.source_detection import find_sources

    return [source.path for source in find_sources(cancel=cancel).sources if source.kind == "sessions"]


def setting_line(section: str, key: str, values: Sequence[str], config: Path | None, *, note: str = "") -> str:
    """Return the line of TOML that sets a list, and where to add it: the section and the settings file."""
    strings = ", ".join(msgspec.json.encode(value).decode() for value in values)
    return f"{key} = [{strings}]{note} under [{section}] in {config or settings_path()}"


def _settings_of(folder: str, config: Path | None) -> Settings:
    return load_settings(Path(folder), config=config)
