"""`mnemoscope mcp`: serve the memory to agents over the Model Context Protocol."""

from argparse import Namespace
from typing import TYPE_CHECKING

from engine.cli.workspace import find_workspace
from engine.mcp.server_process import serve
from engine.settings import Settings, load_settings, settings_path
from engine.settings.loading import RereadSettings

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager


def run(arguments: Namespace) -> int:
    folder = find_workspace(arguments).folder
    config = arguments.config or settings_path()
    settings = RereadSettings(config, lambda: load_settings(folder, config=arguments.config))

    def open_here(settings: Settings) -> "MemorySearchManager":
        from engine.backends.opening import open_memory

        return open_memory(folder, settings, background=True)

    serve(open_here, settings.current, arguments.session_key)
    return 0
