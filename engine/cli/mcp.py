"""`mnemoscope mcp`."""

from argparse import Namespace
from typing import TYPE_CHECKING

from engine.agent.mcp_server.running import serve
from engine.cli.opening import find_place

if TYPE_CHECKING:
    from engine.backends.base import MemorySearchManager


def run(arguments: Namespace) -> int:
    place = find_place(arguments)

    def open_here() -> "MemorySearchManager":
        from engine.backends.opening import open_memory

        return open_memory(place.folder, place.settings, background=True)

    serve(open_here, place.settings, arguments.session_key)
    return 0
